"""Points that are held at places of a previous map: their places, and the pull toward them."""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

NARROWEST = 1.0
"""Smallest radius: the distance at which the similarity of two points of a map falls to one half.
Fewer than two distinct places have no radius of their own (chosen)."""


class Anchors(NamedTuple):
    """Places of some points of a map, and how strongly they are pulled there.

    With places a_i of some of the n points, the objective is
    ``C(Y) = KL(P || Q) + strength / (2 n r^2) * sum_i |y_i - a_i|^2``, where r is the root mean
    square distance of the places from their center. The term is that of DREAMS (Kury, Kobak and
    Damrich 2025), divided by r^2, so that a strength means the same for maps of any width
    (docs/decisions/0017).

    ``rows`` (m,) are the indices of the points, ascending; ``places`` (m, d) those on the previous
    map, multiplied by ``scale``. A ``strength`` of 0 is a start without a pull.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.float32]
    strength: float
    scale: float = 1.0

    def among(self, chosen: Array) -> Self:
        """Return the anchors of chosen points, ascending, counted by their position among them."""
        _, within, kept = np.intersect1d(chosen, self.rows, return_indices=True)
        return self._replace(rows=within.astype(np.int64), places=self.places[kept])

    def displacement(self, Y: Array) -> NDArray[np.float64]:
        """Return the distance of each point of a map (n, d) from its place, in radii."""
        diffs = Y[self.rows].astype(np.float64) - self.places
        return np.asarray(np.sqrt((diffs**2).sum(axis=1)) / radius_of(self.places))


class Pull:
    """Quadratic pull of some points of a map toward their places.

    ``stiffness`` (n_points,) is the second derivative of the term along a coordinate of each point;
    0 for other points.
    """

    def __init__(self, anchors: Anchors, n_points: int) -> None:
        self.anchors = anchors
        self.stiffness = np.zeros(n_points, np.float32)
        self.stiffness[anchors.rows] = anchors.strength / (
            n_points * radius_of(anchors.places) ** 2
        )

    def add(self, Y: NDArray[np.float32], gradient: NDArray[np.float32]) -> None:
        """Add the gradient of the term at map Y (d, n) to a gradient (d, n)."""
        rows = self.anchors.rows
        gradient[:, rows] += self.stiffness[rows] * (Y[:, rows] - self.anchors.places.T)

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return the term at map Y (d, n)."""
        squares = self.anchors.displacement(Y.T) ** 2
        return float(self.anchors.strength * squares.sum() / (2 * Y.shape[1]))


def make_pull(anchors: Anchors | None, n_points: int) -> Pull | None:
    """Return the pull toward anchors, or None if there are none or their strength is 0."""
    if anchors is None or not anchors.strength or not len(anchors.rows):
        return None
    return Pull(anchors, n_points)


def radius_of(Y: Array) -> float:
    """Return the root mean square distance of the points of a map (n, d) from their center."""
    diffs = Y.astype(np.float64) - Y.mean(axis=0, dtype=np.float64)
    return max(math.sqrt(float((diffs**2).sum()) / len(Y)), NARROWEST)
