"""Ranks of all points around a point, in the data and in the map, and how they compare.

One pass over the query points serves every measure of neighborhoods: each query's row of keys is
sorted in both spaces (`orders`), and a point enters the common k-neighborhood at the larger of its
two ranks. The query itself has no rank.
"""

import math
import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.distances import Metric, SearchSet, search_set
from isosne.quality.orders import Block, Scratch, make_scratch, sort_row

BLOCK_BYTES = 2**27
"""Memory of a block of queries, for each thread."""
MOST_ROWS = 256


class RankCounts(NamedTuple):
    """What is left of the ranks of ``q`` queries among ``n`` points.

    ``entries`` (n,): number of pairs (query, point) whose larger rank is m, at place m.
    ``areas`` (q,): sum of the weights of all points, each given by its larger rank.
    ``kept`` (q,): points that are among the k nearest in both spaces.
    ``intruded`` (q,): sum of (rank in the data - k) over the k nearest in the map, where positive.
    ``extruded`` (q,): sum of (rank in the map - k) over the k nearest in the data, where positive.
    """

    entries: NDArray[np.int64]
    areas: NDArray[np.float64]
    kept: NDArray[np.int64]
    intruded: NDArray[np.int64]
    extruded: NDArray[np.int64]


class Space(NamedTuple):
    """Points to be ranked, and the queries among them."""

    search: SearchSet
    queries: Points
    unit: float  # the rounding of a key relative to the squared lengths; 0 where exact
    first: NDArray[np.int64]  # the first copy of each point; empty where keys are exact


class Workspace(threading.local):
    """A thread's arrays, kept from block to block: fresh pages cost more than what fills them."""

    def __init__(self, n: int, n_rows: int) -> None:
        self.data, self.drawn = np.empty((n_rows, n)), np.empty((n_rows, n))  # keys
        self.scratch = make_scratch(n)
        ranks = np.empty((4, n), np.int32)  # one array: it is large enough for large pages
        self.orders = ranks[0, 1:], ranks[1, 1:]
        self.rank_x = ranks[2]
        self.entries = ranks[3]
        self.at_rank = np.zeros(n, np.uint8)  # points of a query by larger rank: 0 to 2


