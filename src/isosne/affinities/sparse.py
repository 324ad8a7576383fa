"""Joint probabilities of pairs of neighbors, as CSR."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._checks import is_one_of
from isosne._numba import kernel
from isosne._types import Array, FarPartners, Kernel, Neighbors, SparseMatrix
from isosne.affinities.conditional import conditional_rows
from isosne.affinities.symmetrize import BLOCK, symmetrize_lists
from isosne.errors import ParameterError, suggest

SEARCHES = ("auto", "exact", "approximate")


@dataclass(frozen=True)
class Sparse:
    """Sparse affinities: only pairs of neighbors have a probability.

    Parameters
    ----------
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        Nearest-neighbor search. "auto": exact up to 10 000 points; approximate above, if the points
        are dense and the metric is Euclidean or cosine.

    Examples
    --------
    >>> from isosne import TSNE, Sparse
    >>> TSNE(affinities=Sparse(neighbors="exact"))
    TSNE(affinities=Sparse(neighbors='exact'))
    """

    neighbors: str = "auto"

    def __post_init__(self) -> None:
        if not is_one_of(self.neighbors, SEARCHES):
            raise ParameterError(
                "neighbors",
                f"be one of {', '.join(map(repr, SEARCHES))}",
                self.neighbors,
                suggest(self.neighbors, SEARCHES, "'auto' chooses by the number of points."),
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
        suggest(affinities, FORMS, "'auto' chooses by size and memory."),
    )


def sparse_affinities(
    kernel: Kernel, neighbors: Neighbors, n_partners: int | None = None
) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of neighbors, and the indices of points with an empty row.

    n_partners: number of neighbors per point that get a probability; None for all. The kernel uses
    the others for ranks only. A point with an empty row is tied to its nearest neighbor j, with
    p_{j|i} = 1.
    """
    partners = neighbors.indices[:, :n_partners]
    rows = conditional_rows(kernel.neighbor_similarity(neighbors, n_partners))
    far = kernel.far_partners()
    if far is not None:
        partners, rows = with_far_partners(partners, rows, far)
    isolated = np.flatnonzero(~rows.any(axis=1))
    rows[isolated, 0] = 1
    return symmetrize_lists(partners, rows), isolated


def with_far_partners(
    partners: Array, rows: NDArray[np.float32], far: FarPartners
) -> tuple[Array, NDArray[np.float32]]:
    """Return lists that end with the far partners; a partner that is listed twice gets the sum.

    rows (n, k): probabilities of the neighbors, with sum 1.
    """
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
