"""Neighborhood preservation: R_NX and its area (Eq. 10-11), trustworthiness, per-point trust.

All of these follow from one rank comparison (`Comparison`). `compare` returns it; the functions
for a single measure are shortcuts.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Array, Points
from isosne.errors import ParameterError, keyword
from isosne.neighbors.distances import Metric
from isosne.quality.inputs import check_k, check_pair
from isosne.quality.ranks import RankCounts, compare_ranks, rank_weights
from isosne.quality.sampling import Estimate, choose_queries, estimate_mean

KS = ("all", "paper")
"""Sets of neighborhood sizes for AUC_RNX; `RankCounts.areas` has one row for each."""


class Curve(NamedTuple):
    """R_NX for each neighborhood size: ``k`` (n - 2,) int64 and ``r`` (n - 2,) float64."""

    k: NDArray[np.int64]
    r: NDArray[np.float64]


class Trust(NamedTuple):
    """Neighborhood preservation per point.

    ``points`` (q,): indices of the evaluated points. ``agreement`` (q,): fraction of the k nearest
    neighbors in the data that are also among the k nearest in the embedding. ``false_neighbors``
    (q,): from 0 to 1, how far the neighbors in the embedding are from being neighbors in the data.
    ``missing_neighbors`` (q,): from 0 to 1, how far the neighbors in the data are from being
    neighbors in the embedding. ``k``: neighborhood size, 0 if unknown.
    """

    points: NDArray[np.int64]
    agreement: NDArray[np.float64]
    false_neighbors: NDArray[np.float64]
    missing_neighbors: NDArray[np.float64]
    k: int = 0


class Comparison(NamedTuple):
    """Neighbor ranks in the data and in the embedding, compared around each query point.

    ``n_points``: number of points. ``k``: neighborhood size of `trust`, `trustworthiness` and
    `continuity`. ``queries`` (q,): indices of the points whose neighborhoods were compared.
    ``counts``: what the measures need of the ranks. `compare` returns it; each method costs O(n).
    """

    n_points: int
    k: int
    queries: NDArray[np.int64]
    counts: RankCounts

    def curve(self) -> Curve:
        """Return R_NX(k) for every k from 1 to n - 2 (Eq. 10)."""
        n = self.n_points
        k = np.arange(1, n - 1)
        q_nx = self.counts.entries.cumsum()[1:-1] / (len(self.queries) * k)
        return Curve(k, ((n - 1) * q_nx - k) / (n - 1 - k))

    def auc(self, ks: str = "all") -> Estimate:
        """Return the area under R_NX with weights 1/k (Eq. 11), over the sizes named by ``ks``."""
        check_ks(ks)
        sizes = neighborhood_sizes(ks, self.n_points)
        weights = 1 / sizes
        mean = math.fsum(weights * self.curve().r[sizes - 1]) / math.fsum(weights)
        return estimate_mean(self.counts.areas[KS.index(ks)], self.n_points, mean)

    def trust(self) -> Trust:
        """Return agreement, false neighbors and missing neighbors of each query point."""
        # The largest possible sum of excess ranks: k neighbors with ranks n - k, ..., n - 1.
        worst = self.k * (2 * self.n_points - 3 * self.k - 1) / 2
        kept, intruded, extruded = self.counts[2:]
        return Trust(self.queries, kept / self.k, intruded / worst, extruded / worst, self.k)

    def trustworthiness(self) -> Estimate:
        """Return one minus the mean of the false neighbors."""
        return estimate_mean(1 - self.trust().false_neighbors, self.n_points)

    def continuity(self) -> Estimate:
        """Return one minus the mean of the missing neighbors."""
        return estimate_mean(1 - self.trust().missing_neighbors, self.n_points)


def compare(
    X: Any,
    Y: Any,
    k: int = 10,
    *,
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Rank the neighbors in data and embedding once, for several measures.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        See `rnx_curve`.
    k : int, default=10
        Neighborhood size of `trust`, `trustworthiness` and `continuity`; less than half of the
        number of points.

    Returns
    -------
    Comparison
        Its methods ``curve()``, ``auc()``, ``trust()``, ``trustworthiness()`` and ``continuity()``
        return what the functions `rnx_curve`, `auc_rnx`, `trust`, `trustworthiness` and
        `continuity` return.

    Notes
    -----
    Cost: the same as one call of `rnx_curve`. Not in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import compare
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ranks = compare(X, X[:, :2])
    >>> print(ranks.auc(), ranks.trustworthiness(), ranks.continuity())
    0.4138 0.8419 0.9641
    """
    return _compare_at_k(X, Y, k, Metric(metric, p), (n_queries, random_state), n_jobs)


