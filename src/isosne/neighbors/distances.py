"""Sets of points that blocks of other points are compared with, for all metrics.

A *key* orders points like the distance and is cheaper (`Metric`). Dense Euclidean keys come from a
matrix product, with a rounding error of at most `rounding_bound`. Points whose keys differ by less
are ordered by `sq_distance`, in float64, so the order depends neither on how the product is divided
into blocks nor on the BLAS library (docs/decisions/0001). Other keys are exact.

A sparse matrix of precomputed distances holds, for each point, those to its neighbors. A distance
that is not stored is unknown, and larger than those of its row, so lists of neighbors can be read
off, and nothing else. A stored zero is a distance like any other; a point's distance to itself may
be stored or not.
"""

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.neighbors.codes import CodePoints, GowerPoints
from isosne.neighbors.metric import (
    Metric,
    Query,
    SearchSet,
    common_scale,
    largest_value,
    working_dtype,
)
from isosne.neighbors.pairs import (
    add_shared_columns,
    fill_csr_norms,
    fill_keys,
    fill_norms,
    scale_rows,
    settle_near,
    sum_row_powers,
)


def refuse_all_pairs() -> DataError:
    """Return the error for what needs distances that are not stored."""
    return DataError(
        "X must hold the distances of all pairs here; a sparse matrix holds only those that are "
        "stored. Pass a dense matrix of distances."
    )


def n_stored(D: csr_array) -> int:
    """Return the smallest number of stored distances per row, without those on the diagonal."""
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    return int(np.bincount(rows[rows != D.indices], minlength=D.shape[0]).min())


