"""Exact forces over all pairs, for maps in one, two or three dimensions.

The sums of a point are float32, in the 16 lanes of a vector. Totals over points are float64 and
added in the order of the points, so they do not depend on the number of threads.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isosne import _lanes as lanes
from isosne._lanes import LANES, Vector, Vectors
from isosne._numba import kernel, parallel_kernel, prange
from isosne._portable import log
from isosne._types import Array, DenseMatrix, Scalar
from isosne.layout import objectives
from isosne.layout.forces import Forces, Mass, Repulsion

Axes = tuple[Array, ...]
"""A map stored by axis: contiguous float32 arrays of at least 16 numbers."""
MixtureSettings = tuple[bool, float, float, float, float, bool]
"""Whether JSE, its weight, the smallest p, exaggeration - 1, 1 / Z, whether values are summed."""

TINY = 1e-37
"""Smallest q and Z: just above the smallest normal float32 (1.2e-38)."""
ZERO_P = 1e-3
"""NeRV: a zero p counts as this fraction of the mean p, because KL(Q || P) is infinite at p = 0
(docs/departures.md; chosen)."""
ALONE = 1.01
"""Sum of w, including the point itself, up to which it is recomputed without the point. Above it
the others sum to at least 0.01, and float32 rounding (1.2e-7) costs at most 1.2e-5 of that."""


class ExactForces(Forces):
    """Gradient and value of an objective over all pairs of joint probabilities; default KL."""

    def __init__(
        self, joint: DenseMatrix, objective: objectives.Mixture | None = None, dof: float = 1.0
    ) -> None:
        self.n_points = len(joint.factors)
        self.joint = widened(joint)
        self.objective = objective or objectives.KL()
        self.dof = np.float32(dof)
        self._row_sums = np.zeros(self.n_points)

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        axes, sums = by_axis(Y), self._row_sums
        pull, push = np.empty_like(Y), np.empty_like(Y)
        # KL needs Z only after the sum, so attraction and repulsion share one pass. The terms of
        # NeRV and JSE depend on q = w / Z, so Z is computed first.
        if isinstance(self.objective, objectives.KL):
            toward = exaggeration
            pull_and_push(*self.joint, axes, self.dof, pull, push, sums)
            leave_out_self(axes, self.dof, sums)
            away = inverse(sums.sum())
        else:
            toward = 1.0
            push_all(axes, self.dof, (), push, sums)
            leave_out_self(axes, self.dof, sums)
            scale = inverse(sums.sum())
            self._sum_mixture(axes, exaggeration - 1, scale, pull, of_values=False)
            away = sums.sum() * scale  # normalization of Q: q_ij times the sum of all terms
        with np.errstate(all="ignore"):  # `descend` detects infinite values
            return np.float32(4 * toward) * pull - np.float32(4 * away) * push

    def loads(self) -> NDArray[np.float32]:
        return (self.n_points * self._totals[0]).astype(np.float32)

    def value(self, Y: NDArray[np.float32]) -> float:
        axes, sums = by_axis(Y), self._row_sums
        unused = np.empty_like(Y)
        push_all(axes, self.dof, (), unused, sums)
        leave_out_self(axes, self.dof, sums)
        Z = max(float(sums.sum()), TINY)
        if isinstance(self.objective, objectives.KL):
            loss_all(*self.joint, axes, self.dof, sums)
            # KL = sum p log p - sum p log w + log Z, as P sums to 1.
            loss = float(sums.sum()) + log(Z)
            return max(float(self._totals[1].sum()) + float(loss), 0.0)
        self._sum_mixture(axes, 0.0, 1 / Z, unused, of_values=True)
        return max(float(sums.sum()), 0.0)

    def _sum_mixture(
        self, Y: Axes, extra: float, scale: float, pull: Array, *, of_values: bool
    ) -> None:
        is_jse, floor = isinstance(self.objective, objectives.JSE), ZERO_P / self.n_points**2
        weight = float(getattr(self.objective, "mixture" if is_jse else "trade_off"))
        settings = is_jse, weight, floor, extra, scale, of_values
        sum_mixture(self.joint, Y, self.dof, settings, pull, self._row_sums)

    @cached_property
    def _totals(self) -> tuple[Array, Array]:
        """Sums of p and of p log p for each point, which do not depend on the map."""
        totals = np.empty(self.n_points), np.empty(self.n_points)
        sum_rows(*self.joint, *totals)
        return totals


class CustomForces(Forces):
    """Gradient and value of a user-defined objective over all pairs, from its derivative.

    With ``D_ij = dC / dq_ij`` and ``q = w / Z``, the chain rule gives
    ``dC / d(d_ij^2) = -u_ij q_ij (D_ij - sum_kl q_kl D_kl)``, so the gradient is
    ``-4 sum_j u_ij q_ij (D_ij - <q, D>) (y_i - y_j)``. NumPy in float64; O(n^2) time and memory.
    """

    def __init__(self, joint: DenseMatrix, objective: objectives.CustomObjective) -> None:
        factors = joint.factors.astype(np.float64)
        self.objective = objective
        self.dof = objectives.dof_of(objective)
        self.n_points = len(factors)
        self._P: NDArray[np.float64] = joint.values * (factors[:, None] + factors)

    def gradient(self, Y: NDArray[np.float32], exaggeration: float = 1.0) -> NDArray[np.float32]:
        diffs = Y[:, :, None].astype(np.float64) - Y[:, None, :]  # (d, n, n)
        sq_dist = (diffs**2).sum(axis=0)
        Q = self._map_probabilities(sq_dist)
        D = np.asarray(self.objective.derivative(self._P, Q), np.float64)
        terms = Q * ((Q * D).sum() - D) + (exaggeration - 1) * self._P
        # u = -d log w / d(d^2)
        u = 1.0 if np.isinf(self.dof) else (self.dof + 1) / 2 / (self.dof + sq_dist)
        gradient = 4 * np.einsum("ij,cij->ci", terms * u, diffs)
        return np.asarray(gradient, np.float32)

    def value(self, Y: NDArray[np.float32]) -> float:
        diffs = Y[:, :, None].astype(np.float64) - Y[:, None, :]
        return float(self.objective.value(self._P, self._map_probabilities((diffs**2).sum(axis=0))))

    def loads(self) -> NDArray[np.float32]:
        return np.asarray(self.n_points * self._P.sum(axis=1), np.float32)

    def _map_probabilities(self, sq_dist: Array) -> NDArray[np.float64]:
        w = objectives.similarity_at(sq_dist, self.dof)
        np.fill_diagonal(w, 0)
        Q: NDArray[np.float64] = np.maximum(w / w.sum(), TINY)  # objectives may take log Q
        np.fill_diagonal(Q, 0)
        return Q


class ExactRepulsion(Repulsion):
    """Repulsion between all pairs of points, without approximation."""

    def __init__(self, dof: Scalar = 1.0) -> None:
        self._dof = np.float32(dof)

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32], masses: Mass = ()) -> float:
        axes, sums = by_axis(Y), np.empty(Y.shape[1])
        push_all(axes, self._dof, by_axis(masses[0][None]) if masses else (), push, sums)
        if masses:
            return mass_sum(sums - masses[0], masses)
        leave_out_self(axes, self._dof, sums)
        return float(sums.sum())


def by_axis(Y: NDArray[np.float32]) -> Axes:
    """Return a map (d, n) as one array per axis; fewer than 16 points are padded with zeros."""
    missing = max(0, LANES - Y.shape[1])
    return tuple(np.ascontiguousarray(np.pad(y, (0, missing)) if missing else y) for y in Y)


def widened(joint: DenseMatrix) -> DenseMatrix:
    """Return probabilities with at least 16 columns; columns past the last point are zero."""
    values, factors = joint
    missing = LANES - len(factors)
    if missing <= 0:
        return joint
    return DenseMatrix(np.pad(values, ((0, 0), (0, missing))), np.pad(factors, (0, missing)))


def inverse(Z: float) -> float:
    """Return 1 / Z; infinity if all pairs are so far apart that Z underflows."""
    return 1 / float(Z) if Z > 0 else np.inf


@kernel
def last_vector(n: int) -> tuple[int, int, Vector]:
    """Return the end of the last full vector of n terms; start and mask of one with the rest."""
    # A mask in every vector, as of `vector_at`, takes 1.4 times as long.
    full = n - n % LANES
    start = max(n - LANES, 0)
    return full, start, lanes.between(full - start, n - start)


@kernel
def sq_dist(Y: Axes, i: int, j: int) -> Scalar:
    """Return the squared distance of two points."""
    square = 0.0
    for c in range(len(Y)):
        d = np.float64(Y[c][i]) - np.float64(Y[c][j])
        square += d * d
    return square


def mass_sum(sums: Array, masses: Mass) -> float:
    """Return the sum over the points, each times its mass."""
    return float((sums * masses[0] if masses else sums).sum(dtype=np.float64))


def leave_out_self(Y: Axes, dof: Scalar, sums: Array) -> None:
    """Turn sums of w over all points, where w_ii = 1, into sums over the others."""
    has_others = sums > np.float32(ALONE)
    sums -= 1.0
    if not has_others.all():  # rarely, so it is not compiled for most maps
        sum_others(Y, np.flatnonzero(~has_others), dof, sums)


@kernel
def sum_others(Y: Axes, points: Array, dof: Scalar, sums: Array) -> None:
    """Fill the sums of w over the other points, for some points."""
    for i in points:
        others = 0.0
        for j in range(len(sums)):
            if j != i:
                others += objectives.pair_similarity(sq_dist(Y, i, j), dof)[0]
        sums[i] = others


@kernel
def store(values: Array, i: int, coordinates: tuple[Scalar, ...]) -> None:
    """Set values[:, i]."""
    for c in range(len(coordinates)):
        values[c, i] = coordinates[c]


@kernel
def add_forces(
    sums: tuple[Vector, Vectors, Vectors], d: Vectors, p: Vector, dof: Scalar, keep: Vector
) -> tuple[Vector, Vectors, Vectors]:
    """Add pairs with differences d, where keep is 1, to the sums of w, p u d and w u d."""
    weights, pulls, pushes = sums
    w, u = objectives.map_similarity(lanes.sq_length(d), dof)
    w = w * keep
    return (
        weights + w,
        lanes.plus_product(pulls, p * u * keep, d),
        lanes.plus_product(pushes, w * u, d),
    )


@parallel_kernel
def pull_and_push(
    values: Array, factors: Array, Y: Axes, dof: Scalar, pull: Array, push: Array, sums: Array
) -> None:
    """Fill pull[:, i] = sum_j p u (y_i - y_j), push[:, i] with w for p, sums[i] = sum_j w."""
    n = len(sums)
    for r in prange(n):
        i: Scalar = np.int64(r)  # r is unsigned: `store` would be compiled twice
        x = lanes.repeated(lanes.point(Y, i))
        none = lanes.minus(x, x)
        row, factor = values[i], factors[i]
        found = lanes.splat(0), none, none
        full, rest, keep = last_vector(n)
        # j = i adds w = 1 to the weights and nothing to the forces, as its difference is zero.
        for j in range(0, full, LANES):
            p = lanes.load(row, j) * (factor + lanes.load(factors, j))
            found = add_forces(found, lanes.minus(x, lanes.loaded(Y, j)), p, dof, lanes.splat(1))
        if full < n:
            p = lanes.load(row, rest) * (factor + lanes.load(factors, rest))
            found = add_forces(found, lanes.minus(x, lanes.loaded(Y, rest)), p, dof, keep)
        weights, pulls, pushes = found
        store(pull, i, lanes.totals(pulls))
        store(push, i, lanes.totals(pushes))
        sums[i] = lanes.total(weights)


@kernel
def add_push(
    sums: tuple[Vector, Vectors], d: Vectors, dof: Scalar, mass: Vector
) -> tuple[Vector, Vectors]:
    """Add the pairs with differences d, times a mass, to the sums of w and w u d."""
    weights, pushes = sums
    w, u = objectives.map_similarity(lanes.sq_length(d), dof)
    w = w * mass
    return weights + w, lanes.plus_product(pushes, w * u, d)


@parallel_kernel
def push_all(Y: Axes, dof: Scalar, masses: Axes, push: Array, sums: Array) -> None:
    """Fill push[:, i] = sum_j m_j w u (y_i - y_j) and sums[i] = sum m_j w over all points."""
    n = len(sums)
    for r in prange(n):
        i: Scalar = np.int64(r)  # as above
        x = lanes.repeated(lanes.point(Y, i))
        found = lanes.splat(0), lanes.minus(x, x)
        full, rest, keep = last_vector(n)
        for j in range(0, full, LANES):
            mass = lanes.weighted(lanes.splat(1), masses, j)
            found = add_push(found, lanes.minus(x, lanes.loaded(Y, j)), dof, mass)
        if full < n:
            mass = lanes.weighted(keep, masses, rest)
            found = add_push(found, lanes.minus(x, lanes.loaded(Y, rest)), dof, mass)
        weights, pushes = found
        store(push, i, lanes.totals(pushes))
        sums[i] = lanes.total(weights)


@parallel_kernel
def sum_mixture(
    joint: DenseMatrix, Y: Axes, dof: Scalar, settings: MixtureSettings, pull: Array, sums: Array
) -> None:
    """Fill pull[:, i] = sum_j (T + extra p) u (y_i - y_j), and sums[i] = sum of T or of values."""
    values, factors = joint
    is_jse, weight, floor, extra, scale, of_values = settings
    for i in prange(len(sums)):
        whole = 0.0
        found = np.zeros(len(Y))
        for j in range(len(sums)):
            if j != i:  # the terms of NeRV and JSE are not zero at j = i
                w, u = objectives.pair_similarity(sq_dist(Y, i, j), dof)
                p = np.float64(values[i, j]) * (factors[i] + factors[j])
                q = max(w * scale, TINY)
                if of_values:
                    whole += objectives.mixture_value(p, q, is_jse, weight, floor)
                    continue
                term = objectives.mixture_pull(p, q, is_jse, weight, floor)
                whole += term  # without exaggeration, which is not part of the objective
                term = (term + extra * p) * u
                for c in range(len(Y)):
                    found[c] += term * (Y[c][i] - Y[c][j])
        pull[:, i] = found
        sums[i] = whole


@parallel_kernel
def loss_all(values: Array, factors: Array, Y: Axes, dof: Scalar, sums: Array) -> None:
    """Fill sums[i] = -sum_j p log w."""
    n = len(sums)
    for i in prange(n):
        x = lanes.repeated(lanes.point(Y, i))
        row, factor = values[i], factors[i]
        loss = lanes.splat(0)
        full, rest, keep = last_vector(n)
        for j in range(0, full, LANES):
            p = lanes.load(row, j) * (factor + lanes.load(factors, j))
            d = lanes.minus(x, lanes.loaded(Y, j))
            loss += p * objectives.minus_log_similarity(lanes.sq_length(d), dof)
        if full < n:
            p = lanes.load(row, rest) * (factor + lanes.load(factors, rest)) * keep
            d = lanes.minus(x, lanes.loaded(Y, rest))
            loss += p * objectives.minus_log_similarity(lanes.sq_length(d), dof)
        sums[i] = lanes.total(loss)


@parallel_kernel
def sum_rows(values: Array, factors: Array, sums: Array, entropies: Array) -> None:
    """Fill sums[i] = sum_j p and entropies[i] = sum_j p log p, where 0 log 0 = 0."""
    for i in prange(len(sums)):
        whole = entropy = 0.0
        for j in range(len(sums)):
            p = np.float64(values[i, j]) * (factors[i] + factors[j])
            whole += p
            if p > 0:
                entropy += p * log(p)
        sums[i], entropies[i] = whole, entropy
