"""The metrics: names, parameters, what they learn from points, and the type of coordinates.

Mahalanobis distances are Euclidean distances of whitened points: with the covariance C = L L' of
the points (Cholesky), the squared distance (x - y)' C^-1 (x - y) is that of L^-1 (x - m) and
L^-1 (y - m). Columns are divided by their standard deviations first, so that their units do not
matter. Compiled loops instead of LAPACK, so that every CPU computes the same bits.
"""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError, keyword

INDEPENDENT = 1e-10
"""Smallest share of a column's variance that the columns before it must leave unexplained. Rounding
of a correlation is about 1e-15, and is divided by this share (chosen)."""
BLOCK_ROWS = 1024
"""Rows that are whitened or read together (chosen; not measured)."""


class Whitening(NamedTuple):
    """A linear map after which Euclidean distances are Mahalanobis distances."""

    center: Array
    deviations: Array
    factor: Array  # lower Cholesky factor (d, d) of the correlations

    def apply(self, points: Points) -> Array:
        """Return whitened points in float64."""
        whitened = dense_copy(points)
        for_each_block(len(whitened), BLOCK_ROWS, lambda rows: whiten(*self, whitened[rows]))
        return whitened


def fit_whitening(X: Points) -> Whitening:
    """Return the whitening for the covariance of the points (divisor n - 1). O(n d^2 + d^3)."""
    points = dense_copy(X)
    n, d = points.shape
    center = points.mean(axis=0)
    points -= center
    # Divide by a power of two near the largest value, so that no square overflows or underflows.
    largest = np.abs(points).max(axis=0)
    scales = np.ldexp(1.0, np.frexp(largest)[1])
    points /= scales
    C = np.zeros((d, d))
    for_each_block(d, 16, lambda columns: sum_products(points, columns.start, C[columns]))
    C /= n - 1
    deviations = np.sqrt(np.diagonal(C))
    with np.errstate(invalid="ignore"):  # a constant column becomes NaN, and is refused
        C /= deviations[:, None] * deviations
    factor = np.zeros((d, d))
    column = factorize(C, factor)
    if column >= 0:
        raise DataError(
            f"{keyword('metric', 'mahalanobis')} needs columns that are linearly independent; "
            f"column {column} of X is constant, or a combination of the columns before it. "
            "Leave it out, or pass principal components."
        )
    return Whitening(center, deviations * scales, factor)


def dense_copy(points: Points) -> Array:
    """Return points as a new dense array of float64."""
    dense = points.toarray() if isinstance(points, csr_array) else points
    return np.array(dense, np.float64, order="C")


@kernel
def sum_products(points: Array, first: int, products: Array) -> None:
    """Add the products of column first + f with all columns to products[f], row by row."""
    for i in range(points.shape[0]):
        row = points[i]
        for f in range(products.shape[0]):
            value = row[first + f]
            target = products[f]
            for g in range(len(row)):
                target[g] += value * row[g]


@kernel
def factorize(C: Array, factor: Array) -> int:
    """Fill the lower factor of C = L L'; return the first column that depends on others, or -1."""
    for f in range(C.shape[0]):
        for g in range(f + 1):
            total = C[f, g]
            for h in range(g):
                total -= factor[f, h] * factor[g, h]
            if g < f:
                factor[f, g] = total / factor[g, g]
            elif not total >= INDEPENDENT:  # also if it is NaN
                return f
            else:
                factor[f, f] = np.sqrt(total)
    return -1


@kernel
def whiten(center: Array, deviations: Array, factor: Array, points: Array) -> None:
    """Replace points by the solutions of L y = (x - center) / deviations (forward substitution)."""
    n, d = points.shape
    columns = np.empty((d, n))  # transposed, so that each operation runs over all points
    for f in range(d):
        target = columns[f]
        for i in range(n):
            target[i] = (points[i, f] - center[f]) / deviations[f]
        for g in range(f):
            source, weight = columns[g], factor[f, g]
            for i in range(n):
                target[i] -= weight * source[i]
        pivot = factor[f, f]
        for i in range(n):
            target[i] /= pivot
    for i in range(n):
        for f in range(d):
            points[i, f] = columns[f, i]


