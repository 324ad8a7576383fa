"""Joint probabilities of pairs of neighbors, as CSR; and those of any form as CSR."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from isosne._blocks import for_each_block
from isosne._checks import is_one_of
from isosne._numba import kernel
from isosne._types import (
    Array,
    DenseMatrix,
    FarPartners,
    Joint,
    Kernel,
    Masses,
    Neighbors,
    PartnerSource,
    SparseMatrix,
)
from isosne.affinities.dense import conditional_rows
from isosne.errors import ParameterError, suggest

FORMS, SEARCHES = ("auto", "dense", "sparse", "sampled"), ("auto", "exact", "approximate")


@dataclass(frozen=True)
class Sparse:
    """Sparse affinities: only pairs of neighbors have a probability.

    Parameters
    ----------
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        Nearest-neighbor search. "auto": exact up to 10,000 points; approximate above, if the points
        are dense and the metric is Euclidean, cosine or Mahalanobis.

    Examples
    --------
    >>> from isosne import TSNE, Sparse
    >>> TSNE(affinities=Sparse(neighbors="exact"))
    TSNE(affinities=Sparse(neighbors='exact'))
    """

    neighbors: str = "auto"

    def __post_init__(self) -> None:
        if not is_one_of(self.neighbors, SEARCHES):
            rule = f"be one of {', '.join(map(repr, SEARCHES))}"
            hint = suggest(self.neighbors, SEARCHES, "'auto' chooses by the number of points.")
            raise ParameterError("neighbors", rule, self.neighbors, hint)


def as_affinities(affinities: object) -> tuple[str | None, str | None]:
    """Return the form of the affinities and the neighbor search; None for "auto"."""
    if isinstance(affinities, Sparse):
        return "sparse", None if affinities.neighbors == "auto" else affinities.neighbors
    if isinstance(affinities, str) and affinities in FORMS:
        return None if affinities == "auto" else affinities, None
    rule = f"be one of {', '.join(map(repr, FORMS))}, or Sparse(...)"
    hint = suggest(affinities, FORMS, "'auto' chooses by size and memory.")
    raise ParameterError("affinities", rule, affinities, hint)


def sparse_affinities(
    kernel: Kernel, neighbors: Neighbors, n_partners: int | None = None
) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of neighbors, and the indices of points with an empty row.

    n_partners: number of neighbors per point that get a probability; None for all. The kernel uses
    the others for ranks only.
    """
    partners = neighbors.indices[:, :n_partners]
    rows = conditional_rows(kernel.neighbor_similarity(neighbors, n_partners))
    far = kernel.far_partners()
    if far is not None:
        partners, rows = with_far_partners(partners, rows, far)
    return listed_affinities(partners, rows)


def listed_affinities(
    partners: Array, rows: NDArray[np.float32]
) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of p_{j|i} in lists, and the indices of empty rows."""
    isolated = np.flatnonzero(~rows.any(axis=1))
    rows[isolated, 0] = 1
    return symmetrize_lists(partners, rows), isolated


def weighted_affinities(
    lists: FarPartners, weights: NDArray[np.float64]
) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of rows that stand for copies, summed over the copies.

    lists: p_{j|i} of one copy of i toward all copies of j, where partners may repeat; what a row
    lacks stays among the copies of i. Only rows without any affinity are tied to their neighbor.
    """
    partners, rows = lists
    masses, n = Masses.of(weights), len(rows)
    rows[partners == np.arange(n)[:, None]] = 0
    for_each_block(n, BLOCK, lambda part: merge_repeated(partners[part], 1, rows[part]))
    is_isolated: NDArray[np.bool_] = np.logical_not(rows.any(axis=1))
    is_isolated[partners[rows > 0]] = False
    rows[is_isolated, 0] = 1
    left = np.maximum(1 - rows.sum(axis=1, dtype=np.float64), 0) * (masses.within > 0)
    rows *= masses.values[:, None]
    kept = left * masses.values / n
    joint = symmetrize_lists(partners, rows)._replace(masses=masses._replace(kept=kept))
    return joint, np.flatnonzero(is_isolated)


