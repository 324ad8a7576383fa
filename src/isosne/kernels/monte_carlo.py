"""The isolation kernel by sampling (Eq. 7): the fraction of partitionings with a shared cell.

A point is described by its cell in each partitioning. Two points are compared by counting the
partitionings in which their cells are equal.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.kernels.counts import CellIndex, count_with_partners
from isosne.kernels.forest import ForestPartitions
from isosne.kernels.form_protocol import FormRows
from isosne.kernels.voronoi import VoronoiPartitions
from isosne.neighbors.metric import Metric

Partitions = VoronoiPartitions | ForestPartitions


def draw_partitions(
    points: Points,
    shape: tuple[int, int],
    metric: Metric,
    rng: np.random.Generator,
    partition: str,
) -> Partitions:
    """Return partitionings over samples of the points; shape: n_partitions and psi."""
    n_drawn, psi = shape
    n = points.shape[0]
    samples = np.empty((n_drawn, psi), np.int64)
    for sample in samples:  # sorted, so that ties go to the lower index
        sample[:] = np.sort(rng.choice(n, psi, replace=False, shuffle=False))
    if partition == "forest":
        return ForestPartitions(samples, points, rng)
    return VoronoiPartitions(samples, points, metric)


class DrawnForm:
    """The isolation kernel as the fraction of partitionings with a shared cell (Eq. 7).

    Parameters
    ----------
    fitted : array or CSR
        The fitted points.
    partitions : list
        Partitionings, one item per scale.
    """

    def __init__(self, fitted: Points, partitions: list[Partitions]) -> None:
        self._fitted = fitted
        self._partitions = partitions
        self._n_drawn = len(partitions[0].samples)
        self.n_scales = len(partitions)

    def describe(self, points: Points) -> list[Array]:
        """Return the cell of each point in each partitioning, one array per scale."""
        return [partitions.cells(points) for partitions in self._partitions]

    def index(self, described: list[Array]) -> list[CellIndex]:
        """Return an index of described points, to compare other points with."""
        scales = zip(described, self._partitions, strict=True)
        return [CellIndex(cells, partitions.psi) for cells, partitions in scales]

    def compare(self, described: list[Array], index: list[CellIndex]) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, m) of described points to the points of an index."""
        return self._shares([part.count(c) for c, part in zip(described, index, strict=True)])

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of the fitted points to their partners (n, k)."""
        scales = self.describe(self._fitted)
        return self._shares([count_with_partners(cells, partners, cells) for cells in scales])

    def toward(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares new points with the fitted points nearest to them."""
        fitted = self.describe(self._fitted)

        def compare(points: Points, ids: Array, distances: Array) -> NDArray[np.float32]:
            scales = zip(self.describe(points), fitted, strict=True)
            return self._shares([count_with_partners(new, ids, cells) for new, cells in scales])

        return compare

    def rows(self) -> "CellRows":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        return CellRows(self, self.describe(self._fitted))

    def _shares(self, counts: list[Array]) -> NDArray[np.float32]:
        return np.divide(counts, np.float32(self._n_drawn), dtype=np.float32)  # Eq. 7: 1 / t


class CellRows(FormRows[list[CellIndex]]):
    """Rows of similarity computed from cells; step 2 can also read the integer counts."""

    def counts(self, rows: slice) -> Array:
        """Return the counts (n_rows, n_points) of shared cells at the first scale."""
        index: CellIndex = self._index[0]
        return index.count(self._described[0][rows])
