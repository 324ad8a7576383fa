"""Forces of a user-defined objective over all pairs, from its derivative.

With ``D_ij = dC / dq_ij`` and ``q = w / Z``, the chain rule gives
``dC / d(d_ij^2) = -u_ij q_ij (D_ij - sum_kl q_kl D_kl)``, so the gradient is
``-4 sum_j u_ij q_ij (D_ij - <q, D>) (y_i - y_j)``. NumPy in float64; O(n^2) time and memory.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, DenseMatrix
from isosne.layout.exact import TINY, Stateless, step_limit
from isosne.layout.objectives import CustomObjective, dof_of
from isosne.layout.pair_terms import similarity_at


class CustomForces(Stateless):
    """Gradient and value of a user-defined objective over all pairs.

    Parameters
    ----------
    joint : DenseMatrix
        Joint probabilities.
    objective : CustomObjective
        The objective to minimize.
    """

    def __init__(self, joint: DenseMatrix, objective: CustomObjective) -> None:
        factors = joint.factors.astype(np.float64)
        self.objective = objective
        self.dof = dof_of(objective)
        self.n_points = len(factors)
        self._P: NDArray[np.float64] = joint.values * (factors[:, None] + factors)

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        """Return the gradient at map Y (d, n), plus the attraction of (exaggeration - 1) P."""
        diffs = Y[:, :, None].astype(np.float64) - Y[:, None, :]  # (d, n, n)
        sq_dist = (diffs**2).sum(axis=0)
        Q = self._map_probabilities(sq_dist)
        D = np.asarray(self.objective.derivative(self._P, Q), np.float64)
        terms = Q * ((Q * D).sum() - D) + (exaggeration - 1) * self._P
        gradient = 4 * np.einsum("ij,cij->ci", terms * self._slope(sq_dist), diffs)
        return np.asarray(gradient, np.float32)

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return the objective at map Y (d, n), without exaggeration."""
        diffs = Y[:, :, None].astype(np.float64) - Y[:, None, :]
        return float(self.objective.value(self._P, self._map_probabilities((diffs**2).sum(axis=0))))

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        """Do nothing: all pairs are available at every step."""

    def loads(self) -> NDArray[np.float32]:
        """Return n p_i, the affinity of each point relative to the mean."""
        return np.asarray(self.n_points * self._P.sum(axis=1), np.float32)

    def step_limit(self, exaggeration: float) -> float:
        """Return the longest step at which the optimization does not diverge."""
        return step_limit(self.n_points, self.dof, exaggeration)

    def step_share(self, progress: float) -> float:
        """Return 1: exact forces need no shorter steps."""
        return 1.0

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
