"""Step 2, first half: rows of similarity become conditional probabilities (Eq. 2 and 9)."""

import numpy as np
from numpy.typing import NDArray


def conditional_rows(layers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows that sum to one: each layer normalized, then their mean; layers is overwritten.

    layers (n_scales, n_rows, m) holds no similarity of a point to itself. A layer in which a row is
    empty is left out of that row's mean; a row that is empty in all layers stays zero.
    """
    sums = layers.sum(axis=2, keepdims=True, dtype=np.float64)
    filled = sums > 0
    n_filled = np.maximum(filled.sum(axis=0), 1)
    layers *= np.where(filled, 1 / (np.where(filled, sums, 1) * n_filled), 0).astype(np.float32)
    mean: NDArray[np.float32] = layers.sum(axis=0)
    return mean
