"""Weights of rows: a row of weight w stands for w copies of itself (docs/weights.md).

The neighbors of a row are then its own other copies, at distance zero, and the copies of the other
rows: a neighbor takes as many consecutive ranks as it has copies, and the share of these ranks in
the law of ranks. Weights need not be integers: the law is interpolated between ranks.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Neighbors
from isosne.errors import DataError, ParameterError, show
from isosne.kernels.ownership import LISTED, LONGEST_LIST, SMOOTHING, mean_law

LARGEST_MEAN = 10_000
"""Largest mean weight: tables of the law have up to 90 ranks per unit of it (chosen)."""
ROWS = 1024
"""Rows per block (chosen)."""


def as_weights(sample_weight: Any, n_points: int) -> NDArray[np.float64] | None:
    """Return the weights of the rows; None if all are 1."""
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, np.float64)
    except (TypeError, ValueError):
        weights = np.empty(())
    if weights.shape != (n_points,):
        raise DataError(
            f"sample_weight must hold one number per row, shape ({n_points},); got "
            f"{show(sample_weight)}. Pass the number of rows that each row stands for."
        )
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise DataError(
            "sample_weight must be finite and positive; got other numbers. Leave out rows of "
            "weight 0."
        )
    mean = math.fsum(weights) / n_points
    if not 1 - 1e-6 <= mean <= LARGEST_MEAN:
        hint = "Divide the weights by a number: their ratios matter most."
        rule = f"have a mean from 1 to {LARGEST_MEAN:,}, as a row stands for that many rows"
        raise ParameterError("sample_weight", rule, f"a mean of {mean:.3g}", hint)
    return None if (weights == 1).all() else weights


class CopyLaw:
    """The owner kernel of copies of rows: law of ranks, spreads and probabilities.

    weights (n,): copies of each row; psis: cells per partitioning at the scales with lists.
    """

    def __init__(self, weights: NDArray[np.float64], psis: tuple[int, ...]) -> None:
        self._weights, self._psis = weights, psis
        self._n_copies = math.fsum(weights)
        n_others = math.floor(self._n_copies - 1)
        longest = math.ceil(LISTED * self._n_copies / min(psis)) if psis else 1
        self._n_ranks = min(n_others, longest) if n_others > LONGEST_LIST else n_others

    def mean_distances(self, neighbors: Neighbors) -> NDArray[np.float64]:
        """Return the mean distance (n,) of each copy to the others on its list."""
        means = np.empty(len(self._weights))
        average_copies(*neighbors, self._weights, self._n_ranks, means)
        return means

    def near_rows(self, neighbors: Neighbors, spreads: Array | None) -> NDArray[np.float32]:
        """Return the probabilities (n, k) of the neighbors, but that of a row's own copies."""
        weights, rows = self._weights, np.empty(neighbors.indices.shape, np.float32)
        law, values = self._cumulative(1), np.ones(len(weights), np.float32)
        values = values if spreads is None else spreads

        def work(block: slice) -> None:
            lists = neighbors.distances[block], neighbors.indices[block], weights[block]
            fill_by_copies(*lists, values, weights, law, rows[block])

        for_each_block(len(rows), ROWS, work)
        return rows

    def toward(self, lengths: Array, ids: Array) -> NDArray[np.float32]:
        """Return the weights (m, k) of the neighbors of new points at some distances."""
        rows = np.empty(ids.shape, np.float32)
        weigh_copies(lengths, self._weights[ids], self._cumulative(0), rows)
        return rows

    def _cumulative(self, first: int) -> NDArray[np.float64]:
        """Return the mean law, summed over the ranks from the first on."""
        ranks = slice(first, first + self._n_ranks)
        return np.r_[0.0, np.cumsum(mean_law(self._psis, self._n_copies, ranks))]


@kernel
def at_rank(law: Array, rank: float) -> float:
    """Return a cumulative law at a rank, interpolated."""
    a = min(int(rank), len(law) - 2)
    return law[a] + min(rank - a, 1.0) * (law[a + 1] - law[a])


@kernel
def take_ranks(ids: Array, own: float, weights: Array, n_ranks: int, taken: Array) -> float:
    """Fill taken (k,) with the ranks of each neighbor up to n_ranks; return those of own copies."""
    kept = min(max(own - 1.0, 0.0), float(n_ranks))
    left = n_ranks - kept
    for q in range(len(ids)):
        taken[q] = min(weights[ids[q]], left)
        left -= taken[q]
    return kept


@kernel
def average_copies(
    ids: Array, distances: Array, weights: Array, n_ranks: int, means: Array
) -> None:
    """Fill means (n,) with the mean distance of a copy to the others of its first n_ranks."""
    taken = np.empty(ids.shape[1])
    for i in range(len(ids)):
        n_taken = take_ranks(ids[i], weights[i], weights, n_ranks, taken)
        total = 0.0
        for q in range(len(taken)):
            total += taken[q] * np.float64(distances[i, q])
            n_taken += taken[q]
        means[i] = total / n_taken


@kernel
def fill_by_copies(
    distances: Array,
    ids: Array,
    own: Array,
    spreads: Array,
    weights: Array,
    law: Array,
    rows: Array,
) -> None:
    """Fill rows (n, k) with the law of the ranks of each neighbor, by distance^2 over spread."""
    k = ids.shape[1]
    scaled, taken = np.empty(k), np.empty(k)
    for i in range(len(ids)):
        kept = take_ranks(ids[i], own[i], weights, len(law) - 1, taken)
        for q in range(k):
            distance = np.float64(distances[i, q])
            scaled[q] = distance * distance / np.float64(spreads[ids[i, q]])
        whole = at_rank(law, kept + taken.sum())
        for q in range(k):
            rank = kept
            for e in range(k):  # of equal ones, the first wins
                is_before = scaled[e] < scaled[q] or (scaled[e] == scaled[q] and e < q)
                rank += taken[e] if is_before else 0.0
            share = at_rank(law, rank + taken[q]) - at_rank(law, rank)
            rows[i, q] = share / whole if whole > 0 else 0.0


@parallel_kernel
def weigh_copies(distances: Array, copies: Array, law: Array, rows: Array) -> None:
    """Fill rows (m, k) like `ownership.weigh_smoothly`, for neighbors with some copies each."""
    m, k = distances.shape
    for i in prange(m):
        powers = np.empty(k)
        largest = np.float64(distances[i].max())
        for j in range(k):
            ratio = np.float64(distances[i, j]) / largest if largest > 0 else 0.0
            powers[j] = (ratio * ratio) ** SMOOTHING
        for j in range(k):
            rank = -0.5 * copies[i, j]  # a point is not compared with itself
            for other in range(k):
                both = powers[j] + powers[other]
                rank += copies[i, other] * (powers[j] / both if both > 0 else 0.5)
            rank = max(rank, 0.0)
            rows[i, j] = at_rank(law, rank + copies[i, j]) - at_rank(law, rank)
