"""Forces whose attraction and repulsion are computed apart, each in its own way.

Points that are near in the map are kept near in memory: now and then the points are put in the
order of a curve that visits the map place by place. Nobody else sees that order.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Scalar
from isosne.layout.exact import TINY, inverse, step_limit

ARRANGE_FROM, ARRANGE_EVERY = 50, 250
"""Steps after which the points are first put in the order of the map, and again."""
CURVE_BITS = 10
"""Cells along a side of the map, as a power of two, in the order of the curve."""


class Attraction(Protocol):
    """Pull between the pairs that are similar."""

    n_points: int
    negative_entropy: float

    def prepare(self, iteration: int) -> None:
        """Make ready for the step after `iteration` steps."""
        ...

    def step_share(self, progress: float) -> float:
        """Return the share of a step to take when so much of the last phase has passed."""
        ...

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull = sum_j p u (y_i - y_j) at the map Y, both (n, 2) or (n, 3)."""
        ...

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w."""
        ...


@runtime_checkable
class ArrangedAttraction(Attraction, Protocol):
    """Attraction to partners that are near in the map, which gains by the order of memory."""

    def arrange(self, order: Array) -> None:
        """Take the points in another order: order[r] is where the r-th was up to now."""
        ...


class Repulsion(Protocol):
    """Push between all points."""

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push (3, n) = sum_j w u (y_i - y_j) at the map Y (3, n) and return Z.

        Coordinates that the map does not have come first.
        """
        ...

    def state(self) -> dict[str, Array]:
        """Return what the next push depends on besides the map."""
        ...

    def restore(self, state: dict[str, Array]) -> None:
        """Go back to a state."""
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
        self._order = np.arange(self.n_points)

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        """Return the gradient at map Y (d, n), with attraction multiplied by the exaggeration."""
        rows, columns = self._arranged(Y)
        pull, push = np.empty_like(rows), np.empty_like(columns)
        self.attraction.pull(rows, pull)
        Z = self.repulsion.push(columns, push)
        gradient = np.empty_like(Y)
        toward, away = np.float32(4 * exaggeration), np.float32(4 * inverse(Z))
        combine_arranged(pull, push, self._order, (toward, away), gradient)
        return gradient

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        """Make ready for the step after `iteration` steps, from the map Y (d, n)."""
        is_time = iteration >= ARRANGE_FROM and (iteration - ARRANGE_FROM) % ARRANGE_EVERY == 0
        if is_time and isinstance(self.attraction, ArrangedAttraction):
            order = curve_order(Y[:, self._order])
            self.attraction.arrange(order)
            self._order = self._order[order]
        self.attraction.prepare(iteration)

    def state(self) -> dict[str, Array]:
        """Return the order of memory, and what the repulsion keeps from step to step."""
        return {"order": self._order, **self.repulsion.state()}

    def restore(self, state: dict[str, Array]) -> None:
        """Go back to a state, from forces that have not been used yet."""
        if isinstance(self.attraction, ArrangedAttraction):
            self.attraction.arrange(state["order"])
        self._order = state["order"]
        self.repulsion.restore(state)

    def step_limit(self, exaggeration: float) -> float:
        """Return the longest step that keeps a map together."""
        return step_limit(self.n_points, self.dof, exaggeration)

    def step_share(self, progress: float) -> float:
        """Return the share of a step to take when so much of the last phase has passed."""
        return self.attraction.step_share(progress)

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return KL at map Y (d, n); not negative."""
        rows, columns = self._arranged(Y)
        Z = max(self.repulsion.push(columns, np.empty_like(columns)), TINY)
        loss = self.attraction.loss(rows) + float(np.log(Z))
        return max(self.attraction.negative_entropy + loss, 0.0)

    def _arranged(self, Y: NDArray[np.float32]) -> tuple[Array, Array]:
        """Return the map in the order of memory: rows (n, 2) or (n, 3), and columns (3, n)."""
        rows = np.zeros((self.n_points, max(2, len(Y))), np.float32)
        columns = np.zeros((3, self.n_points), np.float32)
        arrange_map(Y, self._order, rows, columns)
        return rows, columns


def curve_order(Y: NDArray[np.float32]) -> Array:
    """Return the points of a map (d, n) cell by cell, along a curve that visits them all."""
    low = Y.min(axis=1, keepdims=True).astype(np.float64)
    width = float((Y.max(axis=1, keepdims=True) - low).max())
    if not np.isfinite(width) or width == 0:
        return np.arange(Y.shape[1])
    scale = (2**CURVE_BITS - 1) / width
    codes = np.zeros(Y.shape[1], np.uint32)
    for axis, cells in enumerate((scale * (Y - low)).astype(np.uint32)):
        for bit in range(CURVE_BITS):
            codes |= ((cells >> bit) & 1) << (bit * len(Y) + axis)
    return np.argsort(codes, kind="stable")


@parallel_kernel
def arrange_map(Y: Array, order: Array, rows: Array, columns: Array) -> None:
    """Copy the map Y (d, n) in another order to rows, and to the last of the columns."""
    first = columns.shape[0] - Y.shape[0]
    for r in prange(len(order)):
        for c in range(Y.shape[0]):
            rows[r, c] = columns[first + c, r] = Y[c, order[r]]


@parallel_kernel
def combine_arranged(
    pull: Array, push: Array, order: Array, factors: tuple[Scalar, Scalar], gradient: Array
) -> None:
    """Fill the gradient (d, n) in its own order: toward times pull less away times push."""
    toward, away = factors
    first = push.shape[0] - gradient.shape[0]
    for r in prange(len(order)):
        for c in range(gradient.shape[0]):
            gradient[c, order[r]] = toward * pull[r, c] - away * push[first + c, r]
