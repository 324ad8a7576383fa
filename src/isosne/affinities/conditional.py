"""Conditional probabilities: rows of similarity, normalized to sum to 1 (Eq. 2 and 9)."""

import numpy as np
from numpy.typing import NDArray


def conditional_rows(layers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows p_{j|i} that sum to 1: the mean over the scales, each normalized first.

    layers (n_scales, n_rows, m), overwritten, must not include the similarity of a point to itself.
    A scale in which a row is empty is left out of that row's mean; a row that is empty at all
    scales stays zero.
    """
    sums = layers.sum(axis=2, keepdims=True, dtype=np.float64)
    filled = sums > 0  # sums are float64: many small similarities must not be lost
    n_filled = np.maximum(filled.sum(axis=0), 1)
    layers *= np.where(filled, 1 / (np.where(filled, sums, 1) * n_filled), 0).astype(np.float32)
    mean: NDArray[np.float32] = layers[0] if len(layers) == 1 else layers.sum(axis=0)
    return mean
