"""The Gaussian kernel (Eq. 1): bandwidths by bisection, and similarities of rows of distances.

The same bits on every CPU: exponentials are those of `_portable`, and sums run in four lanes.
"""

import math
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._checks import as_scales, is_number
from isosne._numba import kernel
from isosne._portable import each_log, exp, log
from isosne._types import Array, Layers, Points, SimilarityRows
from isosne.errors import DegenerateRowsWarning, ParameterError
from isosne.kernels.base import ROWS, KernelCosts, MetricKernel
from isosne.neighbors.distances import exact_set, sq_distances

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
        skipped = own + i if own >= 0 else -1
        nearest_sq = smallest_other(sq[i], skipped)
        # A common factor of a row's weights does not change its entropy. Subtracting the smallest
        # squared distance gives the nearest point weight 1, so that the sum never underflows.
        n_others = n_nearest = 0
        total = 0.0
        for j in range(m):
            if j != skipped:
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
def smallest_other(sq: Array, skipped: int) -> float:
    """Return the smallest of a row of squared distances; the entry `skipped` is left out."""
    smallest = np.inf
    for j in range(len(sq)):
        if j != skipped:
            smallest = min(smallest, sq[j])
    return smallest


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
def fill_rows(sq: Array, own: int, is_scaled: bool, precisions: Array, K: Array) -> None:
    """Fill K[s, i] with exp(-precision d^2), 1 at distance zero and for the point itself.

    is_scaled: divided by that of the nearest point; also 1 there, if the precision is infinite.
    """
    for i in range(sq.shape[0]):
        nearest_sq = smallest_other(sq[i], own + i if own >= 0 else -1) if is_scaled else 0.0
        for s in range(len(K)):
            for j in range(sq.shape[1]):
                similarity = exp(-precisions[s, i] * (sq[i, j] - nearest_sq))
                K[s, i, j] = similarity if sq[i, j] > nearest_sq else 1.0
            if own >= 0:
                K[s, i, own + i] = 1.0


