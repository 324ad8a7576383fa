"""Rows of arrays that lie in chunks: zarr, and data sets of HDF5."""

from pathlib import Path
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.sources.columns import check_column
from isosne.sources.stored import Indices, StoredRows
from isosne.sources.watched import WatchedFiles

PIECE_BYTES = 1_000_000
"""Bytes that are read together where an array has no chunks."""
ZARR_MARKS = ("zarr.json", ".zarray", ".zgroup")


class ChunkedRows(StoredRows):
    """Rows of anything with ``shape``, ``dtype``, ``chunks`` and slices."""

    def __init__(
        self, watched: WatchedFiles, array: Any, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(watched, array.shape, array.dtype, column_names=column_names)
        self._array = array
        self._chunk = int(array.chunks[0]) if array.chunks else PIECE_BYTES // self.row_bytes + 1

    def _read(self, start: int, stop: int) -> Array:
        return np.asarray(self._array[start:stop], dtype=self.dtype)

    def _take(self, wanted: Indices) -> Array:
        out = np.empty((len(wanted), self.shape[1]), self.dtype)
        chunks = wanted // self._chunk
        for c in np.unique(chunks).tolist():
            low, high = np.searchsorted(chunks, [c, c + 1])
            first, last = int(wanted[low]), int(wanted[high - 1])
            out[low:high] = self._array[first : last + 1][wanted[low:high] - first]
        return out


class ZarrRows(ChunkedRows):
    """Rows of a zarr array; the fingerprint looks at rows, as chunks are many files."""

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        for row in (0, self.shape[0] // 2, self.shape[0] - 1):
            digest.update(np.ascontiguousarray(self._read(row, row + 1)).tobytes())


def is_zarr(path: Path) -> bool:
    """Return whether a folder holds a zarr array or group."""
    return path.is_dir() and any((path / mark).is_file() for mark in ZARR_MARKS)


def open_zarr(path: Path, key: str | None) -> ZarrRows:
    """Return the rows of a zarr array, or of the array of a group that ``key`` names."""
    zarr = require("zarr", "zarr", str(path))
    place = path
    watched = WatchedFiles(str(path), *_marks(path))
    with watched.reading():
        found = zarr.open(path, mode="r")
        if isinstance(found, zarr.Group):
            names = sorted(found.array_keys())
            if key is None and len(names) == 1:
                key = names[0]
            check_column(key or "", names, "key", str(path), what="an array")
            place, found = path / str(key), found[key]
        return ZarrRows(WatchedFiles(str(path), *_marks(place)), found)


def zarr_array(array: Any) -> ZarrRows:
    """Return the rows of a zarr array that is open already."""
    return ZarrRows(WatchedFiles("X"), array)


def _marks(path: Path) -> list[Path]:
    return [path / mark for mark in ZARR_MARKS if (path / mark).is_file()]
