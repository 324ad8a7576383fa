"""Forces with separate attraction and repulsion, each computed by its own method.

Points that are close on the map are kept close in memory: from time to time they are sorted along a
Morton curve (docs/decisions/0006). This order is private to the module.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_number
from isosne._numba import parallel_kernel, prange
from isosne._portable import log
from isosne._types import Array, DenseMatrix, Scalar
from isosne.errors import ParameterError, suggest
from isosne.layout.attraction import Attraction, ListedAttraction
from isosne.layout.descent import Field
from isosne.layout.exact import TINY, Repulsion, inverse
from isosne.layout.objectives import CustomObjective, dof_of, similarity_at
from isosne.layout.tree import morton_codes

ARRANGE_FROM, ARRANGE_EVERY = 50, 250
"""Step of the first sort along the curve, and steps between sorts (docs/decisions/0006)."""
CURVE_BITS = 10
"""Bits per axis of the curve: 1024 cells per axis suffice for locality."""


class SplitForces(Field):
    """Gradient and value of KL(P || Q) from an attraction and a repulsion."""

    def __init__(self, attraction: Attraction, repulsion: Repulsion, dof: Scalar = 1.0) -> None:
        # The attraction of points in the current order, and this order.
        self._arrangement = attraction, np.arange(attraction.n_points)
        self.repulsion = repulsion
        self.dof = np.float32(dof)
        self._loads = attraction.loads

    @property
    def attraction(self) -> Attraction:
        """The attraction, of points in the current order."""
        return self._arrangement[0]

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        rows, columns = self._arranged(Y)
        pull, push = np.empty_like(rows), np.empty_like(columns)
        attraction, order = self._arrangement
        attraction.pull(rows, pull)
        Z = self.repulsion.push(columns, push)
        gradient = np.empty_like(Y)
        toward, away = np.float32(4 * exaggeration), np.float32(4 * inverse(Z))
        combine_arranged(pull, push, order, (toward, away), gradient)
        return gradient

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        is_time = iteration >= ARRANGE_FROM and (iteration - ARRANGE_FROM) % ARRANGE_EVERY == 0
        if is_time:
            self._arrange(curve_order(Y[:, self._arrangement[1]]))
        self.attraction.prepare(iteration)

    def state(self) -> dict[str, Array]:
        return {"order": self._arrangement[1], **self.repulsion.state()}

    def restore(self, state: dict[str, Array]) -> None:
        self._arrange(state["order"])
        self.repulsion.restore(state)

    def loads(self) -> NDArray[np.float32]:
        return self._loads

    def step_share(self, progress: float) -> float:
        return self.attraction.step_share(progress)

    def value(self, Y: NDArray[np.float32]) -> float:
        rows, columns = self._arranged(Y)
        Z = max(self.repulsion.push(columns, np.empty_like(columns)), TINY)
        loss = self.attraction.loss(rows) + float(log(Z))
        return max(self.attraction.negative_entropy + loss, 0.0)  # KL >= 0, except for rounding

    def _arrange(self, order: Array) -> None:
        """Reorder the points, relative to the current order; partners that are drawn cannot be."""
        attraction, before = self._arrangement
        if isinstance(attraction, ListedAttraction):
            # One assignment, so that an interrupt leaves either the old state or the new one.
            self._arrangement = attraction.arranged(order), before[order]

    def _arranged(self, Y: NDArray[np.float32]) -> tuple[Array, Array]:
        """Return the map in curve order: rows (n, d), and columns (d, n)."""
        rows, columns = np.empty(Y.shape[::-1], np.float32), np.empty_like(Y)
        arrange_map(Y, self._arrangement[1], rows, columns)
        return rows, columns


def curve_order(Y: NDArray[np.float32]) -> Array:
    """Return the order of the points of a map (d, n) along a Morton curve."""
    codes = morton_codes(Y, CURVE_BITS)
    # Stable, so that equal codes keep their order.
    return np.arange(Y.shape[1]) if codes is None else np.argsort(codes, kind="stable")


@parallel_kernel
def arrange_map(Y: Array, order: Array, rows: Array, columns: Array) -> None:
    """Copy the map Y (d, n) in another order to rows (n, d) and columns (d, n)."""
    for r in prange(len(order)):
        for c in range(Y.shape[0]):
            rows[r, c] = columns[c, r] = Y[c, order[r]]


@parallel_kernel
def combine_arranged(
    pull: Array, push: Array, order: Array, factors: tuple[Scalar, Scalar], gradient: Array
) -> None:
    """Fill the gradient (d, n), in the original order: toward * pull - away * push."""
    toward, away = factors
    for r in prange(len(order)):
        for c in range(gradient.shape[0]):
            gradient[c, order[r]] = toward * pull[r, c] - away * push[c, r]


@dataclass(frozen=True)
class Exact:
    """Sum the repulsive forces over all pairs of points: O(n^2) per step, no approximation."""

    name = "exact"


@dataclass(frozen=True)
class Mesh:
    """Interpolate the repulsive forces on a regular mesh by Fourier transforms: O(n) per step.

    Parameters
    ----------
    accuracy : float, default=0.01
        Target for the relative error of the forces (root mean square over the points), from 0.003
        to 0.2. openTSNE's error is about 0.03 (docs/decisions/0005).

    Notes
    -----
    Forces between near points are summed pair by pair, so the mesh can be coarse
    (docs/decisions/0013).

    Examples
    --------
    >>> from isosne import TSNE, Mesh
    >>> TSNE(forces=Mesh(accuracy=0.02))
    TSNE(forces=Mesh(accuracy=0.02))
    """

    accuracy: float = 0.01
    name = "mesh"

    def __post_init__(self) -> None:
        hint = "0.03 is as accurate as other packages; 0.01 gives better maps."
        check_number(self.accuracy, "accuracy", low=0.003, high=0.2, hint=hint)


@dataclass(frozen=True)
class Tree:
    """Approximate the repulsive forces with a Barnes-Hut tree: O(n log n) per step.

    Unlike a mesh, the cost does not depend on the width of the map.

    Parameters
    ----------
    theta : float, default=0.5
        Largest ratio of the size of a tree cell to its distance at which the cell acts as a single
        point, from 0 (exact) to 1 (coarse). 0.5 is van der Maaten's (2014) default; errors are in
        docs/benchmarks.md.

    Examples
    --------
    >>> from isosne import TSNE, Tree
    >>> TSNE(forces=Tree(theta=0.4))
    TSNE(forces=Tree(theta=0.4))
    """

    theta: float = 0.5
    name = "tree"

    def __post_init__(self) -> None:
        check_number(self.theta, "theta", low=0, high=1, hint="0.5 is usual; 0 is exact.")


Method = Exact | Mesh | Tree
METHODS: dict[str, type[Method]] = {"exact": Exact, "mesh": Mesh, "tree": Tree}


def as_method(forces: object) -> Method | None:
    """Return the method for a name or an object; None for "auto"."""
    if isinstance(forces, Exact | Mesh | Tree):
        return forces
    if isinstance(forces, str) and forces in METHODS:
        return METHODS[forces]()
    if isinstance(forces, str) and forces == "auto":
        return None
    raise ParameterError(
        "forces",
        f"be one of {', '.join(map(repr, ('auto', *METHODS)))}, or Mesh(...) or Tree(...)",
        forces,
        suggest(forces, METHODS, "'auto' chooses by the number of points."),
    )


class CustomForces(Field):
    """Gradient and value of a user-defined objective over all pairs, from its derivative.

    With ``D_ij = dC / dq_ij`` and ``q = w / Z``, the chain rule gives
    ``dC / d(d_ij^2) = -u_ij q_ij (D_ij - sum_kl q_kl D_kl)``, so the gradient is
    ``-4 sum_j u_ij q_ij (D_ij - <q, D>) (y_i - y_j)``. NumPy in float64; O(n^2) time and memory.
    """

    def __init__(self, joint: DenseMatrix, objective: CustomObjective) -> None:
        factors = joint.factors.astype(np.float64)
        self.objective = objective
        self.dof = dof_of(objective)
        self.n_points = len(factors)
        self._P: NDArray[np.float64] = joint.values * (factors[:, None] + factors)

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        diffs = Y[:, :, None].astype(np.float64) - Y[:, None, :]  # (d, n, n)
        sq_dist = (diffs**2).sum(axis=0)
        Q = self._map_probabilities(sq_dist)
        D = np.asarray(self.objective.derivative(self._P, Q), np.float64)
        terms = Q * ((Q * D).sum() - D) + (exaggeration - 1) * self._P
        gradient = 4 * np.einsum("ij,cij->ci", terms * self._slope(sq_dist), diffs)
        return np.asarray(gradient, np.float32)

    def value(self, Y: NDArray[np.float32]) -> float:
        diffs = Y[:, :, None].astype(np.float64) - Y[:, None, :]
        return float(self.objective.value(self._P, self._map_probabilities((diffs**2).sum(axis=0))))

    def loads(self) -> NDArray[np.float32]:
        return np.asarray(self.n_points * self._P.sum(axis=1), np.float32)

    def _map_probabilities(self, sq_dist: Array) -> NDArray[np.float64]:
        w = similarity_at(sq_dist, self.dof)
        np.fill_diagonal(w, 0)
        Q: NDArray[np.float64] = np.maximum(w / w.sum(), TINY)  # objectives may take log Q
        np.fill_diagonal(Q, 0)
        return Q

    def _slope(self, sq_dist: Array) -> Array:
        """Return u = -d log w / d(d^2)."""
        if np.isinf(self.dof):
            return np.ones_like(sq_dist)
        slope: Array = (self.dof + 1) / 2 / (self.dof + sq_dist)
        return slope