class GaussianKernel(MetricKernel):
    """Gaussian kernel with a bandwidth per point, set by the perplexity.

    Parameters
    ----------
    perplexity : float, sequence of floats or "auto", default="auto"
        Effective number of neighbors, from 1 to n_samples - 1. A sequence combines several scales.
        "auto": 30, or a third of the other points (of the stored distances) if this is less.
    metric : str, default="euclidean"
        Metric of the points, as for `OwnerKernel`.
    p : float, default=2.0
        Power of the Minkowski distance.

    Attributes
    ----------
    perplexity_ : array of shape (n_scales,)
        The perplexity of each scale.
    X_fit_ : array or CSR
        The fitted points (not a copy).

    Notes
    -----
    Implements Eq. 1, 4 and 5: the bandwidth of a row is found by bisection until the entropy is
    within 5e-5 nats of log(perplexity).

    Departures from the paper: if a point has more than `perplexity` others at its smallest distance
    (usually duplicates), no bandwidth gives that perplexity. These others then get equal weight,
    which is the limit, and a warning gives the number of such points.

    Cost: O(n^2 d) time and O(n) memory for the bandwidths of n points.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import GaussianKernel
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> GaussianKernel(perplexity=2).fit(X).bandwidths().round(2)
    array([[2.43, 1.86, 1.45, 2.6 ]])
    """

    def __init__(
        self, perplexity: Any = "auto", *, metric: str = "euclidean", p: float = 2.0
    ) -> None:
        self.perplexity = perplexity
        self.metric = metric
        self.p = p

    def _fit_points(self, points: Points) -> Self:
        perplexity = check_perplexity(self.perplexity, points.shape[0], self.n_listed(points))
        return self._remember(points, perplexity_=perplexity)

    def resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        own = super().resolved(n_points)
        if isinstance(self.perplexity, str):
            own.perplexity = float(check_perplexity(self.perplexity, n_points, n_listed)[0])
        return own

    def check_parameters(self, n_points: int) -> None:
        super().check_parameters(n_points)
        check_perplexity(self.perplexity, n_points)

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        if check_perplexity(self.perplexity, n_points, n_listed).max() > n_listed:
            rule = f"be at most {n_listed}, the smallest number of distances per row of X"
            hint = "Lower perplexity, or store more distances; three times the perplexity is usual."
            raise ParameterError("perplexity", rule, self.perplexity, hint)

    def costs(self, n_points: int) -> KernelCosts:
        # All scales share lists of three times the largest perplexity (van der Maaten 2014).
        n_listed = math.ceil(3.0 * check_perplexity(self.perplexity, n_points).max())
        return KernelCosts(n_listed, n_listed)

    def bandwidths(self, A: Any = None) -> NDArray[np.float64]:
        """Return the bandwidth (standard deviation) of each point at each scale.

        Parameters
        ----------
        A : array, CSR or data frame, default=None
            Points whose neighbors are the fitted points. None is the fitted points; a point is not
            its own neighbor.

        Returns
        -------
        array of shape (n_scales, n)
            The bandwidths; zero where there is none (see the class Notes).
        """
        precisions = self._precisions(self._check_query(A), is_fitted=A is None)
        with np.errstate(divide="ignore"):
            return np.asarray(np.sqrt(0.5 / precisions))

    def _precisions(self, points: Points, *, is_fitted: bool) -> NDArray[np.float64]:
        """Return 1 / (2 sigma^2) of points; infinite where there is no bandwidth."""
        search = exact_set(self.X_fit_, self.metric_)
        precisions = np.empty((len(self.perplexity_), points.shape[0]))

        def work(rows: slice) -> None:
            # Float64: the exponent amplifies rounding of the squared distance.
            sq = sq_distances(points, rows, search, self.metric_)
            own = rows.start if is_fitted else -1
            find_precisions(sq, own, each_log(self.perplexity_), precisions[:, rows])

        for_each_block(points.shape[0], ROWS, work)
        _warn_of_degenerate_rows(precisions)
        return precisions

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        sq = self._sq_distance_matrix(A, B)
        precisions = self._precisions(self._check_query(A), is_fitted=A is None)
        K = np.zeros(sq.shape, np.float32)

        def work(rows: slice) -> None:
            layers = np.empty((len(precisions), *sq[rows].shape))
            fill_rows(sq[rows], -1, False, precisions[:, rows], layers)
            for layer in layers:
                K[rows] += layer

        for_each_block(len(K), ROWS, work)
        K /= np.float32(len(precisions))
        return K

    def _rows_of(self, new: Points | None) -> SimilarityRows:
        n = (self.X_fit_ if new is None else new).shape[0]
        precisions = np.empty((len(self.perplexity_), n))

        def fill(sq: Array, rows: slice, K: Array) -> None:
            self._fill(sq, rows.start if new is None else -1, precisions[:, rows], K)

        by_distance = self._by_distance(len(precisions), fill, new)

        def compute(rows: slice) -> Layers:
            K = by_distance.block(rows)
            _warn_of_degenerate_rows(precisions[:, rows])
            return K

        return by_distance._replace(compute=compute)

    def _fill(self, sq: Array, own: int, precisions: Array, K: Array) -> None:
        """Fill the precisions and the similarity of rows of squared distances."""
        find_precisions(sq, own, each_log(self.perplexity_), precisions)
        # Scaled: in high dimensions exp(-d^2 / (2 sigma^2)) itself can underflow in float32.
        fill_rows(sq, own, True, precisions, K)

    def _near_similarity(self, ids: Array, distances: Array) -> Layers:
        n_scales, n = len(self.perplexity_), len(distances)
        K, precisions = np.empty((n_scales, *distances.shape), np.float32), np.empty((n_scales, n))

        def work(rows: slice) -> None:
            self._fill(distances[rows].astype(np.float64) ** 2, -1, precisions[:, rows], K[:, rows])

        for_each_block(n, 1024, work)
        _warn_of_degenerate_rows(precisions)
        return K


def check_perplexity(
    perplexity: Any, n_samples: int, n_listed: int | None = None
) -> NDArray[np.float64]:
    """Return the perplexity of each scale; raise an error if n_samples points cannot reach it."""
    if isinstance(perplexity, str) and perplexity == "auto":
        # 30 is the default of scikit-learn and openTSNE. Lists hold 3 * perplexity neighbors
        # (van der Maaten 2014), so it is at most a third of the other points.
        n_others = n_samples - 1 if n_listed is None else n_listed
        return np.array([max(1.0, min(30.0, n_others / 3))])
    values = as_scales(perplexity, "perplexity")
    for value in values:
        if not is_number(value) or not 1 <= value <= n_samples - 1:
            rule = f"be 'auto' or a number from 1 to n_samples - 1 ({n_samples - 1})"
            is_large = is_number(value) and value >= 1
            hint = "Lower perplexity, or pass more points." if is_large else "30 is usual."
            raise ParameterError("perplexity", rule, value, hint)
    return np.array(values, dtype=np.float64)


def _warn_of_degenerate_rows(precisions: Array) -> None:
    n_degenerate = int(np.isinf(precisions).any(axis=0).sum())
    if n_degenerate:
        warnings.warn(
            f"{n_degenerate} of {precisions.shape[1]} points have more than perplexity neighbors "
            "at the same smallest distance, so that no bandwidth gives that perplexity; these "
            "neighbors get equal weight. Remove duplicate points, or raise perplexity.",
            DegenerateRowsWarning,
            stacklevel=3,
        )
