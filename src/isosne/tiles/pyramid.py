"""From the bins of all parts to tiles at every level.

The finest level is added up from the files of the parts, some tiles at a time. Each coarser level
is added up from the tiles below it. The memory does not depend on the number of rows or parts.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isosne._types import Array
from isosne.tiles.bins import Bins, add_up, bin_type, read_bins
from isosne.tiles.grid import TILE_PIXELS, Grid
from isosne.tiles.tile_files import read_tile, tile_path, write_tile

TILES_AT_A_TIME = 4
"""Tiles that are added up together: 262,144 pixels. Adding up takes about 90 bytes per bin, so the
peak is some 50 MB per class in a pixel. Chosen."""
HELD_BINS = 250_000
"""Bins of parts that are held before they are added up, if there are fewer in all. Chosen."""


class PartBins(NamedTuple):
    """The file with the bins of a part, and for each of its classes the class of the whole."""

    path: Path
    classes: Array


class Pyramid(NamedTuple):
    """Where tiles are written, and what they count."""

    folder: Path
    grid: Grid
    n_values: int

    def build(self, parts: Sequence[PartBins]) -> None:
        """Write all tiles."""
        n_tiles = self.grid.n_tiles
        for first in range(0, n_tiles, TILES_AT_A_TIME):
            tiles = range(first, min(first + TILES_AT_A_TIME, n_tiles))
            bins = self._sum(self._read_parts(parts, tiles))
            for tile in tiles:
                edges = np.array([tile, tile + 1], np.int64) * TILE_PIXELS
                low, high = np.searchsorted(bins["pixel"], edges)
                self._write(self.grid.finest, tile, bins[low:high])
        for level in range(self.grid.finest - 1, -1, -1):
            for tile in range(4**level):
                self._write(level, tile, self._sum(self._tiles_below(level, tile)))

    def _read_parts(self, parts: Sequence[PartBins], tiles: range) -> Iterator[Bins]:
        """Yield the bins of each part in some tiles, with the classes of the whole."""
        for path, classes in parts:
            bins = read_bins(path, self.n_values, tiles, self.grid.n_tiles).copy()
            bins["class"] = classes[bins["class"]]
            yield bins

    def _tiles_below(self, level: int, tile: int) -> Iterator[Bins]:
        """Yield the bins of the four finer tiles of a tile, with the pixels of that tile."""
        for quarter in range(4):
            finer = tile_path(self.folder, level + 1, 4 * tile + quarter)
            bins = read_tile(finer, self.n_values)
            bins["pixel"] = quarter * (TILE_PIXELS // 4) + bins["pixel"] // 4
            yield bins

    def _sum(self, coming: Iterator[Bins]) -> Bins:
        """Return the sum of bins; a bounded number of them is held at a time."""
        total: Bins = np.empty(0, bin_type(self.n_values))
        held: list[Bins] = []
        n_held = 0
        for bins in coming:
            held.append(bins)
            n_held += len(bins)
            if n_held > max(HELD_BINS, len(total)):
                total, held, n_held = add_up([total, *held]), [], 0
        return add_up([total, *held])

    def _write(self, level: int, tile: int, bins: Bins) -> None:
        """Write a tile, unless it is empty."""
        if len(bins):
            bins["pixel"] %= TILE_PIXELS
            write_tile(tile_path(self.folder, level, tile), bins)
