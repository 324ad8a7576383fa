"""Neighborhood preservation: R_NX and its area (Eq. 10-11), trustworthiness, per-point trust.

All of these follow from one rank comparison (`comparison.compare`); the functions here are
shortcuts for a single measure.
"""

from typing import Any

from isosne._random import RandomState
from isosne.neighbors.metric import Metric
from isosne.quality.comparison import Curve, Trust, check_ks, compare_at_k
from isosne.quality.sampling import Estimate


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
        Distance in the data: euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis (with
        the covariance of the data), hamming, gower or precomputed. A data frame with columns that
        are not numbers, or with missing values, is measured by Gower's distance. Distances in the
        embedding are always Euclidean.
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
    return compare_at_k(X, Y, 1, Metric(metric, p), queries, n_jobs).curve()


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
    ks : {"all", "paper", "small", "medium", "large"}, default="all"
        Neighborhood sizes. "all": every k from 1 to n - 2. "paper": 0.01 n, 0.03 n, ..., 0.99 n,
        rounded. "small": every k up to n^(1/3). "medium": the following up to n^(2/3). "large":
        those above.

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
    return compare_at_k(X, Y, 1, Metric(metric, p), queries, n_jobs).auc(ks)


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
    return compare_at_k(X, Y, k, Metric(metric, p), queries, n_jobs).trust()


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
    return compare_at_k(X, Y, k, Metric(metric, p), queries, n_jobs).trustworthiness()


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
    return compare_at_k(X, Y, k, Metric(metric, p), queries, n_jobs).continuity()
