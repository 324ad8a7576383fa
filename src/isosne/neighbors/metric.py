"""The metrics: names, parameters, and what is known of them before points are compared."""

import math
from typing import NamedTuple

import numpy as np

from isosne._types import Array, Points
from isosne.neighbors.whitening import Whitening, fit_whitening


class Metric(NamedTuple):
    """A metric: its name, the power of the Minkowski distance, and what it learns from points.

    A *key* orders points like the distance and is cheaper: a squared distance if `is_squared`,
    otherwise the distance (cosine: the squared distance of rows scaled to length 1, which is twice
    the cosine distance).
    """

    name: str = "euclidean"
    p: float = 2.0
    whitening: Whitening | None = None
    """For the Mahalanobis distance, the covariance of the fitted points."""

    @property
    def power(self) -> float:
        """Power of the differences in a distance."""
        if self.name == "minkowski":
            return float(self.p)
        return {"manhattan": 1.0, "chebyshev": math.inf, "hamming": 1.0, "gower": 1.0}.get(
            self.name, 2.0
        )

    @property
    def is_squared(self) -> bool:
        """Whether keys are squared Euclidean distances."""
        return self.power == 2 and self.name != "precomputed"

    def fitted(self, points: Points) -> "Metric":
        """Return the metric with what it learns from the fitted points, if it does."""
        if self.name == "mahalanobis" and self.whitening is None:
            return self._replace(whitening=fit_whitening(points))
        return self

    def distances(self, keys: Array, scale: float = 1.0) -> Array:
        """Convert keys of points that were divided by `scale` to distances."""
        if self.name == "precomputed":
            return keys
        if self.name == "cosine":
            return keys / 2
        return scale * (np.sqrt(keys) if self.is_squared else keys)

    def sq_distances(self, keys: Array, scale: float = 1.0) -> Array:
        """Convert keys of points that were divided by `scale` to squared distances."""
        if self.is_squared and self.name != "cosine":
            return keys if scale == 1 else keys * scale**2
        return self.distances(keys, scale) ** 2
