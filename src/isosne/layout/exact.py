"""Exact forces over all pairs, for maps in one, two or three dimensions.

Maps are stored as (3, n) float32; maps with fewer dimensions have leading rows of zeros. The sums
of a point are float32. Totals over points are float64 and added in the order of the points, so they
do not depend on the number of threads.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange, row_sum_kernel
from isosne._types import Array, DenseMatrix, Scalar
from isosne.layout.objectives import KL, Mixture
from isosne.layout.pair_terms import (
    map_similarity,
    minus_log_similarity,
    mixture_pull,
    mixture_value,
)

TINY = 1e-37
"""Smallest q and Z: just above the smallest normal float32 (1.2e-38)."""
ZERO_P = 1e-3
"""NeRV: a zero p counts as this fraction of the mean p, because KL(Q || P) is infinite at p = 0
(docs/departures.md; chosen)."""
ALONE = 1.01
"""Sum of w, including the point itself, up to which it is recomputed without the point. Above it
the others sum to at least 0.01, and float32 rounding (1.2e-7) costs at most 1.2e-5 of that."""


class Stateless:
    """Forces that depend only on the map."""

    def state(self) -> dict[str, Array]:
        """Return an empty state."""
        return {}

    def restore(self, state: dict[str, Array]) -> None:
        """Do nothing."""


class ExactForces(Stateless):
    """Gradient and value of an objective over all pairs.

    Parameters
    ----------
    joint : DenseMatrix
        Joint probabilities.
    objective : KL, NeRV or JSE, default=KL()
        The objective to minimize.
    dof : float, default=1.0
        Degrees of freedom of the map similarity; infinity is a Gaussian.
    """

    def __init__(
        self, joint: DenseMatrix, objective: Mixture | None = None, dof: float = 1.0
    ) -> None:
        self.joint = joint
        self.objective = objective or KL()
        self.dof = np.float32(dof)
        self.n_points = len(joint.factors)
        self._map = np.zeros((3, self.n_points), np.float32)
        self._pull, self._push = np.zeros_like(self._map), np.zeros_like(self._map)
        self._row_sums = np.zeros(self.n_points)
        self._sum_p_log_p: float | None = None

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        """Return the gradient at map Y (d, n), with the attraction times the exaggeration."""
        self._map[-len(Y) :] = Y
        pull, push, sums = self._pull, self._push, self._row_sums
        # KL needs Z only after the sum, so attraction and repulsion share one pass. The terms of
        # NeRV and JSE depend on q = w / Z, so Z is computed first.
        if isinstance(self.objective, KL):
            toward = exaggeration
            pull_and_push(*self.joint, self._map, self.dof, pull, push, sums)
            away = inverse(sums.sum())
        else:
            toward = 1.0
            push_all(self._map, self.dof, push, sums)
            scale = inverse(sums.sum())
            parameters = (*self._mixture, exaggeration - 1, scale)
            pull_mixture(*self.joint, self._map, self.dof, parameters, pull, sums)
            away = sums.sum() * scale  # normalization of Q: q_ij times the sum of all terms
        return combine(pull, push, toward, away)[-len(Y) :]

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        """Do nothing: all pairs are available at every step."""

    def step_limit(self, exaggeration: float) -> float:
        """Return the longest step at which the optimization does not diverge."""
        return step_limit(self.n_points, self.dof, exaggeration)

    def step_share(self, progress: float) -> float:
        """Return 1: exact forces need no shorter steps."""
        return 1.0

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return the objective at map Y (d, n); not negative."""
        self._map[-len(Y) :] = Y
        sums = self._row_sums
        push_all(self._map, self.dof, self._push, sums)
        Z = max(float(sums.sum()), TINY)
        if isinstance(self.objective, KL):
            loss_all(*self.joint, self._map, self.dof, sums)
            # KL = sum p log p - sum p log w + log Z, as P sums to 1.
            loss = float(sums.sum() + np.log(Z))
            return max(self._negative_entropy() + loss, 0.0)
        value_mixture(*self.joint, self._map, self.dof, (*self._mixture, 0.0, 1 / Z), sums)
        return max(float(sums.sum()), 0.0)

    @property
    def _mixture(self) -> tuple[int, float, float]:
        return self.objective.code, self.objective.weight, ZERO_P / self.n_points**2

    def _negative_entropy(self) -> float:
        """Return the sum of p log p, which does not depend on the map."""
        if self._sum_p_log_p is None:
            sum_p_log_p(*self.joint, self._row_sums)
            self._sum_p_log_p = float(self._row_sums.sum())
        return self._sum_p_log_p


