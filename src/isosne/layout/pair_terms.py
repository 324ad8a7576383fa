"""Terms of a single pair of points: map similarity and objectives. Compiled functions."""

import math

import numpy as np

from isosne._numba import row_sum_kernel
from isosne._types import Array, Scalar
from isosne.layout.objectives import JSE_CODE

ONE = np.float32(1)
TWO = np.float32(2)


def similarity_at(sq_dist: Array, dof: float) -> Array:
    """Return w at squared distances, in float64; `map_similarity` is the compiled version."""
    if np.isinf(dof):
        return np.asarray(np.exp(-sq_dist))
    w: Array = (1 + sq_dist / dof) ** (-(dof + 1) / 2)
    return w


@row_sum_kernel
def map_similarity(sq_dist: Scalar, dof: Scalar) -> tuple[Scalar, Scalar]:
    """Return w and u = -d log w / d(d^2) of a pair at a squared distance on the map.

    w = (1 + d^2 / dof)^(-(dof + 1) / 2), Student's t; exp(-d^2) for dof = infinity.
    """
    if dof == ONE:  # the usual case, without a power; then u = w
        w = ONE / (ONE + sq_dist)
        return w, w
    if dof == np.inf:
        return np.float32(math.exp(-sq_dist)), ONE
    base = ONE / (ONE + sq_dist / dof)  # u = (dof + 1) / 2 / (dof + d^2)
    half = (dof + ONE) / TWO
    return np.float32(base**half), base * half / dof


@row_sum_kernel
def minus_log_similarity(sq_dist: Scalar, dof: Scalar) -> Scalar:
    """Return -log w."""
    if dof == np.inf:
        return sq_dist
    return (dof + ONE) / TWO * fast_log(ONE + sq_dist / dof)


@row_sum_kernel
def fast_log(x: Scalar) -> Scalar:
    """Return log x for finite x >= 1 with an error below 2e-7; unlike math.log, it vectorizes.

    x = 2^e m with m in [1/sqrt(2), sqrt(2)]; log m = 2 (s + s^3/3 + ... + s^9/9), with
    s = (m - 1) / (m + 1). As |s| < 0.172, the next term, 2 s^11/11, is below 1e-9.
    """
    # float32: 23 bits of mantissa, exponent offset 127, exponent bits of 1.0 are 0x3F800000.
    bits = np.float32(x).view(np.int32)
    exponent = (bits >> 23) - 127
    m = np.int32((bits & 0x7FFFFF) | 0x3F800000).view(np.float32)
    if m > np.float32(1.4142135):
        m = m / TWO
        exponent = exponent + 1
    s = (m - ONE) / (m + ONE)
    z = s * s
    series = np.float32(1 / 9) * z + np.float32(1 / 7)
    series = series * z + np.float32(1 / 5)
    series = series * z + np.float32(1 / 3)
    log_m = TWO * s * (series * z + ONE)
    return np.float32(exponent) * np.float32(0.6931471805599453) + log_m


@row_sum_kernel
def mixture_pull(p: Scalar, q: Scalar, code: int, weight: float, floor: float) -> Scalar:
    """Return -q dC/dq, the attraction of a pair for NeRV or JSE before Q is normalized."""
    if code == JSE_CODE:
        return q * math.log1p(weight * (p / q - 1)) / weight
    return weight * p - (1 - weight) * q * (math.log(q / max(p, floor)) + 1)


@row_sum_kernel
def mixture_value(p: Scalar, q: Scalar, code: int, weight: float, floor: float) -> Scalar:
    """Return the term of a pair in NeRV or JSE."""
    if code == JSE_CODE:
        mixed = weight * p + (1 - weight) * q
        forward = p * math.log(p / mixed) / (1 - weight) if p > 0 else 0.0
        return forward - q * math.log1p(weight * (p / q - 1)) / weight
    forward = p * math.log(p / q) if p > 0 else 0.0
    return weight * forward + (1 - weight) * q * math.log(q / max(p, floor))
