"""Sampled affinities: partners drawn with probability p_{j|i}, for broad kernels on many points.

The isolation kernel can be sampled exactly: draw a partitioning with probability proportional to
the number of other points in i's cell, then one of those points uniformly. Let S_i be the sum of
these numbers over the partitionings. A draw j from ``p_{.|i}`` with weight ``(1 + S_i / S_j) / 2n``
has the expectation ``p_ij``, so the force on i needs only the partners that i drew. Nothing is
truncated; memory is that of the cells, O(n t).

Several scales share the draws equally. A point i alone in all its cells is tied to its nearest
neighbor j, p_{j|i} = 1: i draws nothing but j, and j has one more partner, drawn from all that are
tied to it.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._portable import each_log
from isosne._types import Array, PartitionKernel, Partners
from isosne.neighbors.pairs import compare_partners, unmatched

N_DRAWS = 64
"""Partners per point and step (measured: docs/decisions/0006)."""
PLACE_DRAWS = 256
"""Partners of a new point. More than N_DRAWS, because they are drawn only once and the errors do
not average out over steps (chosen; not measured)."""
BLOCK_ROWS = 4096
"""Rows per block (chosen). It is part of the seed: another value draws other partners."""
TIES = 1
"""Seed of the draws among ties, in place of the first row of a block."""


Members = tuple[Array, Array, Array, Array]
"""Starts, points, S and shares a, as in `CellMembers`."""


class SampledAffinities:
    """Joint probabilities of a fitted kernel with cells; n_draws per point, over all scales."""

    def __init__(
        self, kernel: PartitionKernel, n_draws: int = N_DRAWS, random_state: int = 0
    ) -> None:
        layers = zip(kernel.cells_at_scales(), kernel.psi_, strict=True)
        self._scales = [CellMembers(cells, psi) for cells, psi in layers]
        self.n_points = self._scales[0].n_points
        self.n_draws = max(1, n_draws // len(self._scales)) * len(self._scales)
        self._seed = random_state
        # As in `conditional_rows`, a scale in which a point is alone is left out of its mean.
        filled = np.stack([scale.n_others > 0 for scale in self._scales])
        for scale, there in zip(self._scales, filled, strict=True):
            scale.shares = there * len(filled) / np.maximum(filled.sum(axis=0), 1)
        self.isolated = np.flatnonzero(~filled.any(axis=0))
        self._tie = np.full(self.n_points, -1)
        if len(self.isolated):
            self._tie[self.isolated] = kernel.nearest_others(self.isolated)

    def draw(self, number: int) -> Partners:
        """Return the partners of draw `number`; the same number gives the same partners."""
        n, k = self.n_points, self.n_draws // len(self._scales)
        shape = n, self.n_draws + bool(len(self.isolated))
        partners = Partners(np.empty(shape, np.uint32), np.empty(shape, np.float32))

        def work(rows: slice) -> None:
            # One generator per block, so that threads do not change the draws.
            rng = np.random.default_rng([self._seed, number, rows.start])
            for s, scale in enumerate(self._scales):
                part = slice(s * k, (s + 1) * k)
                chances = rng.random((2, rows.stop - rows.start, k), dtype=np.float32)
                indices, weights = (array[rows, part] for array in partners)
                scale.draw(scale.cells[rows], rows.start, chances, indices, weights)

        for_each_block(n, BLOCK_ROWS, work)
        partners.weights[:, : self.n_draws] *= np.float32(0.5 / n / self.n_draws)
        if len(self.isolated):
            self._draw_ties(number, partners)
        return partners

    def _draw_ties(self, number: int, partners: Partners) -> None:
        """Fill the rows of isolated points, and the last column: one of the points tied to each."""
        n = self.n_points
        tie = self._tie[self.isolated]
        partners.indices[self.isolated] = tie[:, None]
        partners.weights[self.isolated] = np.float32(0.5 / n / self.n_draws)
        # A point to which none is tied has itself as a last partner, without weight.
        partners.indices[:, -1] = np.arange(n)
        partners.weights[:, -1] = 0
        order = np.argsort(tie, kind="stable")
        targets, firsts, sizes = np.unique(tie[order], return_index=True, return_counts=True)
        chances = np.random.default_rng([self._seed, number, TIES]).random(len(targets))
        chosen = firsts + (chances * sizes).astype(np.int64)  # chances are below 1
        partners.indices[targets, -1] = self.isolated[order[chosen]]
        partners.weights[targets, -1] = (0.5 / n * sizes).astype(np.float32)

    def draw_toward(self, layers: list[Array]) -> Partners:
        """Return fitted points (m, k) drawn by their similarity to new points with these cells.

        Weights are 1, or 0 for a new point that shares no cell.
        """
        k = PLACE_DRAWS // len(self._scales)
        m = len(layers[0])
        indices = np.empty((m, k * len(layers)), np.uint32)
        weights = np.ones(indices.shape, np.float32)

        def work(rows: slice) -> None:
            for s, (scale, cells) in enumerate(zip(self._scales, layers, strict=True)):
                part = slice(s * k, (s + 1) * k)
                # The same random numbers for all points, so that the coordinates of a new point do
                # not depend on the other points of a call.
                rng = np.random.default_rng([self._seed, s])
                once = rng.random((2, 1, k), dtype=np.float32)
                chances = np.broadcast_to(once, (2, rows.stop - rows.start, k))
                scale.draw(cells[rows], -1, chances, indices[rows, part], weights[rows, part])

        for_each_block(m, BLOCK_ROWS, work)
        return Partners(indices, weights)

    def mean_log_p(self, partners: Partners) -> float:
        """Return an estimate of the sum of p log p from drawn partners."""
        total = 0.0
        for start in range(0, self.n_points, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self.n_points))
            others = partners.indices[rows]
            p = sum(scale.probabilities(rows, others) for scale in self._scales)
            own = np.arange(rows.start, rows.stop)[:, None]
            ties = (self._tie[rows, None] == others) + (self._tie[others] == own).astype(np.int64)
            p = (p / len(self._scales) + ties) / (2 * self.n_points)
            p = np.where(p > 0, p, 1.0)  # partners without weight
            total += float((partners.weights[rows].astype(np.float64) * each_log(p)).sum())
        return total


class CellMembers:
    """The cells (n, t) of all points at one scale, and the members of each of the n_cells cells.

    A point in no cell has the cell n_cells, which is empty.

    n_others (n,): S, the number of other points in a point's cells, summed over the partitionings.
    shares (n,): weight of the scale for a point: 1, or more if it is alone at other scales.
    """

    def __init__(self, cells: Array, n_cells: int) -> None:
        self.n_points, n_partitions = cells.shape
        self.cells = cells
        self._others = unmatched(cells, n_cells)
        self._starts = np.zeros((n_partitions, n_cells + 2), np.int64)
        self._members = np.empty((n_partitions, self.n_points), np.int32)

        def work(partitions: slice) -> None:
            for p in range(partitions.start, partitions.stop):
                column = np.ascontiguousarray(cells[:, p])
                counts = np.bincount(column, minlength=n_cells + 1)
                counts[n_cells] = 0
                np.cumsum(counts, out=self._starts[p, 1:])
                self._members[p] = np.argsort(column, kind="stable")

        for_each_block(n_partitions, 4, work)
        self.n_others = self._sizes(cells) - np.count_nonzero(cells != n_cells, axis=1)
        self.shares = np.ones(self.n_points)

    def _sizes(self, cells: Array) -> NDArray[np.float64]:
        """Return the number of points in the cells (n, t), summed over the partitionings."""
        sizes = np.zeros(len(cells))
        for p in range(cells.shape[1]):
            sizes += np.diff(self._starts[p])[cells[:, p]]
        return sizes

    def draw(
        self, cells: Array, first: int, chances: Array, indices: Array, weights: Array
    ) -> None:
        """Fill partners and weights (n, k) of points from `first` on, or of new ones (-1)."""
        n_others = self.n_others if first >= 0 else self._sizes(cells)
        members = self._starts, self._members, n_others, self.shares
        draw_partners(cells, members, first, chances, indices, weights)

    def probabilities(self, rows: slice, partners: Array) -> NDArray[np.float64]:
        """Return p_{j|i} + p_{i|j} of a block of points i and their partners j (n_rows, k)."""
        shared = np.empty(partners.shape)
        compare_partners(self.cells[rows], self._others, partners, shared)
        rates = self.shares / np.maximum(self.n_others, 1)
        return np.asarray(shared * (rates[rows, None] + rates[partners]))


@kernel
def draw_partners(
    cells: Array, members: Members, first: int, chances: Array, indices: Array, weights: Array
) -> None:
    """Fill indices and weights (n, k) with partners j of point first + i, and a_i + a_j S_i / S_j.

    The draws are stratified: S_i is divided into k equal intervals with one draw in each. With
    first = -1 the points are new, S is theirs, and weights are changed only to 0, for a point that
    shares no cell. O(n (t + k)).
    """
    starts, points, n_others, shares = members
    n_draws = indices.shape[1]
    n_own = 0 if first < 0 else 1
    for i in range(cells.shape[0]):
        own = first + i if first >= 0 else i
        part = n_others[own] / n_draws
        p = -1
        passed = n_here = 0.0
        begin = np.int64(0)
        for q in range(n_draws):
            target = (q + chances[0, i, q]) * part  # ascending in q: one pass over partitionings
            while p < 0 or (passed + n_here <= target and p + 1 < cells.shape[1]):
                passed += n_here
                p += 1
                cell = np.int64(cells[i, p])  # the last cell plus 1 exceeds its own type
                begin = starts[p, cell]
                n_here = np.float64(max(0, starts[p, cell + 1] - begin - n_own))
            if n_here < 1:  # alone in all cells: the caller inserts the nearest neighbor
                indices[i, q] = own * n_own
                weights[i, q] = 0
                continue
            # The minimum guards against a product that rounds up to n_here.
            chosen = min(np.int64(chances[1, i, q] * n_here), np.int64(n_here) - 1)
            j = points[p, begin + chosen]
            if n_own == 0:
                indices[i, q] = j
                continue
            if j == own:  # `chosen` ranges over all members but the last, which stands in for own
                j = points[p, begin + np.int64(n_here)]
            indices[i, q] = j
            weights[i, q] = shares[own] + shares[j] * n_others[own] / n_others[j]
