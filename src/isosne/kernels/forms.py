"""The two forms of the isolation kernel: shares of drawn partitionings, and the closed form.

A form describes points, by the cells that hold them or by lists of the fitted points nearest to
them, and compares descriptions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.distances import Metric, search_set
from isosne.kernels.counts import CellIndex, count_with_partners
from isosne.kernels.exact import all_pairs, list_length, listed_pairs
from isosne.kernels.forest import ForestPartitions
from isosne.kernels.voronoi import VoronoiPartitions
from isosne.nearest import nearest, with_self

Partitions = VoronoiPartitions | ForestPartitions


class DrawnForm:
    """Counts in how many partitionings two points share a cell (Eq. 7).

    Parameters
    ----------
    fitted : array or CSR
        The fitted points.
    partitions : list
        Partitionings of each scale.
    """

    def __init__(self, fitted: Points, partitions: list[Partitions]) -> None:
        self._fitted = fitted
        self._partitions = partitions
        self._n_drawn = len(partitions[0].samples)
        self.n_scales = len(partitions)

    def describe(self, points: Points) -> list[Array]:
        """Return the cell of each point in each partitioning, scale by scale."""
        return [partitions.cells(points) for partitions in self._partitions]

    def index(self, described: list[Array]) -> Any:
        """Return descriptions in the form that others are compared with."""
        scales = zip(described, self._partitions, strict=True)
        return [CellIndex(cells, partitions.psi) for cells, partitions in scales]

    def compare(self, described: list[Array], index: Any) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, m) of points to those of an index."""
        return self._shares([part.count(c) for c, part in zip(described, index, strict=True)])

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of the fitted points to their partners (n, k)."""
        scales = self.describe(self._fitted)
        return self._shares([count_with_partners(cells, partners, cells) for cells in scales])

    def toward(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares further points with fitted points near to them."""
        fitted = self.describe(self._fitted)

        def compare(points: Points, ids: Array, distances: Array) -> NDArray[np.float32]:
            scales = zip(self.describe(points), fitted, strict=True)
            return self._shares([count_with_partners(new, ids, cells) for new, cells in scales])

        return compare

    def rows(self) -> "CellRows":
        """Return the fitted points' similarity, to be read in blocks of rows."""
        return CellRows(self, self.describe(self._fitted))

    def _shares(self, counts: list[Array]) -> NDArray[np.float32]:
        return np.divide(counts, np.float32(self._n_drawn), dtype=np.float32)


class ClosedForm:
    """Computes what infinitely many partitionings would give (Eq. 6), from ranks of distance.

    Parameters
    ----------
    fitted : array or CSR
        The fitted points.
    metric : Metric
        The distance.
    psis : tuple of int
        Number of cells at each scale.
    """

    def __init__(self, fitted: Points, metric: Metric, psis: tuple[int, ...]) -> None:
        self._fitted = fitted
        self._metric = metric
        self._psis = psis
        self.n_scales = len(psis)

    def describe(self, points: Points) -> list[Array]:
        """Return the fitted points nearest to each point, as many as matter."""
        length = list_length(self._fitted.shape[0], min(self._psis))
        ids, _ = nearest(points, search_set(self._fitted, self._metric), length)
        return [ids]

    def index(self, described: list[Array]) -> Any:
        """Return descriptions in the form that others are compared with: as they are."""
        return described

    def compare(self, described: list[Array], index: Any) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, m) of points to those of an index."""
        return all_pairs(described[0], index[0], self._psis, self._fitted.shape[0])

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of the fitted points to their partners (n, k)."""
        lists = with_self(neighbors)
        return listed_pairs(lists, partners, lists, self._psis)

    def toward(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares further points with fitted points near to them."""
        lists = with_self(neighbors)
        return lambda points, ids, distances: listed_pairs(ids, ids, lists, self._psis)

    def rows(self) -> "FormRows":
        """Return the fitted points' similarity, to be read in blocks of rows."""
        return FormRows(self, self.describe(self._fitted))


class FormRows:
    """Rows of the fitted points' similarity, computed from descriptions that are kept."""

    def __init__(self, form: DrawnForm | ClosedForm, described: list[Array]) -> None:
        self._form = form
        self._described = described
        self._index = form.index(described)
        self.n_points = len(described[0])
        self.n_scales = form.n_scales

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of some points to all."""
        return self._form.compare([part[rows] for part in self._described], self._index)


class CellRows(FormRows):
    """Rows computed from cells; also as plain counts."""

    def counts(self, rows: slice) -> Array:
        """Return counts (n_rows, n_points) of shared cells at the first scale."""
        index: CellIndex = self._index[0]
        return index.count(self._described[0][rows])
