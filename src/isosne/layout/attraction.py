"""Attraction along lists of pairs: fixed neighbors, or partners drawn at every step.

Maps are stored by row here, (n, 2) or (n, 3), so that the coordinates of a partner are adjacent in
memory.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Partners, PartnerSource, Scalar, SparseMatrix
from isosne.layout.pair_terms import map_similarity, minus_log_similarity

EARLY_SHARE, FULL_UNTIL, LAST_SHARE = 0.2, 0.25, 0.002
"""Step length with drawn partners, relative to the schedule (measured: docs/decisions/0006): before
the last phase; fraction of the last phase at full length; at the end of the last phase."""
ENTROPY_BLOCK = 2**20
"""Probabilities per block of `sum_p_log_p`: 8 MB in float64 (chosen; not measured)."""


class ListedAttraction:
    """Attraction along the pairs of a sparse matrix.

    Parameters
    ----------
    joint : SparseMatrix
        Joint probabilities.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    """

    def __init__(self, joint: SparseMatrix, dof: Scalar = 1.0) -> None:
        self.n_points = len(joint.indptr) - 1
        self._joint = joint
        self._dof = np.float32(dof)
        self.negative_entropy = sum_p_log_p(joint.data)

    def prepare(self, iteration: int) -> None:
        """Do nothing: the pairs do not change."""

    def step_share(self, progress: float) -> float:
        """Return 1: the attraction is not random."""
        return 1.0

    def arrange(self, order: Array) -> None:
        """Reorder the points: order[r] is the current index of the point that becomes r."""
        indptr = np.zeros_like(self._joint.indptr)  # row lengths in the new order, summed
        np.cumsum(np.diff(self._joint.indptr)[order], out=indptr[1:])
        arranged = SparseMatrix(
            indptr, np.empty_like(self._joint.indices), np.empty_like(self._joint.data)
        )
        arrange_rows(self._joint, order, inverse_order(order), arranged)
        self._joint = arranged

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull for the map Y, both (n, 2) or (n, 3)."""
        pull_listed(*self._rows(), Y, self._dof, pull)

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w for the map Y."""
        sums = np.empty(self.n_points)
        loss_listed(*self._rows(), Y, self._dof, sums)
        return float(sums.sum())

    def _rows(self) -> tuple[Array, Array, Array]:
        # Unsigned: Numba omits its test for negative indices; the loop takes a third less time.
        indptr, indices, data = self._joint
        return indptr, indices.view(np.uint32), data


class DrawnAttraction:
    """Attraction toward partners drawn with probability p_{j|i} at every step.

    Parameters
    ----------
    source : PartnerSource
        Draws partners; the expected attraction is that of all pairs.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    """

    def __init__(self, source: PartnerSource, dof: Scalar = 1.0) -> None:
        self.n_points = source.n_points
        self._source = source
        self._dof = np.float32(dof)
        # The objective is always estimated from the same draw, so that its values are comparable.
        self._judges = source.draw(0)
        self.negative_entropy = source.mean_log_p(self._judges)
        self._partners = self._judges

    def prepare(self, iteration: int) -> None:
        """Draw partners for the next step."""
        self._partners = self._source.draw(1 + iteration)

    def step_share(self, progress: float) -> float:
        """Return a step factor that decays exponentially, so that sampling noise averages out."""
        if progress == 0:  # exaggerated phases; longer steps let noise rotate the axes (0006)
            return EARLY_SHARE
        return float(LAST_SHARE ** max(0.0, (progress - FULL_UNTIL) / (1 - FULL_UNTIL)))

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull for the map Y, both (n, 2) or (n, 3)."""
        pull_listed(*as_rows(self._partners), Y, self._dof, pull)

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w for the map Y."""
        sums = np.empty(self.n_points)
        loss_listed(*as_rows(self._judges), Y, self._dof, sums)
        return float(sums.sum())


def as_rows(partners: Partners) -> tuple[Array, Array, Array]:
    """Return partners as the three arrays of a CSR matrix."""
    n, k = partners.indices.shape
    return np.arange(0, n * k + 1, k), partners.indices.ravel(), partners.weights.ravel()


def inverse_order(order: Array) -> NDArray[np.uint32]:
    """Return the inverse permutation: the rank of each point in an order."""
    ranks = np.empty(len(order), np.uint32)
    ranks[order] = np.arange(len(order), dtype=np.uint32)
    return ranks


def sum_p_log_p(p: NDArray[np.float32]) -> float:
    """Return the sum of p log p in float64, in blocks to limit temporary memory."""
    starts = range(0, len(p), ENTROPY_BLOCK)
    blocks = (p[s : s + ENTROPY_BLOCK].astype(np.float64) for s in starts)
    return float(sum((block * np.log(block)).sum() for block in blocks))


@parallel_kernel
def arrange_rows(joint: SparseMatrix, order: Array, ranks: Array, arranged: SparseMatrix) -> None:
    """Copy row order[r] to row r, with each column index j replaced by ranks[j]."""
    indptr, indices, data = joint
    new_indptr, new_indices, new_data = arranged
    for r in prange(len(order)):  # each row writes only its own range of entries
        first = indptr[order[r]]
        for e in range(new_indptr[r], new_indptr[r + 1]):
            old = first + e - new_indptr[r]
            new_indices[e] = ranks[indices[old]]
            new_data[e] = data[old]


@parallel_kernel
def pull_listed(
    indptr: Array, indices: Array, data: Array, Y: Array, dof: Scalar, pull: Array
) -> None:
    """Fill pull[i] = sum_j p u (y_i - y_j) over the listed pairs; Y (n, 2) or (n, 3).

    O(number of pairs); memory access dominates.
    """
    zero = np.float32(0)
    for i in prange(Y.shape[0]):
        p0 = p1 = p2 = zero
        x0, x1 = Y[i, 0], Y[i, 1]
        # Separate loops: a third coordinate of zeros would cost memory bandwidth in 2-D.
        if Y.shape[1] == 2:
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                d0, d1 = x0 - Y[j, 0], x1 - Y[j, 1]
                _, u = map_similarity(d0 * d0 + d1 * d1, dof)
                weight = data[e] * u
                p0 += weight * d0
                p1 += weight * d1
        else:
            x2 = Y[i, 2]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                d0, d1, d2 = x0 - Y[j, 0], x1 - Y[j, 1], x2 - Y[j, 2]
                _, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
                weight = data[e] * u
                p0 += weight * d0
                p1 += weight * d1
                p2 += weight * d2
            pull[i, 2] = p2
        pull[i, 0], pull[i, 1] = p0, p1


@parallel_kernel
def loss_listed(
    indptr: Array, indices: Array, data: Array, Y: Array, dof: Scalar, sums: Array
) -> None:
    """Fill sums[i] = -sum_j p log w over the listed pairs; Y (n, 2) or (n, 3)."""
    is_solid = Y.shape[1] == 3
    for i in prange(Y.shape[0]):
        total = np.float32(0)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            d0, d1 = Y[i, 0] - Y[j, 0], Y[i, 1] - Y[j, 1]
            d2 = Y[i, 2] - Y[j, 2] if is_solid else np.float32(0)
            total += data[e] * minus_log_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
        sums[i] = total
