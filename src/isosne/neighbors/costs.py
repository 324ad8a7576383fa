"""Memory of a nearest-neighbor search, known before it runs. The lists found are not included."""

from typing import NamedTuple

from isosne.neighbors.clustered import CANDIDATES, CLUSTER_SIZE
from isosne.neighbors.distances import BLOCK_ROWS, TILE_COLUMNS
from isosne.neighbors.exact import SPARE, rows_per_block
from isosne.neighbors.metric import Metric

ENTRY_BYTES = 20
"""Bytes per stored entry of a `SparsePoints`: value by row 8, by column 8 with its row 4."""
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
        return ENTRY_BYTES * points.n_entries + 16 * points.n_points
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
