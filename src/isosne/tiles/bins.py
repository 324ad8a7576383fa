"""Rows of a map counted by pixel and class, with sums of values: what tiles are made of.

A bin is a record: pixel, class, number of rows, and for each value column the sum and the number of
rows that have a value. Bins are sorted by pixel, then by class, and no two have both in common.
Counts are integers, and sums are added in a fixed order, so that the result is the same to the
last bit however the work was divided.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from isosne._archive import reading_archive
from isosne._types import Array
from isosne.tiles.grid import TILE_PIXELS

Bins = NDArray[np.void]
"""A structured array; its fields are those of `bin_type`."""
CLASS_BITS = 16
START = np.dtype("<i8")
"""Type of the number of bins before a tile."""


def bin_type(n_values: int) -> np.dtype[Any]:
    """Return the type of bins with this number of value columns."""
    return np.dtype(
        [
            ("pixel", "<u4"),
            ("class", "<u2"),
            ("n", "<i8"),
            ("sum", "<f8", (n_values,)),
            ("n_values", "<i8", (n_values,)),
        ]
    )


def bin_rows(pixels: Array, classes: Array, values: Array) -> Bins:
    """Return the bins of some rows: pixels (n,), classes (n,) and values (n, m), NaN if missing."""
    rows = np.zeros(len(pixels), bin_type(values.shape[1]))
    known = np.isfinite(values)
    rows["pixel"], rows["class"], rows["n"] = pixels, classes, 1
    rows["sum"], rows["n_values"] = np.where(known, values, 0.0), known
    return add_up([rows])


def add_up(parts: Iterable[Bins]) -> Bins:
    """Return the bins of several sets of bins; equal ones are added in the order of the sets."""
    every = np.concatenate(list(parts))
    keys = (every["pixel"].astype(np.int64) << CLASS_BITS) | every["class"]
    distinct, where = np.unique(keys, return_inverse=True)
    found = np.zeros(len(distinct), every.dtype)
    found["pixel"] = distinct >> CLASS_BITS
    found["class"] = distinct & (2**CLASS_BITS - 1)

    def total(entries: Array) -> Array:
        # Adds one after the other. Counts are exact: they are below 2^53.
        return np.bincount(where, entries, minlength=len(distinct))

    found["n"] = total(every["n"])
    for c in range(every["sum"].shape[1]):
        found["sum"][:, c] = total(every["sum"][:, c])
        found["n_values"][:, c] = total(every["n_values"][:, c])
    return found


def write_bins(file: BinaryIO, bins: Bins, n_tiles: int) -> None:
    """Write bins, after the number of bins before each tile of the finest level."""
    starts = np.searchsorted(bins["pixel"], np.arange(n_tiles + 1, dtype=np.int64) * TILE_PIXELS)
    file.write(starts.astype(START).tobytes())
    file.write(bins.tobytes())


def read_bins(path: Path, n_values: int, tiles: range, n_tiles: int) -> Bins:
    """Return the bins of consecutive tiles from a file that `write_bins` has written."""
    kind = bin_type(n_values)
    with reading_archive(path, "part of the tiles"), path.open("rb") as file:
        low, high = (_read_start(file, tile) for tile in (tiles.start, tiles.stop))
        file.seek((n_tiles + 1) * START.itemsize + low * kind.itemsize)
        content = file.read((high - low) * kind.itemsize)
        return np.frombuffer(content, kind, high - low)


def _read_start(file: BinaryIO, tile: int) -> int:
    file.seek(tile * START.itemsize)
    return int(np.frombuffer(file.read(START.itemsize), START)[0])
