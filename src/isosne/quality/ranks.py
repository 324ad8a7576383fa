"""Neighbor ranks around each query point, in the data and in the embedding, compared.

One pass over the query points serves every neighborhood measure. The keys of all points relative
to a query are sorted in both spaces (`orders`). A point belongs to both k-neighborhoods if the
larger of its two ranks is at most k, so a histogram of the larger ranks gives Q(k) for every k.
The query itself has no rank.
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
from isosne.neighbors.distances import search_set
from isosne.neighbors.metric import Metric, SearchSet
from isosne.quality.orders import Block, Scratch, make_scratch, sort_row

BLOCK_BYTES = 2**27
"""Memory per thread for the keys of a block of queries; chosen, not measured."""
MAX_BLOCK_ROWS = 256
"""Most queries per block: blocks enough to keep all threads busy; chosen, not measured."""


class RankCounts(NamedTuple):
    """Summary of the ranks of ``n`` points around ``q`` queries.

    ``entries`` (n,): ``entries[m]`` is the number of (query, point) pairs with larger rank m.
    ``areas`` (w, q): sum over all points of a weight that depends on the larger rank, for each of
    w sets of weights.
    ``kept`` (q,): number of points among the k nearest in both spaces.
    ``intruded`` (q,): sum of the positive (rank in the data - k) over the k nearest neighbors in
    the embedding.
    ``extruded`` (q,): sum of the positive (rank in the embedding - k) over the k nearest neighbors
    in the data.
    """

    entries: NDArray[np.int64]
    areas: NDArray[np.float64]
    kept: NDArray[np.int64]
    intruded: NDArray[np.int64]
    extruded: NDArray[np.int64]


class Space(NamedTuple):
    """Points to rank, and the queries among them."""

    search: SearchSet
    queries: Points
    unit: float  # rounding error of a key relative to the squared norms; 0 where keys are exact
    first: NDArray[np.int64]  # index of the first copy of each point; empty where keys are exact


class Workspace(threading.local):
    """Arrays of one thread, reused from block to block.

    Measured (docs/benchmarks.md): mapping fresh pages took as long as the products that fill them.
    """

    def __init__(self, n: int, n_rows: int) -> None:
        self.data, self.embedded = np.empty((n_rows, n)), np.empty((n_rows, n))  # keys
        self.scratch = make_scratch(n)
        ranks = np.empty((4, n), np.int32)  # one array, large enough for huge pages
        self.orders = ranks[0, 1:], ranks[1, 1:]
        self.rank_x = ranks[2]
        self.entries = ranks[3]
        self.at_rank = np.zeros(n, np.uint8)  # number of points with this larger rank: 0 to 2


def compare_ranks(
    X: Points, Y: Array, metric: Metric, queries: Array, *, k: int, weights: Array
) -> RankCounts:
    """Rank all points around each query in both spaces.

    ``weights`` (w, n) holds w sets of weights indexed by rank. O(q n (d + log n)) time; memory is
    two float64 copies of the points and one block per thread.
    """
    n, q = X.shape[0], len(queries)
    data, embedded = _make_space(X, metric, queries), _make_space(Y, Metric(), queries)
    counts = RankCounts(
        np.zeros(n, np.int64),
        np.zeros((len(weights), q)),
        *(np.zeros(q, np.int64) for _ in range(3)),
    )
    # 16 bytes: a float64 key in each of the two spaces.
    block_rows = max(1, min(MAX_BLOCK_ROWS, q, BLOCK_BYTES // (16 * n)))
    own = Workspace(n, block_rows)
    lock = threading.Lock()

    def work(rows: slice) -> None:
        blocks = (
            read_block(data, queries, rows, own.data),
            read_block(embedded, queries, rows, own.embedded),
        )
        own.entries[:] = 0
        per_query = (counts.areas[:, rows], *(part[rows] for part in counts[2:]))
        at_ranks = own.rank_x, own.at_rank, own.entries
        compare_block(blocks, k, weights, own.scratch, own.orders, at_ranks, per_query)
        with lock:  # integers: the sum does not depend on the order of the blocks
            np.add(counts.entries, own.entries, out=counts.entries)

    for_each_block(q, block_rows, work)
    return counts


def _make_space(X: Points, metric: Metric, queries: Array) -> Space:
    search = search_set(X, metric, precision=np.float64)
    is_all = len(queries) == X.shape[0]
    unit = 0.0 if metric.name == "euclidean" and _has_exact_products(X) else search.unit
    first = first_copies(search.points) if unit else np.empty(0, np.int64)
    return Space(search, X if is_all else X[queries], unit, first)


def _has_exact_products(X: Points) -> bool:
    """Return whether float64 holds every squared distance of integer points without rounding.

    Keys are computed from points shifted by a median, which may be a half-integer. In units of one
    half a shifted coordinate is at most 4 max|x|, and a key and all its partial sums are at most
    four times the sum of d such squares. Integers are exact below 2^53, hence the bound 2^51.
    """
    if isinstance(X, csr_array):
        return False
    largest = max(-float(X.min()), float(X.max()))
    if X.shape[1] * (4.0 * largest) ** 2 >= 2.0**51:
        return False
    if X.dtype.kind == "f":
        # Most real-valued data fail on the first rows already.
        return all(bool((part == np.rint(part)).all()) for part in (X[:100], X))
    return True


def read_block(space: Space, queries: Array, rows: slice, out: Array) -> Block:
    """Compute the keys of all points relative to a block of queries, in rows of ``out``."""
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
    """Return for each row the index of an equal row, the same index for all copies of a point.

    Candidates are rows with the same product with one fixed vector; each is compared with the
    first of them. Copies go unnoticed if that first row is a different point, which costs time
    (their distances are computed again) but changes no result.
    """
    products = np.empty(len(points))
    project_rows(points, np.sqrt(np.arange(1.0, points.shape[1] + 1)), products)
    _, first, group = np.unique(products, return_index=True, return_inverse=True)
    copies: NDArray[np.int64] = first[group]
    keep_equal(points, copies)
    return copies


@kernel
def project_rows(points: Array, direction: Array, products: Array) -> None:
    """Fill products (n,) with points @ direction, each product summed in the same order."""
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
    """Fill (areas, kept, intruded, extruded) of each query, and add to the histogram of ranks.

    at_ranks: scratch integers (n,), zeros (n,), and the histogram (n,) of the larger ranks.
    """
    data, embedded = blocks
    areas, kept, intruded, extruded = per_query
    order_x, order_y = orders
    rank_x, at_rank, entries = at_ranks
    m = len(order_x)
    for i in range(areas.shape[1]):
        sort_row(data, i, scratch, order_x)
        sort_row(embedded, i, scratch, order_y)
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
        for w in range(len(weights)):
            area = 0.0
            for r in range(m + 1):
                area += weights[w, r] * at_rank[r]
            areas[w, i] = area
        for r in range(m + 1):
            entries[r] += at_rank[r]
            at_rank[r] = 0
        extruded[i] = missed


def rank_weights(ks: Array, n: int) -> NDArray[np.float64]:
    """Return weights (n,) by larger rank, whose sum over all points gives a query's AUC_RNX.

    A point with larger rank m counts in Q(k) for each k >= m, and R(k) is linear in Q(k)
    (Eq. 10-11). The sum lacks an additive constant, which the standard error does not need.
    """
    at = np.zeros(n)
    at[ks] = (1 / ks) / math.fsum(1 / ks) * (n - 1) / (ks * (n - 1.0 - ks))
    weights: NDArray[np.float64] = at[::-1].cumsum()[::-1].copy()
    return weights
