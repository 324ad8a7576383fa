"""Sort all points around one query by (distance, index).

Why not `np.lexsort`. The order must be that of the true distances, with ties going to the lower
index, so that ranks do not depend on blocks, threads or rounding. The keys, however, come from
matrix products and are rounded. Comparing exact distances everywhere would cost O(n d) per query
for nothing: only points at nearly equal distance are affected. A stable argsort of the rounded keys
alone makes a whole report take 3.3 times the CPU time for 2,000 points, and 4.1 times for 5,000
(measured: 50 columns, one thread).

How a row is sorted.

1. Radix sort. Non-negative floats sort like their bit patterns read as integers. The bit pattern
   of the key, minus that of the smallest key, and the index of the point are packed into one
   62-bit integer, the key in the leading bits. Three passes over 9-bit digits sort the leading 27
   bits, and insertion sort finishes the short runs ("cells") that agree in these bits.
2. Settlement. Where keys are exact, runs that agree in all bits that were kept are sorted by the
   full key (`settle_cut`). Where keys are rounded, runs of neighbors whose order is uncertain are
   sorted by squared distances computed from the points (`settle_rounded`).

When the order of two rounded keys is uncertain. Let s = |x|^2 be the squared norm of the query and
D a squared distance. `neighbors.pairs.rounding_bound` bounds the error of a key by
2 u (s + (|x| + sqrt(D))^2 + UNDERFLOW), u being the relative rounding of a product. Since
(|x| + sqrt(D))^2 <= 2 s + 2 D, this is at most 2 u (3 s + 2 D + UNDERFLOW). Two keys, each off by
that much, are in the right order if they differ by more than twice the bound at the larger one:

    b - a > c0 (c1 + 2 b)    with c0 = 4 u, c1 = 3 s + UNDERFLOW, a < b.

Packing drops low bits of a key. The test therefore uses the end of the interval that a may come
from and the beginning of that of b, the smallest difference the two may have. `certain_gap` gives
a sufficient integer difference for a whole row, so that most pairs need one subtraction.
"""

from typing import NamedTuple

import numpy as np

from isosne._numba import kernel
from isosne._types import Array
from isosne.neighbors.exact import comes_before, sort_kept
from isosne.neighbors.pairs import UNDERFLOW, sq_distance

DIGIT_BITS = 9
"""Measured (docs/benchmarks.md): three digits of 9 bits are faster than two of 11."""
N_VALUES = 2**DIGIT_BITS
N_DIGITS = 3  # 27 bits: cells of a million points hold few entries
SORTED_BITS = 62
"""Bits for key and index in an int64; the two left over keep it and its successor positive."""
CELL_SHIFT = SORTED_BITS - N_DIGITS * DIGIT_BITS
"""A cell is a run of entries that agree in the bits above, which the digits have sorted."""
LARGE_CELL = 16
"""Entries of a cell above which it is sorted by `sort` instead of insertion; not measured."""


class Block(NamedTuple):
    """Queries and the keys of all points relative to them."""

    keys: Array  # (b, n): squared distances minus the offset of the query
    offsets: Array  # (b,): squared norm of each query, or 0
    own: Array  # (b,): index of each query, which is not ranked
    points: tuple[Array, Array, Array]  # queries, all points, index of the first copy of each point
    unit: float  # rounding error of a key relative to the squared norms; 0 where keys are exact


class Scratch(NamedTuple):
    """Working memory for a row of n - 1 entries."""

    packed: Array  # int64
    spare: Array  # int64
    values: Array  # float64


def make_scratch(n: int) -> Scratch:
    """Allocate the working memory in Python: NumPy requests huge pages, which speed up the sort."""
    return Scratch(np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1))


@kernel
def sort_row(block: Block, i: int, scratch: Scratch, order: Array) -> None:
    """Fill order (n - 1,) with the indices of all points but the query, by (distance, index).

    The row of keys is overwritten with squared distances.
    """
    keys, offset, own = block.keys[i], block.offsets[i], block.own[i]
    id_bits = bit_length(len(keys))
    packed, spare, values = scratch
    starts = np.empty((N_DIGITS, N_VALUES), np.int32)
    bits = keys.view(np.int64)
    complete_keys(keys, offset)
    low, shift = bit_range(bits, own, id_bits)
    pack_row(bits, own, (low, shift, id_bits), spare, starts)
    sort_by_digit(spare, CELL_SHIFT, starts[0], packed)
    sort_by_digit(packed, CELL_SHIFT + DIGIT_BITS, starts[1], spare)
    sort_by_digit(spare, CELL_SHIFT + 2 * DIGIT_BITS, starts[2], packed)
    sort_cells(packed)
    for r in range(len(order)):
        order[r] = packed[r] & ((1 << id_bits) - 1)
    if block.unit > 0.0:
        doubt = (4.0 * block.unit, 3.0 * offset + UNDERFLOW)  # c0 and c1 of the module docstring
        settle_rounded(packed, (low, shift, id_bits), doubt, block.points, i, values, order)
    else:
        settle_cut(packed, id_bits, keys, values, order)


