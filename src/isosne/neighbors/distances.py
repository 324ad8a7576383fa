"""Distances from blocks of points to a fixed set of points, under every metric.

A *key* stands in for a distance: it orders points as the distance does and is cheaper. It is the
sum of the p-th powers of the differences (Euclidean: the squared distance; cosine: the squared
distance of the rows scaled to length one, which is twice the cosine distance).

Dense Euclidean keys come from a matrix product and are rounded, each by no more than
``rounding_bound``. Whoever needs the order of two nearby points decides it with ``sq_distance``,
in float64, from the points themselves. So an order never depends on how a product was cut into
blocks, and copies of a point are treated alike. All other keys are exact in that sense already.
"""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._numba import kernel
from isosne._types import Array, Points

TILE_COLUMNS = 2048
BLOCK_ROWS = 256
UNDERFLOW = 4e-31
"""Squared length below which products may vanish in float32, relative to their rounding."""


class Metric(NamedTuple):
    """A distance: its name, and the power of a Minkowski distance."""

    name: str = "euclidean"
    p: float = 2.0

    @property
    def power(self) -> float:
        """The power to which differences are raised in a key."""
        return {"manhattan": 1.0, "minkowski": float(self.p)}.get(self.name, 2.0)

    def distances(self, keys: Array, scale: float = 1.0) -> Array:
        """Turn keys of points that were divided by a scale into distances."""
        if self.name == "precomputed":
            return keys
        if self.name == "cosine":
            return keys / 2
        return scale * (keys if self.power == 1 else keys ** (1 / self.power))


class Query(NamedTuple):
    """A block of points, ready to be compared with a SearchSet."""

    points: Any  # an array, or CSR
    factors: Array  # what a matrix product takes; empty where there is none
    sq_norms: NDArray[np.float64]  # of the shifted points


class SearchSet(Protocol):
    """Points that others are compared with; what does not depend on the others is made once."""

    n_points: int
    tile: int  # columns to ask for at a time
    points: Array  # rows for `sq_distance`; empty where keys are exact
    unit: float  # the rounding of a key relative to the squared lengths; 0 where exact
    scale: float  # a power of two by which coordinates are divided, so that squares fit

    def query(self, X: Points, rows: slice) -> Query:
        """Read a block of points."""
        ...

    def keys(self, query: Query, columns: slice) -> Array:
        """Return keys (n_rows, n_columns), less a constant for each row."""
        ...

    def subset(self, ids: Array) -> "SearchSet":
        """Return the set of the chosen points, in the given order."""
        ...


def search_set(
    X: Points, metric: Metric, ids: Array | None = None, *, precision: type | None = None
) -> SearchSet:
    """Return the points of X, or those with the given ids, as a set to be searched.

    ``precision`` is the type of dense Euclidean products; by default that of the data, float32
    for integers of up to two bytes.
    """
    if metric.name == "precomputed":
        return DistanceColumns(np.arange(X.shape[1]) if ids is None else ids)
    chosen = X if ids is None else X[ids]
    largest = max(-float(chosen.min()), float(chosen.max())) if metric.name != "cosine" else 0.0
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0
    if isinstance(chosen, csr_array):
        return SparsePoints(_read_csr(chosen, metric, scale), metric, scale)
    points = _read_dense(chosen, metric, precision or working_dtype(X), scale)
    if metric.power == 2:
        return DenseEuclidean(points, metric, scale)
    return DensePoints(points, metric, scale)


def working_dtype(X: Points) -> type:
    """Return the float type that holds the values of X: float32 where that is exact."""
    return np.float32 if np.result_type(X.dtype, np.float32) == np.float32 else np.float64


def _read_dense(block: Points, metric: Metric, dtype: type, scale: float) -> Array:
    """Return points in the working type, divided by the scale; for cosine, of length one."""
    values = block.toarray() if isinstance(block, csr_array) else block
    dense: Array = np.ascontiguousarray(values, dtype=dtype)
    if metric.name == "cosine":
        # The largest value is taken out first, so that squares neither vanish nor overflow.
        dense = dense / np.abs(dense).max(axis=1, keepdims=True)
        return dense / np.sqrt(_sq_norms(dense)).astype(dtype)[:, None]
    if scale == 1:
        return dense
    is_copy = not np.may_share_memory(dense, values)
    return np.ldexp(dense, 1 - math.frexp(scale)[1], out=dense if is_copy else None)


