"""Nearest-neighbor search: the public function, exact or approximate, and its memory."""

from typing import NamedTuple

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
from isosne.neighbors.approximate import (
    CANDIDATES,
    CLUSTER_SIZE,
    SEARCHABLE,
    ClusteredPoints,
    CodeIndex,
)
from isosne.neighbors.distances import BLOCK_ROWS, TILE_COLUMNS
from isosne.neighbors.exact import SPARE, ExactSearch, Search, rows_per_block
from isosne.neighbors.metric import Metric


def has_approximate_search(metric: str, *, is_sparse: bool) -> bool:
    """Return whether approximate search supports the input: dense points, some metrics."""
    return metric in (*SEARCHABLE, "hamming") and not is_sparse


def make_search(X: Points, metric: Metric, method: str) -> Search:
    """Return a search among the points; method is "exact" or "approximate"."""
    if is_one_of(method, ("exact",)):
        return ExactSearch(X, metric)
    if is_one_of(method, ("approximate",)):
        return CodeIndex(X) if metric.name == "hamming" else ClusteredPoints(X, metric)
    raise ParameterError("method", "be 'exact' or 'approximate'", method, "Choose one of the two.")


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
        fraction of columns that differ), precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.
    method : str, default="exact"
        "exact" or "approximate". The approximate search needs dense points and the Euclidean,
        cosine, Mahalanobis or Hamming metric; it finds nearly all neighbors and is much faster for
        many points.

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
    if is_one_of(method, ("approximate",)) and isinstance(X, csr_array):
        hint = "The approximate search needs dense points."
        raise ParameterError("method", "be 'exact' for sparse points", method, hint)
    return make_search(X, Metric(metric, p), method).neighbors(k)


ENTRY_BYTES = 20
"""Bytes per stored entry of a `SparsePoints`: value by row 8, by column 8 with its row 4."""
COLUMN_BYTES = 8
"""Bytes per column of a `SparsePoints`, even of an empty one: where it begins, by `tocsc`."""
SORTED_BYTES = 20
"""Bytes per stored distance while lists are read off: values 8, distances 8, indices 4."""
KEPT_BYTES, CONVERTED_BYTES = 12, 48
"""Bytes per neighbor of a block: key and index while the nearest points are kept; distances, their
copies and masks while they are converted (counted in `without_self`)."""
PACKED_DEPTH, PACKED_COLUMNS = 128, 4096
"""Largest block of a factor that OpenBLAS copies at a time (measured)."""


class PointsSize(NamedTuple):
    """Sizes of the points that a search compares."""

    n_points: int
    n_features: int
    value_bytes: int = 8
    """Bytes of a coordinate in the working type: 4 or 8."""
    is_ready: bool = True
    """Whether the points are compared as they are, without a converted copy."""
    n_entries: int | None = None
    """Number of stored entries of a sparse matrix; None for dense points."""

    @property
    def copy_bytes(self) -> int:
        """Bytes of one dense copy in the working type."""
        return self.n_points * self.n_features * self.value_bytes


def set_bytes(points: PointsSize, metric: Metric) -> int:
    """Return the bytes of a `SearchSet`, besides the points that it was made from."""
    own = exact_bytes(points, metric)
    if points.n_entries is not None or not metric.is_squared:
        return own
    return own + (points.n_features + 1) * points.n_points * points.value_bytes


def exact_bytes(points: PointsSize, metric: Metric) -> int:
    """Return the bytes of a set with exact keys, besides the points that it was made from."""
    if metric.name == "precomputed":
        return SORTED_BYTES * (points.n_entries or 0)
    if points.n_entries is not None:
        per_column = COLUMN_BYTES * points.n_features
        return ENTRY_BYTES * points.n_entries + 16 * points.n_points + per_column
    is_as_given = metric.is_squared and metric.name not in ("cosine", "mahalanobis")
    return 0 if is_as_given and points.is_ready else points.copy_bytes


def block_bytes(points: PointsSize, metric: Metric, n_listed: int) -> int:
    """Return the bytes that a thread needs to find the neighbors of a block of rows."""
    n, d, value = points[:3]
    if metric.name == "precomputed" and points.n_entries is not None:
        return 0  # stored distances are sorted, not compared
    if metric.name == "precomputed" or points.n_entries is not None:
        rows, query = min(n, rows_per_block(n)), 0
        keys = 8 * rows * n * (1 if points.n_entries is not None else 2)
        keys += 8 * (points.n_entries or 0)  # the differences of two rows, at their longest
    else:
        rows, columns = min(n, BLOCK_ROWS), min(n, TILE_COLUMNS)
        query = rows * d * value * (1 if points.is_ready else 2)
        keys = rows * columns * (value if metric.power == 2 else 8)
        keys += packed_bytes(d, columns, value)
    kept = KEPT_BYTES * rows * (n_listed + SPARE)
    return query + kept + max(keys, CONVERTED_BYTES * rows * n_listed)


def packed_bytes(n_features: int, n_columns: int, value_bytes: int) -> int:
    """Return the bytes that a thread of the BLAS library copies during a matrix product."""
    return min(n_features, PACKED_DEPTH) * min(n_columns, PACKED_COLUMNS) * value_bytes


def clusters_bytes(points: PointsSize, n_listed: int) -> int:
    """Return the bytes of a `ClusteredPoints`: two copies in the order of the clusters.

    A converted copy in the original order is freed before the second one is made.
    """
    near = 12 * points.n_points * CANDIDATES * 4 * n_listed // CLUSTER_SIZE**2
    return 2 * points.copy_bytes + near


def gathered_bytes(points: PointsSize) -> int:
    """Return the bytes of the candidates that a thread of the approximate search gathers."""
    return min(points.n_points, TILE_COLUMNS) * points.n_features * points.value_bytes