def compare_ranks(
    X: Points, Y: Array, metric: Metric, queries: Array, *, k: int, weights: Array
) -> RankCounts:
    """Rank all points around each query in both spaces; ``weights`` (n,) is indexed by rank.

    O(q n (d + log n)) time; memory is two float64 copies of the points and a block a thread.
    """
    n, q = X.shape[0], len(queries)
    data, drawn = _space(X, metric, queries), _space(Y, Metric(), queries)
    counts = RankCounts(
        np.zeros(n, np.int64), np.zeros(q), *(np.zeros(q, np.int64) for _ in range(3))
    )
    block_rows = max(1, min(MOST_ROWS, q, BLOCK_BYTES // (16 * n)))
    own = Workspace(n, block_rows)
    lock = threading.Lock()

    def work(rows: slice) -> None:
        blocks = (
            read_block(data, queries, rows, own.data),
            read_block(drawn, queries, rows, own.drawn),
        )
        own.entries[:] = 0
        per_query = (counts.areas[rows], *(part[rows] for part in counts[2:]))
        at_ranks = own.rank_x, own.at_rank, own.entries
        compare_block(blocks, k, weights, own.scratch, own.orders, at_ranks, per_query)
        with lock:  # whole numbers: their sum does not depend on its order
            np.add(counts.entries, own.entries, out=counts.entries)

    for_each_block(q, block_rows, work)
    return counts


def _space(X: Points, metric: Metric, queries: Array) -> Space:
    search = search_set(X, metric, precision=np.float64)
    is_all = len(queries) == X.shape[0]
    unit = 0.0 if metric.name == "euclidean" and _has_exact_products(X) else search.unit
    first = first_copies(search.points) if unit else np.empty(0, np.int64)
    return Space(search, X if is_all else X[queries], unit, first)


def _has_exact_products(X: Points) -> bool:
    """Say whether float64 holds every sum of products of whole numbers without rounding.

    Shifted by a median, which may end in a half, they are at most 4 max|x| halves, and a key with
    all its parts is at most four times the sum of their squares.
    """
    if isinstance(X, csr_array):
        return False
    largest = max(-float(X.min()), float(X.max()))
    if X.shape[1] * (4.0 * largest) ** 2 >= 2.0**51:
        return False
    if X.dtype.kind == "f":
        return all(bool((part == np.rint(part)).all()) for part in (X[:100], X))
    return True


def read_block(space: Space, queries: Array, rows: slice, out: Array) -> Block:
    """Compare a block of queries with all points; the keys go to the first rows of ``out``."""
    search = space.search
    query = search.query(space.queries, rows)
    keys = out[: rows.stop - rows.start]
    for start in range(0, search.n_points, search.tile):
        tile = slice(start, min(start + search.tile, search.n_points))
        keys[:, tile] = search.keys(query, tile)
    is_product = search.unit > 0
    offsets = query.sq_norms if is_product else np.zeros(len(keys))
    points = (query.points, search.points) if is_product else (keys, keys)
    return Block(keys, offsets, queries[rows], (*points, space.first), space.unit)


def first_copies(points: Array) -> NDArray[np.int64]:
    """Return the id of an equal row for each row, the same one for copies of a point.

    Rows with the same product with one vector are compared with the first of them; where that is
    another point, copies may go unnoticed.
    """
    products = np.empty(len(points))
    project_rows(points, np.sqrt(np.arange(1.0, points.shape[1] + 1)), products)
    _, first, group = np.unique(products, return_index=True, return_inverse=True)
    copies: NDArray[np.int64] = first[group]
    keep_equal(points, copies)
    return copies


@kernel
def project_rows(points: Array, direction: Array, products: Array) -> None:
    """Fill products (n,) with points @ direction, each summed in the same order."""
    for i in range(len(points)):
        total = 0.0
        for f in range(len(direction)):
            total += points[i, f] * direction[f]
        products[i] = total


@kernel
def keep_equal(points: Array, copies: Array) -> None:
    """Replace copies[i] by i unless the two rows are equal."""
    for i in range(len(points)):
        for f in range(points.shape[1]):
            if points[i, f] != points[copies[i], f]:
                copies[i] = i
                break


@kernel
def compare_block(
    blocks: tuple[Block, Block],
    k: int,
    weights: Array,
    scratch: Scratch,
    orders: tuple[Array, Array],
    at_ranks: tuple[Array, Array, Array],
    per_query: tuple[Array, ...],
) -> None:
    """Add to the last of at_ranks, and fill (areas, kept, intruded, extruded), for each query.

    at_ranks: any integers (n,), zeros (n,), and how many points of all queries have a larger rank.
    """
    data, drawn = blocks
    areas, kept, intruded, extruded = per_query
    order_x, order_y = orders
    rank_x, at_rank, entries = at_ranks
    m = len(order_x)
    for i in range(len(areas)):
        sort_row(data, i, scratch, order_x)
        sort_row(drawn, i, scratch, order_y)
        for r in range(m):
            rank_x[order_x[r]] = r + 1
        for r in range(k):
            excess = rank_x[order_y[r]] - k
            kept[i] += excess <= 0
            intruded[i] += max(excess, 0)
        missed = 0
        for r in range(m):
            in_data = rank_x[order_y[r]]
            at_rank[max(r + 1, in_data)] += 1
            if in_data <= k:
                missed += max(r + 1 - k, 0)
        area = 0.0
        for r in range(m + 1):
            area += weights[r] * at_rank[r]
            entries[r] += at_rank[r]
            at_rank[r] = 0
        areas[i] = area
        extruded[i] = missed


def rank_weights(ks: Array, n: int) -> NDArray[np.float64]:
    """Return weights (n,) by rank whose sum over points is AUC_RNX at a query, up to a constant.

    A point of larger rank m counts in Q(k) for each k >= m, and R(k) is linear in Q(k) (Eq. 10-11).
    """
    at = np.zeros(n)
    at[ks] = (1 / ks) / math.fsum(1 / ks) * (n - 1) / (ks * (n - 1.0 - ks))
    weights: NDArray[np.float64] = at[::-1].cumsum()[::-1].copy()
    return weights