class ExactRepulsion(Stateless):
    """Repulsion between all pairs of points, without approximation.

    Parameters
    ----------
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    """

    def __init__(self, dof: Scalar = 1.0) -> None:
        self._dof = np.float32(dof)

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push (3, n) for the map Y (3, n) and return Z."""
        sums = np.empty(Y.shape[1])
        push_all(Y, self._dof, push, sums)
        return float(sums.sum())


def combine(pull: Array, push: Array, toward: float, away: float) -> NDArray[np.float32]:
    """Return the gradient 4 (toward pull - away push); `descend` detects infinite values."""
    with np.errstate(all="ignore"):
        return np.asarray(np.float32(4 * toward) * pull - np.float32(4 * away) * push, np.float32)


def inverse(Z: float) -> float:
    """Return 1 / Z; infinity if all pairs are so far apart that Z underflows."""
    return 1 / float(Z) if Z > 0 else np.inf


def step_limit(n_points: int, dof: Scalar, exaggeration: float) -> float:
    """Return the longest step at which the optimization does not diverge.

    With Student's t there is no limit: the attraction decreases at large distances. With a Gaussian
    it grows like that of a spring: its Hessian, 4 exaggeration times the Laplacian of P, has
    eigenvalues up to about 8 exaggeration / n. The limit is the inverse.
    """
    return n_points / (8 * exaggeration) if np.isinf(dof) else np.inf


@row_sum_kernel
def without_self(total: Scalar, Y: Array, i: int, dof: Scalar) -> float:
    """Return the sum of w over the other points, given the sum over all points, where w_ii = 1.

    For a point far from all others the difference would be lost in rounding, so the sum is
    computed again. Skipping j = i in the main loops would prevent vectorization (a third of the
    speed).
    """
    if total > np.float32(ALONE):  # nearly always
        return np.float64(total) - 1.0
    others = 0.0
    for j in range(Y.shape[1]):
        if j != i:
            d0, d1, d2 = Y[0, i] - Y[0, j], Y[1, i] - Y[1, j], Y[2, i] - Y[2, j]
            w, _ = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            others += np.float64(w)
    return others


@parallel_kernel
def pull_and_push(
    values: Array, factors: Array, Y: Array, dof: Scalar, pull: Array, push: Array, sums: Array
) -> None:
    """Fill pull[:, i] = sum_j p u (y_i - y_j), push[:, i] = sum_j w u (y_i - y_j), sums[i] = sum w.

    values (n, n) and factors (n,) define p; Y, pull, push (3, n). O(n^2), one pass over the pairs.
    """
    n = Y.shape[1]
    for i in prange(n):
        zero = np.float32(0)
        p0 = p1 = p2 = q0 = q1 = q2 = total = zero
        x0, x1, x2, factor = Y[0, i], Y[1, i], Y[2, i], factors[i]
        row = values[i]
        # j = i adds w = 1 to the total and nothing to the forces, as its difference is zero.
        for j in range(n):
            d0, d1, d2 = x0 - Y[0, j], x1 - Y[1, j], x2 - Y[2, j]
            w, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            p = np.float32(row[j]) * (factor + factors[j]) * u  # p_ij of DenseMatrix, times u
            q = w * u
            total += w
            p0 += p * d0
            p1 += p * d1
            p2 += p * d2
            q0 += q * d0
            q1 += q * d1
            q2 += q * d2
        pull[0, i], pull[1, i], pull[2, i] = p0, p1, p2
        push[0, i], push[1, i], push[2, i] = q0, q1, q2
        sums[i] = without_self(total, Y, i, dof)


@parallel_kernel
def push_all(Y: Array, dof: Scalar, push: Array, sums: Array) -> None:
    """Fill push[:, i] = sum_j w u (y_i - y_j) and sums[i] = sum w over all pairs."""
    n = Y.shape[1]
    for i in prange(n):
        zero = np.float32(0)
        q0 = q1 = q2 = total = zero
        x0, x1, x2 = Y[0, i], Y[1, i], Y[2, i]
        for j in range(n):
            d0, d1, d2 = x0 - Y[0, j], x1 - Y[1, j], x2 - Y[2, j]
            w, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            q = w * u
            total += w
            q0 += q * d0
            q1 += q * d1
            q2 += q * d2
        push[0, i], push[1, i], push[2, i] = q0, q1, q2
        sums[i] = without_self(total, Y, i, dof)


@parallel_kernel
def pull_mixture(
    values: Array,
    factors: Array,
    Y: Array,
    dof: Scalar,
    parameters: tuple[int, float, float, float, float],
    pull: Array,
    sums: Array,
) -> None:
    """Fill pull[:, i] = sum_j (pull + extra p) u (y_i - y_j), and sums[i] = sum of the pulls.

    parameters: code, weight and smallest p of the objective; exaggeration - 1; 1 / Z.
    """
    code, weight, floor, extra, scale = parameters
    n = Y.shape[1]
    for i in prange(n):
        p0 = p1 = p2 = total = 0.0
        for j in range(n):
            if j != i:  # the terms of NeRV and JSE are not zero at j = i
                d0, d1, d2 = Y[0, i] - Y[0, j], Y[1, i] - Y[1, j], Y[2, i] - Y[2, j]
                w, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
                p = np.float64(values[i, j]) * (factors[i] + factors[j])
                term = mixture_pull(p, max(w * scale, TINY), code, weight, floor)
                total += term  # without exaggeration, which is not part of the objective
                term = (term + extra * p) * u
                p0 += term * d0
                p1 += term * d1
                p2 += term * d2
        pull[0, i], pull[1, i], pull[2, i] = p0, p1, p2
        sums[i] = total


@parallel_kernel
def value_mixture(
    values: Array,
    factors: Array,
    Y: Array,
    dof: Scalar,
    parameters: tuple[int, float, float, float, float],
    sums: Array,
) -> None:
    """Fill sums[i] with the objective's terms of point i; parameters as in `pull_mixture`."""
    code, weight, floor, _, scale = parameters
    n = Y.shape[1]
    for i in prange(n):
        total = 0.0
        for j in range(n):
            if j != i:
                d0, d1, d2 = Y[0, i] - Y[0, j], Y[1, i] - Y[1, j], Y[2, i] - Y[2, j]
                w, _ = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
                p = np.float64(values[i, j]) * (factors[i] + factors[j])
                total += mixture_value(p, max(w * scale, TINY), code, weight, floor)
        sums[i] = total


@parallel_kernel
def loss_all(values: Array, factors: Array, Y: Array, dof: Scalar, sums: Array) -> None:
    """Fill sums[i] = -sum_j p log w."""
    n = Y.shape[1]
    for i in prange(n):
        total = np.float32(0)
        x0, x1, x2, factor = Y[0, i], Y[1, i], Y[2, i], factors[i]
        row = values[i]
        for j in range(n):
            d0, d1, d2 = x0 - Y[0, j], x1 - Y[1, j], x2 - Y[2, j]
            loss = minus_log_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            total += np.float32(row[j]) * (factor + factors[j]) * loss
        sums[i] = total


@parallel_kernel
def sum_p_log_p(values: Array, factors: Array, sums: Array) -> None:
    """Fill sums[i] = sum_j p log p, where 0 log 0 = 0."""
    for i in prange(len(factors)):
        total = 0.0
        for j in range(len(factors)):
            p = np.float64(values[i, j]) * (factors[i] + factors[j])
            if p > 0:
                total += p * np.log(p)
        sums[i] = total
