"""The pixels of a tiled map, and their order.

The map is covered by a square of 2^(levels - 1) x 2^(levels - 1) tiles of 256 x 256 pixels each at
the finest level. Pixels are numbered along a Z-order curve: the bits of column and row alternate.
The pixels of a tile are therefore consecutive, and the pixel of the next coarser level that holds a
pixel has its number divided by four.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

TILE_BITS = 8
TILE = 2**TILE_BITS
"""Pixels along the side of a tile."""
TILE_PIXELS = TILE**2
MOST_LEVELS = 8
"""Largest number of levels: 32,768 x 32,768 pixels, whose numbers have 30 bits."""
MARGIN = 0.05
"""Margin on each side of the map, relative to its longer side. Chosen: placed rows lie between
landmarks or near them."""
SPREAD = ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555))
"""Shifts and masks that put a zero before each of 16 bits."""


class Grid(NamedTuple):
    """A square with its lower left corner, and the number of levels that divide it."""

    left: float
    bottom: float
    side: float
    levels: int

    @classmethod
    def around(cls, embedding: Array, levels: int) -> "Grid":
        """Return the grid around a map, with a margin."""
        low, high = embedding.min(axis=0).astype(float), embedding.max(axis=0).astype(float)
        longer = float((high - low).max()) or 1.0  # one point, or all at the same place
        side = (1 + 2 * MARGIN) * longer
        left, bottom = ((low + high - side) / 2).tolist()
        return cls(left, bottom, side, levels)

    @property
    def finest(self) -> int:
        """The finest level; level 0 is one tile."""
        return self.levels - 1

    @property
    def n_tiles(self) -> int:
        """Number of tiles at the finest level."""
        return int(4**self.finest)

    def pixels_of(self, Y: Array) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Return the pixels of the points that are inside, and which points are inside."""
        n_pixels = TILE << self.finest
        places = (Y.astype(np.float64) - (self.left, self.bottom)) * (n_pixels / self.side)
        inside = ((places >= 0) & (places < n_pixels)).all(axis=1)
        columns, rows = places[inside].astype(np.uint32).T
        return interleave(columns, rows), inside


def interleave(columns: Any, rows: Any) -> NDArray[np.uint32]:
    """Return positions along the Z-order curve; columns and rows have at most 16 bits."""
    return _spread(columns) | (_spread(rows) << np.uint32(1))


def deinterleave(codes: Any) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the columns and rows of positions along the Z-order curve."""
    codes = np.asarray(codes, np.uint32)
    return _gather(codes), _gather(codes >> np.uint32(1))


def _spread(numbers: Any) -> NDArray[np.uint32]:
    """Put a zero before each bit."""
    found = np.asarray(numbers, np.uint32)
    for shift, mask in SPREAD:
        found = (found | (found << np.uint32(shift))) & np.uint32(mask)
    return found


def _gather(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Remove every second bit; the inverse of `_spread`."""
    found = codes & np.uint32(SPREAD[-1][1])
    masks = (*(mask for _, mask in SPREAD[-2::-1]), 0x0000FFFF)
    for shift, mask in zip((1, 2, 4, 8), masks, strict=True):
        found = (found | (found >> np.uint32(shift))) & np.uint32(mask)
    return found