@kernel
def complete_keys(keys: Array, offset: float) -> None:
    """Add the offset of a row; negative values, caused by rounding, become zero."""
    for j in range(len(keys)):
        distance = keys[j] + offset
        keys[j] = distance if distance > 0.0 else 0.0


@kernel
def bit_length(value: int) -> int:
    """Return the number of bits of a non-negative integer."""
    n_bits = 0
    while value >> n_bits:
        n_bits += 1
    return n_bits


@kernel
def bit_range(bits: Array, own: int, id_bits: int) -> tuple[int, int]:
    """Return the bits of the smallest key, and how many low bits to drop so that an index fits."""
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
    """Fill packed (n - 1,) with (key, index) in one integer, and starts with digit offsets.

    ``starts[d, v]`` is where entries whose digit d has value v begin. The keys fill the leading
    bits whatever their range: a negative shift moves them up.
    """
    low, shift, id_bits = layout
    up, down = max(-shift, 0), max(shift, 0)
    starts[:] = 0
    e = 0
    for j in range(len(bits)):
        if j != own:
            entry = (((bits[j] - low) << up >> down) << id_bits) | j
            packed[e] = entry
            for d in range(N_DIGITS):
                starts[d, (entry >> (CELL_SHIFT + d * DIGIT_BITS)) & (N_VALUES - 1)] += 1
            e += 1
    for d in range(N_DIGITS):
        total = 0
        for value in range(N_VALUES):
            count = starts[d, value]
            starts[d, value] = total
            total += count


@kernel
def sort_by_digit(packed: Array, shift: int, starts: Array, out: Array) -> None:
    """Fill out with packed sorted by one digit; the sort is stable."""
    for e in range(len(packed)):
        value = (packed[e] >> shift) & (N_VALUES - 1)
        out[starts[value]] = packed[e]
        starts[value] += 1


@kernel
def sort_cells(packed: Array) -> None:
    """Sort the entries within each cell; the digits have sorted the cells."""
    m = len(packed)
    r = 1
    while r < m:
        entry = packed[r]
        cell = entry >> CELL_SHIFT
        if r >= LARGE_CELL and packed[r - LARGE_CELL] >> CELL_SHIFT == cell:
            start = r - LARGE_CELL
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
    """Sort runs of exact keys that agree in the bits that packing kept."""
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
    """Sort runs of keys whose order is uncertain by the squared distances of the points.

    ``doubt`` is (c0, c1) of the module docstring. Copies of a point share one distance.
    """
    low, shift, id_bits = layout
    up, down = max(-shift, 0), max(shift, 0)
    X, Z, first = points
    distance = 0.0
    edge_bits = np.array([low, low])  # upper end of the smaller key, lower end of the larger one
    edges = edge_bits.view(np.float64)
    certain = certain_gap(edges[0], layout, doubt)
    m = len(order)
    start = 0
    for r in range(1, m + 1):
        if r < m and packed[r] - packed[r - 1] < certain:
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
def certain_gap(lowest: float, layout: tuple[int, int, int], doubt: tuple[float, float]) -> int:
    """Return a difference of packed entries that makes the order certain anywhere in the row.

    Let a < b be keys, N floating-point steps apart. If b <= 2 a, a step is at least a / 2^53, so
    b - a >= N a / 2^53, and the threshold c0 (c1 + 2 b) is at most c0 (c1 / lowest + 4) a. The
    order is certain for N > 2^53 c0 (c1 / lowest + 4), called ``steps``. If b > 2 a, then
    b - a > b / 2, which exceeds the threshold if c0 (c1 / lowest + 4) <= 1/4, or steps <= 2^51.
    Otherwise no difference is enough. Each of the two keys lost up to one unit in packing.
    """
    _, shift, id_bits = layout
    steps = 2.0**53 * doubt[0] * (doubt[1] / lowest + 4.0) if lowest > 0.0 else np.inf
    gap = (steps + 2.0) * 2.0**-shift + 3.0  # in units of a packed key
    if steps > 2.0**51 or gap > 2.0 ** (SORTED_BITS - id_bits):
        gap = 2.0 ** (SORTED_BITS - id_bits)  # larger than any difference
    return int(gap) << id_bits


@kernel
def sort_run(values: Array, order: Array) -> None:
    """Sort by (value, index), unless the run is sorted already."""
    for a in range(1, len(order)):
        if comes_before(values[a], order[a], values[a - 1], order[a - 1]):
            sort_kept(values.reshape(1, -1), order.reshape(1, -1))
            return
