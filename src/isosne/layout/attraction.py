"""Forces with separate attraction and repulsion, each computed by its own method.

Attraction follows lists of pairs: fixed neighbors, or partners drawn at every step. Its maps are
stored by row, (n, d), so that the coordinates of a partner are adjacent in memory. Points that are
close on the map are kept close in memory: from time to time they are sorted along a Morton curve
(docs/decisions/0006). This order is private to the module.
"""

from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isosne import _lanes as lanes
from isosne._blocks import loop_over_blocks
from isosne._lanes import LANES
from isosne._numba import kernel, parallel_kernel, prange
from isosne._portable import each_log, log, power
from isosne._types import Array, Masses, Partners, PartnerSource, Scalar, SparseMatrix
from isosne.layout.all_pairs import TINY, inverse
from isosne.layout.forces import Forces, Repulsion
from isosne.layout.objectives import map_similarity, minus_log_similarity
from isosne.layout.tree import morton_codes

ARRANGE_FROM, ARRANGE_EVERY = 50, 250
"""Step of the first sort along the curve, and steps between sorts (docs/decisions/0006)."""
CURVE_BITS = 10
"""Bits per axis of the curve: 1024 cells per axis suffice for locality."""
EARLY_SHARE, FULL_UNTIL, LAST_SHARE = 0.2, 0.25, 0.002
"""Step length with drawn partners, relative to the schedule (measured: docs/decisions/0006): before
the last phase; fraction of the last phase at full length; at the end of the last phase."""
BLOCK, LARGE_BLOCK = 4096, 131_072
"""Points per block on a thread: of loops that follow pairs, and of those that copy points, which
take a millisecond (chosen)."""
Pairs = tuple[Array, Array, Array]
"""The arrays of a CSR matrix."""


class Attraction:
    """Attraction along `pairs`; the objective is computed from `judges`; loads: see `Forces`."""

    n_points: int
    negative_entropy: float
    loads: NDArray[np.float32]
    pairs: Pairs
    judges: Pairs
    masses: Masses | None = None

    def __init__(self, dof: Scalar) -> None:
        self._dof = np.float32(dof)

    def prepare(self, iteration: int) -> None:
        """Prepare step `iteration` (counted from 0)."""

    def step_share(self, progress: float) -> float:
        """Return a factor of the step length; progress is the fraction of the last phase, or 0."""
        return 1.0

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull = sum_j p u (y_i - y_j) for the map Y, both (n, d)."""
        pull_listed(self.pairs, Y, origin(Y), self._dof, pull)

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w for the map Y (n, d)."""
        sums = np.empty(self.n_points)
        loop_over_blocks(
            self.n_points,
            BLOCK,
            lambda block: loss_listed(block, self.judges, Y, origin(Y), self._dof, sums),
        )
        return float(sums.sum())


class ListedAttraction(Attraction):
    """Attraction along the pairs of a sparse matrix of joint probabilities."""

    def __init__(self, joint: SparseMatrix, dof: Scalar = 1.0) -> None:
        super().__init__(dof)
        self.n_points = len(joint.indptr) - 1
        # With room for a vector after the last entry, so that a row's sum does not depend on its
        # place in memory. Unsigned, as `gather` needs.
        indices, data = (np.pad(joint.indices, (0, LANES)), np.pad(joint.data, (0, LANES)))
        self.pairs = self.judges = joint.indptr, indices.view(np.uint32), data
        self.loads = np.empty(self.n_points, np.float32)
        self.negative_entropy = sum_listed(joint.indptr, joint.data, self.loads)
        self.loads *= np.float32(self.n_points)
        self.masses = joint.masses
        if joint.masses is not None:
            self.negative_entropy += entropy_of_copies(joint.masses, self.loads / self.n_points)
            self.loads /= joint.masses.values

    def arranged(self, order: Array) -> Self:
        """Return the attraction of reordered points: order[r] is the index of the point at r."""
        old_indptr, old_indices, old_data = self.pairs
        indptr = np.zeros_like(old_indptr)  # row lengths in the new order, summed
        np.cumsum(np.diff(old_indptr)[order], out=indptr[1:])
        ranks = np.empty(len(order), np.uint32)
        ranks[order] = np.arange(len(order), dtype=np.uint32)
        arranged = copy(self)
        pairs = indptr, np.zeros_like(old_indices), np.zeros_like(old_data)
        arranged.pairs = arranged.judges = pairs
        loop_over_blocks(
            len(order), BLOCK, lambda block: arrange_rows(block, self.pairs, order, ranks, pairs)
        )
        return arranged


