"""Nearest-neighbor search: the public function, exact or approximate."""

from scipy.sparse import csr_array

from isosne._checks import (
    check_count,
    check_for_metric,
    check_metric,
    check_points,
    check_square_distances,
    is_one_of,
)
from isosne._types import Neighbors, Points
from isosne.errors import ParameterError
from isosne.neighbors.approximate import ClusteredPoints
from isosne.neighbors.exact import ExactSearch
from isosne.neighbors.metric import Metric

SEARCHABLE = ("euclidean", "cosine", "mahalanobis")
"""Metrics of the approximate search: Euclidean distances of points, of rows scaled to length 1, or
of whitened points."""
Search = ExactSearch | ClusteredPoints


def has_approximate_search(metric: str, *, is_sparse: bool) -> bool:
    """Return whether approximate search supports the input: dense points, some metrics."""
    return metric in SEARCHABLE and not is_sparse


EXACT_SEARCH_LIMIT = 10_000
"""Largest number of points for the exact neighbor search (docs/decisions/0007)."""


def usual_method(n_points: int, metric: str, *, is_sparse: bool) -> str:
    """Return the search that suits the number of points, if it supports the input."""
    can = has_approximate_search(metric, is_sparse=is_sparse)
    return "approximate" if can and n_points > EXACT_SEARCH_LIMIT else "exact"


def make_search(X: Points, metric: Metric, method: str) -> Search:
    """Return a search among the points; method is "exact" or "approximate"."""
    if method == "exact":
        return ExactSearch(X, metric)
    if not has_approximate_search(metric.name, is_sparse=isinstance(X, csr_array)):
        names = ", ".join(map(repr, SEARCHABLE))
        rule = f"be one of {names}, with a dense X, for the approximate neighbor search"
        raise ParameterError("metric", rule, metric.name, "Choose the exact search.")
    return ClusteredPoints(X, metric)


def nearest_neighbors(
    X: Points, k: int, *, metric: str = "euclidean", p: float = 2.0, method: str = "exact"
) -> Neighbors:
    """Find the k nearest neighbors of each point among the others.

    Parameters
    ----------
    X : array or CSR of shape (n_samples, n_features)
        The points; with ``metric="precomputed"``, their distances. A sparse matrix of distances
        holds those of each point to its neighbors.
    k : int
        Number of neighbors, from 1 to n_samples - 1.
    metric : str, default="euclidean"
        One of euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis, hamming (the
        fraction of columns that differ), jaccard (of the sets of columns that are not zero), gower
        (of points from `isosne.tables.gower_points`), precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.
    method : str, default="exact"
        "exact" or "approximate". The approximate search needs dense points and the Euclidean,
        cosine or Mahalanobis metric; it finds nearly all neighbors and is much faster for many
        points.

    Returns
    -------
    Neighbors
        ``indices`` (n, k) int32 and ``distances`` (n, k) float32, nearest first. Ties go to the
        lower index.

    Notes
    -----
    Exact search: O(n^2 d) time, and a few MB per thread besides the result. Approximate search:
    time nearly proportional to n; recall 0.98 to 0.99 on MNIST (docs/decisions/0007).

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.neighbors import nearest_neighbors
    >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    check_metric(metric, p)
    X = check_points(X, min_rows=2)
    check_for_metric(X, metric)
    if metric == "precomputed":
        check_square_distances(X)
    check_count(k, "k", low=1, high=X.shape[0] - 1, hint="A point is not its own neighbor.")
    if not is_one_of(method, ("exact", "approximate")):
        rule = "be 'exact' or 'approximate'"
        raise ParameterError("method", rule, method, "Choose one of the two.")
    return make_search(X, Metric(metric, p), method).neighbors(k)
