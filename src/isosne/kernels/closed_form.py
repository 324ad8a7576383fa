"""The isolation kernel without sampling: the expectation of Eq. 6 in closed form.

Rank the n fitted points by distance from x and from y. Points x and y share the cell of a fitted
point z exactly if z is sampled and none of the r points nearer than z to x or to y is. For psi of n
points drawn without replacement, this has probability ``C(n - 1 - r, psi - 1) / C(n, psi)``; the
kernel is the sum over z. If z has rank a from x and rank b from y, then
``r = a + b - #{points nearer than z to both}``.

Only the first L ranks from x and y are used. The truncation error is at most the probability that
none of the L points nearest to x is sampled, plus the same for y; `list_length` bounds it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import nearest, with_self
from isosne.neighbors.metric import Metric

TOLERANCE = 1e-6
"""Largest truncation error of a similarity (docs/decisions/0002)."""
BLOCK_PAIRS = 2**15
"""Pairs per block (chosen); blocks of a triangle differ in work, so there are many."""


class ClosedForm:
    """The expectation of Eq. 6; points are described by the fitted points nearest to them."""

    def __init__(self, fitted: Points, metric: Metric, psis: tuple[int, ...]) -> None:
        self._fitted, self._metric, self._psis = fitted, metric, psis

    def describe(self, points: Points) -> list[Array]:
        length = list_length(self._fitted.shape[0], min(self._psis))
        ids, _ = nearest(points, search_set(self._fitted, self._metric), length)
        return [ids]

    def comparison(self, described: list[Array]) -> Callable[[list[Array]], NDArray[np.float32]]:
        n = self._fitted.shape[0]
        return lambda others: all_pairs(others[0], described[0], self._psis, n)

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        lists = with_self(neighbors)
        return listed_pairs(lists, partners, lists, self._psis)

    def toward(self, neighbors: Neighbors | None) -> NeighborSimilarity:
        assert neighbors is not None  # `uses_fitted_lists` asks for them
        lists = with_self(neighbors)
        return lambda points, ids, distances: listed_pairs(ids, ids, lists, self._psis)


def rank_weights(n_samples: int, psi: int, n_ranks: int) -> NDArray[np.float64]:
    """Return the probability that a point is sampled and r given others are not, r < n_ranks."""
    r = np.arange(n_ranks - 1)
    ratios = (n_samples - psi - r) / (n_samples - 1 - r)
    factors = np.r_[psi / n_samples, np.maximum(ratios, 0)]  # r = 0: the point itself is sampled
    return np.cumprod(factors, dtype=np.float64)


def list_length(n_samples: int, psi: int) -> int:
    """Return the list length that keeps the truncation error within TOLERANCE."""
    r = np.arange(n_samples - psi + 1)  # at least one of n - psi + 1 points is sampled
    none_sampled = np.cumprod((n_samples - psi - r) / (n_samples - r))
    return int(np.searchsorted(-none_sampled, -TOLERANCE / 2)) + 1  # half for each of two lists


def all_pairs(
    A: NDArray[np.int32], B: NDArray[np.int32], psis: tuple[int, ...], n_samples: int
) -> NDArray[np.float32]:
    """Return the similarity (n_scales, n, m) of all pairs of points with lists A and B.

    A (n, L) and B (m, L) list the fitted points nearest to each point, nearest first. If A is B,
    half of the pairs are computed. O(n m L) time for small L, O(n m L^2 / 512) for large L.
    """
    everyone = np.broadcast_to(np.arange(len(B), dtype=np.int32), (len(A), len(B)))
    K = listed_pairs(A, everyone, B, psis, n_samples, is_half=A is B)

    def mirror(rows: slice) -> None:  # from below the diagonal
        K[:, rows, rows.stop :] = K[:, rows.stop :, rows].transpose(0, 2, 1)
        for i in range(rows.start, rows.stop):
            K[:, i, i + 1 : rows.stop] = K[:, i + 1 : rows.stop, i]

    if A is B:
        for_each_block(len(A), 256, mirror)
    return K


def listed_pairs(
    own: Array,
    partners: Array,
    lists: Array,
    psis: tuple[int, ...],
    n_samples: int | None = None,
    *,
    is_half: bool = False,
) -> NDArray[np.float32]:
    """Return the similarity (n_scales, m, k) of points to their partners.

    own (m, L): the fitted points nearest to each point; lists (n, L): those nearest to each point
    that may be a partner, including itself if it is fitted; partners (m, k). n_samples: number of
    fitted points; None is n. is_half: only partners up to the point itself. O(m k L) time.
    """
    n_samples = n_samples or len(lists)
    n_ranks = min(2 * lists.shape[1], n_samples)  # r = a + b - n_both with a, b < L
    weights = np.stack([rank_weights(n_samples, psi, n_ranks) for psi in psis])
    K = np.empty((len(psis), *partners.shape), np.float32)

    def work(rows: slice) -> None:
        scratch = np.full(n_samples, -1, np.int32), empty_set(lists.shape[1])
        first = rows.start if is_half else -1
        rank_partners(own[rows], partners[rows], lists, weights, first, scratch, K[:, rows])

    for_each_block(len(partners), max(8, BLOCK_PAIRS // partners.shape[1]), work)
    return K


def empty_set(size: int) -> tuple[Array, Array, Array]:
    """Return an empty set of integers below `size`, as 64-bit words.

    Three arrays: the bits; the number of members below each word; the increments of these numbers
    for a new member in word w (row w).
    """
    # A multiple of 16 words, so that the loop over `below` runs in whole vectors.
    n_words = (size + 1023) // 1024 * 16
    dtype = np.uint16 if size < 2**16 else np.uint32
    steps = np.triu(np.ones((n_words, n_words), dtype), 1)
    return np.empty(n_words, np.uint64), np.empty(n_words, dtype), steps


@kernel
def rank_partners(
    own: Array,
    partners: Array,
    lists: Array,
    weights: Array,
    first: int,
    scratch: tuple[Array, Any],
    K: Array,
) -> None:
    """Fill K[s, i, q] for the point with list own[i] and its partners q; up to first + i if >= 0.

    scratch: an array (n_samples,) filled with -1, and an empty set; both are left as found.
    """
    sums = np.empty(len(weights))
    rank, met = scratch
    for i in range(partners.shape[0]):
        for a in range(own.shape[1]):
            rank[own[i, a]] = a
        n_partners = partners.shape[1] if first < 0 else first + i + 1
        for q in range(n_partners):
            sum_weights(lists[partners[i, q]], rank, weights, met, sums)
            for s in range(len(sums)):
                K[s, i, q] = sums[s]
        for a in range(own.shape[1]):  # reset only the entries that were set: O(L), not O(n)
            rank[own[i, a]] = -1


@kernel
def count_ones(word: np.uint64) -> int:
    """Count the set bits of a word. LLVM recognizes this form and emits one instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def sum_weights(
    listed: Array, rank: Array, weights: Array, met: tuple[Array, Array, Array], sums: Array
) -> None:
    """Sum the weights of the points in the list of y that are also in the list of x.

    The set holds the ranks from x of the points visited so far. Its members below a are the points
    nearer than the current one to both x and y.
    """
    bits, below, steps = met
    bits[:] = np.uint64(0)
    below[:] = 0
    sums[:] = 0.0
    for b in range(len(listed)):
        a = rank[listed[b]]
        if a < 0:  # not in the list of x: its weight is below the truncation error
            continue
        word = a >> 6  # 64 = 2^6 bits per word
        bit = np.uint64(1) << np.uint64(a & 63)
        n_both = int(below[word]) + count_ones(bits[word] & (bit - np.uint64(1)))
        r = a + b - n_both
        for s in range(len(sums)):
            sums[s] += weights[s, r]
        bits[word] |= bit
        # A vector addition updates all counts; cheaper than a Fenwick tree up to L of about 2000
        # (docs/decisions/0002).
        step = steps[word]
        for w in range(len(below)):
            below[w] += step[w]
