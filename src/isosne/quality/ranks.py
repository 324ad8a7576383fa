"""Neighbor ranks around each query point, in the data and in the embedding, compared.

One pass over the query points serves every neighborhood measure. A point belongs to both
k-neighborhoods if the larger of its two ranks is at most k, so a histogram of the larger ranks
gives Q(k) for every k. The query itself has no rank.

Ranks follow the true distances, ties going to the lower index, so that they do not depend on
blocks, threads or rounding. Keys from matrix products are rounded, so a row is sorted in two steps.

1. Non-negative floats sort like their bit patterns read as integers. The index of a point replaces
   the lowest bits of its key, and NumPy sorts the integers: a third of the time of an argsort.
2. Runs of points whose order is uncertain are sorted by distances computed from the points.

When the order is uncertain. Let s = |x|^2 be the squared norm of the query and D a squared
distance. `neighbors.pairs.rounding_bound` bounds the error of a key by
2 u (s + (|x| + sqrt(D))^2 + UNDERFLOW), u being the relative rounding of a product. Since
(|x| + sqrt(D))^2 <= 2 s + 2 D, this is at most 2 u (3 s + 2 D + UNDERFLOW). Two keys a < b are in
the right order if they differ by more than twice the bound at b: 4 u (3 s + 2 b + UNDERFLOW). The
bits that were replaced add their share of b.
"""

import math
import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import comes_before, sort_kept
from isosne.neighbors.metric import Metric, SearchSet
from isosne.neighbors.pairs import UNDERFLOW, sq_distance

BLOCK_BYTES = 2**27
"""Memory per thread for the keys and orders of a block of queries; chosen, not measured."""
MAX_BLOCK_ROWS = 64
"""Most queries per block; measured: with 16, products of 784 columns take half as long again; with
256, fresh pages for the sorts cost a tenth of the time."""


class RankCounts(NamedTuple):
    """Summary of the ranks of ``n`` points around ``q`` queries.

    ``entries`` (n,): number of (query, point) pairs by larger rank. ``areas`` (w, q): sum over all
    points of a weight by larger rank, for each of w sets of weights. ``kept`` (q,): number of
    points among the k nearest in both spaces; ``near`` (q,): of the k nearest in the data, those
    among the `coarse_size` nearest in the embedding. ``intruded`` (q,): sum of the positive (rank
    in the data - k) over the k nearest in the embedding; ``extruded`` (q,): the same with the two
    spaces exchanged.
    """

    entries: NDArray[np.int64]
    areas: NDArray[np.float64]
    kept: NDArray[np.int64]
    near: NDArray[np.int64]
    intruded: NDArray[np.int64]
    extruded: NDArray[np.int64]


