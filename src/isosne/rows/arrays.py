"""Rows of arrays, dense or CSR: in memory, in .npy files and zarr stores.

Values that are contiguous in a file are read, not mapped: pages of a memory map count as memory of
the process, and a mapped file that is truncated kills it (docs/decisions/0008-landmarks.md).
"""

import mmap
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from isosne._archive import Header, read_header
from isosne._csr import check_indices, check_indptr, refuse_structure
from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.rows.columns import check_column
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
    """CSR rows; ``indptr`` is in memory, ``indices`` and ``data`` support slices.

    They are arrays, parts of a file, or HDF5 data sets.
    """

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


class RawVector:
    """Consecutive values in a file that are read by slices."""

    def __init__(self, path: Path, offset: int, n_values: int, dtype: np.dtype[Any]) -> None:
        self.path, self.offset, self.shape, self.dtype = path, offset, (n_values,), dtype
        needed, found = offset + n_values * dtype.itemsize, path.stat().st_size
        if found < needed:
            raise DataError(
                f"{path} must have {needed:,} bytes according to its header; got {found:,}. "
                "The file is truncated: write or copy it again."
            )

    def __getitem__(self, part: slice) -> Array:
        with self.path.open("rb", buffering=0) as file:
            return self.fetch(file, part.start, part.stop)

    def fetch(self, file: BinaryIO, start: int, stop: int) -> Array:
        """Return the values from `start` up to `stop`, read from an open file."""
        file.seek(self.offset + start * self.dtype.itemsize)
        values = np.fromfile(file, self.dtype, stop - start)
        if len(values) < stop - start:
            raise EOFError("unexpected end of file")
        return values


class RawRows(Rows):
    """Rows of a two-dimensional array in a file, in C or Fortran order."""

    def __init__(self, files: SourceFiles, path: Path, offset: int, header: Header) -> None:
        super().__init__(files, header.shape, header.dtype)
        self._is_fortran = header.is_fortran
        n_values = self.shape[0] * self.shape[1]
        self._values = RawVector(path, offset, n_values, header.dtype)

    def _read(self, start: int, stop: int) -> Array:
        if self._is_fortran:
            return self._take(np.arange(start, stop))
        n_columns = self.shape[1]
        values = self._values[start * n_columns : stop * n_columns]
        return values.reshape(-1, n_columns).astype(self.dtype, copy=False)

    def _take(self, indices: Indices) -> Array:
        n_rows, n_columns = self.shape
        out = np.empty((len(indices), n_columns), self.dtype)
        with self._values.path.open("rb", buffering=0) as file:
            if not self._is_fortran:
                self._gather(file, indices, 0, n_columns, out)
                return out
            for c in range(n_columns):
                self._gather(file, indices, c * n_rows, 1, out[:, c : c + 1])
        return out

    def _gather(
        self, file: BinaryIO, indices: Indices, first: int, n_values: int, out: Array
    ) -> None:
        """Fill ``out`` with the records of `n_values` values at `indices`, counted from `first`."""
        record_bytes = n_values * self.dtype.itemsize
        max_gap, window = GAP_BYTES // record_bytes, WINDOW_BYTES // record_bytes
        for run in group_nearby(indices, indices + 1, max_gap=max_gap, window=window):
            low, high = int(indices[run.start]), int(indices[run.stop - 1]) + 1
            start, stop = first + low * n_values, first + high * n_values
            values = self._values.fetch(file, start, stop).reshape(-1, n_values)
            out[run] = values[indices[run] - low]


def open_npy(path: Path) -> RawRows:
    """Return the rows of an .npy file."""
    files = SourceFiles(str(path), path)
    with files.reading(), path.open("rb") as file:
        header = read_header(file)
        return RawRows(files, path, file.tell(), header)


def open_memmap(X: np.memmap[Any, Any]) -> RawRows | None:
    """Return the rows of the file behind a memory map, or None for a view of a part of it."""
    is_whole = isinstance(X.base, mmap.mmap) and X.mode == "r" and X.flags.forc
    if X.filename is None or not is_whole:
        return None
    path = Path(X.filename)
    header = Header(X.shape, not X.flags.c_contiguous, X.dtype)
    return RawRows(SourceFiles(str(path), path), path, X.offset, header)


CHUNK_BYTES = 1_000_000
"""Bytes that are read at a time from an array without chunks. Chosen, not
measured."""
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
        found = zarr.open(path, mode="r")
        if isinstance(found, zarr.Group):
            names = sorted(found.array_keys())
            if key is None and len(names) == 1:
                key = names[0]
            check_column(key or "", names, "key", str(path), what="an array")
            folder, found = path / str(key), found[key]
        return ZarrRows(SourceFiles(str(path), *_metadata_files(folder)), found)


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
