"""The pull of an alignment: points are drawn toward given places, as part of the objective.

With places a_i of m of the n points, the objective is
``C(Y) = KL(P || Q) + strength / (2 n r^2) * sum_i |y_i - a_i|^2``, where r is the root mean square
distance of the places from their center. The term is that of DREAMS (Kury et al. 2025), divided by
r^2, so that a strength means the same for maps of any width (docs/decisions/0017).
"""

import math

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

NARROWEST = 1.0
"""Smallest radius: the distance at which the similarity of two points of a map falls to one half.
Fewer than two distinct places have no radius of their own (chosen)."""


class Pull:
    """Quadratic pull of some points toward given places.

    Parameters
    ----------
    rows : array of int, shape (m,)
        Indices of the points that are pulled.
    places : array of shape (m, d)
        The place of each.
    strength : float
        Strength of the pull, above 0.
    n_points : int
        Number of points of the map.

    Attributes
    ----------
    radius : float
        Root mean square distance of the places from their center.
    stiffness : array of float32, shape (n_points,)
        Second derivative of the term along each coordinate of a point; 0 for other points.
    """

    def __init__(self, rows: Array, places: Array, strength: float, n_points: int) -> None:
        self.rows, self.strength = np.asarray(rows, np.int64), float(strength)
        self.places = np.ascontiguousarray(places, np.float32)
        self.radius = radius_of(self.places)
        self.stiffness = np.zeros(n_points, np.float32)
        self.stiffness[self.rows] = self.strength / (n_points * self.radius**2)

    def add(self, Y: NDArray[np.float32], gradient: NDArray[np.float32]) -> None:
        """Add the gradient of the term at map Y (d, n) to a gradient (d, n)."""
        gradient[:, self.rows] += self.stiffness[self.rows] * (Y[:, self.rows] - self.places.T)

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return the term at map Y (d, n)."""
        return self.strength * len(self.rows) * self.displacement(Y) ** 2 / (2 * Y.shape[1])

    def displacement(self, Y: NDArray[np.float32]) -> float:
        """Return the root mean square distance of the pulled points from their places, in radii."""
        diffs = Y[:, self.rows].astype(np.float64) - self.places.T
        return math.sqrt((diffs**2).sum() / len(self.rows)) / self.radius


def radius_of(Y: Array) -> float:
    """Return the root mean square distance of the points of a map (n, d) from their center."""
    diffs = Y.astype(np.float64) - Y.mean(axis=0, dtype=np.float64)
    return max(math.sqrt((diffs**2).sum() / len(Y)), NARROWEST)
