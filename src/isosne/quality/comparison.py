"""One rank comparison of data and embedding, from which every measure follows (Eq. 10-11)."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from isosne._checks import is_one_of
from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Array, Points
from isosne.errors import ParameterError, keyword, suggest
from isosne.neighbors.metric import Metric
from isosne.quality.inputs import Estimate, check_inputs, estimate_mean
from isosne.quality.ranks import RankCounts, coarse_size, compare_ranks, rank_weights

KS = ("all", "paper", "small", "medium", "large")
"""Sets of neighborhood sizes for AUC_RNX; `RankCounts.areas` has one row for each."""
REGION = 30  # points whose mean is the trust of a region; chosen


class Curve(NamedTuple):
    """R_NX by neighborhood size, see `Comparison.curve`: ``k`` (n - 2,) and ``r`` (n - 2,).

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import compare
    >>> compare(np.eye(5), np.eye(5), k=2).curve().r
    array([1., 1., 1.])
    """

    k: NDArray[np.int64]
    r: NDArray[np.float64]


class Trust(NamedTuple):
    """Neighbors kept per point.

    ``points`` (q,): indices of the evaluated points. ``agreement`` (q,): fraction of the k nearest
    neighbors in the data that are also among the k nearest in the embedding. ``coarse`` (q,): those
    that are among the ``wide`` nearest there, 10 k or half of all points. ``false_neighbors`` and
    ``missing_neighbors`` (q,): from 0 to 1. ``embedding`` (n, c): all points of the map. ``k``:
    neighborhood size, 0 if unknown.

    Notes
    -----
    The agreement is strict: it may be low in a dense cluster that the map shows as it is. The
    coarse trust is low only where neighbors were torn apart.

    A false neighbor, near in the embedding only, is weighted by how far its rank in the data
    exceeds k; a missing one, near in the data only, by how far its rank in the embedding does. Each
    sum is divided by its largest possible value, k (2n - 3k - 1) / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import compare
    >>> X = np.arange(6.0)[:, None]
    >>> Y = X[[5, 1, 2, 3, 4, 0]]  # the first and the last point are swapped
    >>> compare(X, Y, k=2).trust().agreement
    array([0. , 0.5, 1. , 1. , 0.5, 0. ])
    """

    points: NDArray[np.int64]
    agreement: NDArray[np.float64]
    coarse: NDArray[np.float64]
    false_neighbors: NDArray[np.float64]
    missing_neighbors: NDArray[np.float64]
    embedding: Array
    k: int = 0
    wide: int = 0

    def regional(self) -> NDArray[np.float64]:
        """Return the mean agreement (n,) of the 30 evaluated points nearest to each on the map."""
        return regional_mean(self.agreement, self.embedding[self.points], self.embedding)


def regional_mean(values: Array, known: Array, Y: Array) -> NDArray[np.float64]:
    """Return the mean (n,) of the values (q,) of the 30 known points (q, c) nearest to each Y."""
    nearest = KDTree(known).query(Y, range(1, min(REGION, len(known)) + 1))[1]
    return np.asarray(values[nearest].mean(axis=1))


class Comparison(NamedTuple):
    """Neighbor ranks in the data and in the embedding; the result of `compare`.

    ``n_points``: number of points. ``k``: neighborhood size of `trust`, `trustworthiness` and
    `continuity`. ``queries`` (q,): indices of the points whose neighborhoods were compared.
    ``counts``: what the measures need of the ranks. ``embedding``: the map. Each method costs O(n).

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import compare
    >>> float(compare(np.eye(9, 2), np.eye(9, 2), k=3).auc())
    1.0
    """

    n_points: int
    k: int
    queries: NDArray[np.int64]
    counts: RankCounts
    embedding: Array

    def curve(self) -> Curve:
        """Return R_NX for every neighborhood size: 1 if perfect, about 0 if random (Eq. 10).

        ``R(k) = ((n - 1) Q(k) - k) / (n - 1 - k)`` for k from 1 to n - 2, where Q(k) is the mean
        fraction of the k nearest neighbors that are preserved.
        """
        n = self.n_points
        k = np.arange(1, n - 1)
        q_nx = self.counts.entries.cumsum()[1:-1] / (len(self.queries) * k)
        return Curve(k, ((n - 1) * q_nx - k) / (n - 1 - k))

    def rnx(self) -> Estimate:
        """Return R_NX(k) for the neighborhood size k of the comparison."""
        n, k = self.n_points, self.k
        return estimate_mean(((n - 1) * self.trust().agreement - k) / (n - 1 - k), n)

    def auc(self, ks: str = "all") -> Estimate:
        """Return AUC_RNX, the mean of R_NX with weights 1/k (Eq. 11).

        Parameters
        ----------
        ks : {"all", "paper", "small", "medium", "large"}, default="all"
            Neighborhood sizes. "all": every k from 1 to n - 2, as the measure was defined. "paper":
            0.01 n, 0.03 n, ..., 0.99 n, rounded. "small": every k up to n^(1/3). "medium": the
            following up to n^(2/3). "large": those above.

        Returns
        -------
        Estimate
            A float with a ``standard_error``, which is zero unless the queries are a sample.
        """
        if not is_one_of(ks, KS):
            rule = f"be one of {', '.join(map(repr, KS))}"
            hint = f"Use {keyword('ks', 'all')} for every neighborhood size."
            raise ParameterError("ks", rule, ks, suggest(ks, KS, hint))
        sizes = neighborhood_sizes(ks, self.n_points)
        weights = 1 / sizes
        mean = math.fsum(weights * self.curve().r[sizes - 1]) / math.fsum(weights)
        # R(k) is linear in the number of neighbors kept: the error is that of a mean over queries.
        return estimate_mean(self.counts.areas[KS.index(ks)], self.n_points, mean)

    def trust(self) -> Trust:
        """Return the neighbors kept, and the false and missing neighbors, of each query point."""
        # The largest possible sum of excess ranks: k neighbors with ranks n - k, ..., n - 1.
        worst = self.k * (2 * self.n_points - 3 * self.k - 1) / 2
        kept, near, intruded, extruded = self.counts[2:]
        shares = kept / self.k, near / self.k, intruded / worst, extruded / worst
        wide = coarse_size(self.k, self.n_points)
        return Trust(self.queries, *shares, self.embedding, self.k, wide)

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
    """Rank the neighbors in data and embedding once; every neighborhood measure follows from it.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The data, or the distance matrix with ``metric="precomputed"``. At least four points.
    Y : array or data frame of shape (n_samples, n_components)
        The embedding.
    k : int, default=10
        Neighborhood size of the trust; less than half of the number of points.
    metric : str, default="euclidean"
        Distance in the data: euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis (with
        the covariance of the data), hamming, jaccard, gower or precomputed. A data frame with
        columns that are not numbers, or with missing values, is measured by Gower's distance.
        Distances in the embedding are always Euclidean.
    p : float, default=2.0
        Power of the Minkowski distance.
    n_queries : int, "auto" or None, default=None
        Number of points whose neighborhoods are compared, sampled at random; their neighbors are
        searched among all points. None and "auto": all points up to 20,000, otherwise a sample of
        2,000.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the sample.
    n_jobs : int or None, default=None
        Number of threads; None uses Numba's number of threads. The result does not depend on it.

    Returns
    -------
    Comparison
        Its methods are the measures: ``curve()``, ``auc()``, ``trust()``, and
        ``trustworthiness()`` and ``continuity()`` as defined by Venna and Kaski.

    Notes
    -----
    Eq. 10-11. Departures from the paper: R_NX is computed for every k instead of fifty. Cost:
    O(q n (d + log n)) time for q queries; two float64 copies of dense data, and 128 MB per thread.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import compare
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ranks = compare(X, X[:, :2])
    >>> print(ranks.auc(), ranks.trustworthiness(), ranks.continuity())
    0.4138 0.8419 0.9641
    """
    checked = check_inputs(X, Y, k, Metric(metric, p), n_queries, random_state)
    with threads(n_jobs):
        return compare_checked(*checked)


def compare_checked(
    pair: tuple[Points, Array], metric: Metric, queries: Array, k: int
) -> Comparison:
    """Compare the ranks around the queries in data and embedding that were validated before."""
    X, Y = pair
    n = X.shape[0]
    weights = np.stack([rank_weights(neighborhood_sizes(ks, n), n) for ks in KS])
    counts = compare_ranks(X, Y, metric, queries, k=k, weights=weights)
    return Comparison(n, k, queries, counts, Y)


def neighborhood_sizes(ks: str, n: int) -> NDArray[np.int64]:
    """Return the neighborhood sizes k of AUC_RNX in ascending order."""
    if ks != "paper":
        small, medium = size_limits(n)
        first, last = {
            "all": (1, n - 2),
            "small": (1, small),
            "medium": (min(small + 1, n - 2), medium),
            "large": (min(medium + 1, n - 2), n - 2),
        }[ks]
        return np.arange(first, last + 1)
    shares = np.arange(1, 100, 2) * n / 100  # as in the paper's evaluation
    return np.unique(np.clip(np.rint(shares), 1, n - 2).astype(np.int64))


def size_limits(n: int) -> tuple[int, int]:
    """Return the largest small and the largest medium neighborhood: n^(1/3) and n^(2/3), rounded.

    Each part covers a third of log k. Of four points, size 2 is both medium and large.
    """
    small = min(round(n ** (1 / 3)), max(n - 4, 1))
    return small, min(round(n ** (2 / 3)), max(n - 3, 2))
