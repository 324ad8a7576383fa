"""Rows of arrays, dense or CSR: in memory, in .npy files and zarr stores; of Dask collections.

Values that are contiguous in a file are read, not mapped: pages of a memory map count as memory of
the process, and a mapped file that is truncated kills it (docs/decisions/0008-landmarks.md). Of a
Dask collection, only the rows that are asked for are transferred to this process.
"""

import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from isosne._archive import Header, read_header
from isosne._csr import check_indices, check_indptr, refuse_structure
from isosne._extras import require
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.rows.columns import (
    Request,
    as_integers_or_text,
    check_column,
    select_columns,
    string_names,
)
from isosne.rows.rows import Indices, Rows, SourceFiles

N_SAMPLED = 64
"""Number of rows in the fingerprint of an array, evenly spaced. Chosen, not measured."""
GAP_VALUES = 16_384
"""Gaps up to this number of stored values are read and dropped instead of skipped. Chosen, not
measured."""
WINDOW_VALUES = 4_000_000
"""Largest number of stored values in one read of several rows. Chosen, not measured."""
INDPTR_BYTES = 8
"""Bytes of a row in ``indptr``, which is int64."""


class ArrayRows(Rows):
    """Rows of an array in memory, or of a view of a memory map."""

    n_sampled = N_SAMPLED

    def __init__(
        self, files: SourceFiles, X: Array, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(files, X.shape, X.dtype, column_names=column_names)
        self._X = X

    def _read(self, start: int, stop: int) -> Array:
        block = self._X[start:stop]
        if isinstance(block, np.memmap):
            return np.array(block, dtype=self.dtype, subok=False)
        return block.astype(self.dtype, copy=False)

    def _take(self, indices: Indices) -> Array:
        return np.asarray(self._X[indices], dtype=self.dtype)


class SparseRows(Rows):
    """CSR rows; ``indptr`` is in memory, ``indices`` and ``data`` are arrays or HDF5 data sets."""

    is_sparse = True
    n_sampled = N_SAMPLED

    def __init__(
        self,
        files: SourceFiles,
        shape: tuple[int, ...],
        indptr: Array,
        indices: Any,
        data: Any,
        *,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        # SciPy has no sparse matrices of float16.
        dtype = np.float32 if data.dtype.kind == "f" and data.dtype.itemsize == 2 else data.dtype
        super().__init__(files, shape, dtype, column_names=column_names)
        for part, what in ((indices, "indices"), (data, "data")):
            if len(part.shape) != 1:
                raise refuse_structure(files.name, f"{what} must be a list; got {part.shape}")
        n_entries = min(indices.shape[0], data.shape[0])
        check_indptr(np.asarray(indptr), self.shape[0], n_entries, files.name)
        self._indptr: NDArray[np.int64] = indptr.astype(np.int64)
        self._indices, self._data = indices, data
        entry_bytes = self.dtype.itemsize + np.dtype(indices.dtype).itemsize
        self.row_bytes = INDPTR_BYTES + int(self._indptr[-1]) * entry_bytes // self.shape[0]

    def _read(self, start: int, stop: int) -> csr_array:
        low, high = int(self._indptr[start]), int(self._indptr[stop])
        indptr = self._indptr[start : stop + 1] - low
        return self._make_block(self._data[low:high], self._indices[low:high], indptr)

    def _take(self, indices: Indices) -> csr_array:
        if len(indices) == 0:
            return self._read(0, 0)
        starts, stops = self._indptr[indices], self._indptr[indices + 1]
        parts = []
        for run in group_nearby(starts, stops, max_gap=GAP_VALUES, window=WINDOW_VALUES):
            first, last = int(indices[run.start]), int(indices[run.stop - 1])
            parts.append(self._read(first, last + 1)[indices[run] - first])
        return vstack(parts, format="csr")

    def _make_block(self, data: Any, columns: Any, indptr: Array) -> csr_array:
        data = np.asarray(data).astype(self.dtype, copy=False)
        columns = np.asarray(columns)
        check_indices(columns, self.shape[1], self.files.name)
        block = csr_array((data, columns, indptr), shape=(len(indptr) - 1, self.shape[1]))
        if not block.has_canonical_format:
            block = block.copy()  # sum_duplicates works in place; the source must not change
            block.sum_duplicates()
        return block


def group_nearby(starts: Indices, stops: Indices, *, max_gap: int, window: int) -> Iterator[slice]:
    """Yield slices of consecutive ranges that are faster to read together than one by one.

    The ranges are in ascending order. Within a slice they are at most `max_gap` apart and start
    in the same window of size `window`, which bounds the size of a read.
    """
    windows = starts // max(1, window)
    is_new = (starts[1:] - stops[:-1] > max_gap) | (windows[1:] != windows[:-1])
    bounds = [0, *(np.flatnonzero(is_new) + 1).tolist(), len(starts)]
    yield from (slice(low, high) for low, high in pairwise(bounds) if low < high)


GAP_BYTES = 16_384
"""Gaps up to this size are read and dropped, which is faster than a seek and another read.
Chosen, not measured: four pages of 4 KB."""
WINDOW_BYTES = 4_000_000
"""Largest read of several rows with gaps between them. Chosen, not measured."""


class RawRows(Rows):
    """Rows of a two-dimensional array in a file, in C order."""

    def __init__(self, files: SourceFiles, path: Path, offset: int, header: Header) -> None:
        super().__init__(files, header.shape, header.dtype)
        self._path, self._offset, self._stored = path, offset, header.dtype
        needed, n_bytes = offset + self.shape[0] * self.row_bytes, path.stat().st_size
        if n_bytes < needed:
            raise DataError(
                f"{path} must have {needed:,} bytes according to its header; got {n_bytes:,}. "
                "The file is truncated: write or copy it again."
            )

    def _read(self, start: int, stop: int) -> Array:
        n_values = (stop - start) * self.shape[1]
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._offset + start * self.row_bytes)
            values = np.fromfile(file, self._stored, n_values)
        if len(values) < n_values:
            raise EOFError("unexpected end of file")
        return values.reshape(-1, self.shape[1]).astype(self.dtype, copy=False)

    def _take(self, indices: Indices) -> Array:
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        max_gap, window = GAP_BYTES // self.row_bytes, WINDOW_BYTES // self.row_bytes
        for run in group_nearby(indices, indices + 1, max_gap=max_gap, window=window):
            low, high = int(indices[run.start]), int(indices[run.stop - 1]) + 1
            out[run] = self._read(low, high)[indices[run] - low]
        return out


def open_npy(path: Path) -> Rows:
    """Return the rows of an .npy file; one in Fortran order is mapped."""
    files = SourceFiles(str(path), path)
    with files.reading(), path.open("rb") as file:
        header = read_header(file)
        if header.is_fortran:
            return ArrayRows(files, np.load(path, mmap_mode="r"))
        return RawRows(files, path, file.tell(), header)


def open_memmap(X: np.memmap[Any, Any]) -> Rows:
    """Return the rows of the file behind a memory map, or of the map if it is a part of it."""
    is_whole = isinstance(X.base, mmap.mmap) and X.mode == "r" and X.flags.c_contiguous
    if X.filename is None or not is_whole:
        return ArrayRows(SourceFiles("X"), X)
    path, header = Path(X.filename), Header(X.shape, False, X.dtype)
    return RawRows(SourceFiles(str(path), path), path, X.offset, header)


CHUNK_BYTES = 1_000_000
"""Bytes that are read at a time from an array without chunks. Chosen, not measured."""
ZARR_METADATA = ("zarr.json", ".zarray", ".zgroup")
"""Files that mark a folder as zarr: version 3, and arrays and groups of version 2."""


class ChunkedRows(Rows):
    """Rows of any object with ``shape``, ``dtype``, ``chunks`` and slicing."""

    def __init__(
        self, files: SourceFiles, array: Any, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(files, array.shape, array.dtype, column_names=column_names)
        self._array = array
        has_chunks = bool(array.chunks)
        self._chunk_rows = int(array.chunks[0]) if has_chunks else CHUNK_BYTES // self.row_bytes + 1

    def _read(self, start: int, stop: int) -> Array:
        return np.asarray(self._array[start:stop], dtype=self.dtype)

    def _take(self, indices: Indices) -> Array:
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        chunks = indices // self._chunk_rows
        for c in np.unique(chunks).tolist():
            low, high = np.searchsorted(chunks, [c, c + 1])
            first, last = int(indices[low]), int(indices[high - 1])
            out[low:high] = self._array[first : last + 1][indices[low:high] - first]
        return out


class ZarrRows(ChunkedRows):
    """Rows of a zarr array.

    The fingerprint uses the metadata file and three rows: the chunks are too many files to check.
    """

    n_sampled = 3


def is_zarr(path: Path) -> bool:
    """Return whether a folder is a zarr array or group."""
    return bool(_metadata_files(path))


def open_zarr(path: Path, key: str | None) -> ZarrRows:
    """Return the rows of a zarr array, or of the array of a group that ``key`` names."""
    zarr = require("zarr", "zarr", f"Reading {path}")
    folder = path
    metadata = _metadata_files(path)
    if not metadata:
        raise DataError(
            f"{path} must be a folder that zarr wrote; it has no {' or '.join(ZARR_METADATA)}. "
            "Name the folder of an array or a group."
        )
    _check_links(path)
    with SourceFiles(str(path), *metadata).reading():
        array = zarr.open(path, mode="r")
        if isinstance(array, zarr.Group):
            names = sorted(array.array_keys())
            if key is None and len(names) == 1:
                key = names[0]
            check_column(key or "", names, "key", str(path), what="an array")
            folder, array = path / str(key), array[key]
        return ZarrRows(SourceFiles(str(path), *_metadata_files(folder)), array)


def _check_links(folder: Path) -> None:
    """Refuse a store with links to other folders: its chunks would be files of somebody else."""
    whole = folder.resolve()
    for parent, folders, files in os.walk(whole):
        for name in (*folders, *files):
            member = Path(parent, name)
            if member.is_symlink() and not member.resolve().is_relative_to(whole):
                raise DataError(
                    f"A zarr store must have all of its data itself; {member} is a symbolic link "
                    "to another folder. Copy the store with its data, without links."
                )


def _metadata_files(folder: Path) -> list[Path]:
    return [folder / name for name in ZARR_METADATA if (folder / name).is_file()]


GRAPH_WARNING = "distributed.admin.large-graph-warning-threshold"
CHUNKS_IN_FLIGHT = 64
"""Chunks whose results are computed at a time, which bounds the memory of the results. Chosen."""


class DaskRows(Rows):
    """Rows of a Dask array whose chunks have known sizes and contain whole rows."""

    n_sampled = N_SAMPLED  # of values: the names of some collections differ between processes
    advice = "Impute such values, exclude the column, or drop the rows with dropna beforehand."

    def __init__(self, array: Any, *, column_names: tuple[str, ...] | None = None) -> None:
        super().__init__(SourceFiles("X"), array.shape, array.dtype, column_names=column_names)
        self._dask = require("dask", "dask", "Reading a Dask collection")
        self._array = array if array.numblocks[1] == 1 else array.rechunk({1: -1})

    def _read(self, start: int, stop: int) -> Array:
        return _as_values(self._array[start:stop].compute(), self.dtype)

    def _take(self, indices: Indices) -> Array:
        return _as_values(self._array[indices].compute(), self.dtype)

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield the results of a function on the chunks, in order; it runs where these are."""
        # Without `persist`, the function would be sent again with every chunk.
        with self._quiet_graphs():
            applied = partial(_apply_checked, function, self._without_array())
            sent = self._dask.delayed(applied, traverse=False).persist()
        firsts = [0, *accumulate(self._array.chunks[0][:-1])]
        chunks = list(zip(self._array.to_delayed()[:, 0], firsts, strict=True))
        for start in range(0, len(chunks), CHUNKS_IN_FLIGHT):
            part = chunks[start : start + CHUNKS_IN_FLIGHT]
            yield from self._dask.compute(*(sent(*chunk) for chunk in part))

    def _quiet_graphs(self) -> AbstractContextManager[object]:
        """Return a context without warnings about large graphs: a function may contain a model."""
        if "distributed" not in sys.modules:  # leaving the context would undo its import's settings
            return nullcontext()
        quiet: AbstractContextManager[object] = self._dask.config.set({GRAPH_WARNING: "1TB"})
        return quiet

    def _without_array(self) -> Self:
        """Return a small copy for the workers, which only checks values and words errors."""
        light = copy(self)
        light._array = light._dask = None
        light.side = {}
        return light


def _apply_checked(
    function: Callable[[Points], Array], rows: DaskRows, chunk: Any, first: int
) -> Array:
    block = _as_values(chunk, rows.dtype)
    rows._check_finite(block, range(first, first + len(block)))
    return function(block)


def _as_values(chunk: Any, dtype: np.dtype[Any]) -> Array:
    """Return the values of a chunk; masked ones are NaN, for which integers become float64."""
    if np.ma.is_masked(chunk):
        wide = np.result_type(dtype, np.float16 if dtype.kind == "f" else np.float64)
        return np.ma.filled(chunk.astype(wide), np.nan)
    return np.asarray(chunk, dtype=dtype)


def is_dask(source: Any) -> bool:
    """Return whether an object is a Dask collection, without importing Dask."""
    return type(source).__module__.startswith("dask") and hasattr(source, "dask")


def open_dask(source: Any, request: Request) -> DaskRows:
    """Return the rows of a Dask array or data frame; unknown chunk sizes are computed once."""
    if hasattr(source, "columns"):
        return _open_dask_frame(source, request)
    if any(np.isnan(size) for size in source.chunks[0]):
        source = source.copy().compute_chunk_sizes()  # works in place; the original must not change
    return DaskRows(source)


def _open_dask_frame(frame: Any, request: Request) -> DaskRows:
    columns, dtypes = list(frame.columns), list(frame.dtypes)
    types = [None if getattr(d, "kind", "O") in "buif" else str(d) for d in dtypes]
    selection = select_columns(columns, types, request, "X")
    # Nullable types become float64, which has NaN.
    chosen = (dtypes[index] for index in selection.indices)
    numpy_dtypes = [d if isinstance(d, np.dtype) else np.dtype(np.float64) for d in chosen]
    values = frame[list(selection.names)].astype(np.result_type(*numpy_dtypes))
    first = frame[columns[:1]]  # of a Parquet file, only this column is read
    lengths = tuple(first.map_partitions(len).compute().tolist())
    names = string_names(selection.names)
    rows = DaskRows(values.to_dask_array(lengths=lengths), column_names=names)
    rows.left_out = selection.left_out
    rows.side = {name: partial(_side_column, frame[name]) for name in selection.others}
    return rows


def _side_column(column: Any) -> Array:
    values = column.compute()
    if values.isna().any():
        return as_integers_or_text(values.to_numpy(dtype=object, na_value=None))
    return as_integers_or_text(values.to_numpy())
