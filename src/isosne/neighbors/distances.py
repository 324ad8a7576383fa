"""Distances from blocks of points to a fixed set of points, for all metrics.

A *key* orders points like the distance and is cheaper: the sum of p-th powers of the differences
(cosine: the squared distance of rows scaled to length 1, which is twice the cosine distance).

Dense Euclidean keys come from a matrix product, with a rounding error of at most `rounding_bound`.
Points whose keys differ by less are ordered by `sq_distance`, in float64, so the order does not
depend on how the product is divided into blocks (docs/decisions/0001). Other keys are exact.
"""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.coordinates import common_scale, working_dtype

TILE_COLUMNS, BLOCK_ROWS = 2048, 256
"""Size of a tile of keys: 2 MB in float32, which fits in an L2 cache (chosen; not measured)."""
UNDERFLOW = 4e-31
"""Squared length whose rounding covers underflow: 2 * 1.2e-38 (smallest normal float32) / 6e-8."""
SETTLED = 1e5
"""A key of at least this many rounding bounds has a relative error of at most 1e-5."""


class Metric(NamedTuple):
    """A metric: its name, and the power of the Minkowski distance."""

    name: str = "euclidean"
    p: float = 2.0

    @property
    def power(self) -> float:
        """Power of the differences in a key."""
        return {"manhattan": 1.0, "minkowski": float(self.p)}.get(self.name, 2.0)

    def distances(self, keys: Array, scale: float = 1.0) -> Array:
        """Convert keys of points that were divided by `scale` to distances."""
        if self.name == "precomputed":
            return keys
        if self.name == "cosine":
            return keys / 2
        return scale * (keys if self.power == 1 else keys ** (1 / self.power))


class Query(NamedTuple):
    """A block of points, prepared for comparison with a SearchSet."""

    points: Any  # array or CSR
    factors: Array  # left factor of the matrix product; empty for other metrics
    sq_norms: NDArray[np.float64]  # squared lengths of the shifted points


