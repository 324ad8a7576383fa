"""Rows of arrays whose values are contiguous in a file: .npy, memory maps, uncompressed .npz.

Files are read, not mapped: pages of a memory map count as memory of the process, and a mapped file
that is truncated kills the process (docs/decisions/0008-landmarks.md).
"""

import mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isosne._npy import Header, read_header
from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.row_source import Indices, RowSource, group_nearby
from isosne.sources.source_files import SourceFiles

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


class RawRows(RowSource):
    """Rows of a two-dimensional array in a file, in C or Fortran order."""

    def __init__(self, files: SourceFiles, path: Path, offset: int, header: Header) -> None:
        super().__init__(files, header.shape, header.dtype)
        self._is_fortran = header.is_fortran
        n_values = self.shape[0] * self.shape[1]
        self._values = RawVector(path, offset, n_values, header.dtype)

    def _read(self, start: int, stop: int) -> Array:
        n_rows, n_columns = self.shape
        with self._values.path.open("rb", buffering=0) as file:
            if not self._is_fortran:
                found = self._values.fetch(file, start * n_columns, stop * n_columns)
                return found.reshape(-1, n_columns).astype(self.dtype, copy=False)
            out = np.empty((stop - start, n_columns), self.dtype)
            for c in range(n_columns):
                out[:, c] = self._values.fetch(file, c * n_rows + start, c * n_rows + stop)
        return out

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
            found = self._values.fetch(file, start, stop).reshape(-1, n_values)
            out[run] = found[indices[run] - low]


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
