"""Sets of points that blocks of other points are compared with, for all metrics.

A *key* orders points like the distance and is cheaper (`Metric`). Dense Euclidean keys come from a
matrix product, with a rounding error of at most `rounding_bound`. Points whose keys differ by less
are ordered by `sq_distance`, in float64, so the order depends neither on how the product is divided
into blocks nor on the BLAS library (docs/decisions/0001). Other keys are exact.

A sparse matrix of precomputed distances holds, for each point, those to its neighbors (docs/
extending.md), so lists of neighbors can be read off, and nothing else.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.neighbors.metric import (
    Metric,
    Query,
    SearchSet,
    common_scale,
    largest_value,
    working_dtype,
)
from isosne.neighbors.pairs import (
    COMPARE_COLUMNS,
    Csr,
    add_shared_columns,
    compare_cells,
    fill_gower,
    fill_keys,
    fill_norms,
    scale_rows,
    settle_near,
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
    """Return indices and distances (n, k) of the nearest stored points; ties by index."""
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
    """Return points as `exact_set` does, but dense Euclidean keys are products, in `precision`."""
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
        return DistanceColumns(np.arange(X.shape[1]) if ids is None else ids)
    metric = metric.fitted(X)
    chosen = X if ids is None else X[ids]
    if metric.name == "hamming":
        return CodePoints(np.asarray(chosen))
    if metric.whitening is not None:
        chosen, precision = metric.whitening.apply(chosen), np.float64
    is_sparse = isinstance(chosen, csr_array) or metric.name == "jaccard"
    dtype = np.float64 if is_sparse else precision
    largest = 0.0 if metric.name in ("cosine", "jaccard", "gower") else largest_value(chosen)
    scale = common_scale(largest, dtype, metric.power)
    if is_sparse:
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


def _read_csr(block: Points, metric: Metric, scale: float) -> csr_array:
    """Return points as CSR in float64, divided by the scale; cosine: of length 1, Jaccard: ones."""
    rows = csr_array(block != 0 if metric.name == "jaccard" else block)
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
        block: Any = X[rows]
        values = block.toarray() if isinstance(block, csr_array) else block
        if self.metric.whitening is not None:
            values = self.metric.whitening.apply(values)
        points = _as_dense(values, self.metric, self.points.dtype.type, self.scale)
        _check_reach(points, self.points)
        return self.ready(points)

    def ready(self, points: Array) -> Query:
        """Prepare points that are already in the working type and scale."""
        return Query(points, np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        X, Z, power = query.points, self.points[columns], self.metric.power
        keys = np.empty((len(X), len(Z)))
        if self.metric.name == "gower":
            fill_gower(X, Z, keys)
        elif power in (1.0, 2.0, math.inf):
            fill_keys(X, Z, power, keys)
        else:
            fill_norms(X, Z, power, keys)
        return keys

    def subset(self, ids: Array) -> "DensePoints":
        return type(self)(self.points[ids], self.metric, self.scale)


class DenseEuclidean(DensePoints):
    """Dense points, Euclidean, cosine or Mahalanobis metric: keys from matrix products."""

    def __init__(self, points: Array, metric: Metric, scale: float) -> None:
        super().__init__(points, metric, scale)
        n_columns = points.shape[1]
        # docs/decisions/0001: n_columns roundings in a product, 8 for shift, norm and sum.
        self.unit = float(np.finfo(points.dtype).eps) / 2 * (n_columns + 8)
        # Rounding is least at the center; a median of 1000 points (chosen) ignores outliers.
        self.shift = np.median(points[:1000], axis=0).astype(points.dtype)
        self._factors = np.empty((self.n_points, n_columns + 1), points.dtype)
        shifted = self._factors[:, :-1]
        np.subtract(points, self.shift, out=shifted)
        self._factors[:, -1] = np.einsum("ij,ij->i", shifted, shifted, dtype=np.float64)
        shifted *= -2

    def ready(self, points: Array) -> Query:
        factors = np.ones((len(points), points.shape[1] + 1), points.dtype)
        shifted = np.subtract(points, self.shift, out=factors[:, :-1])
        return Query(points, np.einsum("ij,ij->i", shifted, shifted, dtype=np.float64), factors)

    def keys(self, query: Query, columns: slice | Array) -> Array:
        """Return |z|^2 - 2 x.z, the squared distance less |x|^2; columns may be an index array."""
        # Far queries overflow in float32, and are searched again in float64. Some BLAS kernels also
        # set the flag "invalid" for finite operands.
        with np.errstate(over="ignore", invalid="ignore"):
            return query.factors @ self._factors[columns].T


class SparsePoints(SearchSet):
    """CSR points, Euclidean, cosine, Manhattan or Jaccard metric: keys without dense copies.

    An inverted index finds the columns that two points share. The entries of two points that are
    near each other are merged instead, because the norms of the points cancel.
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
        return Query(block, row_powers(block, self.metric.power))

    def keys(self, query: Query, columns: slice) -> Array:
        block, norms, power = csr_parts(query.points), query.sq_norms, self.metric.power
        keys = np.zeros((len(norms), self.n_points))
        add_shared_columns(block, csr_parts(self._columns), power, keys)
        for row, norm in zip(keys, norms, strict=True):  # no array of all sums
            row += norm + self._norms
        settle_near(block, csr_parts(self._rows), (norms, self._norms), power, keys)
        if self.metric.name == "jaccard":  # keys count the columns that only one of two rows has
            for row, norm in zip(keys, norms, strict=True):
                row /= np.maximum((norm + self._norms + row) / 2, 1)  # columns of either
        return keys[:, columns]

    def subset(self, ids: Array) -> "SparsePoints":
        return SparsePoints(self._rows[ids], self.metric, self.scale)


