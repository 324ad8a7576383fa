"""Attraction along lists of pairs: fixed neighbors, or partners drawn at every step.

Maps are stored by row here, (n, d), so that the coordinates of a partner are adjacent in memory.
"""

from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isosne._lanes import (
    LANES,
    between,
    entries,
    gathered,
    load,
    minus,
    plus_product,
    repeated,
    splat,
    sq_length,
    total,
    totals,
)
from isosne._numba import parallel_kernel, prange
from isosne._portable import power
from isosne._types import Array, Partners, PartnerSource, Scalar, SparseMatrix
from isosne.layout.exact import listed_entropy, listed_sums
from isosne.layout.objectives import map_similarity, minus_log_similarity

EARLY_SHARE, FULL_UNTIL, LAST_SHARE = 0.2, 0.25, 0.002
"""Step length with drawn partners, relative to the schedule (measured: docs/decisions/0006): before
the last phase; fraction of the last phase at full length; at the end of the last phase."""


class ListedAttraction:
    """Attraction along the pairs of a sparse matrix of joint probabilities."""

    def __init__(self, joint: SparseMatrix, dof: Scalar = 1.0) -> None:
        self.n_points = len(joint.indptr) - 1
        # With room for a vector after the last entry, so that a row's sum does not depend on its
        # place in memory. Unsigned, as `gather` needs.
        indices, data = np.pad(joint.indices, (0, LANES)), np.pad(joint.data, (0, LANES))
        self._joint = SparseMatrix(joint.indptr, indices.view(np.uint32), data)
        self._dof = np.float32(dof)
        self.negative_entropy = listed_entropy(joint.data)
        self.loads = listed_sums(joint.indptr, joint.data)
        self.loads *= np.float32(self.n_points)

    def prepare(self, iteration: int) -> None:
        """Do nothing: the pairs do not change."""

    def step_share(self, progress: float) -> float:
        """Return 1: the attraction is not random."""
        return 1.0

    def arranged(self, order: Array) -> Self:
        """Return the attraction of reordered points: order[r] is the index of the point at r."""
        indptr = np.zeros_like(self._joint.indptr)  # row lengths in the new order, summed
        np.cumsum(np.diff(self._joint.indptr)[order], out=indptr[1:])
        arranged = copy(self)
        arranged._joint = SparseMatrix(
            indptr, np.zeros_like(self._joint.indices), np.zeros_like(self._joint.data)
        )
        arrange_rows(self._joint, order, inverse_order(order), arranged._joint)
        return arranged

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull for the map Y, both (n, d)."""
        pull_listed(*self._joint, Y, origin(Y), self._dof, pull)

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w for the map Y."""
        sums = np.empty(self.n_points)
        loss_listed(*self._joint, Y, origin(Y), self._dof, sums)
        return float(sums.sum())


class DrawnAttraction:
    """Attraction toward partners drawn with probability p_{j|i} at every step.

    The expected attraction is that of all pairs.
    """

    def __init__(self, source: PartnerSource, dof: Scalar = 1.0) -> None:
        self.n_points = source.n_points
        self._source = source
        self._dof = np.float32(dof)
        # The objective is always estimated from the same draw, so that its values are comparable.
        self._judges = source.draw(0)
        self.negative_entropy = source.mean_log_p(self._judges)
        self.loads = np.ones(self.n_points, np.float32)
        self._partners = self._judges

    def prepare(self, iteration: int) -> None:
        """Draw partners for the next step."""
        self._partners = self._source.draw(1 + iteration)

    def step_share(self, progress: float) -> float:
        """Return a step factor that decays exponentially, so that sampling noise averages out."""
        if progress == 0:  # exaggerated phases; longer steps let noise rotate the axes (0006)
            return EARLY_SHARE
        return float(power(LAST_SHARE, max(0.0, (progress - FULL_UNTIL) / (1 - FULL_UNTIL))))

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull for the map Y, both (n, d)."""
        pull_listed(*as_rows(self._partners), Y, origin(Y), self._dof, pull)

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w for the map Y."""
        sums = np.empty(self.n_points)
        loss_listed(*as_rows(self._judges), Y, origin(Y), self._dof, sums)
        return float(sums.sum())


def as_rows(partners: Partners) -> tuple[Array, Array, Array]:
    """Return partners as the three arrays of a CSR matrix."""
    n, k = partners.indices.shape
    indptr = np.arange(0, n * k + 1, k)
    return indptr, widened(partners.indices.ravel()), widened(partners.weights.ravel())


def widened(entries: Array) -> Array:
    """Return entries, with zeros added if there are fewer than the lanes of a vector."""
    return entries if len(entries) >= LANES else np.pad(entries, (0, LANES - len(entries)))


def origin(Y: NDArray[np.float32]) -> tuple[Scalar, ...]:
    """Return one zero per axis of a map (n, d): a tuple, whose length is known to compiled code."""
    zeros: list[Scalar] = [np.float32(0)] * Y.shape[1]
    return tuple(zeros)


def inverse_order(order: Array) -> NDArray[np.uint32]:
    """Return the inverse permutation: the rank of each point in an order."""
    ranks = np.empty(len(order), np.uint32)
    ranks[order] = np.arange(len(order), dtype=np.uint32)
    return ranks


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
    indptr: Array,
    indices: Array,
    data: Array,
    Y: Array,
    zeros: tuple[Scalar, ...],
    dof: Scalar,
    pull: Array,
) -> None:
    """Fill pull[i] = sum_j p u (y_i - y_j) over the listed pairs; Y (n, d), zeros: d numbers.

    O(number of pairs); memory access dominates.
    """
    for i in prange(Y.shape[0]):
        x = repeated(entries(Y[i], zeros))
        pulls = repeated(zeros)
        stop = indptr[i + 1]
        for first in range(indptr[i], stop, LANES):
            e = min(first, len(indices) - LANES)  # lanes outside of the row are masked
            d = minus(x, gathered(Y, indices, e, x))
            _, u = map_similarity(sq_length(d), dof)
            p = load(data, e) * between(first - e, stop - e)
            pulls = plus_product(pulls, p * u, d)
        found = totals(pulls)
        for c in range(len(zeros)):
            pull[i, c] = found[c]


@parallel_kernel
def loss_listed(
    indptr: Array,
    indices: Array,
    data: Array,
    Y: Array,
    zeros: tuple[Scalar, ...],
    dof: Scalar,
    sums: Array,
) -> None:
    """Fill sums[i] = -sum_j p log w over the listed pairs; Y (n, d), zeros: d numbers."""
    for i in prange(Y.shape[0]):
        x = repeated(entries(Y[i], zeros))
        loss = splat(0)
        stop = indptr[i + 1]
        for first in range(indptr[i], stop, LANES):
            e = min(first, len(indices) - LANES)
            d = minus(x, gathered(Y, indices, e, x))
            p = load(data, e) * between(first - e, stop - e)
            loss += p * minus_log_similarity(sq_length(d), dof)
        sums[i] = total(loss)
