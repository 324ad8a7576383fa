"""Points whose columns are codes: two points agree in a column or they differ (Hamming distance).

The cells of partitionings are such codes. Keys are numbers of columns that differ, so they are
exact.
"""

import numpy as np

from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.coordinates import Query

COMPARE_COLUMNS = 1024
"""Points per tile: a tile's counts and codes (1 or 2 bytes each) stay in the L1 cache (chosen)."""


def count_dtype(n_columns: int) -> type[np.unsignedinteger]:
    """Return the smallest unsigned integer type that holds counts up to n_columns."""
    return np.uint8 if n_columns < 2**8 else np.uint16 if n_columns < 2**16 else np.uint32


class CodePoints:
    """Codes that queries are compared with; a `SearchSet` of the Hamming distance.

    Parameters
    ----------
    points : array of shape (n, n_columns)
        The codes.
    """

    unit = 0.0
    points = np.empty((0, 0))

    def __init__(self, points: Array) -> None:
        self.n_points, n_columns = points.shape
        self.tile = COMPARE_COLUMNS
        self.scale = 1 / n_columns  # a distance is the fraction of columns that differ
        self._columns = np.ascontiguousarray(points.T)

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of points."""
        codes = np.ascontiguousarray(X[rows])
        return Query(codes, self.points, np.zeros(len(codes)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the number of columns in which points differ."""
        codes = query.points
        others = self._columns[:, columns]
        agree = np.zeros((len(codes), others.shape[1]), count_dtype(codes.shape[1]))
        compare_cells(codes, np.ascontiguousarray(others), agree)
        keys: Array = np.subtract(codes.shape[1], agree, dtype=np.float64)
        return keys

    def subset(self, ids: Array) -> "CodePoints":
        """Return a set of the points `ids`, in that order."""
        return CodePoints(self._columns[:, ids].T)


@kernel
def compare_cells(A: Array, B_columns: Array, counts: Array) -> None:
    """Count equal entries of rows of A (n, t) and columns of B_columns (t, m). O(n m t).

    A tile of columns stays in cache while all rows are compared with it.
    """
    n_partitions, m = B_columns.shape
    for start in range(0, m, COMPARE_COLUMNS):
        stop = min(start + COMPARE_COLUMNS, m)
        for i in range(A.shape[0]):
            row = counts[i, start:stop]
            for p in range(n_partitions):
                cell = A[i, p]
                column = B_columns[p, start:stop]
                for j in range(len(row)):
                    row[j] += np.uint8(column[j] == cell)  # uint8, so that the loop vectorizes