def merged_affinities(lists: FarPartners) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of lists in which partners may repeat, and empty rows."""
    partners, rows = lists
    for_each_block(len(rows), BLOCK, lambda part: merge_repeated(partners[part], 1, rows[part]))
    return listed_affinities(partners, rows)


def with_far_partners(
    partners: Array, rows: NDArray[np.float32], far: FarPartners
) -> tuple[Array, NDArray[np.float32]]:
    """Return lists that end with the far partners; a partner that is listed twice gets the sum."""
    left = 1 - far.probabilities.sum(axis=1, keepdims=True, dtype=np.float64)
    merged = np.concatenate([rows * left.astype(np.float32), far.probabilities], axis=1)
    lists = np.concatenate([partners, far.indices], axis=1)
    for_each_block(
        len(lists), BLOCK, lambda rows: merge_repeated(lists[rows], partners.shape[1], merged[rows])
    )
    return lists, merged


@kernel
def merge_repeated(lists: Array, n_first: int, rows: Array) -> None:
    """Add the probability of a repeated partner to its first entry; the first n_first differ."""
    for i in range(lists.shape[0]):
        for e in range(n_first, lists.shape[1]):
            for q in range(e):
                if lists[i, q] == lists[i, e]:
                    rows[i, q] += rows[i, e]
                    rows[i, e] = 0
                    break


BLOCK = 2048
"""Rows of lists per block, which take about a millisecond (chosen)."""


def symmetrize_lists(partners: Array, rows: NDArray[np.float32]) -> SparseMatrix:
    """Return p_ij = (p_{j|i} + p_{i|j}) / 2n (Eq. 3) of all pairs listed by either point.

    rows (n, k): p_{j|i} of the partners. O(n k^2) time with a small constant; O(n k) memory.
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
        n, BLOCK, lambda block: fill_pairs(block, partners, rows, listed_by, sources, joint[:3])
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
    """Fill sources with the points that list each point j, from slot[j] on, and probabilities."""
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


NEGLIGIBLE = 0.01
"""Probability of a pair, relative to the mean over all pairs, below which a dense matrix loses it:
together at most 1 % of the sum."""
N_DRAWS = 4
"""Draws that are averaged for sampled affinities, of 64 partners per point each (chosen)."""


def as_sparse(joint: Joint, *, negligible: float = NEGLIGIBLE) -> SparseMatrix:
    """Return joint probabilities as CSR: without negligible pairs, or the mean of several draws."""
    if isinstance(joint, SparseMatrix):
        return joint
    P = _from_dense(joint, negligible) if isinstance(joint, DenseMatrix) else _from_draws(joint)
    return SparseMatrix(P.indptr.astype(np.int64), P.indices.astype(np.int32), P.data)


def _from_dense(joint: DenseMatrix, negligible: float) -> csr_array:
    n = len(joint.factors)
    rows = []
    for values, factor in zip(joint.values, joint.factors, strict=True):
        p = values * (factor + joint.factors)
        p[p < negligible / n**2] = 0
        rows.append(csr_array(p[None]))
    return vstack(rows, format="csr", dtype=np.float32)


def _from_draws(source: PartnerSource) -> csr_array:
    n = source.n_points
    total = csr_array((n, n), dtype=np.float32)
    for number in range(N_DRAWS):
        ids, weights = source.draw(number)
        indptr = np.arange(0, ids.size + 1, ids.shape[1])
        drawn = csr_array((weights.ravel(), ids.ravel().astype(np.int32), indptr), shape=(n, n))
        drawn.sum_duplicates()
        total = total + drawn
    P = csr_array((total + total.T) * np.float32(0.5 / N_DRAWS))
    P.setdiag(0)
    P.eliminate_zeros()
    return P