def compare_checked(
    pair: tuple[Points, Array], metric: Metric, queries: Array, k: int
) -> Comparison:
    """Compare the ranks around the queries in data and embedding that were validated before."""
    X, Y = pair
    n = X.shape[0]
    weights = np.stack([rank_weights(neighborhood_sizes(ks, n), n) for ks in KS])
    return Comparison(n, k, queries, compare_ranks(X, Y, metric, queries, k=k, weights=weights))


def check_ks(ks: Any) -> None:
    """Raise unless ``ks`` names a set of neighborhood sizes."""
    if not isinstance(ks, str) or ks not in KS:
        raise ParameterError(
            "ks",
            "be 'all' or 'paper'",
            ks,
            f"Use {keyword('ks', 'all')} for every neighborhood size, or {keyword('ks', 'paper')} "
            "for the fifty sizes of the paper.",
        )


def neighborhood_sizes(ks: str, n: int) -> NDArray[np.int64]:
    """Return the neighborhood sizes k of AUC_RNX in ascending order."""
    if ks == "all":
        return np.arange(1, n - 1)
    shares = np.arange(1, 100, 2) * n / 100  # as in the paper's evaluation
    return np.unique(np.clip(np.rint(shares), 1, n - 2).astype(np.int64))


def rnx_curve(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Curve:
    """Compute the R_NX curve: neighborhood preservation for every neighborhood size.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The data, or the distance matrix with ``metric="precomputed"``. At least four points.
    Y : array or data frame of shape (n_samples, n_components)
        The embedding.
    metric : str, default="euclidean"
        Distance in the data: euclidean, manhattan, minkowski, cosine or precomputed. Distances in
        the embedding are always Euclidean.
    p : float, default=2.0
        Power of the Minkowski distance.
    n_queries : int, "auto" or None, default=None
        Number of points whose neighborhoods are compared, sampled at random; their neighbors are
        searched among all points. None and "auto": all points up to 20 000, otherwise a sample of
        2 000.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the sample.
    n_jobs : int or None, default=None
        Number of threads; None uses Numba's number of threads. The result does not depend on it.

    Returns
    -------
    Curve
        ``k`` from 1 to n - 2, and ``r``, the value of R_NX at each k: 1 for a perfect embedding,
        about 0 for a random one.

    Notes
    -----
    Eq. 10: ``R(k) = ((n - 1) Q(k) - k) / (n - 1 - k)``, where Q(k) is the mean fraction of the k
    nearest neighbors that are preserved. Departures from the paper: every k instead of fifty.
    A point is not its own neighbor; ties in distance go to the lower index.

    Cost: O(q n (d + log n)) time for q queries. Memory: two float64 copies of dense data, and
    128 MB per thread.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import rnx_curve
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> rnx_curve(X, X).r
    array([1., 1.])
    """
    queries = (n_queries, random_state)
    return _compare_at_k(X, Y, 1, Metric(metric, p), queries, n_jobs).curve()


def auc_rnx(
    X: Any,
    Y: Any,
    *,
    ks: str = "all",
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Compute AUC_RNX: neighborhood preservation over all neighborhood sizes, as one number.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        See `rnx_curve`.
    ks : {"all", "paper"}, default="all"
        Neighborhood sizes. "all": every k from 1 to n - 2. "paper": 0.01 n, 0.03 n, ..., 0.99 n,
        rounded.

    Returns
    -------
    Estimate
        A float with a ``standard_error``, which is zero unless the queries are a sample. The value
        is 1 for a perfect embedding and about 0 for a random one.

    Notes
    -----
    Eq. 11: the mean of R(k) with weights 1/k. Departures from the paper: the default ``ks="all"``
    follows the original definition of the measure; the paper's fifty k are rounded to integers
    from 1 to n - 2, and duplicates are dropped. R(k) is linear in the number of neighbors that
    each query preserves, so the standard error is that of a mean over queries sampled without
    replacement.

    Cost: see `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import auc_rnx
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> print(auc_rnx(X, X), f"{auc_rnx(X, X[:, :2]):.2f}")
    1.0000 0.41
    """
    check_ks(ks)
    queries = (n_queries, random_state)
    return _compare_at_k(X, Y, 1, Metric(metric, p), queries, n_jobs).auc(ks)


def trust(
    X: Any,
    Y: Any,
    k: int = 10,
    *,
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Trust:
    """Compute neighborhood preservation per point.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        See `rnx_curve`.
    k : int, default=10
        Neighborhood size, less than half of the number of points.

    Returns
    -------
    Trust
        ``points``, the indices of the evaluated points, and for each of them ``agreement``,
        ``false_neighbors`` and ``missing_neighbors``.

    Notes
    -----
    The numbers of false and of missing neighbors of a point are equal, so both are weighted by
    rank: a false neighbor by how far its rank in the data exceeds k, a missing one by how far its
    rank in the embedding exceeds k. Each sum is divided by its largest possible value,
    k (2n - 3k - 1) / 2. One minus the mean of the false (missing) neighbors is `trustworthiness`
    (`continuity`). Not in the paper.

    Cost: see `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import trust
    >>> X = np.arange(6.0)[:, None]
    >>> Y = X[[5, 1, 2, 3, 4, 0]]  # the first and the last point are swapped
    >>> trust(X, Y, k=2).agreement
    array([0. , 0.5, 1. , 1. , 0.5, 0. ])
    """
    queries = (n_queries, random_state)
    return _compare_at_k(X, Y, k, Metric(metric, p), queries, n_jobs).trust()


def trustworthiness(
    X: Any,
    Y: Any,
    k: int = 10,
    *,
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Compute trustworthiness: whether neighbors in the embedding are neighbors in the data.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        See `rnx_curve`.
    k : int, default=10
        Neighborhood size, less than half of the number of points.

    Returns
    -------
    Estimate
        A float from 0 to 1 with a ``standard_error``, which is zero unless the queries are a
        sample.

    Notes
    -----
    The definition of Venna and Kaski, as in scikit-learn. Not in the paper. Cost: see `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import trustworthiness
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> print(trustworthiness(X, 2 * X, k=5))
    1.0000
    """
    queries = (n_queries, random_state)
    return _compare_at_k(X, Y, k, Metric(metric, p), queries, n_jobs).trustworthiness()


def continuity(
    X: Any,
    Y: Any,
    k: int = 10,
    *,
    metric: str = "euclidean",
    p: float = 2.0,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Compute continuity: whether neighbors in the data are neighbors in the embedding.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        See `rnx_curve`.
    k : int, default=10
        Neighborhood size, less than half of the number of points.

    Returns
    -------
    Estimate
        A float from 0 to 1 with a ``standard_error``, which is zero unless the queries are a
        sample.

    Notes
    -----
    `trustworthiness` with the roles of data and embedding exchanged. Not in the paper. Cost: see
    `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import continuity
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> print(continuity(X, 2 * X, k=5))
    1.0000
    """
    queries = (n_queries, random_state)
    return _compare_at_k(X, Y, k, Metric(metric, p), queries, n_jobs).continuity()


def _compare_at_k(
    X: Any, Y: Any, k: Any, metric: Metric, queries: tuple[Any, RandomState], n_jobs: int | None
) -> Comparison:
    pair = check_pair(X, Y, *metric)
    n = pair[0].shape[0]
    k = check_k(k, n)
    chosen = choose_queries(n, *queries)
    with threads(n_jobs):
        return compare_checked(pair, metric, chosen, k)