def coarse_size(k: int, n: int) -> int:
    """Return the size of the neighborhoods on the map for the coarse trust: 10 k; half of few."""
    return min(10 * k, (n - 1) // 2)


def compare_ranks(
    X: Points, Y: Array, metric: Metric, queries: Array, *, k: int, weights: Array
) -> RankCounts:
    """Rank all points around each query in both spaces.

    ``weights`` (w, n) holds w sets of weights indexed by rank. O(q n (d + log n)) time; memory is
    two float64 copies of the points and one block per thread.
    """
    n, q = X.shape[0], len(queries)
    spaces = [
        (search_set(points, space, precision=np.float64), points if q == n else points[queries])
        for points, space in ((X, metric), (Y, Metric()))
    ]
    per_query = np.zeros((len(weights), q)), *np.zeros((4, q), np.int64)
    counts = RankCounts(np.zeros(n, np.int64), *per_query)
    # 40 bytes: in each of the two spaces a key and an index, and the keys of one in their order.
    block_rows = max(1, min(MAX_BLOCK_ROWS, q, BLOCK_BYTES // (40 * n)))
    lock = threading.Lock()

    def work(rows: slice) -> None:
        orders = [order_points(search, points, queries, rows) for search, points in spaces]
        entries = np.zeros(n, np.int64)
        parts = tuple(part[..., rows] for part in per_query)
        sizes = k, coarse_size(k, n)
        compare_orders((orders[0], orders[1]), sizes, weights, entries, parts)
        with lock:  # integers: the sum does not depend on the order of the blocks
            np.add(counts.entries, entries, out=counts.entries)

    for_each_block(q, block_rows, work)
    return counts


def order_points(
    search: SearchSet, points: Points, queries: Array, rows: slice
) -> NDArray[np.int64]:
    """Return the points (b, n) around each query of a block, the query first, then by distance.

    points (q, d) and queries (q,): all queries, and their indices in the set.
    """
    n = search.n_points
    query = search.query(points, rows)
    keys = np.empty((rows.stop - rows.start, n))
    for start in range(0, n, search.tile):
        tile = slice(start, min(start + search.tile, n))
        keys[:, tile] = search.keys(query, tile)
    sq_norms = query.sq_norms if search.unit > 0 else np.zeros(len(keys))
    keys += sq_norms[:, None]
    np.maximum(keys, 0.0, out=keys)  # rounding may make keys negative
    np.put_along_axis(keys, queries[rows, None], -1.0, axis=1)
    n_indices = 1 << n.bit_length()
    packed = keys.view(np.int64) & -n_indices
    packed |= np.arange(n)
    packed.sort(axis=1)
    floors = (packed & -n_indices).view(np.float64)
    order: NDArray[np.int64] = np.bitwise_and(packed, n_indices - 1, out=packed)
    if search.unit > 0:
        pair, cut = (query.points, search.points), n_indices * 2.0**-52
    else:
        pair, cut = (keys, keys), 0.0  # only equal keys are uncertain
    settle_orders((keys, floors), pair, (search.unit, cut), sq_norms, order)
    return order


@kernel
def settle_orders(
    keys: tuple[Array, Array],
    points: tuple[Array, Array],
    doubt: tuple[float, float],
    sq_norms: Array,
    order: Array,
) -> None:
    """Sort the runs of each row of order (b, n) that are uncertain by (distance, index).

    keys: those of all points, and those in the present order without their lowest bits. points: the
    queries (b, d) and all points (n, d), from which rounded keys are computed again. doubt: the
    unit u of the module docstring, and the share of the bits that were replaced.
    """
    (every, floors), (X, Z), (unit, cut) = keys, points, doubt
    n = order.shape[1]
    values = np.empty(n)
    for i in range(len(order)):
        row, start = order[i], 1  # the query is first
        least = 4.0 * unit * (3.0 * sq_norms[i] + UNDERFLOW)
        for r in range(2, n + 1):
            if r < n:
                high = floors[i, r]
                if high - floors[i, r - 1] <= least + (8.0 * unit + cut) * high:
                    continue
            if r - start > 1:
                for a in range(start, r):
                    j = row[a]
                    values[a] = sq_distance(X, i, Z, j) if unit > 0.0 else every[i, j]
                sort_run(values[start:r], row[start:r])
            start = r


@kernel
def sort_run(values: Array, order: Array) -> None:
    """Sort by (value, index), unless the run is sorted already."""
    for a in range(1, len(order)):
        if comes_before(values[a], order[a], values[a - 1], order[a - 1]):
            sort_kept(values.reshape(1, -1), order.reshape(1, -1))
            return


@kernel
def compare_orders(
    orders: tuple[Array, Array],
    sizes: tuple[int, int],
    weights: Array,
    entries: Array,
    per_query: tuple[Array, ...],
) -> None:
    """Fill (areas, kept, near, intruded, extruded) of each query; add to the histogram of ranks.

    orders: the points (b, n) around each query in both spaces; sizes: k and the coarse size;
    entries: the histogram (n,).
    """
    areas, kept, near, intruded, extruded = per_query
    k, wide = sizes
    n = orders[0].shape[1]
    rank_x = np.empty(n, np.int64)
    at_rank = np.zeros(n, np.int64)
    for i in range(areas.shape[1]):
        order_x, order_y = orders[0][i], orders[1][i]
        for r in range(1, n):
            rank_x[order_x[r]] = r
        for r in range(1, n):
            in_data = rank_x[order_y[r]]
            at_rank[max(r, in_data)] += 1
            if r <= k:
                kept[i] += in_data <= k
                intruded[i] += max(in_data - k, 0)
            if in_data <= k:
                near[i] += r <= wide
                extruded[i] += max(r - k, 0)
        for w in range(len(weights)):
            area = 0.0
            for r in range(n):
                area += weights[w, r] * at_rank[r]
            areas[w, i] = area
        for r in range(n):
            entries[r] += at_rank[r]
            at_rank[r] = 0


def rank_weights(ks: Array, n: int) -> NDArray[np.float64]:
    """Return weights (n,) by larger rank, whose sum over all points gives a query's AUC_RNX.

    A point with larger rank m counts in Q(k) for each k >= m, and R(k) is linear in Q(k)
    (Eq. 10-11). The sum lacks an additive constant, which the standard error does not need.
    """
    at = np.zeros(n)
    at[ks] = (1 / ks) / math.fsum(1 / ks) * (n - 1) / (ks * (n - 1.0 - ks))
    weights: NDArray[np.float64] = at[::-1].cumsum()[::-1].copy()
    return weights
