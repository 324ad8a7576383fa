"""The seam between the isolation kernel and the two ways to compute it.

A form describes points (by the cells that hold them, or by ranked lists of the fitted points) and
compares descriptions. `drawn` counts shared cells of random partitionings; `closed_form` computes
the limit of infinitely many.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Neighbors, NeighborSimilarity, Points


class Form(Protocol):
    """How points are described and compared, at one or several scales."""

    n_scales: int

    def describe(self, points: Points) -> list[Array]:
        """Return a description of each point, scale by scale or for all scales at once."""
        ...

    def index(self, described: list[Array]) -> Any:
        """Return descriptions in the form that others are compared with."""
        ...

    def compare(self, described: list[Array], index: Any) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, m) of points to those of an index."""
        ...

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of the fitted points to their partners (n, k)."""
        ...

    def toward(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares further points with fitted points near to them."""
        ...

    def rows(self) -> "FormRows":
        """Return the fitted points' similarity, to be read in blocks of rows."""
        ...


class FormRows:
    """Rows of the fitted points' similarity, computed from descriptions that are kept."""

    def __init__(self, form: Form, described: list[Array]) -> None:
        self._form = form
        self._described = described
        self._index = form.index(described)
        self.n_points = len(described[0])
        self.n_scales = form.n_scales

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of some points to all."""
        return self._form.compare([part[rows] for part in self._described], self._index)
