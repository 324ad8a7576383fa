"""The Mahalanobis distance as the Euclidean distance of whitened points.

With the covariance C = L L' of the points (Cholesky), the squared distance (x - y)' C^-1 (x - y) is
that of L^-1 (x - m) and L^-1 (y - m). Columns are divided by their standard deviations first, so
that their units do not matter. Compiled loops instead of LAPACK, so that every CPU computes the
same bits.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.errors import DataError, keyword

INDEPENDENT = 1e-10
"""Smallest share of a column's variance that the columns before it must leave unexplained. Rounding
of a correlation is about 1e-15, and is divided by this share (chosen)."""
BLOCK_ROWS = 1024
"""Rows that are whitened or read together (chosen; not measured)."""


class Whitening(NamedTuple):
    """A linear map after which Euclidean distances are Mahalanobis distances."""

    center: Array
    """Mean of each column."""
    deviations: Array
    """Standard deviation of each column."""
    factor: Array
    """Lower Cholesky factor (d, d) of the correlations of the columns."""

    def apply(self, points: Points) -> Array:
        """Return whitened points in float64."""
        whitened = dense_copy(points)

        def work(rows: slice) -> None:
            whiten(*self, whitened[rows])

        for_each_block(len(whitened), BLOCK_ROWS, work)
        return whitened


def fit_whitening(X: Points) -> Whitening:
    """Return the whitening for the covariance of the points (divisor n - 1).

    O(n d^2 + d^3) time; O(n d + d^2) memory.
    """
    points = dense_copy(X)
    n, d = points.shape
    center = np.zeros(d)
    sum_columns(points, center)
    center /= n
    points -= center
    # Divide by a power of two near the largest value, so that no square overflows or underflows.
    largest = np.abs(points).max(axis=0)
    scales = np.ldexp(1.0, np.frexp(largest)[1])
    points /= scales
    C = np.zeros((d, d))
    for_each_block(d, 16, lambda columns: sum_products(points, columns.start, C[columns]))
    C /= n - 1
    deviations = np.sqrt(np.diagonal(C))
    _refuse_dependent(np.flatnonzero(deviations == 0))
    C /= deviations[:, None] * deviations
    factor = np.zeros((d, d))
    _refuse_dependent(np.flatnonzero(np.arange(d) == factorize(C, factor)))
    return Whitening(center, deviations * scales, factor)


def dense_copy(points: Points) -> Array:
    """Return points as a new dense array of float64."""
    dense = points.toarray() if isinstance(points, csr_array) else points
    return np.array(dense, np.float64, order="C")


def _refuse_dependent(columns: Array) -> None:
    if len(columns):
        raise DataError(
            f"{keyword('metric', 'mahalanobis')} needs columns that are linearly independent; "
            f"column {columns[0]} of X is constant, or a combination of the columns before it. "
            "Leave it out, or pass principal components."
        )


@kernel
def sum_columns(points: Array, sums: Array) -> None:
    """Add the rows to sums, in their order."""
    for i in range(points.shape[0]):
        for f in range(points.shape[1]):
            sums[f] += points[i, f]


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
            elif total < INDEPENDENT:
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
