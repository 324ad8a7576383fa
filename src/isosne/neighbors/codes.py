"""Points whose columns are compared one by one: codes (Hamming distance), mixed columns (Gower).

The cells of partitionings are codes. Hamming keys are numbers of columns that differ, so they are
exact. Gower's distance (Gower 1971) compares points that `isosne.tables.gower_points` has made: a
coordinate from 0 to 1 is a number relative to the range of its column; from CATEGORY up it is a
category, and two categories differ by 0 or 1; MISSING stands for a missing value. The distance is
the mean difference over the columns in which both values are known.
"""

import numpy as np

from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.metric import Query, SearchSet

COMPARE_COLUMNS = 1024
"""Points per tile: a tile's counts and codes (1 or 2 bytes each) stay in the L1 cache (chosen)."""


class CodePoints(SearchSet):
    """Codes that queries are compared with; a `SearchSet` of the Hamming distance."""

    tile = COMPARE_COLUMNS

    def __init__(self, points: Array) -> None:
        self.n_points, n_columns = points.shape
        self.scale = 1 / n_columns  # a distance is the fraction of columns that differ
        self._columns = np.ascontiguousarray(points.T)

    def query(self, X: Points, rows: slice) -> Query:
        codes = np.ascontiguousarray(X[rows])
        return Query(codes, np.zeros(len(codes)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the number of columns in which points differ."""
        codes = query.points
        others = self._columns[:, columns]
        agree = np.zeros((len(codes), others.shape[1]), np.min_scalar_type(codes.shape[1]))
        compare_cells(codes, np.ascontiguousarray(others), agree)
        keys: Array = np.subtract(codes.shape[1], agree, dtype=np.float64)
        return keys

    def subset(self, ids: Array) -> "CodePoints":
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


MISSING = -1.0
CATEGORY = 2.0
FARTHEST = 1.0
"""Distance of two points that have no column in which both values are known."""


@kernel
def fill_gower(X: Array, Z: Array, keys: Array) -> None:
    """Fill keys[i, j] with the distance of X[i] and Z[j], summed in the order of the columns."""
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            n_known = 0
            for f in range(X.shape[1]):
                a, b = X[i, f], Z[j, f]
                if a == MISSING or b == MISSING:
                    continue
                n_known += 1
                if a >= CATEGORY or b >= CATEGORY:
                    total += np.float64(a != b)
                else:
                    total += abs(a - b)
            keys[i, j] = total / n_known if n_known else FARTHEST
