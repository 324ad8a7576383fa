"""Forces whose attraction and repulsion are computed apart, each in its own way."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isosne._types import Scalar
from isosne.layout.exact import TINY, combine, inverse, step_limit


class Attraction(Protocol):
    """Pull between the pairs that are similar."""

    n_points: int
    negative_entropy: float

    def prepare(self, iteration: int) -> None:
        """Make ready for the step after `iteration` steps."""
        ...

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull (3, n) = sum_j p u (y_i - y_j) at the map Y (3, n)."""
        ...

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w."""
        ...


class Repulsion(Protocol):
    """Push between all points."""

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push (3, n) = sum_j w u (y_i - y_j) at the map Y (3, n) and return Z."""
        ...


class SplitForces:
    """The gradient of KL(P || Q), and its value, from an attraction and a repulsion.

    Parameters
    ----------
    attraction : Attraction
        Pull of the pairs that are similar.
    repulsion : Repulsion
        Push of all pairs.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    """

    def __init__(self, attraction: Attraction, repulsion: Repulsion, dof: Scalar = 1.0) -> None:
        self.attraction = attraction
        self.repulsion = repulsion
        self.dof = np.float32(dof)
        self.n_points = attraction.n_points
        self._map = np.zeros((3, self.n_points), np.float32)
        self._pull, self._push = np.zeros_like(self._map), np.zeros_like(self._map)

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        """Return the gradient at map Y (d, n), with attraction multiplied by the exaggeration."""
        self._map[-len(Y) :] = Y
        self.attraction.pull(self._map, self._pull)
        Z = self.repulsion.push(self._map, self._push)
        return combine(self._pull, self._push, exaggeration, inverse(Z))[-len(Y) :]

    def prepare(self, iteration: int) -> None:
        """Make ready for the step after `iteration` steps."""
        self.attraction.prepare(iteration)

    def step_limit(self, exaggeration: float) -> float:
        """Return the longest step that keeps a map together."""
        return step_limit(self.n_points, self.dof, exaggeration)

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return KL at map Y (d, n); not negative."""
        self._map[-len(Y) :] = Y
        Z = max(self.repulsion.push(self._map, self._push), TINY)
        loss = self.attraction.loss(self._map) + float(np.log(Z))
        return max(self.attraction.negative_entropy + loss, 0.0)
