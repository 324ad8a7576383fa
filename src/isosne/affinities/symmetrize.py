"""Step 2, second half: conditional probabilities become joint ones, p_ij (Eq. 3)."""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, SparseMatrix

MIRROR = 512
"""Side of the square tiles of `symmetrize`: 1 MB in float32 (chosen; not measured)."""
BLOCK = 2048
"""Rows of lists per block, which take about a millisecond (chosen)."""


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


def symmetrize_lists(partners: Array, rows: NDArray[np.float32]) -> SparseMatrix:
    """Return p_ij = (p_{j|i} + p_{i|j}) / 2n (Eq. 3) of all pairs listed by either point.

    partners, rows (n, k): the points that each point lists, and p_{j|i}. Pairs with probability
    zero are left out. O(n k^2) time with a small constant; O(n k) memory.
    """
    # The transpose is built by counting sort: who lists j, and with which probability.
    n = len(partners)
    listed_by = np.zeros(n + 1, np.int64)
    count_listings(partners, rows, listed_by)
    np.cumsum(listed_by, out=listed_by)
    sources = np.empty(listed_by[-1], np.int32), np.empty(listed_by[-1], np.float32)
    fill_listings(partners, rows, listed_by.copy(), sources)  # serial: fixed order of entries
    indptr = np.zeros(n + 1, np.int64)
    # Blocks on Python threads: functions with `prange` take three times as long to compile.
    for_each_block(
        n, BLOCK, lambda block: count_pairs(block, partners, rows, listed_by, sources[0], indptr)
    )
    np.cumsum(indptr, out=indptr)
    joint = SparseMatrix(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32))
    for_each_block(
        n, BLOCK, lambda block: fill_pairs(block, partners, rows, listed_by, sources, joint)
    )
    return joint


@kernel
def count_listings(partners: Array, rows: Array, listed_by: Array) -> None:
    """Add the number of points that list j to listed_by[j + 1]."""
    for i in range(partners.shape[0]):
        for q in range(partners.shape[1]):
            if rows[i, q] > 0:
                listed_by[partners[i, q] + 1] += 1


@kernel
def fill_listings(partners: Array, rows: Array, slot: Array, sources: tuple[Array, Array]) -> None:
    """Fill sources with the points that list each point, and with their probabilities.

    slot[j]: index of the next entry of point j, at first the beginning of its entries; overwritten.
    """
    points, probabilities = sources
    for i in range(partners.shape[0]):
        for q in range(partners.shape[1]):
            if rows[i, q] > 0:
                j = partners[i, q]
                points[slot[j]] = i
                probabilities[slot[j]] = rows[i, q]
                slot[j] += 1


@kernel
def count_pairs(
    block: slice, partners: Array, rows: Array, listed_by: Array, sources: Array, counts: Array
) -> None:
    """Fill counts[i + 1] with the number of points that i lists or that list i, for a block."""
    n_listed = partners.shape[1]
    for i in range(block.start, block.stop):
        n_own = n_mutual = 0
        for q in range(n_listed):
            n_own += rows[i, q] > 0
        for e in range(listed_by[i], listed_by[i + 1]):
            for q in range(n_listed):
                n_mutual += (partners[i, q] == sources[e]) & (rows[i, q] > 0)
        # Pairs that list each other are in both counts but get one entry.
        counts[i + 1] = n_own + listed_by[i + 1] - listed_by[i] - n_mutual


@kernel
def fill_pairs(
    block: slice,
    partners: Array,
    rows: Array,
    listed_by: Array,
    sources: tuple[Array, Array],
    joint: tuple[Array, Array, Array],
) -> None:
    """Fill the pairs of a block of points: those that each lists, nearest first, then others."""
    points, probabilities = sources
    indptr, indices, data = joint
    half = np.float32(0.5 / partners.shape[0])
    for i in range(block.start, block.stop):
        first = stop = indptr[i]
        for q in range(partners.shape[1]):
            if rows[i, q] > 0:
                indices[stop] = partners[i, q]
                data[stop] = half * rows[i, q]
                stop += 1
        own = stop
        for s in range(listed_by[i], listed_by[i + 1]):
            mutual = np.int64(0)
            for e in range(first, own):  # at most one match; a sum vectorizes, a search does not
                mutual += (indices[e] == points[s]) * (e - first + 1)
            if mutual > 0:
                data[first + mutual - 1] += half * probabilities[s]
            else:
                indices[stop] = points[s]
                data[stop] = half * probabilities[s]
                stop += 1