def csr_parts(points: Any) -> Csr:
    """Return the arrays of a CSR or CSC matrix."""
    return points.indptr, points.indices, points.data


def row_powers(points: csr_array, power: float) -> NDArray[np.float64]:
    """Return the sum of |value|^power over each CSR row, in storage order like shared columns."""
    rows = np.repeat(np.arange(points.shape[0]), np.diff(points.indptr))
    sums = np.bincount(rows, np.abs(points.data) ** power, points.shape[0])
    return sums.astype(np.float64, copy=False)


class CodePoints(SearchSet):
    """Codes that queries are compared with; a `SearchSet` of the Hamming distance."""

    tile = COMPARE_COLUMNS

    def __init__(self, points: Array) -> None:
        self.n_points, n_columns = points.shape
        self.scale = 1 / n_columns  # a distance is the fraction of columns that differ
        self._columns = np.ascontiguousarray(points.T)

    def query(self, X: Points, rows: slice) -> Query:
        codes = np.ascontiguousarray(X[rows])
        return Query(codes, np.zeros(len(codes)))

    def keys(self, query: Query, columns: slice) -> Array:
        codes = query.points
        others = self._columns[:, columns]
        agree = np.zeros((len(codes), others.shape[1]), np.min_scalar_type(codes.shape[1]))
        compare_cells(codes, np.ascontiguousarray(others), agree)
        return np.asarray(np.subtract(codes.shape[1], agree, dtype=np.float64))

    def subset(self, ids: Array) -> "CodePoints":
        return CodePoints(self._columns[:, ids].T)


class DistanceColumns(SearchSet):
    """Precomputed distances: each point is a column of the distance matrix."""

    def __init__(self, ids: Array) -> None:
        self.ids = ids
        self.n_points = self.tile = len(ids)

    def query(self, X: Points, rows: slice) -> Query:
        if isinstance(X, csr_array):
            raise refuse_all_pairs()
        points = np.asarray(X[rows], dtype=np.float64)
        return Query(points, np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        return np.asarray(query.points[:, self.ids[columns]])

    def subset(self, ids: Array) -> "DistanceColumns":
        return DistanceColumns(self.ids[ids])


def sq_distances(X: Points, rows: slice, search: SearchSet, metric: Metric) -> Array:
    """Return the squared distances (n_rows, n_points) of a block of X to a set of `exact_set`."""
    keys = search.keys(search.query(X, rows), slice(0, search.n_points))
    return metric.sq_distances(keys, search.scale)
