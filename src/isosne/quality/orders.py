"""All points around one point, nearest first: a row of keys sorted, ties and rounding settled.

The leading bits of positive floats order as they do, so a key and an id in one integer are sorted
by three digits and finished by insertion. Equal distances go to the lower index; keys that rounding
leaves too close to tell apart are settled from the points themselves, as in `neighbors`.
"""

from typing import NamedTuple

import numpy as np

from isosne._numba import kernel
from isosne._types import Array
from isosne.neighbors.distances import UNDERFLOW, sq_distance
from isosne.neighbors.exact import comes_before, sort_kept

DIGIT_BITS = 9
"""A digit has few enough values that the places where they go stay in the fastest cache."""
N_VALUES = 2**DIGIT_BITS
N_DIGITS = 3
SORTED_BITS = 62
"""Bits of an integer that holds a key and an id; two more keep it, and its successor, positive."""
CELL_SHIFT = SORTED_BITS - N_DIGITS * DIGIT_BITS
MANY = 16
"""Points in a cell, those that the digits leave together, that are too many for an insertion."""


class Block(NamedTuple):
    """Queries and their keys, ready to be sorted."""

    keys: Array  # (b, n): squared distances less the query's offset
    offsets: Array  # (b,)
    own: Array  # (b,): the id of each query, which is left out
    points: tuple[Array, Array, Array]  # the queries, all points, the first copy of each point
    unit: float  # the rounding of a key relative to the squared lengths; 0 where exact


class Scratch(NamedTuple):
    """What sorting a row of n - 1 entries needs."""

    packed: Array  # int64
    spare: Array  # int64
    values: Array  # float64


def make_scratch(n: int) -> Scratch:
    """Reserve it here: NumPy asks for large pages, by which random access gains much."""
    return Scratch(np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1))


@kernel
def sort_row(block: Block, i: int, scratch: Scratch, order: Array) -> None:
    """Fill order (n - 1,) with all ids but the query's by (distance, id).

    The row of keys becomes squared distances.
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
        doubt = (4.0 * block.unit, 3.0 * offset + UNDERFLOW)
        settle_rounded(packed, (low, shift, id_bits), doubt, block.points, i, values, order)
    else:
        settle_cut(packed, id_bits, keys, values, order)


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
    """Fill out with packed in the order of one digit, equal ones as they come."""
    for e in range(len(packed)):
        value = (packed[e] >> shift) & (N_VALUES - 1)
        out[starts[value]] = packed[e]
        starts[value] += 1


@kernel
def sort_cells(packed: Array) -> None:
    """Sort what the digits have sorted already, but for the few entries of each cell."""
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
    edge_bits = np.array([low, low])  # the end of a cell and the beginning of the next one
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
    """Return how far apart two entries must be to be in no doubt, wherever they are in the row.

    Keys a < b, D steps of floating point apart, differ by at least D a / 2^53 where b <= 2 a; the
    doubt is then at most (c / lowest + 4) a. Where b > 2 a, they differ by more than b / 2.
    """
    _, shift, id_bits = layout
    steps = 2.0**53 * doubt[0] * (doubt[1] / lowest + 4.0) if lowest > 0.0 else np.inf
    cells = (steps + 2.0) * 2.0**-shift + 3.0  # of cut keys; neighboring ones may touch
    if steps > 2.0**51 or cells > 2.0 ** (SORTED_BITS - id_bits):
        cells = 2.0 ** (SORTED_BITS - id_bits)  # more than any two are apart
    return int(cells) << id_bits


@kernel
def sort_run(values: Array, order: Array) -> None:
    """Sort by (value, id), unless that is the order already."""
    for a in range(1, len(order)):
        if comes_before(values[a], order[a], values[a - 1], order[a - 1]):
            sort_kept(values.reshape(1, -1), order.reshape(1, -1))
            return
