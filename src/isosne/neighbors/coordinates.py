"""Coordinates as the search compares them: their type, and a divisor against overflow."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points

SAFE_EXPONENTS = {4: 20, 8: 200}
"""Largest binary exponent, positive or negative, of coordinates that are squared as they are, by
the size of their type. The squares of coordinates a million times larger or smaller, as new points
may have, are still in range in float32 (chosen)."""


class Query(NamedTuple):
    """A block of points, prepared for comparison with a `SearchSet`."""

    points: Any  # array or CSR
    factors: Array  # left factor of the matrix product; empty for other metrics
    sq_norms: NDArray[np.float64]  # squared lengths of the shifted points


def working_dtype(X: Points) -> type:
    """Return float32 if it represents all values of the type of X, otherwise float64."""
    return np.float32 if np.result_type(X.dtype, np.float32) == np.float32 else np.float64


def working_size(X: Points) -> tuple[int, bool]:
    """Return the bytes of a coordinate in the working type, and whether X is compared as it is.

    Points of another type or order, and read-only ones, are copied.
    """
    dtype = working_dtype(X)
    has_type = X.dtype == dtype
    is_ready = isinstance(X, np.ndarray) and has_type and X.flags.c_contiguous and X.flags.writeable
    return np.dtype(dtype).itemsize, is_ready


def largest_value(X: Points) -> float:
    """Return the largest absolute value; zero if there is none."""
    return max(-float(X.min()), float(X.max())) if X.shape[0] else 0.0


def common_scale(largest: float, dtype: Any, power: float) -> float:
    """Return the divisor of the coordinates; 1 if they can be squared without a scaled copy.

    largest: the largest absolute value. Dividing by a power of two is exact, so distances do not
    depend on it.
    """
    exponent = math.frexp(largest)[1]
    is_safe = power == 2 and abs(exponent) <= SAFE_EXPONENTS[np.dtype(dtype).itemsize]
    return 1.0 if is_safe or largest <= 0 else 2.0**exponent
