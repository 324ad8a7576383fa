"""An order of points in which neighbors in the map follow each other: Morton's curve."""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

BITS = 10
"""Cells of a side, as a power of two."""


def curve_order(Y: NDArray[np.float32]) -> Array:
    """Return the points of a map (d, n) cell by cell, along a curve that visits them all."""
    low = Y.min(axis=1, keepdims=True).astype(np.float64)
    width = float((Y.max(axis=1, keepdims=True) - low).max())
    if not np.isfinite(width) or width == 0:
        return np.arange(Y.shape[1])
    scale = (2**BITS - 1) / width
    codes = np.zeros(Y.shape[1], np.uint32)
    for axis, cells in enumerate((scale * (Y - low)).astype(np.uint32)):
        for bit in range(BITS):
            codes |= ((cells >> bit) & 1) << (bit * len(Y) + axis)
    return np.argsort(codes, kind="stable")
