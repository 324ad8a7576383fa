"""The files of tiles: one per tile that is not empty, in a folder per level."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isosne._archive import read_archive, reading_archive, write_archive
from isosne._files import writing_to
from isosne._types import Array
from isosne.tiles.bins import Bins, bin_type
from isosne.tiles.grid import TILE_PIXELS, deinterleave

KIND = "tile"


def tile_path(folder: Path, level: int, tile: int) -> Path:
    """Return the file of a tile by its position along the Z-order curve."""
    column, row = (int(part[0]) for part in deinterleave([tile]))
    return folder / str(level) / f"{column}-{row}.tile"


def write_tile(path: Path, bins: Bins) -> None:
    """Write the bins of a tile, whose pixels are relative to the tile."""
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    names = bins.dtype.names or ()
    write_archive(path, KIND, {}, {name: _compact(bins[name]) for name in names})


def read_tile(path: Path, n_values: int) -> Bins:
    """Return the bins of a tile; none if the file does not exist."""
    kind = bin_type(n_values)
    if not path.exists():
        return np.empty(0, kind)
    arrays = read_archive(path, KIND).arrays
    with reading_archive(path, KIND):
        bins: Bins = np.empty(len(arrays["pixel"]), kind)
        for name in kind.names or ():
            bins[name] = arrays[name]
        _check(bins["pixel"])
    return bins


def _compact(column: Array) -> Array:
    """Return integers in the smallest type that holds them."""
    if column.dtype.kind == "f" or column.size == 0:
        return column
    return column.astype(np.min_scalar_type(column.max()))


def _check(pixels: NDArray[np.uint32]) -> None:
    is_sorted = bool((pixels[1:] >= pixels[:-1]).all())
    if not is_sorted or (len(pixels) and pixels[-1] >= TILE_PIXELS):
        raise ValueError("its pixels are not those of a tile")
