"""How well a map keeps neighborhoods: R_NX and its area (Eq. 10-11), trust point by point.

All of it comes from one comparison of ranks (`ranks`), which `report` shares between measures.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Array, Points
from isosne.errors import ParameterError
from isosne.neighbors.distances import Metric
from isosne.quality.inputs import check_k, check_pair
from isosne.quality.ranks import RankCounts, compare_ranks, rank_weights
from isosne.quality.sampling import Estimate, choose_queries, estimate_mean


class Curve(NamedTuple):
    """R_NX at each size of neighborhood: ``k`` (n - 2,) int64 and ``r`` (n - 2,) float64."""

    k: NDArray[np.int64]
    r: NDArray[np.float64]


class Trust(NamedTuple):
    """How far the neighborhood of each point can be trusted.

    ``points`` (q,): index of each point asked. ``agreement`` (q,): share of its k nearest
    neighbors that are among its k nearest in the map. ``false_neighbors`` (q,): from 0 to 1, how
    far away the points shown as neighbors really are. ``missing_neighbors`` (q,): from 0 to 1, how
    far away its neighbors are shown. ``k``: how many neighbors were compared, 0 if unknown.
    """

    points: NDArray[np.int64]
    agreement: NDArray[np.float64]
    false_neighbors: NDArray[np.float64]
    missing_neighbors: NDArray[np.float64]
    k: int = 0


class Comparison(NamedTuple):
    """Checked data, and the ranks of all points around the queries in data and map."""

    n: int
    queries: NDArray[np.int64]
    counts: RankCounts
    k: int
    ks: NDArray[np.int64]

    def curve(self) -> Curve:
        """Return R_NX at every k from 1 to n - 2."""
        k = np.arange(1, self.n - 1)
        q_nx = self.counts.entries.cumsum()[1:-1] / (len(self.queries) * k)
        return Curve(k, ((self.n - 1) * q_nx - k) / (self.n - 1 - k))

    def auc(self) -> Estimate:
        """Return the area under R_NX over the chosen k."""
        weights = 1 / self.ks
        mean = math.fsum(weights * self.curve().r[self.ks - 1]) / math.fsum(weights)
        return estimate_mean(self.counts.areas, self.n, mean)

    def trust(self) -> Trust:
        """Return agreement, and the false and the missing neighbors, of each query."""
        worst = self.k * (2 * self.n - 3 * self.k - 1) / 2
        kept, intruded, extruded = self.counts[2:]
        return Trust(self.queries, kept / self.k, intruded / worst, extruded / worst, self.k)

    def trustworthiness(self) -> Estimate:
        """Return one less the mean of the false neighbors."""
        return estimate_mean(1 - self.trust().false_neighbors, self.n)

    def continuity(self) -> Estimate:
        """Return one less the mean of the missing neighbors."""
        return estimate_mean(1 - self.trust().missing_neighbors, self.n)


def compare(
    pair: tuple[Points, Array], metric: Metric, queries: Array, *, k: int = 1, ks: str = "all"
) -> Comparison:
    """Compare the ranks around the queries in checked data and map."""
    X, Y = pair
    n = X.shape[0]
    sizes = neighborhood_sizes(ks, n)
    counts = compare_ranks(X, Y, metric, queries, k=k, weights=rank_weights(sizes, n))
    return Comparison(n, queries, counts, k, sizes)


def neighborhood_sizes(ks: Any, n: int) -> NDArray[np.int64]:
    """Return the k over which AUC_RNX is taken, in ascending order."""
    if not isinstance(ks, str) or ks not in ("all", "paper"):
        raise ParameterError(
            f"ks must be 'all' or 'paper'; got {ks!r}. "
            "'all' takes every k, 'paper' fifty of them as the paper does."
        )
    if ks == "all":
        return np.arange(1, n - 1)
    shares = np.arange(1, 100, 2) * n / 100
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
    """Measure how much of each neighborhood a map keeps, at every size of neighborhood.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The points; with ``metric="precomputed"``, their distances. At least four.
    Y : array or data frame of shape (n_samples, n_components)
        Their map.
    metric : str, default="euclidean"
        Distance of the points: euclidean, manhattan, minkowski, cosine or precomputed. In the map
        it is always Euclidean.
    p : float, default=2.0
        Power of the Minkowski distance.
    n_queries : int, "auto" or None, default=None
        Number of points whose neighborhoods are compared, drawn at random; each has all others for
        neighbors. None and "auto": every point up to 20 000 points, 2 000 of them beyond.
    random_state : int, Generator, RandomState or None, default=None
        Chooses the queries where they are a sample.
    n_jobs : int or None, default=None
        Number of threads; None uses as many as Numba does. The result does not depend on it.

    Returns
    -------
    Curve
        ``k`` from 1 to n - 2 and ``r``, R_NX at each: one for a perfect map, about zero for a
        random one.

    Notes
    -----
    Eq. 10: ``R(k) = ((n - 1) Q(k) - k) / (n - 1 - k)`` where Q(k) is the mean share of its k
    nearest neighbors that a point keeps. Departures from the paper: every k instead of fifty.
    A point is not its own neighbor; equal distances, lower index first.

    Cost: O(q n (d + log n)) time for q queries. Memory: two float64 copies of dense points, and
    128 MB for each thread.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import rnx_curve
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> rnx_curve(X, X).r
    array([1., 1.])
    """
    pair = check_pair(X, Y, metric, p)
    queries = choose_queries(pair[0].shape[0], n_queries, random_state)
    with threads(n_jobs):
        return compare(pair, Metric(metric, p), queries).curve()


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
    """Measure how much of the neighborhoods a map keeps, as one number.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        As in `rnx_curve`.
    ks : str, default="all"
        "all": every k from 1 to n - 2. "paper": 0.01 n, 0.03 n, ..., 0.99 n, rounded.

    Returns
    -------
    Estimate
        A float, with its ``standard_error`` where the queries are a sample. One for a perfect
        map, about zero for a random one.

    Notes
    -----
    Eq. 11: the mean of R(k) with weights 1/k. Departures from the paper: ``ks="all"``, as in the
    measure's own definition, is the default; the paper's fifty k are rounded to whole numbers from
    1 to n - 2, each taken once. R(k) is linear in what each query keeps, so the standard error is
    that of a mean over queries drawn without replacement.

    Cost: as `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import auc_rnx
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> print(auc_rnx(X, X), f"{auc_rnx(X, X[:, :2]):.2f}")
    1.0000 0.41
    """
    pair = check_pair(X, Y, metric, p)
    queries = choose_queries(pair[0].shape[0], n_queries, random_state)
    with threads(n_jobs):
        return compare(pair, Metric(metric, p), queries, ks=ks).auc()


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
    """Measure, for each point, how far its neighborhood in the map can be trusted.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        As in `rnx_curve`.
    k : int, default=10
        Size of a neighborhood, less than half of the number of points.

    Returns
    -------
    Trust
        ``points``, the indices of the points asked, and for each ``agreement``,
        ``false_neighbors`` and ``missing_neighbors``.

    Notes
    -----
    Of a point's k neighbors in the map as many are false as true ones are missing, so these two
    are weighted by rank: a false neighbor by how far its rank in the data exceeds k, a missing one
    by how far its rank in the map does. Each sum is divided by the largest one possible,
    k (2n - 3k - 1) / 2. The mean of either, taken from one, is `trustworthiness` or `continuity`.
    Not in the paper.

    Cost: as `rnx_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import trust
    >>> X = np.arange(6.0)[:, None]
    >>> Y = X[[5, 1, 2, 3, 4, 0]]  # the ends have changed places
    >>> trust(X, Y, k=2).agreement
    array([0. , 0.5, 1. , 1. , 0.5, 0. ])
    """
    return _compare_at_k(X, Y, k, Metric(metric, p), (n_queries, random_state), n_jobs).trust()


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
    """Measure how near in the data the points are that a map shows as neighbors.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        As in `rnx_curve`.
    k : int, default=10
        Size of a neighborhood, less than half of the number of points.

    Returns
    -------
    Estimate
        A float from 0 to 1, with its ``standard_error`` where the queries are a sample.

    Notes
    -----
    The definition of Venna and Kaski, as in scikit-learn. Not in the paper. Cost: as `rnx_curve`.

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
    """Measure how near in a map the neighbors of each point are shown.

    Parameters
    ----------
    X, Y, metric, p, n_queries, random_state, n_jobs
        As in `rnx_curve`.
    k : int, default=10
        Size of a neighborhood, less than half of the number of points.

    Returns
    -------
    Estimate
        A float from 0 to 1, with its ``standard_error`` where the queries are a sample.

    Notes
    -----
    `trustworthiness` with data and map in each other's place. Not in the paper. Cost: as
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
        return compare(pair, metric, chosen, k=k)
