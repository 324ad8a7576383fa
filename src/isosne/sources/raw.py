"""Values that lie in a file one after the other: .npy, mapped arrays, arrays stored in .npz.

They are read, not mapped: pages of a mapping count as memory of the process for as long as it
stands, and a mapped file that is cut short ends the process.
"""

import mmap
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.stored import Indices, StoredRows, near
from isosne.sources.watched import WatchedFiles

GAP_BYTES = 16_384
"""Bytes that are rather read and dropped than skipped."""
LONGEST_BYTES = 4_000_000
"""Bytes that are read together at most."""


class Header(NamedTuple):
    """What the header of an .npy file says."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]


class RawVector:
    """Consecutive values of a file that are read by slices."""

    def __init__(self, path: Path, offset: int, n_values: int, dtype: np.dtype[Any]) -> None:
        self.path, self.offset, self.n_values, self.dtype = path, offset, n_values, dtype
        needed, found = offset + n_values * dtype.itemsize, path.stat().st_size
        if found < needed:
            raise DataError(
                f"{path} must have {needed:,} bytes, as its header says; got {found:,}. "
                "It was cut short: write or copy it again."
            )

    def __getitem__(self, part: slice) -> Array:
        with self.path.open("rb", buffering=0) as file:
            return self.fetch(file, part.start, part.stop)

    def fetch(self, file: BinaryIO, start: int, stop: int) -> Array:
        """Return the values from start up to stop, by way of an open file."""
        file.seek(self.offset + start * self.dtype.itemsize)
        values = np.fromfile(file, self.dtype, stop - start)
        if len(values) < stop - start:
            raise EOFError("the file ends early")
        return values


class RawRows(StoredRows):
    """Rows of a two-dimensional array of a file, in the order of C or of Fortran."""

    def __init__(self, watched: WatchedFiles, path: Path, offset: int, header: Header) -> None:
        super().__init__(watched, header.shape, header.dtype)
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

    def _take(self, wanted: Indices) -> Array:
        n_rows, n_columns = self.shape
        out = np.empty((len(wanted), n_columns), self.dtype)
        with self._values.path.open("rb", buffering=0) as file:
            if not self._is_fortran:
                self._gather(file, wanted, 0, n_columns, out)
                return out
            for c in range(n_columns):
                self._gather(file, wanted, c * n_rows, 1, out[:, c : c + 1])
        return out

    def _gather(
        self, file: BinaryIO, wanted: Indices, first: int, n_values: int, out: Array
    ) -> None:
        """Fill ``out`` with pieces of n_values each, numbered from ``first`` on."""
        piece_bytes = n_values * self.dtype.itemsize
        gap, longest = GAP_BYTES // piece_bytes, LONGEST_BYTES // piece_bytes
        for run in near(wanted, wanted + 1, gap=gap, longest=longest):
            low, high = int(wanted[run.start]), int(wanted[run.stop - 1]) + 1
            start, stop = first + low * n_values, first + high * n_values
            found = self._values.fetch(file, start, stop).reshape(-1, n_values)
            out[run] = found[wanted[run] - low]


def read_header(file: Any) -> Header:
    """Return what an .npy header says; the file then stands at the first value."""
    version = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    return Header(*read(file))


def open_npy(path: Path) -> RawRows:
    """Return the rows of an .npy file."""
    watched = WatchedFiles(str(path), path)
    with watched.reading(), path.open("rb") as file:
        header = read_header(file)
        return RawRows(watched, path, file.tell(), header)


def open_memmap(X: np.memmap[Any, Any]) -> RawRows | None:
    """Return the rows of the file behind a mapped array, or None if it shows only a part of it."""
    is_whole = isinstance(X.base, mmap.mmap) and X.mode == "r" and X.flags.forc
    if X.filename is None or not is_whole:
        return None
    path = Path(X.filename)
    header = Header(X.shape, not X.flags.c_contiguous, X.dtype)
    return RawRows(WatchedFiles(str(path), path), path, X.offset, header)