class SearchSet(Protocol):
    """Points that queries are compared with, preprocessed once."""

    n_points: int
    tile: int  # number of columns per call of `keys`
    points: Array  # rows for `sq_distance`; empty if keys are exact
    unit: float  # rounding error of a key relative to the squared lengths; 0 if keys are exact
    scale: float  # power of two that divides the coordinates, so that squares do not overflow

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of points."""
        ...

    def keys(self, query: Query, columns: slice) -> Array:
        """Return keys (n_rows, n_columns), up to a constant per row."""
        ...

    def subset(self, ids: Array) -> "SearchSet":
        """Return a set of the points `ids`, in that order."""
        ...


def search_set(
    X: Points, metric: Metric, ids: Array | None = None, *, precision: type | None = None
) -> SearchSet:
    """Return the points of X, or those with the given indices, as a SearchSet.

    precision: type of dense Euclidean products; None is `working_dtype`.
    """
    if metric.name == "precomputed":
        return DistanceColumns(np.arange(X.shape[1]) if ids is None else ids)
    chosen = X if ids is None else X[ids]
    if isinstance(chosen, csr_array):
        scale = common_scale(chosen, np.float64, metric.power)
        return SparsePoints(_read_csr(chosen, metric, scale), metric, scale)
    kind = DenseEuclidean if metric.power == 2 else DensePoints
    return kind(*read_points(chosen, metric, precision))


def read_points(X: Array, metric: Metric, precision: Any = None) -> tuple[Array, Metric, float]:
    """Return dense points in the working type, their metric, and the scale that divides them."""
    dtype = precision or working_dtype(X)
    scale = common_scale(X, dtype, metric.power)
    return _read_dense(X, metric, dtype, scale), metric, scale


def _read_dense(block: Points, metric: Metric, dtype: type, scale: float) -> Array:
    """Return points in the working type, divided by the scale; scaled to length 1 for cosine."""
    values = block.toarray() if isinstance(block, csr_array) else block
    # Writable: compiled functions would have to be compiled again for arrays that are not.
    dense: Array = np.require(values, dtype, ("C", "W", "E"))
    if metric.name == "cosine":
        # Divide by the largest value first, so that squares neither underflow nor overflow.
        dense = dense / np.maximum(dense.max(axis=1), -dense.min(axis=1))[:, None]
        return np.divide(dense, np.sqrt(_sq_norms(dense)).astype(dtype)[:, None], out=dense)
    if scale == 1:
        return dense
    is_copy = not np.may_share_memory(dense, values)
    return np.ldexp(dense, 1 - math.frexp(scale)[1], out=dense if is_copy else None)


def _read_csr(block: Points, metric: Metric, scale: float) -> csr_array:
    """Return points as CSR in float64, divided by the scale; scaled to length 1 for cosine."""
    rows = csr_array(block)
    data: Array = np.divide(rows.data, scale, dtype=np.float64)
    if metric.name == "cosine":
        scale_rows(rows.indptr, data)
    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


class DenseEuclidean:
    """Dense points, Euclidean or cosine metric: keys from matrix products."""

    tile = TILE_COLUMNS

    def __init__(
        self, points: Array, metric: Metric, scale: float, shift: Array | None = None
    ) -> None:
        self.points = points
        self.metric = metric
        self.scale = scale
        self.n_points, n_columns = points.shape
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
        """Prepare a block of points."""
        return self.ready(_read_dense(X[rows], self.metric, self.points.dtype.type, self.scale))

    def ready(self, points: Array) -> Query:
        """Prepare points that are already in the working type and scale."""
        factors = np.ones((len(points), points.shape[1] + 1), points.dtype)
        np.subtract(points, self.shift, out=factors[:, :-1])
        return Query(points, factors, _sq_norms(factors[:, :-1]))

    def keys(self, query: Query, columns: slice | Array) -> Array:
        """Return |z|^2 - 2 x.z, the squared distance less |x|^2; columns may be an index array."""
        with np.errstate(invalid="ignore"):  # some BLAS kernels set the flag for finite operands
            return query.factors @ self._factors[columns].T

    def subset(self, ids: Array) -> "DenseEuclidean":
        """Return a set of the points `ids`, in that order."""
        return DenseEuclidean(self.points[ids], self.metric, self.scale, self.shift)


class DensePoints:
    """Dense points, Manhattan or Minkowski metric: keys pair by pair."""

    tile = TILE_COLUMNS
    unit = 0.0

    def __init__(self, points: Array, metric: Metric, scale: float) -> None:
        self.points = points
        self.metric = metric
        self.scale = scale
        self.n_points = len(points)

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of points."""
        points = _read_dense(X[rows], self.metric, self.points.dtype.type, self.scale)
        return Query(points, points[:, :0], np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the sums of the powers of the differences."""
        targets = self.points[columns]
        keys = np.empty((len(query.points), len(targets)))
        sum_powers(query.points, targets, self.metric.power, keys)
        return keys

    def subset(self, ids: Array) -> "DensePoints":
        """Return a set of the points `ids`, in that order."""
        return DensePoints(self.points[ids], self.metric, self.scale)


class SparsePoints:
    """CSR points, any metric: keys from an inverted index, without conversion to dense."""

    unit = 0.0
    points = np.empty((0, 0))

    def __init__(self, points: csr_array, metric: Metric, scale: float) -> None:
        self.metric = metric
        self.scale = scale
        self.n_points = self.tile = points.shape[0]
        self._rows = points
        self._columns = points.tocsc()
        self._norms = row_powers(points.indptr, points.data, metric.power)

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of points."""
        block = _read_csr(X[rows], self.metric, self.scale)
        return Query(block, self.points, row_powers(block.indptr, block.data, self.metric.power))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the sums of the powers of the differences."""
        keys = np.zeros((len(query.sq_norms), self.n_points))
        block, index = query.points, self._columns
        add_shared_columns(
            (block.indptr, block.indices, block.data),
            (index.indptr, index.indices, index.data),
            self.metric.power,
            keys,
        )
        for row, sq_norm in zip(keys, query.sq_norms, strict=True):  # no array of all sums
            row += sq_norm + self._norms
        np.maximum(keys, 0, out=keys)
        return keys[:, columns]

    def subset(self, ids: Array) -> "SparsePoints":
        """Return a set of the points `ids`, in that order."""
        return SparsePoints(self._rows[ids], self.metric, self.scale)


class DistanceColumns:
    """Precomputed distances: each point is a column of the distance matrix."""

    unit = 0.0
    scale = 1.0
    points = np.empty((0, 0))

    def __init__(self, ids: Array) -> None:
        self.ids = ids
        self.n_points = self.tile = len(ids)

    def query(self, X: Points, rows: slice) -> Query:
        """Prepare a block of distances."""
        points = np.asarray(X[rows], dtype=np.float64)
        return Query(points, self.points, np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the distances."""
        distances: Array = query.points[:, self.ids[columns]]
        return distances

    def subset(self, ids: Array) -> "DistanceColumns":
        """Return a set of the points `ids`, in that order."""
        return DistanceColumns(self.ids[ids])


def sq_distances(X: Points, rows: slice, search: SearchSet, metric: Metric) -> Array:
    """Return the squared distances (n_rows, n_points) of a block of X to all points of the set."""
    query = search.query(X, rows)
    keys = search.keys(query, slice(0, search.n_points))
    if search.unit:
        settle_keys(keys, (query.points, search.points), search.unit, query.sq_norms)
    if metric.name == "euclidean":
        return np.multiply(keys, search.scale**2, out=keys)
    return metric.distances(keys, search.scale) ** 2


def _sq_norms(points: Array) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", points, points, dtype=np.float64)
    return norms


def row_powers(indptr: Array, data: Array, power: float) -> NDArray[np.float64]:
    """Return the sum of |value|^power over each CSR row."""
    sums = np.zeros(len(indptr) - 1)
    sum_row_powers(indptr, data, power, sums)
    return sums


@kernel
def sum_row_powers(indptr: Array, data: Array, power: float, sums: Array) -> None:
    """Add |value|^power of each row to sums, in storage order like `add_shared_columns`."""
    for i in range(len(sums)):
        for e in range(indptr[i], indptr[i + 1]):
            x = data[e]
            sums[i] += x * x if power == 2.0 else abs(x) ** power


@kernel
def scale_rows(indptr: Array, data: Array) -> None:
    """Scale rows to length 1, in place; each row is divided by its largest value first."""
    for i in range(len(indptr) - 1):
        largest = sq_length = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            largest = max(largest, abs(data[e]))
        for e in range(indptr[i], indptr[i + 1]):
            data[e] /= largest
            sq_length += data[e] * data[e]
        for e in range(indptr[i], indptr[i + 1]):
            data[e] /= math.sqrt(sq_length)


@kernel
def rounding_bound(unit: float, sq_norm: float, key: float) -> float:
    """Bound the rounding error of the key of any point that can be as near as `key`.

    A product of d terms has an error of at most (d eps / 2) |x| |z|. A point z within distance r of
    x has |z| <= |x| + r; a point with larger |z| is farther away, however its key is rounded.
    """
    if unit == 0.0:
        return 0.0
    reach = math.sqrt(sq_norm) + math.sqrt(max(key + sq_norm, 0.0))
    return 2.0 * unit * (sq_norm + reach * reach + UNDERFLOW)


@kernel
def sq_distance(X: Array, i: int, Z: Array, j: int) -> float:
    """Return the squared distance of X[i] and Z[j] in float64, summed in a fixed order."""
    # Four lanes, so that every CPU vectorizes and adds in the same order.
    n_columns = X.shape[1]
    s0 = s1 = s2 = s3 = 0.0
    f = 0
    while f + 4 <= n_columns:
        d0 = np.float64(X[i, f]) - np.float64(Z[j, f])
        d1 = np.float64(X[i, f + 1]) - np.float64(Z[j, f + 1])
        d2 = np.float64(X[i, f + 2]) - np.float64(Z[j, f + 2])
        d3 = np.float64(X[i, f + 3]) - np.float64(Z[j, f + 3])
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
        f += 4
    while f < n_columns:
        d0 = np.float64(X[i, f]) - np.float64(Z[j, f])
        s0 += d0 * d0
        f += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def settle_keys(keys: Array, points: tuple[Array, Array], unit: float, sq_norms: Array) -> None:
    """Convert rounded keys to squared distances with a relative error of at most 1e-5."""
    X, Z = points
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            sq_dist = keys[i, j] + sq_norms[i]
            if sq_dist < SETTLED * rounding_bound(unit, sq_norms[i], keys[i, j]):
                sq_dist = sq_distance(X, i, Z, j)
            keys[i, j] = sq_dist


@kernel
def sum_powers(X: Array, Z: Array, power: float, keys: Array) -> None:
    """Fill keys[i, j] with the sum over columns of |X[i] - Z[j]|^power, in float64."""
    n_columns = X.shape[1]
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            if power == 1.0:
                for f in range(n_columns):
                    total += abs(np.float64(X[i, f]) - np.float64(Z[j, f]))
            else:
                for f in range(n_columns):
                    total += abs(np.float64(X[i, f]) - np.float64(Z[j, f])) ** power
            keys[i, j] = total


@kernel
def add_shared_columns(
    query: tuple[Array, Array, Array],
    columns: tuple[Array, Array, Array],
    power: float,
    keys: Array,
) -> None:
    """Add |x - z|^power - |x|^power - |z|^power over the columns that both points store.

    query: CSR arrays (indptr, indices, data); columns: CSC arrays of the search set. Each pair is
    summed in the order of its columns, so the key of a duplicate is exactly zero.
    """
    q_indptr, q_indices, q_data = query
    c_indptr, c_indices, c_data = columns
    for i in range(keys.shape[0]):
        for e in range(q_indptr[i], q_indptr[i + 1]):
            x = q_data[e]
            column = q_indices[e]
            for f in range(c_indptr[column], c_indptr[column + 1]):
                z = c_data[f]
                if power == 2.0:
                    shared = -2.0 * x * z
                else:
                    shared = abs(x - z) ** power - abs(x) ** power - abs(z) ** power
                keys[i, c_indices[f]] += shared
