"""Exact nearest-neighbor search, in blocks of rows.

Ties go to the lower index, independent of block size and number of threads. A point is removed from
its own list by index, so duplicates of it remain.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Neighbors, Points, Scalar
from isosne.neighbors.distances import (
    BLOCK_ROWS,
    TILE_COLUMNS,
    DistanceColumns,
    nearest_stored,
    search_set,
)
from isosne.neighbors.metric import Metric, SearchSet
from isosne.neighbors.pairs import rounding_bound, sq_distance

SPARE = 16
"""Candidates kept beyond k, so that rounded keys rarely leave the k-th neighbor undecided. With 16,
no list was searched again on seven of eight data sets (docs/decisions/0001)."""
FEWEST_ROWS = 16
"""Smallest number of rows per block, so that the work of a block exceeds its overhead (chosen)."""
GROUPS = 2
"""Groups of keys per kept key in `largest_needed`: with 2, about 1.4 times as many keys pass as are
kept (measured on normal keys)."""
VECTOR = 16
"""The number of groups is a multiple of this, so that the compiler vectorizes all of them."""
TOP: Scalar = np.int64(0)
"""The largest entry of a heap; as a literal 0, `sift_down` would be compiled once more."""
BISECTIONS = 8
"""Bisections in `largest_needed`; the limit is off by 1/256 of the range of keys (chosen)."""


class ExactSearch:
    """Exact search among a fixed set of points: compares each query with all of them."""

    def __init__(self, X: Points, metric: Metric) -> None:
        self._X, self._metric = X, metric.fitted(X)

    def neighbors(self, k: int) -> Neighbors:
        """Return the k nearest neighbors of each point of the set among the others."""
        X, metric = self._X, self._metric
        if metric.name == "precomputed" and isinstance(X, csr_array):
            listed, distances = nearest_stored(X, k, with_self=False)
            return Neighbors(listed, as_float32(distances))
        search, shape = search_set(X, metric), (X.shape[0], k)
        lists = Neighbors(np.empty(shape, np.int32), np.empty(shape, np.float32))
        find = nearest_in_blocks(X, search, k + 1)  # one more: a point is its own nearest neighbor

        def work(rows: slice) -> None:
            ids, keys = find(rows)
            own = np.arange(rows.start, rows.stop)
            keep_others(lists, own, ids, metric.distances(keys, search.scale))

        for_each_block(X.shape[0], rows_per_block(search.tile), work)
        return lists

    def nearest(self, X: Points, k: int) -> tuple[Array, Array]:
        """Return indices and distances (n, k) of the points nearest to each row of X."""
        search = search_set(self._X, self._metric)
        ids, keys = nearest(X, search, k)
        return ids, self._metric.distances(keys, search.scale)


def nearest(X: Points, search: SearchSet, k: int) -> tuple[NDArray[np.int32], Array]:
    """Return indices and keys (n, k) of the k points of the set nearest to each row of X.

    Rows are sorted by (key, index). The set must have at least k points. O(n m d) time for m points
    in the set.
    """
    if isinstance(search, DistanceColumns) and isinstance(X, csr_array):
        return nearest_stored(X, k, with_self=True)
    n, find = X.shape[0], nearest_in_blocks(X, search, k)
    ids, keys = np.empty((n, k), np.int32), np.empty((n, k))

    def work(rows: slice) -> None:
        ids[rows], keys[rows] = find(rows)

    for_each_block(n, rows_per_block(search.tile), work)
    return ids, keys


def nearest_in_blocks(
    X: Points, search: SearchSet, k: int
) -> Callable[[slice], tuple[NDArray[np.int32], Array]]:
    """Return a function of a block of rows of X: their k nearest points, like `nearest`."""
    n_kept = k if search.unit == 0 else min(k + SPARE, search.n_points)  # exact keys need none
    everyone = np.arange(search.n_points)

    def find(rows: slice) -> tuple[NDArray[np.int32], Array]:
        query = search.query(X, rows)
        kept_ids = np.full((rows.stop - rows.start, n_kept), -1, np.int32)
        kept_keys = np.full(kept_ids.shape, np.inf)
        for start in range(0, search.n_points, search.tile):
            tile = slice(start, min(start + search.tile, search.n_points))
            keep_nearest(search.keys(query, tile), start, kept_keys, kept_ids)
        if search.unit:
            rounding = query.sq_norms, search.unit
            recompute_kept(query.points, search.points, everyone, rounding, k, kept_keys, kept_ids)
        sort_kept(kept_keys, kept_ids)
        return kept_ids[:, :k], kept_keys[:, :k]

    return find


def rows_per_block(tile: int) -> int:
    """Return the number of rows per block: fewer if a tile of keys has more columns than usual."""
    return max(FEWEST_ROWS, BLOCK_ROWS * TILE_COLUMNS // max(tile, TILE_COLUMNS))


def keep_others(lists: Neighbors, own: Array, ids: Array, distances: Array) -> None:
    """Fill the lists of the points `own` from (m, k + 1) that include the points themselves."""
    kept = is_other(ids, own)
    shape = len(own), ids.shape[1] - 1
    lists.indices[own] = ids[kept].reshape(shape)
    lists.distances[own] = as_float32(distances[kept]).reshape(shape)


def is_other(ids: Array, own: Array) -> NDArray[np.bool_]:
    """Return the entries of each list but its own point, or the last if k copies displace it."""
    is_self = ids == own[:, None]
    left_out = np.where(is_self.any(axis=1), is_self.argmax(axis=1), ids.shape[1] - 1)
    is_kept: NDArray[np.bool_] = np.arange(ids.shape[1]) != left_out[:, None]
    return is_kept


def as_float32(distances: Array) -> NDArray[np.float32]:
    """Return distances in float32: zero means a duplicate, and none becomes infinite."""
    limits = np.finfo(np.float32)
    in_range = np.where(distances > 0, np.clip(distances, limits.smallest_subnormal, limits.max), 0)
    return in_range.astype(np.float32)


def with_self(neighbors: Neighbors) -> NDArray[np.int32]:
    """Return lists (n, k + 1) that include the point itself, by index among its duplicates."""
    indices, distances = neighbors
    n, k = indices.shape
    own = np.arange(n, dtype=np.int32)[:, None]
    own_rank = ((distances == 0) & (indices < own)).sum(axis=1)
    lists = np.empty((n, k + 1), np.int32)
    is_own = np.arange(k + 1) == own_rank[:, None]
    lists[is_own] = own[:, 0]
    lists[~is_own] = indices.ravel()
    return lists


@kernel
def comes_before(key_a: float, id_a: int, key_b: float, id_b: int) -> bool:
    """Return whether (key_a, id_a) sorts before (key_b, id_b)."""
    return key_a < key_b or (key_a == key_b and id_a < id_b)


@kernel
def sift_down(keys: Array, ids: Array, top: int, size: int) -> None:
    """Restore the max-heap ordered by (key, index) below a changed entry."""
    key, point = keys[top], ids[top]
    while True:
        child = 2 * top + 1
        if child >= size:
            break
        right = child + 1
        if right < size and comes_before(keys[child], ids[child], keys[right], ids[right]):
            child = right
        if not comes_before(key, point, keys[child], ids[child]):
            break
        keys[top], ids[top] = keys[child], ids[child]
        top = child
    keys[top], ids[top] = key, point


@kernel
def largest_needed(keys: Array, k: int, least: Array) -> Scalar:
    """Return a number that at least k of the keys do not exceed, and few more than k.

    least: overwritten by the smallest keys of k or more groups. If k of them do not exceed a
    number, neither do k keys. Bisection finds a number that is little above the k-th of them.
    """
    n_groups = len(least)
    least[:] = np.inf
    for start in range(0, len(keys) - n_groups + 1, n_groups):
        for g in range(n_groups):
            key = keys[start + g]
            least[g] = key if key < least[g] else least[g]
    low = high = least[0]
    for g in range(1, n_groups):  # `min` and `max` of arrays take a second to compile
        low, high = min(low, least[g]), max(high, least[g])
    if high == np.inf:  # keys from products that overflowed
        return high
    for _ in range(BISECTIONS):
        middle = low / 2 + high / 2
        n_below = 0
        for g in range(n_groups):
            n_below += least[g] <= middle
        if n_below < k:
            low = middle
        else:
            high = middle
    return high


@kernel
def keep_nearest(keys: Array, first: int, kept_keys: Array, kept_ids: Array) -> None:
    """Insert a tile of keys, of the points from index `first` on, into each row's heap.

    Points come in ascending order of index, so a later point must be strictly nearer to enter.
    Before the first tile, which has first = 0, heaps are empty: all keys infinite.
    """
    n_columns, n_kept = keys.shape[1], kept_keys.shape[1]
    least = np.empty(-(-GROUPS * n_kept // VECTOR) * VECTOR, keys.dtype)
    near = np.empty(n_columns + 1, np.int32)
    for i in range(keys.shape[0]):
        row, heap, ids = keys[i], kept_keys[i], kept_ids[i]
        limit = keys.dtype.type(heap[0])
        if first == 0 and n_columns >= len(least):
            limit = largest_needed(row, n_kept, least)
        n_near = 0
        for j in range(n_columns):  # without a branch, which would be mispredicted
            near[n_near] = j
            n_near += row[j] <= limit
        n_filled = 0
        if first == 0 and n_near >= n_kept:
            n_filled = n_kept
            for a in range(n_kept):
                heap[a], ids[a] = row[near[a]], first + near[a]
            for top in range(n_kept // 2 - 1, -1, -1):
                sift_down(heap, ids, top, n_kept)
        for a in range(n_filled, n_near):
            if row[near[a]] < heap[0]:
                heap[0], ids[0] = row[near[a]], first + near[a]
                sift_down(heap, ids, TOP, n_kept)


@kernel
def recompute_kept(
    X: Array,
    Z: Array,
    columns: Array,
    rounding: tuple[Array, float],
    k: int,
    kept_keys: Array,
    kept_ids: Array,
) -> None:
    """Replace rounded keys by squared distances; search a row again if its k-th is uncertain.

    columns: the candidates, rows of Z, by the ids that are kept. rounding: the squared lengths of
    the queries, and the unit of rounding. Every candidate that was not kept has a rounded key of at
    least the largest key that was.
    """
    sq_norms, unit = rounding
    n_kept = kept_ids.shape[1]
    for i in range(X.shape[0]):
        largest = kept_keys[i, 0]
        # Below the cut, a point is certainly nearer than every point that was not kept.
        cut = largest + sq_norms[i] - rounding_bound(unit, sq_norms[i], largest)
        n_certain = 0
        for a in range(n_kept):
            if kept_ids[i, a] < 0:  # a NaN key, from products that overflowed
                n_certain = -n_kept
                break
            kept_keys[i, a] = sq_distance(X, i, Z, columns[kept_ids[i, a]])
            n_certain += n_kept == len(columns) or kept_keys[i, a] < cut
        if n_certain < k:
            search_row(X, i, Z, columns, kept_keys[i], kept_ids[i])


@kernel
def search_row(
    X: Array, i: int, Z: Array, columns: Array, kept_keys: Array, kept_ids: Array
) -> None:
    """Fill the heap of one row from the squared distances to all candidates."""
    kept_keys[:] = np.inf  # a heap of equal keys is valid
    for j in range(len(columns)):
        key = sq_distance(X, i, Z, columns[j])
        if key < kept_keys[0]:
            kept_keys[0] = key
            kept_ids[0] = j
            sift_down(kept_keys, kept_ids, TOP, len(kept_keys))


@kernel
def sort_kept(kept_keys: Array, kept_ids: Array) -> None:
    """Sort each row by (key, index) with heapsort."""
    n_kept = kept_keys.shape[1]
    for i in range(kept_keys.shape[0]):
        keys, ids = kept_keys[i], kept_ids[i]
        for top in range(n_kept // 2 - 1, -1, -1):
            sift_down(keys, ids, top, n_kept)
        for size in range(n_kept - 1, 0, -1):
            keys[0], keys[size] = keys[size], keys[0]
            ids[0], ids[size] = ids[size], ids[0]
            sift_down(keys, ids, TOP, size)
