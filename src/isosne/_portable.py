"""Elementary functions that return the same bits on every machine. Compiled functions, float64.

The results of ``np.exp`` or ``math.log`` differ in the last bits between CPUs, NumPy's SIMD
versions and C libraries, and an optimization amplifies such differences until two maps look
different. The functions here consist of IEEE 754 operations in a fixed order. Their errors are
below 2 units in the last place (`pow`: below 2 + 2 |y log x| units).
"""

import math
from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isosne._numba import kernel
from isosne._types import Array, Scalar

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238  # 32 bits of log 2, so that its product with an exponent is exact
LN2_LOW = 1.9082149292705877e-10  # the rest
SQRT_2 = 1.4142135623730951
ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding and subtracting it rounds to an integer
INVERSE_FACTORIALS = tuple(1 / math.factorial(i) for i in range(14))
PI_HALF_HIGH = 1.5707963267341256  # 33 bits of pi / 2
PI_HALF_LOW = 6.077100506506192e-11  # the rest


@kernel
def two_to_the(k: Scalar) -> Scalar:
    """Return 2^k for an integer k from -1022 to 1023, given as a float.

    ROUNDER + k has k in its lowest bits; no conversion to an integer, so that loops vectorize.
    """
    return np.int64((np.float64(k + ROUNDER).view(np.int64) + 1023) << 52).view(np.float64)


@kernel
def exp(x: Scalar) -> Scalar:
    """Return e^x; infinity above 709.78, zero below -745.13.

    x = k log 2 + r with |r| <= log(2) / 2; the Taylor series of e^r to r^13 (next term: 4e-18).
    """
    x = np.float64(x)
    bounded = min(max(x, -746.0), 710.0)
    k = bounded * LOG2_E + ROUNDER - ROUNDER
    r = (bounded - k * LN2_HIGH) - k * LN2_LOW
    z = r * r
    even = odd = 0.0
    for i in range(6, 0, -1):  # two series, so that their operations overlap
        even = (even + INVERSE_FACTORIALS[2 * i]) * z
        odd = (odd + INVERSE_FACTORIALS[2 * i + 1]) * z
    half = k * 0.5 + ROUNDER - ROUNDER  # in two factors: 2^k may be subnormal or infinite
    e = (1.0 + (r + (odd * r + even))) * two_to_the(half) * two_to_the(k - half)
    return e if x == x else x


@kernel
def log(x: Scalar) -> Scalar:
    """Return the natural logarithm; minus infinity at 0, NaN below.

    x = 2^k m with m from sqrt(1/2) to sqrt(2); log m = 2 (s + s^3/3 + ... + s^21/21) with
    s = (m - 1) / (m + 1). As |s| < 0.172, the next term is below 3e-19.
    """
    x = np.float64(x)
    if not (x > 0.0 and x < np.inf):
        return x if x > 0.0 else (-np.inf if x == 0.0 else np.nan)
    k: Scalar = -1023
    if x < 2.2250738585072014e-308:  # subnormal
        x *= 18014398509481984.0  # 2^54
        k -= 54
    bits = np.float64(x).view(np.int64)
    k += bits >> 52
    m = np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
    if m > SQRT_2:
        m *= 0.5
        k += 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 0.0
    for i in range(21, 1, -2):
        series = (series + 1.0 / i) * z
    return k * LN2_HIGH + (2.0 * s + (2.0 * s * series + k * LN2_LOW))


@kernel
def log1p(x: Scalar) -> Scalar:
    """Return log(1 + x) without cancellation for small x (Kahan)."""
    x = np.float64(x)
    u = 1.0 + x
    if u == 1.0 or u == np.inf:
        return x
    return log(u) * (x / (u - 1.0))


@kernel
def power(x: Scalar, y: Scalar) -> Scalar:
    """Return x^y for x >= 0."""
    if y == 0.0 or x == 1.0:
        return 1.0
    return exp(np.float64(y) * log(x))


@kernel
def cos(x: Scalar) -> Scalar:
    """Return the cosine for |x| up to about 1e6, with an absolute error below 3e-16.

    x = k pi / 2 + r with |r| <= pi / 4; the Taylor series of sine or cosine of r, to r^19 or r^18.
    """
    x = np.float64(x)
    k = x * (2 / np.pi) + ROUNDER - ROUNDER
    r = (x - k * PI_HALF_HIGH) - k * PI_HALF_LOW
    z = r * r
    quadrant = int(k) & 3
    is_sine = quadrant & 1
    series = 1.0
    for i in range(18 + is_sine, 1, -2):
        series = 1.0 - series * z * (1.0 / (i * (i - 1)))
    if is_sine:
        series *= r
    return -series if quadrant == 1 or quadrant == 2 else series


def elementwise(function: Callable[[Array], None]) -> Callable[[ArrayLike], NDArray[np.float64]]:
    """Compile a function that overwrites a list of numbers; return one of arrays of any shape."""
    fill = kernel(function)

    @wraps(function)
    def each(x: ArrayLike) -> NDArray[np.float64]:
        values = np.array(x, np.float64, order="C")  # a copy, overwritten
        fill(values.reshape(-1))
        return values

    return each


@elementwise
def each_exp(x: Array) -> None:
    """Return `exp` of each element of an array."""
    for i in range(len(x)):
        x[i] = exp(x[i])


@elementwise
def each_log(x: Array) -> None:
    """Return `log` of each element of an array."""
    for i in range(len(x)):
        x[i] = log(x[i])


@elementwise
def each_cos(x: Array) -> None:
    """Return `cos` of each element of an array."""
    for i in range(len(x)):
        x[i] = cos(x[i])


def each_power(x: ArrayLike, y: float) -> NDArray[np.float64]:
    """Return `power` of each element of an array."""
    return each_exp(y * each_log(x))
