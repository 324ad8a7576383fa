"""The functions of vectors, in NumPy: a vector is an array of 16 float32 numbers.

Compiled code does not run these definitions but those of `compiled`, which return the same numbers
(`fma` here rounds twice). They run if compilation is off (``NUMBA_DISABLE_JIT=1``).
"""

from typing import Any

import numpy as np

from isosne._numba import kernel
from isosne._types import Array, Scalar

LANES = 16
"""The width of AVX-512. Narrower registers hold a vector in parts: with AVX2, eight lanes are no
faster (docs/decisions/0010)."""
Vector = Any

LOG2_E = np.float32(1.44269504)
LN2_HIGH = np.float32(0.69314575)  # 16 bits of log 2, so that its product with k is exact
LN2_LOW = np.float32(1.42860677e-06)  # the rest
ROUNDER = np.float32(12582912)  # 1.5 * 2^23: adding and subtracting it rounds to an integer


def splat(number: Scalar) -> Vector:
    """Return a vector of 16 equal numbers."""
    return np.full(LANES, number, np.float32)


def fma(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return a * b + c, rounded once."""
    return np.float32(np.float64(a) * b + c)


def load(array: Array, start: int) -> Vector:
    """Return array[start : start + 16]; the array is contiguous and long enough."""
    assert 0 <= start <= len(array) - LANES
    return array[start : start + LANES].astype(np.float32)


def gather(array: Array, indices: Array, start: int, column: int) -> Vector:
    """Return array[indices[start : start + 16], column] of an array (n, k)."""
    assert 0 <= start <= len(indices) - LANES
    return array[indices[start : start + LANES], column]


def total(vector: Vector) -> Scalar:
    """Return the sum of the lanes: 8 pairs, then 4, 2 and 1."""
    while len(vector) > 1:
        low, high = np.split(vector, 2)
        vector = low + high
    return vector[0]


def split(vector: Vector) -> tuple[Vector, Vector]:
    """Return m, from sqrt(1/2) to sqrt(2), and k with vector = m 2^k, for positive numbers."""
    m, k = np.frexp(vector)
    is_low = m < np.float32(0.5**0.5)
    return np.where(is_low, 2 * m, m), (k - is_low).astype(np.float32)


def two_to_the(vector: Vector) -> Vector:
    """Return 2^k for integers k from -126 to 127, given as floats."""
    return np.exp2(vector)


def at_least(vector: Vector, bound: Scalar) -> Vector:
    """Return the larger of each lane and a bound; NaN becomes the bound."""
    return np.where(vector > bound, vector, np.float32(bound))


def between(low: int, high: int) -> Vector:
    """Return 1 in the lanes from low to high - 1 and 0 in the others."""
    lanes = np.arange(LANES)
    return np.float32((lanes >= low) & (lanes < high))


def with_entry(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a tuple of numbers with one entry replaced; compiled, a short one is in registers."""
    return (*values[:index], value, *values[index + 1 :])


@kernel
def log(x: Vector) -> Vector:
    """Return the logarithm of positive normal numbers; error below 2e-7, relative or absolute.

    x = m 2^k; log m = 2 (s + s^3/3 + ... + s^9/9) with s = (m - 1) / (m + 1). As |s| < 0.172, the
    next term, 2 s^11/11, is below 1e-9.
    """
    m, k = split(x)
    s = (m - 1) / (m + 1)
    z = s * s
    series = fma(z, np.float32(1 / 9), np.float32(1 / 7))
    series = fma(series, z, np.float32(1 / 5))
    series = fma(series, z, np.float32(1 / 3))
    log_m = 2 * s * fma(series, z, 1)
    return fma(k, LN2_HIGH, fma(k, LN2_LOW, log_m))


@kernel
def exp(x: Vector) -> Vector:
    """Return e^x for x up to 88. The relative error is below 2e-7 from -87 on; zero below -104.

    x = k log 2 + r with |r| <= log(2) / 2; the Taylor series of e^r to r^7 (next term: 5e-9).
    """
    x = at_least(x, np.float32(-105))
    k = fma(x, LOG2_E, ROUNDER) - ROUNDER
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, x))
    series = fma(r, np.float32(1 / 5040), np.float32(1 / 720))
    series = fma(series, r, np.float32(1 / 120))
    series = fma(series, r, np.float32(1 / 24))
    series = fma(series, r, np.float32(1 / 6))
    series = fma(series, r, np.float32(1 / 2))
    series = fma(series, r, 1)
    half = fma(k, np.float32(0.5), ROUNDER) - ROUNDER  # in two factors: 2^k may be subnormal
    return fma(series, r, 1) * two_to_the(half) * two_to_the(k - half)
