"""Hubs, and local scaling against them.

In many dimensions a few points can be among the nearest neighbors of nearly all others, in every
cluster. Local scaling divides the squared distance from i to j by a power of the spread of j, the
mean distance of j to its own nearest neighbors, before j is ranked. A hub is near to everything, so
its spread is small, and it moves back in the lists of others (docs/owner-kernel.md).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._portable import each_power
from isosne._types import Array, Neighbors

N_COUNTED = 10
"""Nearest neighbors per point that are counted to find hubs."""
HUBNESS, MILD, FULL = 5.0, 0.25, 1.0
"""Hubness above which "auto" scales fully, and its powers of the spread (docs/decisions/0022)."""
ROWS = 1024
"""Rows per block (chosen)."""


def hubness(indices: Array) -> float:
    """Return how many lists (n, k) a listed point is in on average, relative to any point.

    1 if all points are in k lists; 1 + the squared coefficient of variation in general.
    """
    listed = indices[:, :N_COUNTED]
    # A sum of integers is exact, so the choice is the same on every machine.
    counts = np.bincount(listed.ravel(), minlength=len(listed))
    total = int((counts**2).sum())
    return total / (len(counts) * int(listed.shape[1]) ** 2)


class Spreads(NamedTuple):
    """The spread (n,) of each fitted point, its mean distance to its neighbors, to a power."""

    values: NDArray[np.float32]
    exponent: float
    n_ranked: int
    """Number of nearest neighbors that are ranked by scaled distances."""

    @classmethod
    def of(cls, distances: Array, exponent: float) -> "Spreads":
        """Return what follows from the distances (n, k) of points to their nearest neighbors."""
        spreads = np.zeros(len(distances))
        for column in distances.T:  # from left to right, in the same way on every CPU
            spreads += column
        spreads /= distances.shape[1]
        # Copies of one another have no spread; they count as the densest of the other points.
        lowest = np.min(spreads, where=spreads > 0, initial=np.inf)
        spreads[spreads == 0] = lowest if np.isfinite(lowest) else 1
        return cls(each_power(spreads, exponent).astype(np.float32), exponent, distances.shape[1])

    def scale(self, sq: Array, ids: Array) -> Array:
        """Return squared distances to the fitted points `ids`, divided by their values."""
        scaled: Array = sq / self.values[ids].astype(np.float64)
        return scaled

    def fill_rows(self, neighbors: Neighbors, law: Array, rows: Array) -> None:
        """Fill rows (n, k) with the law (k,) of the rank by scaled distance within each list."""
        lists = neighbors.distances, neighbors.indices

        def work(block: slice) -> None:
            distances, ids = (array[block, : len(law)] for array in lists)
            fill_by_rank(distances, ids, self.values, law, rows[block])

        for_each_block(len(rows), ROWS, work)


@kernel
def fill_by_rank(distances: Array, ids: Array, spreads: Array, law: Array, rows: Array) -> None:
    """Fill rows[i, q] = law[number of neighbors before q by squared distance over spread]."""
    k = distances.shape[1]
    scaled = np.empty(k)
    for i in range(distances.shape[0]):
        for q in range(k):
            distance = np.float64(distances[i, q])
            scaled[q] = distance * distance / np.float64(spreads[ids[i, q]])
        for q in range(k):  # counting vectorizes, sorting does not; of equal ones, the first wins
            rank = 0
            for e in range(q):
                rank += scaled[e] <= scaled[q]
            for e in range(q + 1, k):
                rank += scaled[e] < scaled[q]
            rows[i, q] = law[rank]
