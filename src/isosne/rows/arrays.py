"""Rows of arrays, dense or CSR: in memory, in .npy files and zarr stores; of Dask collections.

Values that are contiguous in a file are read, not mapped: pages of a memory map count as memory of
the process, and a mapped file that is truncated kills it (docs/decisions/0008-landmarks.md). Of a
Dask collection, only the rows that are asked for are transferred to this process.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

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

N_SAMPLED, N_SAMPLED_ON_DISK = 64, 3
"""Rows in the fingerprint of an array, in memory and on disk, where each may take a chunk."""
GAP_BYTES, WINDOW_BYTES = 16_384, 4_000_000
"""Largest gap that is read and dropped instead of a seek, and largest read with gaps. Chosen."""
INDPTR_BYTES = 8
"""Bytes of a row in ``indptr``, which is int64."""


class ArrayRows(Rows):
    """Rows of an array in memory, or of any object with ``shape``, ``dtype`` and slicing."""

    def __init__(
        self, files: SourceFiles, array: Any, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(files, array.shape, array.dtype, column_names=column_names)
        self._array = array
        self._is_in_memory = isinstance(array, np.ndarray)
        self.n_sampled = N_SAMPLED if self._is_in_memory else N_SAMPLED_ON_DISK
        self._gap, self._window = GAP_BYTES // self.row_bytes, WINDOW_BYTES // self.row_bytes
        if chunks := getattr(array, "chunks", None):  # one read per chunk
            self._gap = self._window = int(chunks[0])

    def _read(self, start: int, stop: int) -> Array:
        block = self._array[start:stop]
        if isinstance(block, np.memmap):
            return np.array(block, dtype=self.dtype, subok=False)
        return np.asarray(block, dtype=self.dtype)

    def _take(self, indices: Indices) -> Array:
        if self._is_in_memory:
            return np.asarray(self._array[indices], dtype=self.dtype)
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        for run in group_nearby(indices, indices + 1, max_gap=self._gap, window=self._window):
            first, last = int(indices[run.start]), int(indices[run.stop - 1])
            out[run] = self._read(first, last + 1)[indices[run] - first]
        return out


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
        self._entry_bytes = self.dtype.itemsize + np.dtype(indices.dtype).itemsize
        self.row_bytes = INDPTR_BYTES + int(self._indptr[-1]) * self._entry_bytes // self.shape[0]

    def _read(self, start: int, stop: int) -> csr_array:
        low, high = int(self._indptr[start]), int(self._indptr[stop])
        data = np.asarray(self._data[low:high]).astype(self.dtype, copy=False)
        columns, indptr = np.asarray(self._indices[low:high]), self._indptr[start : stop + 1] - low
        check_indices(columns, self.shape[1], self.files.name)
        block = csr_array((data, columns, indptr), shape=(stop - start, self.shape[1]))
        if not block.has_canonical_format:
            block = block.copy()  # sum_duplicates works in place; the source must not change
            block.sum_duplicates()
        return block

    def _take(self, indices: Indices) -> csr_array:
        if len(indices) == 0:
            return self._read(0, 0)
        starts, stops = self._indptr[indices], self._indptr[indices + 1]
        gap, window = GAP_BYTES // self._entry_bytes, WINDOW_BYTES // self._entry_bytes
        parts = []
        for run in group_nearby(starts, stops, max_gap=gap, window=window):
            first, last = int(indices[run.start]), int(indices[run.stop - 1])
            parts.append(self._read(first, last + 1)[indices[run] - first])
        return vstack(parts, format="csr")


def group_nearby(starts: Indices, stops: Indices, *, max_gap: int, window: int) -> Iterator[slice]:
    """Yield slices of consecutive ranges that are faster to read together than one by one.

    The ranges are in ascending order. Within a slice they are at most `max_gap` apart and start
    in the same window of size `window`, which bounds the size of a read.
    """
    windows = starts // max(1, window)
    is_new = (starts[1:] - stops[:-1] > max_gap) | (windows[1:] != windows[:-1])
    bounds = [0, *(np.flatnonzero(is_new) + 1).tolist(), len(starts)]
    yield from (slice(low, high) for low, high in pairwise(bounds) if low < high)


class _StoredArray:
    """A two-dimensional array in a file, in C order, whose rows are read by slices."""

    def __init__(self, path: Path, offset: int, header: Header) -> None:
        self.shape, self.dtype, self._path, self._offset = header.shape, header.dtype, path, offset

    def __getitem__(self, rows: slice) -> Array:
        n_rows, n_columns = rows.stop - rows.start, self.shape[1]
        offset = self._offset + rows.start * n_columns * self.dtype.itemsize
        values = np.fromfile(self._path, self.dtype, n_rows * n_columns, offset=offset)
        return values.reshape(n_rows, n_columns)  # an error if the file has ended


def open_npy(path: Path) -> Rows:
    """Return the rows of an .npy file; one in Fortran order is mapped."""
    files = SourceFiles(str(path), path)
    with files.reading(), path.open("rb") as file:
        header, offset = read_header(file), file.tell()
        if header.is_fortran:
            return ArrayRows(files, np.load(path, mmap_mode="r"))
        rows = ArrayRows(files, _StoredArray(path, offset, header))
        needed, n_bytes = offset + header.n_bytes, path.stat().st_size
        if n_bytes < needed:
            raise DataError(
                f"{path} must have {needed:,} bytes according to its header; got {n_bytes:,}. "
                "The file is truncated: write or copy it again."
            )
        return rows


ZARR_METADATA = ("zarr.json", ".zarray", ".zgroup")
"""Files that mark a folder as zarr: version 3, and arrays and groups of version 2. The other files
are too many to check for changes."""


def is_zarr(path: Path) -> bool:
    """Return whether a folder is a zarr array or group."""
    return bool(_metadata_files(path))


def open_zarr(path: Path, key: str | None) -> ArrayRows:
    """Return the rows of a zarr array, or of the array of a group that ``key`` names."""
    zarr = require("zarr", "zarr", f"Reading {path}")
    files = SourceFiles(str(path), *_metadata_files(path))
    if not files.paths:
        raise DataError(
            f"{path} must be a folder that zarr wrote; it has no {' or '.join(ZARR_METADATA)}. "
            "Name the folder of an array or a group."
        )
    _check_links(path)
    with files.reading():
        array = zarr.open(path, mode="r")
        if isinstance(array, zarr.Group):
            names = sorted(array.array_keys())
            key = names[0] if key is None and len(names) == 1 else key or ""
            check_column(key, names, "key", str(path), what="an array")
            array, files = array[key], SourceFiles(str(path), *_metadata_files(path / key))
        return ArrayRows(files, array)


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
        light = copy(self)  # for the workers: it only checks values and words errors
        light._array, light._dask, light.side = None, None, {}
        applied = partial(_apply_checked, function, light)
        with warnings.catch_warnings():  # a function may contain a model
            warnings.filterwarnings("ignore", "Sending large graph")
            # Without `persist`, the function would be sent again with every chunk.
            sent = self._dask.delayed(applied, traverse=False).persist()
        firsts = [0, *accumulate(self._array.chunks[0][:-1])]
        chunks = list(zip(self._array.to_delayed()[:, 0], firsts, strict=True))
        for start in range(0, len(chunks), CHUNKS_IN_FLIGHT):
            part = chunks[start : start + CHUNKS_IN_FLIGHT]
            yield from self._dask.compute(*(sent(*chunk) for chunk in part))


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
    missing = {"dtype": object, "na_value": None} if values.isna().any() else {}
    return as_integers_or_text(values.to_numpy(**missing))
