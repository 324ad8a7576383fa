"""Exact nearest-neighbor search, in blocks of rows.

Ties go to the lower index, independent of block size and number of threads. A point is removed from
its own list by index, so duplicates of it remain.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Neighbors, Points
from isosne.neighbors.distances import (
    BLOCK_ROWS,
    TILE_COLUMNS,
    Metric,
    SearchSet,
    rounding_bound,
    search_set,
    sq_distance,
)

SPARE = 16
"""Candidates kept beyond k, so that rounded keys rarely leave the k-th neighbor undecided. With 16,
no list was searched again on seven of eight data sets (docs/decisions/0001)."""
FEWEST_ROWS = 16
"""Smallest number of rows per block, so that the work of a block exceeds its overhead (chosen)."""
VECTOR = 16
"""Keys tested together in `keep_nearest`, so that the compiler vectorizes the test (chosen)."""


def nearest(X: Points, search: SearchSet, k: int) -> tuple[NDArray[np.int32], Array]:
    """Return indices and keys (n, k) of the k points of the set nearest to each row of X.

    Rows are sorted by (key, index). O(n m d) time for m points in the set.
    """
    n = X.shape[0]
    ids, keys = np.empty((n, k), np.int32), np.empty((n, k))

    def work(rows: slice) -> None:
        ids[rows], keys[rows] = nearest_in_block(X, rows, search, k)

    for_each_block(n, rows_per_block(search.tile), work)
    return ids, keys


def nearest_in_block(X: Points, rows: slice, search: SearchSet, k: int) -> tuple[Array, Array]:
    """Return indices and keys of the k points of the set nearest to a block of rows of X."""
    n_kept = k if search.unit == 0 else min(k + SPARE, search.n_points)  # exact keys need none
    query = search.query(X, rows)
    kept_ids = np.full((rows.stop - rows.start, n_kept), -1, np.int32)
    kept_keys = np.full(kept_ids.shape, np.inf)
    for start in range(0, search.n_points, search.tile):
        tile = slice(start, min(start + search.tile, search.n_points))
        keep_nearest(search.keys(query, tile), start, kept_keys, kept_ids)
    if search.unit:
        recompute_kept(
            query.points, search.points, query.sq_norms, search.unit, k, kept_keys, kept_ids
        )
    sort_kept(kept_keys, kept_ids)
    return kept_ids[:, :k], kept_keys[:, :k]


def rows_per_block(tile: int) -> int:
    """Return the number of rows per block: fewer if a tile of keys has more columns than usual."""
    return max(FEWEST_ROWS, BLOCK_ROWS * TILE_COLUMNS // max(tile, TILE_COLUMNS))


def find_neighbors(X: Points, k: int, metric: Metric) -> Neighbors:
    """Return the exact k nearest neighbors of each point among the others; X is validated."""
    search = search_set(X, metric)
    n = X.shape[0]
    found = Neighbors(np.empty((n, k), np.int32), np.empty((n, k), np.float32))

    def work(rows: slice) -> None:
        # One more than k, because a point is its own nearest neighbor.
        ids, keys = nearest_in_block(X, rows, search, k + 1)
        own = np.arange(rows.start, rows.stop)
        part = without_self(ids, metric.distances(keys, search.scale), own)
        found.indices[rows], found.distances[rows] = part

    for_each_block(n, rows_per_block(search.tile), work)
    return found


def without_self(ids: Array, distances: Array, own: Array) -> Neighbors:
    """Remove each row's own point; if k duplicates with lower indices displace it, the last entry.

    own: the point of each row.
    """
    n, k = ids.shape
    is_self = ids == own[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # displaced by duplicates
    kept = ~is_self
    left = distances[kept].reshape(n, k - 1)
    limits = np.finfo(np.float32)
    # In float32, zero must mean a duplicate and no distance may become infinite.
    in_range = np.where(left > 0, np.clip(left, limits.smallest_subnormal, limits.max), 0)
    return Neighbors(ids[kept].reshape(n, k - 1), in_range.astype(np.float32))


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
def keep_nearest(keys: Array, first: int, kept_keys: Array, kept_ids: Array) -> None:
    """Insert a tile of keys, of the points from index `first` on, into each row's heap.

    Points come in ascending order of index, so a later point must be strictly nearer to enter.
    """
    n_columns = keys.shape[1]
    n_kept = kept_keys.shape[1]
    for i in range(keys.shape[0]):
        worst = kept_keys[i, 0]  # the top of the max-heap
        for start in range(0, n_columns, VECTOR):
            stop = min(start + VECTOR, n_columns)
            any_nearer = False
            for j in range(start, stop):
                any_nearer |= keys[i, j] < worst
            if not any_nearer:
                continue
            for j in range(start, stop):
                if keys[i, j] < worst:
                    kept_keys[i, 0] = keys[i, j]
                    kept_ids[i, 0] = first + j
                    sift_down(kept_keys[i], kept_ids[i], 0, n_kept)
                    worst = kept_keys[i, 0]


@kernel
def recompute_kept(
    X: Array, Z: Array, sq_norms: Array, unit: float, k: int, kept_keys: Array, kept_ids: Array
) -> None:
    """Replace rounded keys by squared distances; search a row again if its k-th is uncertain.

    Every point that was not kept has a rounded key of at least the largest key that was.
    """
    n_kept = kept_ids.shape[1]
    for i in range(X.shape[0]):
        largest = kept_keys[i, 0]
        # Below the cut, a point is certainly nearer than every point that was not kept.
        cut = largest + sq_norms[i] - rounding_bound(unit, sq_norms[i], largest)
        n_certain = 0
        for a in range(n_kept):
            if kept_ids[i, a] < 0:  # a NaN key, from coordinates that overflowed
                n_certain = -n_kept
                break
            kept_keys[i, a] = sq_distance(X, i, Z, kept_ids[i, a])
            n_certain += n_kept == Z.shape[0] or kept_keys[i, a] < cut
        if n_certain < k:
            search_row(X, i, Z, kept_keys[i], kept_ids[i])


@kernel
def measure_kept(X: Array, Z: Array, kept_keys: Array, kept_ids: Array) -> None:
    """Fill kept_keys with the squared distances to the points kept_ids."""
    for i in range(X.shape[0]):
        for a in range(kept_ids.shape[1]):
            kept_keys[i, a] = sq_distance(X, i, Z, kept_ids[i, a])


@kernel
def search_row(X: Array, i: int, Z: Array, kept_keys: Array, kept_ids: Array) -> None:
    """Fill the heap of one row from the squared distances to all points."""
    kept_keys[:] = np.inf  # a heap of equal keys is valid
    for j in range(Z.shape[0]):
        key = sq_distance(X, i, Z, j)
        if key < kept_keys[0]:
            kept_keys[0] = key
            kept_ids[0] = j
            sift_down(kept_keys, kept_ids, 0, len(kept_keys))


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
            sift_down(keys, ids, 0, size)
