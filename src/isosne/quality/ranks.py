"""Ranks of all points around a point, in the data and in the map, and how they compare.

One pass over the query points serves every measure of neighborhoods: each query's row of keys is
sorted in both spaces, and a point enters the common k-neighborhood at the larger of its two ranks.
The query itself has no rank; equal distances go to the lower index. Keys that rounding leaves too
close to tell apart are settled from the points themselves, as in `neighbors`.
"""

import math
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.distances import UNDERFLOW, Metric, SearchSet, search_set, sq_distance
from isosne.nearest import comes_before, sort_kept

BLOCK_BYTES = 2**27
"""Memory of a block of queries, for each thread."""
MOST_ROWS = 256
DIGIT_BITS = 11
N_DIGITS = 2**DIGIT_BITS
SORTED_BITS = 62
"""Bits of an integer that holds a key and an id; two more keep it, and its successor, positive."""
CELL_SHIFT = SORTED_BITS - 2 * DIGIT_BITS
MANY = 16
"""Points in a cell, those that two digits leave together, that are too many for an insertion."""


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


def compare_ranks(
    X: Points, Y: Array, metric: Metric, queries: Array, *, k: int, weights: Array
) -> RankCounts:
    """Rank all points around each query in both spaces; ``weights`` (n,) is indexed by rank.

    O(q n (d + log n)) time; memory is two float64 copies of the points and a block a thread.
    """
    n = X.shape[0]
    data = _space(X, metric, queries)
    drawn = _space(Y, Metric(), queries)
    q = len(queries)
    counts = RankCounts(
        np.zeros(n, np.int64), np.zeros(q), *(np.zeros(q, np.int64) for _ in range(3))
    )
    lock = Lock()

    def work(rows: slice) -> None:
        orders = (nearest_first(data, queries, rows), nearest_first(drawn, queries, rows))
        entries = np.zeros(n, np.int32)
        per_query = (counts.areas[rows], *(part[rows] for part in counts[2:]))
        scratch = np.empty(n, np.int32), np.zeros(n, np.uint8)
        compare_orders(*orders, k, weights, scratch, entries, per_query)
        with lock:  # whole numbers: their sum does not depend on its order
            np.add(counts.entries, entries, out=counts.entries)

    for_each_block(q, max(1, min(MOST_ROWS, BLOCK_BYTES // (16 * n))), work)
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


def nearest_first(space: Space, queries: Array, rows: slice) -> NDArray[np.int32]:
    """Return the ids (n_rows, n - 1) of all other points, nearest first, for a block of queries."""
    search, unit = space.search, space.unit
    query = search.query(space.queries, rows)
    keys = np.ascontiguousarray(search.keys(query, slice(0, search.n_points)))
    is_product = search.unit > 0
    offsets = query.sq_norms if is_product else np.zeros(len(keys))
    points = (query.points, search.points) if is_product else (keys, keys)
    m = search.n_points - 1
    order = np.empty((len(keys), m), np.int32)
    # Not in compiled code: NumPy asks for large pages, by which random access gains much.
    scratch = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)
    sort_rows(keys, offsets, queries[rows], (*points, space.first), unit, scratch, order)
    return order


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
def sort_rows(
    keys: Array,
    offsets: Array,
    own: Array,
    points: tuple[Array, Array, Array],
    unit: float,
    scratch: tuple[Array, Array, Array],
    order: Array,
) -> None:
    """Fill order[i] with all ids but own[i] by (distance, id); keys become squared distances.

    A radix sort on the leading bits, which order positive floats as they order integers. scratch:
    two arrays (n - 1,) of int64, one of float64.
    """
    n = keys.shape[1]
    id_bits = bit_length(n)
    packed, spare, values = scratch
    starts = np.empty((2, N_DIGITS), np.int32)
    bits = keys.view(np.int64)
    for i in range(keys.shape[0]):
        complete_keys(keys[i], offsets[i])
        low, shift = bit_range(bits[i], own[i], id_bits)
        pack_row(bits[i], own[i], (low, shift, id_bits), packed, starts)
        sort_by_digit(packed, CELL_SHIFT, starts[0], spare)
        sort_by_digit(spare, CELL_SHIFT + DIGIT_BITS, starts[1], packed)
        sort_cells(packed)
        for r in range(n - 1):
            order[i, r] = packed[r] & ((1 << id_bits) - 1)
        if unit > 0.0:
            doubt = (4.0 * unit, 3.0 * offsets[i] + UNDERFLOW)
            settle_rounded(packed, (low, shift, id_bits), doubt, points, i, values, order[i])
        else:
            settle_cut(packed, id_bits, keys[i], values, order[i])


@kernel
def complete_keys(keys: Array, offset: float) -> None:
    """Add a row's constant; what rounding has made negative is zero."""
    for j in range(len(keys)):
        distance = keys[j] + offset
        keys[j] = distance if distance > 0.0 else 0.0


@kernel
def bit_length(value: int) -> int:
    """Return the number of bits that a whole number takes."""
    n_bits = 0
    while value >> n_bits:
        n_bits += 1
    return n_bits


@kernel
def bit_range(bits: Array, own: int, id_bits: int) -> tuple[int, int]:
    """Return the lowest key as an integer, and how many bits to cut so that an id fits below."""
    low = high = bits[1 if own == 0 else 0]
    for j in range(len(bits)):
        if j != own:
            low = min(low, bits[j])
            high = max(high, bits[j])
    return low, bit_length(high - low) - (SORTED_BITS - id_bits)


@kernel
def pack_row(
    bits: Array, own: int, layout: tuple[int, int, int], packed: Array, starts: Array
) -> None:
    """Fill packed (n - 1,) with (key, id) in one integer, and starts with the digits' places.

    The keys fill the leading bits whatever their range: a negative shift moves them up.
    """
    low, shift, id_bits = layout
    up, down = max(-shift, 0), max(shift, 0)
    starts[:] = 0
    e = 0
    for j in range(len(bits)):
        if j != own:
            entry = (((bits[j] - low) << up >> down) << id_bits) | j
            packed[e] = entry
            starts[0, (entry >> CELL_SHIFT) & (N_DIGITS - 1)] += 1
            starts[1, entry >> (CELL_SHIFT + DIGIT_BITS)] += 1
            e += 1
    for d in range(2):
        total = 0
        for digit in range(N_DIGITS):
            count = starts[d, digit]
            starts[d, digit] = total
            total += count


@kernel
def sort_by_digit(packed: Array, shift: int, starts: Array, out: Array) -> None:
    """Fill out with packed in the order of one digit, equal ones as they come."""
    for e in range(len(packed)):
        digit = (packed[e] >> shift) & (N_DIGITS - 1)
        out[starts[digit]] = packed[e]
        starts[digit] += 1


@kernel
def sort_cells(packed: Array) -> None:
    """Sort what two digits have sorted already, but for the few entries of each cell."""
    m = len(packed)
    r = 1
    while r < m:
        entry = packed[r]
        cell = entry >> CELL_SHIFT
        if r >= MANY and packed[r - MANY] >> CELL_SHIFT == cell:
            start = r - MANY
            while r < m and packed[r] >> CELL_SHIFT == cell:
                r += 1
            packed[start:r].sort()
            continue
        a = r
        while a > 0 and packed[a - 1] > entry:
            packed[a] = packed[a - 1]
            a -= 1
        packed[a] = entry
        r += 1


@kernel
def settle_cut(packed: Array, id_bits: int, keys: Array, values: Array, order: Array) -> None:
    """Sort runs of exact keys that agree in the bits that were kept."""
    m = len(order)
    start = 0
    for r in range(1, m + 1):
        if r < m and packed[r] >> id_bits == packed[start] >> id_bits:
            continue
        if r - start > 1:
            for a in range(start, r):
                values[a] = keys[order[a]]
            sort_run(values[start:r], order[start:r])
        start = r


@kernel
def settle_rounded(
    packed: Array,
    layout: tuple[int, int, int],
    doubt: tuple[float, float],
    points: tuple[Array, Array, Array],
    i: int,
    values: Array,
    order: Array,
) -> None:
    """Sort runs of keys that rounding may have put in the wrong order by true distances.

    Two keys are in doubt within twice `distances.rounding_bound`, which grows with the key; the
    square of the sum in it is bounded by twice the sum of the squares.
    """
    low, shift, id_bits = layout
    up, down = max(-shift, 0), max(shift, 0)
    X, Z, first = points
    distance = 0.0
    edge_bits = np.empty(2, np.int64)  # the end of a cell and the beginning of the next one
    edges = edge_bits.view(np.float64)
    m = len(order)
    start = 0
    for r in range(1, m + 1):
        if r < m:
            edge_bits[0] = low + ((((packed[r - 1] >> id_bits) >> up) + 1) << down)
            edge_bits[1] = low + (((packed[r] >> id_bits) >> up) << down)
            if edges[1] - edges[0] <= doubt[0] * (doubt[1] + 2.0 * edges[1]):
                continue
        if r - start > 1:
            for a in range(start, r):
                if a == start or first[order[a]] != first[order[a - 1]]:
                    distance = sq_distance(X, i, Z, order[a])
                values[a] = distance
            sort_run(values[start:r], order[start:r])
        start = r


@kernel
def sort_run(values: Array, order: Array) -> None:
    """Sort by (value, id), unless that is the order already."""
    for a in range(1, len(order)):
        if comes_before(values[a], order[a], values[a - 1], order[a - 1]):
            sort_kept(values.reshape(1, -1), order.reshape(1, -1))
            return


@kernel
def compare_orders(
    order_x: Array,
    order_y: Array,
    k: int,
    weights: Array,
    scratch: tuple[Array, Array],
    entries: Array,
    per_query: tuple[Array, ...],
) -> None:
    """Add to entries, and fill (areas, kept, intruded, extruded), from two orders (b, n - 1).

    scratch: any integers (n,), and how many points of a query have each larger rank: 0 to 2.
    """
    areas, kept, intruded, extruded = per_query
    n_rows, m = order_x.shape
    rank_x, at_rank = scratch
    for i in range(n_rows):
        for r in range(m):
            rank_x[order_x[i, r]] = r + 1
        for r in range(k):
            excess = rank_x[order_y[i, r]] - k
            kept[i] += excess <= 0
            intruded[i] += max(excess, 0)
        missed = 0
        for r in range(m):
            in_data = rank_x[order_y[i, r]]
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
