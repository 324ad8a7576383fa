"""Hubs, and local scaling against them.

In many dimensions a few points can be among the nearest neighbors of nearly all others, in every
cluster. Local scaling divides the squared distance from i to j by the spread of j, the mean
distance of j to its own nearest neighbors, before j is ranked. A hub is near to everything, so its
spread is small, and it moves back in the lists of others (docs/owner-kernel.md).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._types import Array, Neighbors

N_COUNTED = 10
"""Nearest neighbors per point that are counted to find hubs."""
HUBNESS = 5.0
"""Hubness above which "auto" scales the distances (docs/decisions/0022)."""
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
    """The spread (n,) of each fitted point: its mean distance to its nearest neighbors."""

    values: NDArray[np.float32]
    n_ranked: int
    """Number of nearest neighbors that are ranked by scaled distances."""

    @classmethod
    def of(cls, neighbors: Neighbors) -> "Spreads":
        """Return the spreads that follow from the lists of the fitted points."""
        spreads = mean_distances(neighbors.distances)
        # Copies of one another have no spread; they count as the densest of the other points.
        lowest = np.min(spreads, where=spreads > 0, initial=np.inf)
        spreads[spreads == 0] = lowest if np.isfinite(lowest) else 1
        return cls(spreads, neighbors.distances.shape[1])

    def scale(self, sq: Array, ids: Array) -> Array:
        """Return squared distances to the fitted points `ids`, divided by their spreads."""
        scaled: Array = sq / self.values[ids].astype(np.float64)
        return scaled

    def orders(self, neighbors: Neighbors, k: int) -> Array:
        """Return the order (n, k) of the first k of each list by scaled distance."""
        orders = np.empty((len(neighbors.indices), k), np.intp)

        def work(rows: slice) -> None:
            sq = neighbors.distances[rows, :k].astype(np.float64) ** 2
            scaled = self.scale(sq, neighbors.indices[rows, :k])
            orders[rows] = np.argsort(scaled, axis=1, kind="stable")

        for_each_block(len(orders), ROWS, work)
        return orders


def mean_distances(distances: Array) -> NDArray[np.float32]:
    """Return the means of the rows, summed from left to right, in the same way on every CPU."""
    total = np.zeros(len(distances))
    for column in distances.T:
        total += column
    means: NDArray[np.float32] = (total / distances.shape[1]).astype(np.float32)
    return means
