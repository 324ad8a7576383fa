"""Gaussian similarities of rows of squared distances, and bandwidths by bisection (Eq. 1, 4, 5).

Compiled loops with the same bits on every CPU: exponentials are those of `_portable`, and sums run
in four lanes.
"""

import numpy as np

from isosne._numba import kernel
from isosne._portable import exp, log
from isosne._types import Array

ENTROPY_TOLERANCE = 5e-5
"""Tolerance of the bisection on the entropy, in nats: the paper's value (section 2.1)."""
MOST_STEPS = 100
"""Largest number of bisection steps: 64 exhaust float64, the rest allow for doubling (chosen)."""


@kernel
def find_precisions(sq: Array, own: int, log_perplexity: Array, precisions: Array) -> None:
    """Fill precisions[s, i] = 1 / (2 sigma^2) so that row i has the perplexity of scale s.

    sq (n, m); column own + i is the point itself and is skipped; own = -1 skips none. Infinite
    where more than `perplexity` columns have the smallest distance.
    """
    n, m = sq.shape
    shifted, weights = np.empty(m), np.empty(m)
    for i in range(n):
        nearest_sq = np.inf
        for j in range(m):
            if own < 0 or j != own + i:
                nearest_sq = min(nearest_sq, sq[i, j])
        # A common factor of a row's weights does not change its entropy. Subtracting the smallest
        # squared distance gives the nearest point weight 1, so that the sum never underflows.
        n_others = n_nearest = 0
        total = 0.0
        for j in range(m):
            if own < 0 or j != own + i:
                shifted[n_others] = sq[i, j] - nearest_sq
                n_nearest += shifted[n_others] == 0.0
                total += shifted[n_others]
                n_others += 1
        row = shifted[:n_others], weights[:n_others]
        for s in range(len(log_perplexity)):
            # The entropy tends to log(n_nearest) as the precision grows; it cannot fall below.
            if log(n_nearest) > log_perplexity[s] + ENTROPY_TOLERANCE:
                precisions[s, i] = np.inf
            else:
                guess = n_others / total if total > 0.0 else 1.0  # inverse of the mean
                precisions[s, i] = bisect_precision(row, log_perplexity[s], guess)


@kernel
def bisect_precision(row: tuple[Array, Array], log_perplexity: float, precision: float) -> float:
    """Return the precision at which the entropy of a row equals log(perplexity) (Eq. 4 and 5).

    row: squared distances less the smallest, and weights, overwritten.
    """
    shifted, weights = row
    low, high = 0.0, np.inf  # doubled until an upper bound is found, then bisected
    for _ in range(MOST_STEPS):
        for j in range(len(shifted)):
            weights[j] = exp(-precision * shifted[j])
        total, moment = sum_in_lanes(weights, shifted)
        # Entropy of p = weight / total: -sum p log p = log(total) + precision * mean(shifted).
        excess = log(total) + precision * moment / total - log_perplexity
        if abs(excess) <= ENTROPY_TOLERANCE:
            break
        if excess > 0.0:  # too broad: the entropy decreases with the precision
            low = precision
            precision = 2.0 * precision if high == np.inf else 0.5 * (low + high)
        else:
            high = precision
            precision = 0.5 * (low + high)
    return precision


@kernel
def sum_in_lanes(weights: Array, values: Array) -> tuple[float, float]:
    """Return the sum of the weights, and of their products with the values, in a fixed order."""
    t0 = t1 = t2 = t3 = m0 = m1 = m2 = m3 = 0.0
    j, n = 0, len(weights)
    while j + 4 <= n:
        t0 += weights[j]
        t1 += weights[j + 1]
        t2 += weights[j + 2]
        t3 += weights[j + 3]
        m0 += weights[j] * values[j]
        m1 += weights[j + 1] * values[j + 1]
        m2 += weights[j + 2] * values[j + 2]
        m3 += weights[j + 3] * values[j + 3]
        j += 4
    while j < n:
        t0 += weights[j]
        m0 += weights[j] * values[j]
        j += 1
    return (t0 + t1) + (t2 + t3), (m0 + m1) + (m2 + m3)


@kernel
def fill_rows(sq: Array, own: int, precisions: Array, K: Array) -> None:
    """Fill K[s, i] with exp(-precision (d^2 - smallest d^2)), and 1 for the point itself."""
    for i in range(sq.shape[0]):
        nearest_sq = np.inf
        for j in range(sq.shape[1]):
            if own < 0 or j != own + i:
                nearest_sq = min(nearest_sq, sq[i, j])
        for s in range(len(K)):
            fill_gaussian(sq[i], nearest_sq, precisions[s, i], K[s, i])
            if own >= 0:
                K[s, i, own + i] = 1.0


@kernel
def fill_gaussian(sq: Array, nearest_sq: float, precision: float, row: Array) -> None:
    """Fill row with exp(-precision (d^2 - nearest d^2)); 1 up to the nearest, also for infinity."""
    for j in range(len(row)):
        similarity = exp(-precision * (sq[j] - nearest_sq))
        row[j] = similarity if sq[j] > nearest_sq else 1.0


@kernel
def add_gaussian_rows(sq: Array, precisions: Array, K: Array) -> None:
    """Add exp(-precision d^2) to K, row by row; with infinite precision, 1 for copies only."""
    for i in range(sq.shape[0]):
        for j in range(sq.shape[1]):
            similarity = exp(-precisions[i] * sq[i, j])
            K[i, j] += similarity if sq[i, j] > 0.0 else 1.0


@kernel
def fill_adaptive_rows(sq: Array, row_radii: Array, column_radii: Array, K: Array) -> None:
    """Fill K with exp(-d^2 / (sigma_x sigma_y)); 1 at distance zero, whatever the bandwidths.

    column_radii (n, m), or (1, m) if they are those of all rows.
    """
    for i in range(sq.shape[0]):
        radius, radii = row_radii[i], column_radii[min(i, len(column_radii) - 1)]
        for j in range(sq.shape[1]):
            similarity = exp(-sq[i, j] / (radius * radii[j]))
            K[i, j] = similarity if sq[i, j] > 0.0 else 1.0
