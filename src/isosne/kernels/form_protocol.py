"""Interface between the isolation kernel and the two ways to compute it.

A form describes each point (by its cells, or by a ranked list of fitted points) and compares
descriptions. `drawn` counts shared cells of random partitionings; `closed_form` computes the limit
of infinitely many partitionings.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Neighbors, NeighborSimilarity, Points


class Form(Protocol):
    """A way to describe and compare points, at one or several scales."""

    n_scales: int

    def describe(self, points: Points) -> list[Array]:
        """Return a description of each point: one array per scale, or one for all scales."""
        ...

    def index(self, described: list[Array]) -> Any:
        """Return an index of described points, to compare other points with."""
        ...

    def compare(self, described: list[Array], index: Any) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, m) of described points to the points of an index."""
        ...

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of the fitted points to their partners (n, k)."""
        ...

    def toward(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares new points with the fitted points nearest to them."""
        ...

    def rows(self) -> "FormRows":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        ...


class FormRows:
    """Rows of similarity among the fitted points, computed from stored descriptions."""

    def __init__(self, form: Form, described: list[Array]) -> None:
        self._form = form
        self._described = described
        self._index = form.index(described)
        self.n_points = len(described[0])
        self.n_scales = form.n_scales

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of a block of points to all points."""
        return self._form.compare([part[rows] for part in self._described], self._index)