class Metric(NamedTuple):
    """A metric: its name, the power of the Minkowski distance, and what it learns from points.

    A *key* orders points like the distance and is cheaper: a squared distance if `is_squared`,
    otherwise the distance (cosine: the squared distance of rows scaled to length 1, which is twice
    the cosine distance).
    """

    name: str = "euclidean"
    p: float = 2.0
    whitening: Whitening | None = None
    """For the Mahalanobis distance, the covariance of the fitted points."""

    @property
    def power(self) -> float:
        """Power of the differences in a distance."""
        powers = {"minkowski": float(self.p), "chebyshev": math.inf}
        powers |= dict.fromkeys(("manhattan", "hamming", "jaccard", "gower"), 1.0)
        return powers.get(self.name, 2.0)

    @property
    def is_squared(self) -> bool:
        """Whether keys are squared Euclidean distances."""
        return self.power == 2 and self.name != "precomputed"

    def fitted(self, points: Points) -> "Metric":
        """Return the metric with what it learns from the fitted points; refuse some if sparse."""
        if self.name == "minkowski" and self.p not in (1, 2) and isinstance(points, csr_array):
            rule = "be 1 or 2 for a sparse matrix"
            raise ParameterError("p", rule, self.p, "Pass X.toarray() for other powers.")
        if self.name == "mahalanobis" and self.whitening is None:
            return self._replace(whitening=fit_whitening(points))
        return self

    def distances(self, keys: Array, scale: float = 1.0) -> Array:
        """Convert keys of points that were divided by `scale` to distances."""
        if self.name == "precomputed":
            return keys
        if self.name == "cosine":
            return keys / 2
        return scale * (np.sqrt(keys) if self.is_squared else keys)

    def sq_distances(self, keys: Array, scale: float = 1.0) -> Array:
        """Convert keys of points that were divided by `scale` to squared distances."""
        if self.is_squared and self.name != "cosine":
            return keys if scale == 1 else keys * scale**2
        return self.distances(keys, scale) ** 2


SAFE_EXPONENTS = {4: 20, 8: 200}
"""Largest binary exponent, positive or negative, of coordinates that are squared as they are, by
the size of their type. The squares of coordinates a million times larger or smaller, as new points
may have, are still in range in float32 (chosen)."""


class Query(NamedTuple):
    """A block of points, prepared for comparison with a `SearchSet`."""

    points: Any  # array or CSR
    sq_norms: NDArray[np.float64]  # squared lengths of the shifted points
    factors: Array = np.empty((0, 0))  # left factor of the matrix product, if keys are products


class SearchSet(Protocol):
    """Points that queries are compared with, preprocessed once. By default, keys are exact."""

    n_points: int
    tile: int  # number of columns per call of `keys`
    points: Array = np.empty((0, 0))  # rows for `sq_distance`, unless keys are exact
    unit: float = 0.0  # rounding error of a key relative to the squared lengths
    scale: float = 1.0  # power of two that divides the coordinates: squares do not overflow

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of points."""
        ...

    def keys(self, query: Query, columns: slice) -> Array:
        """Return keys (n_rows, n_columns), up to a constant per row."""
        ...

    def subset(self, ids: Array) -> "SearchSet":
        """Return a set of the points `ids`, in that order."""
        ...


def working_dtype(X: Points) -> type:
    """Return float32 if it represents all values of the type of X, otherwise float64."""
    return np.float32 if np.result_type(X.dtype, np.float32) == np.float32 else np.float64


def largest_value(X: Points) -> float:
    """Return the largest absolute value; zero if there is none."""
    return max(-float(X.min()), float(X.max())) if X.shape[0] else 0.0


def common_scale(largest: float, dtype: Any, power: float) -> float:
    """Return the divisor of the coordinates, a power of two, so that division is exact.

    largest: the largest absolute value. 1 if coordinates can be squared without a scaled copy.
    """
    exponent = math.frexp(largest)[1]
    is_safe = power == 2 and abs(exponent) <= SAFE_EXPONENTS[np.dtype(dtype).itemsize]
    return 1.0 if is_safe or largest <= 0 else 2.0**exponent