def _read_csr(block: Points, metric: Metric, scale: float) -> csr_array:
    """Return points as CSR in float64, divided by the scale; for cosine, of length one."""
    rows = csr_array(block).astype(np.float64)
    if metric.name == "cosine":
        data = np.empty_like(rows.data)
        scale_rows(rows.indptr, rows.data, data)
    else:
        data = rows.data / scale
    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


class DenseEuclidean:
    """Dense points under the Euclidean or cosine distance: keys by matrix products."""

    tile = TILE_COLUMNS

    def __init__(
        self, points: Array, metric: Metric, scale: float, shift: Array | None = None
    ) -> None:
        self.points = points
        self.metric = metric
        self.scale = scale
        self.n_points, n_columns = points.shape
        self.unit = float(np.finfo(points.dtype).eps) / 2 * (n_columns + 8)
        # Products lose least when the origin lies amid the points; a median ignores far ones.
        self.shift = np.median(points[:1000], axis=0) if shift is None else shift
        self.shift = self.shift.astype(points.dtype)
        self._factors = np.empty((self.n_points, n_columns + 1), points.dtype)
        shifted = self._factors[:, :-1]
        np.subtract(points, self.shift, out=shifted)
        self._factors[:, -1] = _sq_norms(shifted)
        shifted *= -2

    def query(self, X: Points, rows: slice) -> Query:
        """Read a block of points."""
        return self.ready(_read_dense(X[rows], self.metric, self.points.dtype.type, self.scale))

    def ready(self, points: Array) -> Query:
        """Make a block of points that were read (or some of the set's own) ready to be compared."""
        factors = np.ones((len(points), points.shape[1] + 1), points.dtype)
        np.subtract(points, self.shift, out=factors[:, :-1])
        return Query(points, factors, _sq_norms(factors[:, :-1]))

    def keys(self, query: Query, columns: slice | Array) -> Array:
        """Return |z|^2 - 2 x.z: the squared distance less |x|^2; any columns, named by index."""
        return query.factors @ self._factors[columns].T

    def subset(self, ids: Array) -> "DenseEuclidean":
        """Return the set of the chosen points."""
        return DenseEuclidean(self.points[ids], self.metric, self.scale, self.shift)


