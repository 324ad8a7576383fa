"""Nearest neighbors by the Hamming distance, from an index of the points by their codes.

Only points that agree with a query in some column are visited. If the cells are small, these are
few, and the time is nearly proportional to the number of points. Cells of more than LARGEST_CELL
points are not visited: points that agree in such columns alone are missed. The distances of the
points that are found are exact.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Neighbors, Points
from isosne.neighbors.exact import comes_before, sift_down, sort_kept, without_self

LARGEST_CELL = 512
"""Largest number of points of a cell that is visited (chosen): a visit costs as much as its
members, and one column in many says little."""
BLOCK_ROWS = 1024
"""Rows per block: each has a count for every point of the set (chosen)."""
UNKNOWN = -1
"""Cell of a code that no point of the set has."""


class CodeIndex:
    """Search among points with integer or other codes in their columns.

    Parameters
    ----------
    X : array of shape (n, n_columns)
        The codes.
    """

    def __init__(self, X: Array) -> None:
        self.n_points, self.n_columns = X.shape
        self._values: list[Array] = [np.empty(0)] * self.n_columns
        self._cells = np.empty((self.n_points, self.n_columns), np.int32)
        self._members = np.empty((self.n_columns, self.n_points), np.int32)
        starts: list[Array] = [np.empty(0)] * self.n_columns

        def work(columns: slice) -> None:
            for c in range(columns.start, columns.stop):
                values, cells, sizes = np.unique(X[:, c], return_inverse=True, return_counts=True)
                self._values[c], self._cells[:, c] = values, cells
                self._members[c] = np.argsort(cells, kind="stable")
                starts[c] = np.r_[0, np.cumsum(sizes)]

        for_each_block(self.n_columns, 4, work)
        self._starts = np.concatenate(starts)
        self._offsets = np.r_[0, np.cumsum([len(part) for part in starts])]

    def neighbors(self, k: int) -> Neighbors:
        """Return the k nearest neighbors of each point of the set among the others."""
        n = self.n_points
        lists = Neighbors(np.empty((n, k), np.int32), np.empty((n, k), np.float32))

        def work(rows: slice) -> None:
            ids, keys = self._find(self._cells[rows], k + 1)
            own = np.arange(rows.start, rows.stop)
            part = without_self(ids, keys / self.n_columns, own)
            lists.indices[rows], lists.distances[rows] = part

        for_each_block(n, BLOCK_ROWS, work)
        return lists

    def nearest(self, X: Points, k: int) -> tuple[NDArray[np.int32], Array]:
        """Return indices and distances (n, k) of the points nearest to each row of X."""
        n = X.shape[0]
        ids, distances = np.empty((n, k), np.int32), np.empty((n, k))

        def work(rows: slice) -> None:
            ids[rows], keys = self._find(self._cells_of(X[rows]), k)
            distances[rows] = keys / self.n_columns

        for_each_block(n, BLOCK_ROWS, work)
        return ids, distances

    def _cells_of(self, X: Array) -> NDArray[np.int32]:
        """Return the cells (n, n_columns) of new points."""
        cells = np.empty(X.shape, np.int32)
        for c, values in enumerate(self._values):
            found = np.minimum(np.searchsorted(values, X[:, c]), len(values) - 1)
            cells[:, c] = np.where(values[found] == X[:, c], found, UNKNOWN)
        return cells

    def _find(self, cells: NDArray[np.int32], k: int) -> tuple[NDArray[np.int32], Array]:
        """Return indices and keys (n, k), the numbers of columns that differ."""
        ids = np.empty((len(cells), k), np.int32)
        keys = np.empty((len(cells), k))
        index = self._offsets, self._starts, self._members
        gather_nearest(cells, self._cells, index, keys, ids)
        sort_kept(keys, ids)
        return ids, keys


@kernel
def gather_nearest(
    cells: Array, others: Array, index: tuple[Array, Array, Array], keys: Array, ids: Array
) -> None:
    """Fill keys and ids (n, k) with the points of the index that agree with rows of cells most.

    cells (n, t) and others (m, t): cells of the queries and of the points of the index. index:
    offset of each column in starts, start of each cell in its column of members (t, m). Rows of
    the result are heaps ordered by (key, index). O(visited members + k log k) per row.
    """
    offsets, starts, members = index
    n_columns, n_points, k = cells.shape[1], others.shape[0], keys.shape[1]
    counts = np.zeros(n_points, np.int32)
    touched = np.empty(n_points, np.int32)
    skipped = np.empty(n_columns, np.int32)
    for i in range(cells.shape[0]):
        n_touched = n_skipped = 0
        for p in range(n_columns):
            if cells[i, p] == UNKNOWN:
                continue
            first = offsets[p] + cells[i, p]
            if starts[first + 1] - starts[first] > LARGEST_CELL:
                skipped[n_skipped] = p
                n_skipped += 1
                continue
            for e in range(starts[first], starts[first + 1]):
                j = members[p, e]
                if counts[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                counts[j] += 1
        j = 0
        n_found = n_touched
        while n_found < k:  # too few agree in any small cell: the first of the others
            if counts[j] == 0:
                touched[n_found] = j
                n_found += 1
            j += 1
        keys[i] = np.inf
        ids[i] = n_points
        for a in range(n_found):
            j = touched[a]
            n_agree = counts[j]
            for s in range(n_skipped):
                n_agree += cells[i, skipped[s]] == others[j, skipped[s]]
            counts[j] = 0
            key = np.float64(n_columns - n_agree)
            if comes_before(key, j, keys[i, 0], ids[i, 0]):
                keys[i, 0], ids[i, 0] = key, j
                sift_down(keys[i], ids[i], 0, k)