def nearest_stored(
    D: csr_array, k: int, *, with_self: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return indices and distances (n, k) of the nearest stored points, ties by index.

    with_self: whether a row may list the point with its own index.
    """
    rows = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    kept = with_self | (rows != D.indices)
    rows, ids, distances = rows[kept], D.indices[kept], D.data[kept].astype(np.float64)
    counts = np.bincount(rows, minlength=D.shape[0])
    row = int(counts.argmin())
    if counts[row] < k:
        raise DataError(
            f"Each row must store the distances to its {k} nearest points; row {row} of X "
            f"(counting from 0) stores {counts[row]}. Store more of them, or pass a dense matrix."
        )
    order = np.lexsort((distances, rows))  # stable, and indices are sorted
    listed = order[(np.cumsum(counts) - counts)[:, None] + np.arange(k)]
    return ids[listed].astype(np.int32), distances[listed]


TILE_COLUMNS, BLOCK_ROWS = 2048, 256
"""Size of a tile of keys: 2 MB in float32, which fits in an L2 cache (chosen; not measured)."""
REACH = {np.dtype(np.float32): 1e38, np.dtype(np.float64): 1e150}
"""Largest value of a query, divided by the scale of the set: it is still a number of the working
type, and its square is finite in float64."""


def search_set(
    X: Points, metric: Metric, ids: Array | None = None, *, precision: type | None = None
) -> SearchSet:
    """Return the points of X, or those with the given indices, as a set for a search.

    precision: type of dense Euclidean products; None is `working_dtype`.
    """
    found = exact_set(X, metric, ids, precision=precision or working_dtype(X))
    if isinstance(found, DensePoints) and found.metric.is_squared:
        return DenseEuclidean(found.points, found.metric, found.scale)
    return found


def exact_set(
    X: Points, metric: Metric, ids: Array | None = None, *, precision: type = np.float64
) -> SearchSet:
    """Return the points of X, or those with the given indices, as a set whose keys are exact.

    Keys are sums in float64, in a fixed order. precision: type of dense points.
    """
    if metric.name == "precomputed":
        columns = np.arange(X.shape[1]) if ids is None else ids
        return StoredDistances(columns) if isinstance(X, csr_array) else DistanceColumns(columns)
    metric = metric.fitted(X)
    chosen = X if ids is None else X[ids]
    if metric.name == "hamming":
        return CodePoints(np.asarray(chosen))
    if metric.name == "gower":
        return GowerPoints(np.asarray(chosen))
    if metric.whitening is not None:
        chosen, precision = metric.whitening.apply(chosen), np.float64
    dtype = np.float64 if isinstance(chosen, csr_array) else precision
    largest = 0.0 if metric.name == "cosine" else largest_value(chosen)
    scale = common_scale(largest, dtype, metric.power)
    if isinstance(chosen, csr_array):
        return SparsePoints(_read_csr(chosen, metric, scale), metric, scale)
    return DensePoints(_as_dense(chosen, metric, dtype, scale), metric, scale)


def _as_dense(values: Array, metric: Metric, dtype: type, scale: float) -> Array:
    """Return points in the working type, divided by the scale; scaled to length 1 for cosine."""
    if metric.name == "cosine":
        return _to_unit_length(values, dtype)
    # Writable: compiled functions would have to be compiled again for arrays that are not.
    dense: Array = np.require(values, np.result_type(values.dtype, dtype), ("C", "W", "E"))
    with np.errstate(over="ignore"):  # queries are checked afterwards
        if scale != 1:
            is_copy = not np.may_share_memory(dense, values)
            dense = np.ldexp(dense, 1 - math.frexp(scale)[1], out=dense if is_copy else None)
        return dense.astype(dtype, copy=False)


def _to_unit_length(values: Array, dtype: type) -> Array:
    scaled: Array = np.empty(values.shape, dtype)
    n_columns = values.shape[1]

    def work(rows: slice) -> None:
        block = np.array(values[rows], np.float64, order="C")
        starts = np.arange(0, block.size + 1, n_columns)
        scale_rows(starts, block.ravel(), scaled[rows].reshape(-1))

    for_each_block(len(values), BLOCK_ROWS, work)
    return scaled


def _read_dense(X: Points, rows: slice, search: "DensePoints") -> Array:
    """Return a block of query points like those of the set."""
    block: Any = X[rows]
    values = block.toarray() if isinstance(block, csr_array) else block
    if search.metric.whitening is not None:
        values = search.metric.whitening.apply(values)
    points = _as_dense(values, search.metric, search.points.dtype.type, search.scale)
    _check_reach(points, search.points)
    return points


def _read_csr(block: Points, metric: Metric, scale: float) -> csr_array:
    """Return points as CSR in float64, divided by the scale; scaled to length 1 for cosine."""
    rows = csr_array(block)
    data: Array = np.divide(rows.data, scale, dtype=np.float64)
    if metric.name == "cosine":
        scale_rows(rows.indptr, data, data)
    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _check_reach(points: Points, fitted: Points) -> None:
    """Raise an error for scaled query points whose distances cannot be computed."""
    reach, largest = REACH[points.dtype], largest_value(points)
    if not largest <= reach:  # also true for NaN
        unit = 2.0 ** math.frexp(largest_value(fitted))[1]
        raise DataError(
            f"Values of X must be at most {reach / unit:.3g} times the largest fitted value, so "
            f"that distances are finite; got {largest / unit:.1g} times. Check the units of the "
            "columns."
        )


class DensePoints(SearchSet):
    """Dense points, any metric: keys pair by pair."""

    tile = TILE_COLUMNS

    def __init__(self, points: Array, metric: Metric, scale: float) -> None:
        self.points, self.metric, self.scale = points, metric, scale
        self.n_points = len(points)

    def query(self, X: Points, rows: slice) -> Query:
        points = _read_dense(X, rows, self)
        return Query(points, points[:, :0], np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        X, Z, power = query.points, self.points[columns], self.metric.power
        keys = np.empty((len(X), len(Z)))
        if power in (1.0, 2.0, math.inf):
            fill_keys(X, Z, power, keys)
        else:
            fill_norms(X, Z, power, keys)
        return keys

    def subset(self, ids: Array) -> "DensePoints":
        return DensePoints(self.points[ids], self.metric, self.scale)


class DenseEuclidean(DensePoints):
    """Dense points, Euclidean, cosine or Mahalanobis metric: keys from matrix products."""

    def __init__(
        self, points: Array, metric: Metric, scale: float, shift: Array | None = None
    ) -> None:
        super().__init__(points, metric, scale)
        n_columns = points.shape[1]
        # docs/decisions/0001: n_columns roundings in a product, 8 for shift, norm and sum.
        self.unit = float(np.finfo(points.dtype).eps) / 2 * (n_columns + 8)
        # Rounding is least at the center; a median of 1000 points (chosen) ignores outliers.
        self.shift = np.median(points[:1000], axis=0) if shift is None else shift
        self.shift = self.shift.astype(points.dtype)
        self._factors = np.empty((self.n_points, n_columns + 1), points.dtype)
        shifted = self._factors[:, :-1]
        np.subtract(points, self.shift, out=shifted)
        self._factors[:, -1] = _sq_norms(shifted)
        shifted *= -2

    def query(self, X: Points, rows: slice) -> Query:
        return self.ready(_read_dense(X, rows, self))

    def ready(self, points: Array) -> Query:
        """Prepare points that are already in the working type and scale."""
        factors = np.ones((len(points), points.shape[1] + 1), points.dtype)
        np.subtract(points, self.shift, out=factors[:, :-1])
        return Query(points, factors, _sq_norms(factors[:, :-1]))

    def keys(self, query: Query, columns: slice | Array) -> Array:
        """Return |z|^2 - 2 x.z, the squared distance less |x|^2; columns may be an index array."""
        # Far queries overflow in float32, and are searched again in float64. Some BLAS kernels also
        # set the flag "invalid" for finite operands.
        with np.errstate(over="ignore", invalid="ignore"):
            return query.factors @ self._factors[columns].T

    def subset(self, ids: Array) -> "DenseEuclidean":
        return DenseEuclidean(self.points[ids], self.metric, self.scale, self.shift)


class SparsePoints(SearchSet):
    """CSR points, any metric but Mahalanobis: keys without conversion to dense.

    An inverted index finds the columns that two points share. The entries of two points are merged
    instead if they are near each other, because the norms of the points cancel, and with the
    Minkowski and Chebyshev metrics, where a sum cannot be corrected for shared columns.
    """

    def __init__(self, points: csr_array, metric: Metric, scale: float) -> None:
        self.metric, self.scale = metric, scale
        self.n_points = self.tile = points.shape[0]
        self._rows = points
        self._columns = points.tocsc()
        self._norms = row_powers(points, metric.power)

    def query(self, X: Points, rows: slice) -> Query:
        block = _read_csr(X[rows], self.metric, self.scale)
        _check_reach(block, self._rows)
        return Query(block, self.points, row_powers(block, self.metric.power))

    def keys(self, query: Query, columns: slice) -> Array:
        keys = np.zeros((len(query.sq_norms), self.n_points))
        power = self.metric.power
        block = csr_parts(query.points)
        if power not in (1.0, 2.0):
            fill_csr_norms(block, csr_parts(self._rows), self._rows.shape[1], power, keys)
            return keys[:, columns]
        add_shared_columns(block, csr_parts(self._columns), power, keys)
        for row, sq_norm in zip(keys, query.sq_norms, strict=True):  # no array of all sums
            row += sq_norm + self._norms
        norms = query.sq_norms, self._norms
        settle_near(block, csr_parts(self._rows), norms, power, keys)
        return keys[:, columns]

    def subset(self, ids: Array) -> "SparsePoints":
        return SparsePoints(self._rows[ids], self.metric, self.scale)


def csr_parts(points: Any) -> tuple[Array, Array, Array]:
    """Return the arrays of a CSR or CSC matrix."""
    return points.indptr, points.indices, points.data


def row_powers(points: csr_array, power: float) -> NDArray[np.float64]:
    """Return the sum of |value|^power over each CSR row; zeros if the power is not 1 or 2."""
    sums = np.zeros(points.shape[0])
    if power in (1.0, 2.0):
        sum_row_powers(points.indptr, points.data, power, sums)
    return sums


class DistanceColumns(SearchSet):
    """Precomputed distances: each point is a column of the distance matrix."""

    def __init__(self, ids: Array) -> None:
        self.ids = ids
        self.n_points = self.tile = len(ids)

    def query(self, X: Points, rows: slice) -> Query:
        if isinstance(X, csr_array):
            raise DataError(
                "Precomputed distances must be dense, like those of the fitted points; got a "
                "sparse matrix. Pass X.toarray() if it stores all of them."
            )
        points = np.asarray(X[rows], dtype=np.float64)
        return Query(points, self.points, np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        distances: Array = query.points[:, self.ids[columns]]
        return distances

    def subset(self, ids: Array) -> "DistanceColumns":
        return type(self)(self.ids[ids])


class StoredDistances(DistanceColumns):
    """Precomputed distances of which only some are stored; offers no keys of all pairs."""

    def query(self, X: Points, rows: slice) -> NoReturn:
        raise refuse_all_pairs()


def sq_distances(X: Points, rows: slice, search: SearchSet, metric: Metric) -> Array:
    """Return the squared distances (n_rows, n_points) of a block of X to all points of the set.

    search: a set with exact keys, as from `exact_set`.
    """
    keys = search.keys(search.query(X, rows), slice(0, search.n_points))
    return metric.sq_distances(keys, search.scale)


def _sq_norms(points: Array) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", points, points, dtype=np.float64)
    return norms
