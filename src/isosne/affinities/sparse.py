"""Joint probabilities of pairs of neighbors, as CSR."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Kernel, Neighbors, SparseMatrix
from isosne.affinities.conditional import conditional_rows
from isosne.errors import ParameterError

SEARCHES = ("auto", "exact", "approximate")


@dataclass(frozen=True)
class Sparse:
    """Sparse affinities: only pairs of neighbors have a probability.

    Parameters
    ----------
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        Nearest-neighbor search. "auto": exact up to 20 000 points; approximate above, if the points
        are dense and the metric is Euclidean or cosine.

    Examples
    --------
    >>> from isosne import TSNE, Sparse
    >>> TSNE(affinities=Sparse(neighbors="exact"))
    TSNE(affinities=Sparse(neighbors='exact'))
    """

    neighbors: str = "auto"

    def __post_init__(self) -> None:
        if self.neighbors not in SEARCHES:
            raise ParameterError(
                "neighbors",
                f"be one of {', '.join(map(repr, SEARCHES))}",
                self.neighbors,
                "'auto' chooses by the number of points.",
            )


FORMS = ("auto", "dense", "sparse", "sampled")


def as_affinities(affinities: object) -> tuple[str | None, str | None]:
    """Return the form of the affinities and the neighbor search; None for "auto"."""
    if isinstance(affinities, Sparse):
        return "sparse", None if affinities.neighbors == "auto" else affinities.neighbors
    if isinstance(affinities, str) and affinities in FORMS:
        return None if affinities == "auto" else affinities, None
    raise ParameterError(
        "affinities",
        f"be one of {', '.join(map(repr, FORMS))}, or Sparse(...)",
        affinities,
        "'auto' chooses by size and memory.",
    )


def sparse_affinities(
    kernel: Kernel, neighbors: Neighbors, n_partners: int | None = None
) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of neighbors, and the indices of points with an empty row.

    n_partners: number of neighbors per point that get a probability; None for all. The kernel uses
    the others for ranks only. A point with an empty row is connected to its nearest neighbor.
    """
    partners = neighbors.indices[:, :n_partners]
    rows = conditional_rows(kernel.neighbor_similarity(neighbors, n_partners))
    isolated = np.flatnonzero(~rows.any(axis=1))
    rows[isolated, 0] = 1
    return symmetrize_lists(partners, rows), isolated


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
    count_pairs(partners, rows, listed_by, sources[0], indptr)
    np.cumsum(indptr, out=indptr)
    joint = SparseMatrix(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32))
    fill_pairs(partners, rows, listed_by, sources, joint)
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


@parallel_kernel
def count_pairs(
    partners: Array, rows: Array, listed_by: Array, sources: Array, counts: Array
) -> None:
    """Fill counts[i + 1] with the number of points that i lists or that list i."""
    n_listed = partners.shape[1]
    for i in prange(partners.shape[0]):
        n_own = n_mutual = 0
        for q in range(n_listed):
            n_own += rows[i, q] > 0
        for e in range(listed_by[i], listed_by[i + 1]):
            for q in range(n_listed):
                n_mutual += (partners[i, q] == sources[e]) & (rows[i, q] > 0)
        # Pairs that list each other are in both counts but get one entry.
        counts[i + 1] = n_own + listed_by[i + 1] - listed_by[i] - n_mutual


@parallel_kernel
def fill_pairs(
    partners: Array,
    rows: Array,
    listed_by: Array,
    sources: tuple[Array, Array],
    joint: tuple[Array, Array, Array],
) -> None:
    """Fill the pairs of each point: the points that it lists, nearest first, then the others."""
    points, probabilities = sources
    indptr, indices, data = joint
    half = np.float32(0.5 / partners.shape[0])
    for i in prange(partners.shape[0]):
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
