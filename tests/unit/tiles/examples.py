"""Rows in and around a square, and tiles of them."""

import numpy as np

from isosne.tiles import TileMap
from isosne.tiles.bins import bin_rows, write_bins
from isosne.tiles.grid import Grid
from isosne.tiles.pyramid import PartBins, Pyramid
from isosne.tiles.tile_map import TileHeader, write_tile_header

GRID = Grid(-1.0, -2.0, 4.0, 3)
CLASSES = ("", "a", "b")


def make_rows(n=600):
    """Places, classes and values; some values are missing, some rows outside."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(n, 2), scale=0.7).astype(np.float32) + np.float32([1, 0])
    Y[:3] = [[9, 0], [0, 9], [-2, 0]]
    Y[3 : n // 2] = Y[n // 2 : n - 3]  # pixels with more than one row
    classes = rng.integers(0, 3, n)
    values = rng.normal(size=n)
    values[rng.random(n) < 0.2] = np.nan
    return Y, classes, values


def bins_of(Y, classes, values):
    """Count rows."""
    pixels, inside = GRID.pixels_of(Y)
    return bin_rows(pixels, classes[inside], values[inside, None])


def build(folder, rows, n_parts=1, *, label="kind", classes=CLASSES, value="v"):
    """Write tiles of rows that come in parts."""
    folder.mkdir()
    parts = []
    for k, chosen in enumerate(np.array_split(np.arange(len(rows[0])), n_parts)):
        path = folder / f"{k}.bins"
        with path.open("wb") as file:
            write_bins(file, bins_of(*(column[chosen] for column in rows)), GRID.n_tiles)
        parts.append(PartBins(path, np.arange(3, dtype=np.uint16)))
    Pyramid(folder, GRID, 1).build(parts)
    n_outside = int((~GRID.pixels_of(rows[0])[1]).sum())
    about = (label, classes, (value,), len(rows[0]), n_outside, "")
    write_tile_header(folder, TileHeader(tuple(GRID[:3]), GRID.levels, *about))
    return TileMap(folder)
