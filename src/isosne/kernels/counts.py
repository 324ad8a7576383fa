"""Number of cells that two points share: t times Eq. 7 as a small integer, one byte per pair.

Two loops give the same counts; `CellIndex` uses the faster one. *Compare* tests every pair in every
partitioning, with vector instructions. *Gather* visits only the pairs that share a cell, one at a
time; the cell sizes tell how many there are.
"""

import numpy as np

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array
from isosne.neighbors.codes import compare_cells, count_dtype

COMPARE_COST = 1 / 40
"""Time of one comparison relative to one visit: 32 bytes per vector instruction against one random
access (estimated; not measured). A wrong value costs time only: both loops give the same counts."""


class CellIndex:
    """Index of points by their cells, to count cells shared with other points.

    Parameters
    ----------
    cells : array of shape (m, t)
        Cell ids below n_cells.
    n_cells : int
        Number of cells per partitioning.
    """

    def __init__(self, cells: Array, n_cells: int) -> None:
        self.n_points, n_partitions = cells.shape
        columns = np.ascontiguousarray(cells.T)
        sizes = np.stack([np.bincount(column, minlength=n_cells) for column in columns])
        # Mean number of (partitioning, other point) pairs that share a cell, per indexed point.
        # Query points are assumed to come from the same distribution.
        n_shared = np.einsum("pc,pc->", sizes, sizes, dtype=np.float64) / self.n_points
        self._gathers = bool(n_shared < COMPARE_COST * self.n_points * n_partitions)
        if self._gathers:
            self._starts = np.zeros((n_partitions, n_cells + 1), np.int64)
            np.cumsum(sizes, axis=1, out=self._starts[:, 1:])
            self._order = np.empty(columns.shape, np.int32)
            for p, column in enumerate(columns):  # one by one: `argsort` returns int64
                self._order[p] = np.argsort(column, kind="stable")
        else:
            self._columns = columns

    def count(self, A: Array) -> Array:
        """Return the number of columns (n, m) on which each row of A (n, t) equals each point."""
        counts = np.zeros((len(A), self.n_points), count_dtype(A.shape[1]))

        def work(rows: slice) -> None:
            if self._gathers:
                gather_shared(A[rows], self._starts, self._order, counts[rows])
            else:
                compare_cells(A[rows], self._columns, counts[rows])

        for_each_block(len(A), 64, work)  # 64 rows share each tile of columns
        return counts


def count_with_partners(cells: Array, partners: Array, others: Array) -> Array:
    """Return the number of cells (n, k) that each row shares with its partners in `others`."""
    counts = np.empty(partners.shape, count_dtype(cells.shape[1]))
    for_each_block(
        len(partners),
        1024,
        lambda rows: compare_partners(cells[rows], others, partners[rows], counts[rows]),
    )
    return counts


@kernel
def gather_shared(A: Array, starts: Array, order: Array, counts: Array) -> None:
    """Add 1 to counts[i, j] for each point j in each cell of row i of A. O(shared cells).

    order[p] lists the indexed points sorted by cell; cell c begins at starts[p, c].
    """
    for i in range(A.shape[0]):
        for p in range(A.shape[1]):
            cell = np.int64(A[i, p])  # the last cell plus 1 exceeds its own type
            for e in range(starts[p, cell], starts[p, cell + 1]):
                counts[i, order[p, e]] += np.uint8(1)


@kernel
def compare_partners(A: Array, B: Array, partners: Array, counts: Array) -> None:
    """Count the columns on which row i of A equals rows partners[i] of B. O(n k t)."""
    for i in range(A.shape[0]):
        for q in range(partners.shape[1]):
            other = B[partners[i, q]]
            total = 0
            for p in range(A.shape[1]):
                total += A[i, p] == other[p]
            counts[i, q] = total
