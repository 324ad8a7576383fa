"""Interface between the isolation kernel and the two ways to compute it.

A form describes each point (by its cells, or by a ranked list of fitted points) and compares
descriptions. `drawn` counts shared cells of random partitionings; `closed_form` computes the limit
of infinitely many partitionings.
"""

from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Neighbors, NeighborSimilarity, Points

Index = TypeVar("Index")
"""Described points, ready to be compared with: cells by member, or lists as they are."""


class Form(Protocol[Index]):
    """A way to describe and compare points, at one or several scales."""

    n_scales: int

    def describe(self, points: Points) -> list[Array]:
        """Return a description of each point: one array per scale, or one for all scales."""
        ...

    def index(self, described: list[Array]) -> Index:
        """Return an index of described points, to compare other points with."""
        ...

    def compare(self, described: list[Array], index: Index) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, m) of described points to the points of an index."""
        ...

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of the fitted points to their partners (n, k)."""
        ...

    def toward(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares new points with the fitted points nearest to them."""
        ...

    def rows(self) -> "FormRows[Index]":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        ...


class FormRows(Generic[Index]):
    """Rows of similarity among the fitted points, computed from stored descriptions."""

    def __init__(self, form: Form[Index], described: list[Array]) -> None:
        self._form = form
        self._described = described
        self._index = form.index(described)
        self.n_points = len(described[0])
        self.n_scales = form.n_scales

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of a block of points to all points."""
        return self._form.compare([part[rows] for part in self._described], self._index)
