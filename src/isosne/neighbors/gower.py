"""Gower's distance (Gower 1971) between points that `isosne.tables.gower_points` has made.

A coordinate from 0 to 1 is a number relative to the range of its column. From CATEGORY up it is a
category, and two categories differ by 0 or 1. MISSING stands for a missing value. The distance is
the mean difference over the columns in which both values are known.
"""

import numpy as np

from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.coordinates import Query

MISSING = -1.0
CATEGORY = 2.0
FARTHEST = 1.0
"""Distance of two points that have no column in which both values are known."""


class GowerPoints:
    """Points that queries are compared with; a `SearchSet` of Gower's distance.

    Parameters
    ----------
    points : array of shape (n, n_columns)
        Coordinates as described above.
    """

    tile = 2048
    unit = 0.0
    scale = 1.0

    def __init__(self, points: Array) -> None:
        self.points = np.ascontiguousarray(points, np.float64)
        self.n_points = len(points)

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of points."""
        block = np.ascontiguousarray(X[rows], np.float64)
        return Query(block, block[:, :0], np.zeros(len(block)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the distances."""
        others = self.points[columns]
        keys = np.empty((len(query.points), len(others)))
        fill_gower(query.points, others, keys)
        return keys

    def subset(self, ids: Array) -> "GowerPoints":
        """Return a set of the points `ids`, in that order."""
        return GowerPoints(self.points[ids])


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
