"""Step 2 without a matrix: partners drawn by their probability, for broad kernels on many points.

``p_{j|i}`` of the isolation kernel can be drawn from exactly: pick a partitioning with a
probability proportional to the number of others in i's cell there, then one of those others. With
S_i the sum of these numbers, a draw from ``p_{.|i}`` with weight ``(1 + S_i / S_j) / 2n`` stands
for ``p_ij`` on average, so forces need only what point i drew itself. Nothing is cut off, and
memory is that of the cells: O(n t).

With several scales each has its share of the draws. A point alone in all its cells is tied to its
nearest other point.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, PartitionKernel, Partners

N_DRAWS = 64
"""Partners of a point at a time."""
PLACE_DRAWS = 256
"""Partners by which a further point finds its place."""
BLOCK_ROWS = 4096


class SampledAffinities:
    """Joint probabilities of the isolation kernel, to be drawn from.

    Parameters
    ----------
    kernel : PartitionKernel
        A fitted kernel with cells.
    n_draws : int, default=64
        Partners that a point draws at a time, over all scales.
    random_state : int, default=0
        Seed of the draws.
    """

    def __init__(
        self, kernel: PartitionKernel, n_draws: int = N_DRAWS, random_state: int = 0
    ) -> None:
        layers = zip(kernel.cells_at_scales(), kernel.psi_, strict=True)
        self._scales = [CellMembers(cells, psi) for cells, psi in layers]
        self.n_points = self._scales[0].n_points
        self.n_draws = max(1, n_draws // len(self._scales)) * len(self._scales)
        self._seed = random_state
        # A scale in which a point is alone is left out of its mean, as for all pairs.
        filled = np.stack([scale.n_others > 0 for scale in self._scales])
        for scale, there in zip(self._scales, filled, strict=True):
            scale.shares = there * len(filled) / np.maximum(filled.sum(axis=0), 1)
        self.isolated = np.flatnonzero(~filled.any(axis=0))
        if len(self.isolated):
            self._ties = kernel.nearest_others(self.isolated)

    def draw(self, number: int) -> Partners:
        """Return partners drawn for a number; the same number, the same partners."""
        n, k = self.n_points, self.n_draws // len(self._scales)
        partners = Partners(
            np.empty((n, self.n_draws), np.uint32), np.empty((n, self.n_draws), np.float32)
        )

        def work(rows: slice) -> None:
            rng = np.random.default_rng([self._seed, number, rows.start])
            for s, scale in enumerate(self._scales):
                part = slice(s * k, (s + 1) * k)
                chances = rng.random((2, rows.stop - rows.start, k), dtype=np.float32)
                scale.draw(
                    rows, chances, partners.indices[rows, part], partners.weights[rows, part]
                )

        for_each_block(n, BLOCK_ROWS, work)
        partners.weights[:] *= np.float32(0.5 / n / self.n_draws)
        if len(self.isolated):
            partners.indices[self.isolated] = self._ties[:, None]
            # For both ends: the other one does not draw the point that is alone.
            partners.weights[self.isolated] = np.float32(1 / n / self.n_draws)
        return partners

    def draw_toward(self, layers: list[Array]) -> NDArray[np.uint32]:
        """Return fitted points (m, k) drawn by their similarity to further points.

        layers: cells (m, t) of these points at each scale.
        """
        k = PLACE_DRAWS // len(self._scales)
        m = len(layers[0])
        indices = np.empty((m, k * len(layers)), np.uint32)
        weights = np.empty(indices.shape, np.float32)
        for s, (scale, cells) in enumerate(zip(self._scales, layers, strict=True)):
            part = slice(s * k, (s + 1) * k)
            # The same chances for all: a point's place does not depend on who comes with it.
            rng = np.random.default_rng([self._seed, s])
            chances = np.broadcast_to(rng.random((2, 1, k), dtype=np.float32), (2, m, k))

            def work(
                rows: slice,
                scale: CellMembers = scale,
                cells: Array = cells,
                part: slice = part,
                chances: Array = chances,
            ) -> None:
                scale.draw_toward(
                    cells[rows], chances[:, rows], indices[rows, part], weights[rows, part]
                )

            for_each_block(m, BLOCK_ROWS, work)
        return indices

    def mean_log_p(self, partners: Partners) -> float:
        """Return an estimate of the sum of p log p from partners that were drawn."""
        total = 0.0
        for start in range(0, self.n_points, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self.n_points))
            p = sum(scale.probabilities(rows, partners.indices[rows]) for scale in self._scales)
            p = p / (2 * self.n_points * len(self._scales))
            p = np.where(p > 0, p, 0.5 / self.n_points)  # a tie: i is sure of j, j knows nothing
            total += float((partners.weights[rows].astype(np.float64) * np.log(p)).sum())
        return total


class CellMembers:
    """The cells of all points at one scale, and who else is in them.

    Parameters
    ----------
    cells : array of shape (n, t)
        Cell ids below n_cells.
    n_cells : int
        Cells in a partitioning.

    Attributes
    ----------
    n_others : array of shape (n,)
        The sum S over a point's cells of the others in them.
    shares : array of shape (n,)
        How much the scale counts for a point: 1, more where the point is alone in other scales.
    """

    def __init__(self, cells: Array, n_cells: int) -> None:
        self.n_points, n_partitions = cells.shape
        self._cells = cells
        self._starts = np.zeros((n_partitions, n_cells + 1), np.int64)
        self._members = np.empty((n_partitions, self.n_points), np.int32)

        def work(partitions: slice) -> None:
            for p in range(partitions.start, partitions.stop):
                column = np.ascontiguousarray(cells[:, p])
                np.cumsum(np.bincount(column, minlength=n_cells), out=self._starts[p, 1:])
                self._members[p] = np.argsort(column, kind="stable")

        for_each_block(n_partitions, 4, work)
        self.n_others = np.zeros(self.n_points)
        for p in range(n_partitions):
            self.n_others += np.diff(self._starts[p])[cells[:, p]] - 1
        self.shares = np.ones(self.n_points)

    def draw(self, rows: slice, chances: Array, indices: Array, weights: Array) -> None:
        """Fill partners and weights (n_rows, k) of some points; chances (2, n_rows, k)."""
        members = self._starts, self._members, self.n_others, self.shares
        draw_partners(self._cells[rows], members, rows.start, chances, indices, weights)

    def draw_toward(self, cells: Array, chances: Array, indices: Array, weights: Array) -> None:
        """Fill partners (m, k) of further points with these cells (m, t)."""
        sizes = sum(np.diff(self._starts[p])[cells[:, p]] for p in range(cells.shape[1]))
        members = self._starts, self._members, np.asarray(sizes, np.float64), self.shares
        draw_partners(cells, members, -1, chances, indices, weights)

    def probabilities(self, rows: slice, partners: Array) -> NDArray[np.float64]:
        """Return p_{j|i} + p_{i|j} of some points i and their partners j (n_rows, k)."""
        shared = np.empty(partners.shape)
        count_shared(self._cells, rows.start, partners, shared)
        own = np.maximum(self.n_others[rows], 1)[:, None]
        result: NDArray[np.float64] = shared / own + shared / np.maximum(self.n_others[partners], 1)
        return result


@kernel
def draw_partners(
    cells: Array,
    members: tuple[Array, Array, Array, Array],
    first: int,
    chances: Array,
    indices: Array,
    weights: Array,
) -> None:
    """Fill indices and weights (n, k) with partners j of point first + i, and a_i + a_j S_i / S_j.

    cells (n, t); members: starts, points, S and shares a as in `CellMembers`. The k draws of a
    point divide the sum of its cells' sizes into k equal parts, one draw in each. With first = -1
    the points are none of the members, S belongs to them, and weights stay as they are.
    O(n (t + k)).
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
            target = (q + chances[0, i, q]) * part
            while p < 0 or (passed + n_here <= target and p + 1 < cells.shape[1]):
                passed += n_here
                p += 1
                begin = starts[p, cells[i, p]]
                n_here = np.float64(starts[p, cells[i, p] + 1] - begin - n_own)
            if n_here < 1:  # alone: whoever asked puts a tie in its place
                indices[i, q] = own
                weights[i, q] = 0
                continue
            chosen = min(np.int64(chances[1, i, q] * n_here), np.int64(n_here) - 1)
            j = points[p, begin + chosen]
            if n_own == 0:
                indices[i, q] = j
                continue
            if j == own:  # the last member takes its place, which no draw reaches otherwise
                j = points[p, begin + np.int64(n_here)]
            indices[i, q] = j
            weights[i, q] = shares[own] + shares[j] * n_others[own] / n_others[j]


@kernel
def count_shared(cells: Array, first: int, partners: Array, shared: Array) -> None:
    """Fill shared[i, q] with the number of cells that point first + i shares with a partner."""
    for i in range(partners.shape[0]):
        for q in range(partners.shape[1]):
            total = 0
            for p in range(cells.shape[1]):
                total += cells[first + i, p] == cells[partners[i, q], p]
            shared[i, q] = total
