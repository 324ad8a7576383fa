"""Step 2 for all pairs: bytes and one factor a point where similarities are counts, else float32.

A point that shares no cell with any other has an empty row, which Eq. 9 cannot divide. It is tied
to its nearest other point with the smallest similarity there is, one shared cell; so the map stays
finite and the point stays where it belongs.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._types import Array, CountRows, DenseMatrix, Kernel, SimilarityRows
from isosne.affinities.conditional import conditional_rows

BLOCK_BYTES = 2**25
MIRROR = 1024


def dense_affinities(kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of all pairs, and the points that had an empty row."""
    rows = kernel.rows()
    if isinstance(rows, CountRows) and rows.n_scales == 1:
        return count_affinities(rows, kernel)
    return full_affinities(rows, kernel)


def count_affinities(rows: CountRows, kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return probabilities as counts: n^2 bytes, nothing larger on the way."""
    n = rows.n_points
    counts = rows.counts(slice(0, n))
    np.fill_diagonal(counts, 0)
    isolated = np.flatnonzero(counts.sum(axis=1, dtype=np.int64) == 0)
    if len(isolated):
        others = kernel.nearest_others(isolated)
        counts[isolated, others] = 1
        counts[others, isolated] = 1
    row_sums = counts.sum(axis=1, dtype=np.int64)
    return DenseMatrix(counts, (0.5 / n / row_sums).astype(np.float32)), isolated


def full_affinities(rows: SimilarityRows, kernel: Kernel) -> tuple[DenseMatrix, NDArray[np.int64]]:
    """Return probabilities as float32; several scales are normalized row by row and averaged."""
    n = rows.n_points
    P = np.empty((n, n), np.float32)
    step = max(1, BLOCK_BYTES // (4 * n * rows.n_scales))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        layers = rows.block(block)
        own = np.arange(block.start, block.stop)
        layers[:, own - start, own] = 0
        P[block] = conditional_rows(layers)
    isolated = np.flatnonzero(~P.any(axis=1))
    if len(isolated):
        P[isolated, kernel.nearest_others(isolated)] = 1
    symmetrize(P)
    return DenseMatrix(P, np.full(n, 0.5, np.float32)), isolated


def symmetrize(P: Array) -> None:
    """Replace p_{j|i} by p_ij = (p_{j|i} + p_{i|j}) / 2n in place (Eq. 3)."""
    n = len(P)
    scale = np.float32(0.5 / n)

    def work(rows: slice) -> None:
        for start in range(0, rows.stop, MIRROR):
            columns = slice(start, min(start + MIRROR, rows.stop))
            joint = (P[rows, columns] + P[columns, rows].T) * scale
            P[rows, columns] = joint
            P[columns, rows] = joint.T

    for_each_block(n, MIRROR, work)
