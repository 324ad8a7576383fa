"""Joint probabilities of all pairs: one byte per pair if similarities are counts, else float32.

A point that shares no cell with any other point has an empty row, for which Eq. 9 divides by zero.
It is tied to its nearest neighbor j: p_{j|i} = 1, so that P stays finite and the point stays near
its neighbor. This is the same in all forms of affinities (docs/departures.md).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from isosne._blocks import for_each_block
from isosne._types import Array, DenseMatrix, Kernel, Points, SimilarityRows, SparseMatrix
from isosne.errors import DataError

SMALLEST = 1 / float(np.finfo(np.float32).max)


def conditional_rows(layers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows p_{j|i} that sum to 1: the mean over the scales, each normalized first.

    layers (n_scales, n_rows, m), overwritten, are zero for a point and itself. A scale in which a
    row is empty is left out of its mean; a row that is empty at all scales stays zero.
    """
    sums = layers.sum(axis=2, keepdims=True, dtype=np.float64)
    # Sums are float64: many small similarities must not be lost. Below SMALLEST, 1 / sum overflows.
    filled = sums > SMALLEST
    n_filled = np.maximum(filled.sum(axis=0), 1)
    layers *= np.where(filled, 1 / (np.where(filled, sums, 1) * n_filled), 0).astype(np.float32)
    return np.asarray(layers[0] if len(layers) == 1 else layers.sum(axis=0))


MIRROR = 512
"""Side of the square tiles of `symmetrize`: 1 MB in float32 (chosen; not measured)."""
BLOCK_BYTES = 2**24
"""Bytes of similarity rows that are normalized together: 16 MB, no slower than 32 (chosen)."""


def symmetrize(P: Array) -> None:
    """Replace p_{j|i} by p_ij = (p_{j|i} + p_{i|j}) / 2n in place (Eq. 3)."""
    n = len(P)
    scale = np.float32(0.5 / n)

    def work(rows: slice) -> None:
        for start in range(0, rows.stop, MIRROR):
            columns = slice(start, min(start + MIRROR, rows.stop))
            joint = P[rows, columns] + P[columns, rows].T
            joint *= scale
            P[rows, columns] = joint
            P[columns, rows] = joint.T

    for_each_block(n, MIRROR, work)


def dense_affinities(kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of all pairs, and the indices of points with an empty row."""
    rows = kernel.rows()
    if rows.counts is not None:
        return count_affinities(rows.counts(), kernel)
    return full_affinities(rows, kernel)


def count_affinities(counts: Array, kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return probabilities as counts (n, n), overwritten, and a factor per point."""
    n = len(counts)
    np.fill_diagonal(counts, 0)
    row_sums = counts.sum(axis=1, dtype=np.int64)
    isolated = np.flatnonzero(row_sums == 0)
    # p_ij = count_ij (f_i + f_j) with f_i = 1 / (2n row sum): Eq. 9 and 3 in one step.
    factors = 0.5 / n / np.maximum(row_sums, 1)
    if len(isolated):
        others = kernel.nearest_others(isolated)
        counts[isolated, others] = counts[others, isolated] = 1
        tie_factors(isolated, others, factors)
    return DenseMatrix(counts, factors.astype(np.float32)), isolated


def tie_factors(isolated: Array, others: Array, factors: Array) -> None:
    """Set the factors of isolated points so that f_i + f_j is 1 / 2n for a tie, 1 / n for a mutual.

    Ties form trees, whose roots are points that are not isolated, two points tied to each other,
    or, if rounding makes distances asymmetric, points tied in a circle.
    """
    n = len(factors)
    tie = np.full(n, -1)
    tie[isolated] = others
    is_mutual = tie[others] == isolated
    factors[isolated[is_mutual]] = 0.5 / n
    is_open = np.zeros(n, np.bool_)
    is_open[isolated[~is_mutual]] = True
    while is_open.any():
        ready = np.flatnonzero(is_open & ~is_open[tie])
        if len(ready) == 0:  # all the others lead to circles
            factors[is_open] = 0.25 / n
            return
        factors[ready] = 0.5 / n - factors[tie[ready]]
        is_open[ready] = False


def full_affinities(rows: SimilarityRows, kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return probabilities as float32; each scale is normalized by row, then averaged."""
    n = rows.n_points
    P = np.empty((n, n), np.float32)
    step = max(1, BLOCK_BYTES // (4 * n * rows.n_scales))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        layers = rows.block(block)
        own = np.arange(block.start, block.stop)
        layers[:, own - block.start, own] = 0  # p_{i|i} = 0 (Eq. 2)
        P[block] = conditional_rows(layers)
        del layers  # before those of the next block are made
    isolated = np.flatnonzero(~P.any(axis=1))
    if len(isolated):
        P[isolated, kernel.nearest_others(isolated)] = 1
    symmetrize(P)
    return DenseMatrix(P, np.full(n, 0.5, np.float32)), isolated


def given_affinities(
    affinities: Points, *, as_dense: bool
) -> tuple[DenseMatrix | SparseMatrix, NDArray[np.int64]]:
    """Return p_ij = (a_ij + a_ji) / sum with zero diagonal, and the points without affinities."""
    if as_dense:
        full = affinities.toarray() if isinstance(affinities, csr_array) else affinities
        dense = np.add(full, full.T, dtype=np.float64)
        np.fill_diagonal(dense, 0)
        dense /= _positive(float(dense.sum()))
        isolated = np.flatnonzero(~dense.any(axis=1))
        return DenseMatrix(dense.astype(np.float32), np.full(len(full), 0.5, np.float32)), isolated
    listed = csr_array(affinities, dtype=np.float64, copy=False)
    P = csr_array(listed + listed.T)
    P -= diags_array(P.diagonal(), format="csr")
    P.eliminate_zeros()
    P.sort_indices()
    P.data /= _positive(float(P.data.sum()))
    isolated = np.flatnonzero(np.diff(P.indptr) == 0)
    parts = P.indptr.astype(np.int64), P.indices.astype(np.int32), P.data.astype(np.float32)
    return SparseMatrix(*parts), isolated


def _positive(total: float) -> float:
    if total <= 0:
        raise DataError(
            "Precomputed affinities must be positive for at least one pair of different points; "
            "all are zero. Pass similarities."
        )
    return total