class DrawnAttraction(Attraction):
    """Attraction toward partners drawn at every step; the objective is that of a fixed draw."""

    def __init__(self, source: PartnerSource, dof: Scalar = 1.0) -> None:
        super().__init__(dof)
        self.n_points = source.n_points
        self._source = source
        drawn = source.draw(0)
        self.pairs = self.judges = as_rows(drawn)
        self.negative_entropy = source.mean_log_p(drawn)
        self.loads = np.ones(self.n_points, np.float32)

    def prepare(self, iteration: int) -> None:
        self.pairs = as_rows(self._source.draw(1 + iteration))

    def step_share(self, progress: float) -> float:
        """Return a step factor that decays exponentially, so that sampling noise averages out."""
        if progress == 0:  # exaggerated phases; longer steps let noise rotate the axes (0006)
            return EARLY_SHARE
        return float(power(LAST_SHARE, max(0.0, (progress - FULL_UNTIL) / (1 - FULL_UNTIL))))


def as_rows(partners: Partners) -> Pairs:
    """Return partners as the three arrays of a CSR matrix, with at least the lanes of a vector."""
    n, k = partners.indices.shape
    indices, weights = partners.indices.ravel(), partners.weights.ravel()
    if n * k < LANES:
        room = 0, LANES - n * k
        indices, weights = np.pad(indices, room), np.pad(weights, room)
    return np.arange(0, n * k + 1, k), indices, weights


def origin(Y: NDArray[np.float32]) -> tuple[Scalar, ...]:
    """Return one zero per axis of a map (n, d): a tuple, whose length is known to compiled code."""
    zeros: tuple[Scalar, ...] = (np.float32(0),) * Y.shape[1]
    return zeros


