"""Rows of chunked arrays: zarr arrays and HDF5 data sets."""

from pathlib import Path
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.column_selection import check_column
from isosne.sources.row_source import Indices, RowSource
from isosne.sources.source_files import SourceFiles

CHUNK_BYTES = 1_000_000
"""Bytes that are read at a time from an array without chunks. Chosen, not
measured."""
ZARR_METADATA = ("zarr.json", ".zarray", ".zgroup")
"""Files that mark a folder as zarr: version 3, and arrays and groups of version 2."""


class ChunkedRows(RowSource):
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

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        for row in (0, self.shape[0] // 2, self.shape[0] - 1):
            digest.update(np.ascontiguousarray(self._read(row, row + 1)).tobytes())


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
    with SourceFiles(str(path), *metadata).reading():
        found = zarr.open(path, mode="r")
        if isinstance(found, zarr.Group):
            names = sorted(found.array_keys())
            if key is None and len(names) == 1:
                key = names[0]
            check_column(key or "", names, "key", str(path), what="an array")
            folder, found = path / str(key), found[key]
        return ZarrRows(SourceFiles(str(path), *_metadata_files(folder)), found)


def wrap_zarr_array(array: Any) -> ZarrRows:
    """Return the rows of a zarr array that is already open."""
    return ZarrRows(SourceFiles("X"), array)


def _metadata_files(folder: Path) -> list[Path]:
    return [folder / name for name in ZARR_METADATA if (folder / name).is_file()]
