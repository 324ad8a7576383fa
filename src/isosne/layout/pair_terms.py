"""Terms of pairs of points: map similarity and objectives. Compiled functions."""

import numpy as np

from isosne import _portable
from isosne._lanes import Vector, exp, log, splat
from isosne._numba import kernel
from isosne._portable import each_exp, each_power, log1p
from isosne._types import Array, Scalar
from isosne.layout.objectives import JSE_CODE


def similarity_at(sq_dist: Array, dof: float) -> Array:
    """Return w at squared distances, in float64."""
    if np.isinf(dof):
        return each_exp(-sq_dist)
    if dof == 1:
        return np.asarray(1 / (1 + sq_dist))
    return each_power(1 + sq_dist / dof, -(dof + 1) / 2)


@kernel
def map_similarity(sq_dist: Vector, dof: Scalar) -> tuple[Vector, Vector]:
    """Return w and u = -d log w / d(d^2) of pairs at squared distances on the map.

    w = (1 + d^2 / dof)^(-(dof + 1) / 2), Student's t; exp(-d^2) for dof = infinity.
    """
    if dof == 1:  # the usual case, without a power; then u = w
        w = 1 / (1 + sq_dist)
        return w, w
    if dof == np.inf:
        return exp(0 - sq_dist), splat(1)
    base = 1 + sq_dist / dof
    half = (dof + 1) / 2
    return exp(log(base) * -half), half / dof / base  # u = (dof + 1) / 2 / (dof + d^2)


@kernel
def pair_similarity(sq_dist: Scalar, dof: Scalar) -> tuple[Scalar, Scalar]:
    """Return w and u of a single pair, in float64."""
    if dof == np.inf:
        return _portable.exp(-sq_dist), 1.0
    base = 1.0 + np.float64(sq_dist) / dof
    half = (dof + 1.0) / 2.0
    w = 1.0 / base if dof == 1 else _portable.power(base, -half)
    return w, half / dof / base


@kernel
def minus_log_similarity(sq_dist: Vector, dof: Scalar) -> Vector:
    """Return -log w."""
    if dof == np.inf:
        return sq_dist
    return (dof + 1) / 2 * log(1 + sq_dist / dof)


@kernel
def mixture_pull(p: Scalar, q: Scalar, code: int, weight: float, floor: float) -> Scalar:
    """Return -q dC/dq, the attraction of a pair for NeRV or JSE before Q is normalized."""
    if code == JSE_CODE:
        return q * log1p(weight * (p / q - 1)) / weight
    return weight * p - (1 - weight) * q * (_portable.log(q / max(p, floor)) + 1)


@kernel
def mixture_value(p: Scalar, q: Scalar, code: int, weight: float, floor: float) -> Scalar:
    """Return the term of a pair in NeRV or JSE."""
    if code == JSE_CODE:
        mixed = weight * p + (1 - weight) * q
        forward = p * _portable.log(p / mixed) / (1 - weight) if p > 0 else 0.0
        return forward - q * log1p(weight * (p / q - 1)) / weight
    forward = p * _portable.log(p / q) if p > 0 else 0.0
    return weight * forward + (1 - weight) * q * _portable.log(q / max(p, floor))
