"""Joint probabilities of all pairs: one byte per pair if similarities are counts, else float32.

A point that shares no cell with any other point has an empty row, for which Eq. 9 divides by zero.
It is connected to its nearest neighbor with the smallest similarity, one shared cell, so that P
stays finite and the point stays near its neighbor (docs/departures.md).
"""

import numpy as np
from numpy.typing import NDArray

from isosne._types import CountRows, DenseMatrix, Kernel, SimilarityRows
from isosne.affinities.conditional import conditional_rows
from isosne.affinities.symmetrize import symmetrize

BLOCK_BYTES = 2**24
"""Bytes of similarity rows that are normalized together: 16 MB, no slower than 32 (chosen)."""


def dense_affinities(kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of all pairs, and the indices of points with an empty row."""
    rows = kernel.rows()
    if isinstance(rows, CountRows) and rows.n_scales == 1:
        return count_affinities(rows, kernel)
    return full_affinities(rows, kernel)


def count_affinities(rows: CountRows, kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return probabilities as counts and a factor per point; the largest array has n^2 counts."""
    n = rows.n_points
    counts = rows.counts(slice(0, n))
    np.fill_diagonal(counts, 0)
    isolated = np.flatnonzero(counts.sum(axis=1, dtype=np.int64) == 0)
    if len(isolated):
        others = kernel.nearest_others(isolated)
        counts[isolated, others] = 1
        counts[others, isolated] = 1
    # p_ij = count_ij (f_i + f_j) with f_i = 1 / (2n row sum): Eq. 9 and 3 in one step.
    row_sums = counts.sum(axis=1, dtype=np.int64)
    return DenseMatrix(counts, (0.5 / n / row_sums).astype(np.float32)), isolated


def full_affinities(rows: SimilarityRows, kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return probabilities as float32; each scale is normalized by row, then averaged."""
    n = rows.n_points
    P = np.empty((n, n), np.float32)
    step = max(1, BLOCK_BYTES // (4 * n * rows.n_scales))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        P[block] = _conditional_block(rows, block)
    isolated = np.flatnonzero(~P.any(axis=1))
    if len(isolated):
        P[isolated, kernel.nearest_others(isolated)] = 1
    symmetrize(P)
    return DenseMatrix(P, np.full(n, 0.5, np.float32)), isolated


def _conditional_block(rows: SimilarityRows, block: slice) -> NDArray[np.float32]:
    """Return p_{j|i} of a block of rows; its layers are freed before those of the next block."""
    layers = rows.block(block)
    own = np.arange(block.start, block.stop)
    layers[:, own - block.start, own] = 0  # p_{i|i} = 0 (Eq. 2)
    return conditional_rows(layers)