class DensePoints:
    """Dense points under a Manhattan or Minkowski distance: keys pair by pair."""

    tile = TILE_COLUMNS
    unit = 0.0

    def __init__(self, points: Array, metric: Metric, scale: float) -> None:
        self.points = points
        self.metric = metric
        self.scale = scale
        self.n_points = len(points)

    def query(self, X: Points, rows: slice) -> Query:
        """Read a block of points."""
        points = _read_dense(X[rows], self.metric, self.points.dtype.type, self.scale)
        return Query(points, points[:, :0], np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the sums of powers of the differences."""
        targets = self.points[columns]
        keys = np.empty((len(query.points), len(targets)))
        sum_powers(query.points, targets, self.metric.power, keys)
        return keys

    def subset(self, ids: Array) -> "DensePoints":
        """Return the set of the chosen points."""
        return DensePoints(self.points[ids], self.metric, self.scale)


class SparsePoints:
    """CSR points under any distance: keys from an inverted index, never densified."""

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
        """Read a block of points."""
        block = _read_csr(X[rows], self.metric, self.scale)
        return Query(block, self.points, row_powers(block.indptr, block.data, self.metric.power))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the sums of powers of the differences."""
        keys = np.zeros((len(query.sq_norms), self.n_points))
        block, index = query.points, self._columns
        add_shared_columns(
            (block.indptr, block.indices, block.data),
            (index.indptr, index.indices, index.data),
            self.metric.power,
            keys,
        )
        keys += query.sq_norms[:, None] + self._norms
        np.maximum(keys, 0, out=keys)
        return keys[:, columns]

    def subset(self, ids: Array) -> "SparsePoints":
        """Return the set of the chosen points."""
        return SparsePoints(self._rows[ids], self.metric, self.scale)


class DistanceColumns:
    """Points known by their distances alone: a point is a column of the matrix given."""

    unit = 0.0
    scale = 1.0
    points = np.empty((0, 0))

    def __init__(self, ids: Array) -> None:
        self.ids = ids
        self.n_points = self.tile = len(ids)

    def query(self, X: Points, rows: slice) -> Query:
        """Read a block of distances."""
        points = np.asarray(X[rows], dtype=np.float64)
        return Query(points, self.points, np.zeros(len(points)))

    def keys(self, query: Query, columns: slice) -> Array:
        """Return the distances themselves."""
        distances: Array = query.points[:, self.ids[columns]]
        return distances

    def subset(self, ids: Array) -> "DistanceColumns":
        """Return the set of the chosen points."""
        return DistanceColumns(self.ids[ids])


def sq_distances(X: Points, rows: slice, search: SearchSet, metric: Metric) -> Array:
    """Return the squared distances (n_rows, n_points) of a block of X to all points of the set.

    Dense Euclidean ones that rounding has touched (the nearest, if at all) are computed anew.
    """
    query = search.query(X, rows)
    keys = search.keys(query, slice(0, search.n_points))
    if search.unit:
        settle_keys(keys, (query.points, search.points), search.unit, query.sq_norms)
    if metric.name == "euclidean":
        return keys * search.scale**2
    return metric.distances(keys, search.scale) ** 2


def _sq_norms(points: Array) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", points, points, dtype=np.float64)
    return norms


def row_powers(indptr: Array, data: Array, power: float) -> NDArray[np.float64]:
    """Return the sum of |value|^power of each CSR row."""
    sums = np.zeros(len(indptr) - 1)
    sum_row_powers(indptr, data, power, sums)
    return sums


@kernel
def sum_row_powers(indptr: Array, data: Array, power: float, sums: Array) -> None:
    """Add |value|^power of each row to sums, in storage order (as `add_shared_columns` does)."""
    for i in range(len(sums)):
        for e in range(indptr[i], indptr[i + 1]):
            x = data[e]
            sums[i] += x * x if power == 2.0 else abs(x) ** power


@kernel
def scale_rows(indptr: Array, data: Array, scaled: Array) -> None:
    """Fill scaled with rows of length one; each row's largest value is taken out first."""
    for i in range(len(indptr) - 1):
        largest = sq_length = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            largest = max(largest, abs(data[e]))
        for e in range(indptr[i], indptr[i + 1]):
            scaled[e] = data[e] / largest
            sq_length += scaled[e] * scaled[e]
        for e in range(indptr[i], indptr[i + 1]):
            scaled[e] /= math.sqrt(sq_length)


@kernel
def rounding_bound(unit: float, sq_norm: float, key: float) -> float:
    """Bound the rounding of the key of any point that may lie as near as `key` says.

    A product of d terms rounds by at most (d eps / 2) |x| |z|. A point z within distance r of x
    has |z| <= |x| + r; one with a larger |z| is farther away, however its key was rounded.
    """
    if unit == 0.0:
        return 0.0
    reach = math.sqrt(sq_norm) + math.sqrt(max(key + sq_norm, 0.0))
    return 2.0 * unit * (sq_norm + reach * reach + UNDERFLOW)


@kernel
def sq_distance(X: Array, i: int, Z: Array, j: int) -> float:
    """Return the squared distance of X[i] and Z[j], in float64 and in one fixed order."""
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
    """Turn rounded keys into squared distances that are right to five digits or better."""
    X, Z = points
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            sq_dist = keys[i, j] + sq_norms[i]
            if sq_dist < 1e5 * rounding_bound(unit, sq_norms[i], keys[i, j]):
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
    """Add |x - z|^power - |x|^power - |z|^power over the columns that both points fill.

    query is CSR (indptr, indices, data), columns the CSC of the points compared with. With the
    rows' own sums of powers added afterwards this is the key; every pair is summed in the order
    of its columns, so a point's key to its copy is exactly zero.
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