class SplitForces(Forces):
    """Gradient and value of KL(P || Q) from an attraction and a repulsion."""

    def __init__(self, attraction: Attraction, repulsion: Repulsion, dof: Scalar = 1.0) -> None:
        # The attraction of points in the current order, and this order.
        self._arrangement = attraction, np.arange(attraction.n_points)
        self.repulsion = repulsion
        self.dof = np.float32(dof)
        masses = attraction.masses
        self.masses = () if masses is None else (masses.values,)
        self._within = 0.0 if masses is None else float(masses.within.sum())

    @property
    def attraction(self) -> Attraction:
        """The attraction, of points in the current order."""
        return self._arrangement[0]

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        rows, columns = self._arranged(Y)
        pull, push = np.empty_like(rows), np.empty_like(columns)
        attraction, order = self._arrangement
        attraction.pull(rows, pull)
        Z = self._push(columns, push)
        gradient = np.empty_like(Y)
        toward, away = np.float32(4 * exaggeration), np.float32(4 * inverse(Z))

        def work(block: slice) -> None:
            combine_arranged(block, pull, push, order, (toward, away), gradient)

        if self.masses:  # that of one copy: the force on a point, divided by its mass
            pull /= self.masses[0][order, None]
        loop_over_blocks(len(order), LARGE_BLOCK, work)
        return gradient

    def _push(self, columns: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill the push of the other points per mass, in the current order; return Z."""
        masses = tuple(part[self._arrangement[1]] for part in self.masses)
        return self.repulsion.push(columns, push, masses) + self._within

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        if iteration >= ARRANGE_FROM and (iteration - ARRANGE_FROM) % ARRANGE_EVERY == 0:
            self._arrange(curve_order(Y[:, self._arrangement[1]]))
        self.attraction.prepare(iteration)

    def state(self) -> dict[str, Array]:
        return {"order": self._arrangement[1], **self.repulsion.state()}

    def restore(self, state: dict[str, Array]) -> None:
        self._arrange(state["order"])
        self.repulsion.restore(state)

    def loads(self) -> NDArray[np.float32]:
        return self.attraction.loads

    def step_share(self, progress: float) -> float:
        return self.attraction.step_share(progress)

    def value(self, Y: NDArray[np.float32]) -> float:
        rows, columns = self._arranged(Y)
        Z = max(self._push(columns, np.empty_like(columns)), TINY)
        loss = self.attraction.loss(rows) + float(log(Z))
        return max(self.attraction.negative_entropy + loss, 0.0)  # KL >= 0, except for rounding

    def _arrange(self, order: Array) -> None:
        """Reorder the points, relative to the current order; partners that are drawn cannot be."""
        attraction, before = self._arrangement
        if isinstance(attraction, ListedAttraction):
            # One assignment, so that an interrupt leaves either the old state or the new one.
            self._arrangement = attraction.arranged(order), before[order]

    def _arranged(self, Y: NDArray[np.float32]) -> tuple[Array, Array]:
        """Return the map in curve order: rows (n, d), and columns (d, n)."""
        rows, columns = np.empty(Y.shape[::-1], np.float32), np.empty_like(Y)
        order = self._arrangement[1]
        loop_over_blocks(
            len(order), LARGE_BLOCK, lambda block: arrange_map(block, Y, order, rows, columns)
        )
        return rows, columns


def curve_order(Y: NDArray[np.float32]) -> Array:
    """Return the order of the points of a map (d, n) along a Morton curve."""
    codes = morton_codes(Y, CURVE_BITS)
    # Stable, so that equal codes keep their order.
    return np.arange(Y.shape[1]) if codes is None else np.argsort(codes, kind="stable")


@kernel
def arrange_map(block: slice, Y: Array, order: Array, rows: Array, columns: Array) -> None:
    """Copy the map Y (d, n) in another order to rows (n, d) and columns (d, n): a block of them."""
    for r in range(block.start, block.stop):
        for c in range(Y.shape[0]):
            rows[r, c] = columns[c, r] = Y[c, order[r]]


@kernel
def combine_arranged(
    block: slice,
    pull: Array,
    push: Array,
    order: Array,
    factors: tuple[Scalar, Scalar],
    gradient: Array,
) -> None:
    """Fill the gradient (d, n), in the original order: toward * pull - away * push of a block."""
    toward, away = factors
    for r in range(block.start, block.stop):
        for c in range(gradient.shape[0]):
            gradient[c, order[r]] = toward * pull[r, c] - away * push[c, r]


def entropy_of_copies(masses: Masses, sums: Array) -> float:
    """Return what masses add to the sum of p log p, so that it is that of the copies of points.

    sums (n,): p summed over the partners of each point. A pair has m_i m_j pairs of copies.
    """
    entropy = -2 * float((sums * each_log(masses.values.astype(np.float64))).sum())
    has_copies = masses.kept > 0
    kept, within = masses.kept[has_copies], masses.within[has_copies]
    return entropy + float((kept * each_log(kept / within)).sum())


@kernel
def sum_listed(indptr: Array, p: Array, sums: Array) -> float:
    """Fill the sums (n,) of CSR rows; return the sum of p log p, where 0 log 0 = 0."""
    entropy = 0.0
    for i in range(len(sums)):
        whole = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            whole += p[e]
            if p[e] > 0:
                entropy += np.float64(p[e]) * log(np.float64(p[e]))
        sums[i] = whole
    return entropy


@kernel
def arrange_rows(block: slice, pairs: Pairs, order: Array, ranks: Array, arranged: Pairs) -> None:
    """Copy row order[r] to row r of a block, with each column index j replaced by ranks[j]."""
    indptr, indices, data = pairs
    new_indptr, new_indices, new_data = arranged
    for r in range(block.start, block.stop):  # each row writes only its own range of entries
        first = indptr[order[r]]
        for e in range(new_indptr[r], new_indptr[r + 1]):
            old = first + e - new_indptr[r]
            new_indices[e] = ranks[indices[old]]
            new_data[e] = data[old]


@parallel_kernel
def pull_listed(
    pairs: Pairs, Y: Array, zeros: tuple[Scalar, ...], dof: Scalar, pull: Array
) -> None:
    """Fill pull[i] = sum_j p u (y_i - y_j) over the listed pairs; Y (n, d), zeros: d numbers."""
    indptr, indices, data = pairs
    for i in prange(Y.shape[0]):
        x = lanes.repeated(lanes.entries(Y[i], zeros))
        pulls = lanes.repeated(zeros)
        stop = indptr[i + 1]
        for first in range(indptr[i], stop, LANES):
            e, keep = lanes.vector_at(first, stop, len(indices))
            d = lanes.minus(x, lanes.gathered(Y, indices, e, x))
            _, u = map_similarity(lanes.sq_length(d), dof)
            p = lanes.load(data, e) * keep
            pulls = lanes.plus_product(pulls, p * u, d)
        found = lanes.totals(pulls)
        for c in range(len(zeros)):
            pull[i, c] = found[c]


@kernel
def loss_listed(
    block: slice, pairs: Pairs, Y: Array, zeros: tuple[Scalar, ...], dof: Scalar, sums: Array
) -> None:
    """Fill sums[i] = -sum_j p log w over the pairs of a block; Y (n, d), zeros: d numbers."""
    indptr, indices, data = pairs
    for i in range(block.start, block.stop):
        x = lanes.repeated(lanes.entries(Y[i], zeros))
        loss = lanes.splat(0)
        stop = indptr[i + 1]
        for first in range(indptr[i], stop, LANES):
            e, keep = lanes.vector_at(first, stop, len(indices))
            d = lanes.minus(x, lanes.gathered(Y, indices, e, x))
            p = lanes.load(data, e) * keep
            loss += p * minus_log_similarity(lanes.sq_length(d), dof)
        sums[i] = lanes.total(loss)
