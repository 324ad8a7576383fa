"""Weights of rows: a row of weight w stands for w copies of itself (docs/weights.md).

The neighbors of a row are then its own other copies, at distance zero, and the copies of the other
rows: a neighbor takes as many consecutive ranks as it has copies, and the share of these ranks in
the law of ranks. Weights need not be integers: the law is interpolated between ranks.
"""

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._types import Array, Neighbors
from isosne.errors import DataError, keyword
from isosne.kernels.ownership import LISTED, LONGEST_LIST, mean_law

LARGEST_MEAN = 10_000
"""Largest mean weight: the law has up to 90 ranks per unit of it in memory (chosen)."""
ROWS = 1024
"""Rows per block (chosen)."""


def as_weights(sample_weight: Any, n_points: int) -> NDArray[np.float64] | None:
    """Return the weights of the rows; None if all are 1."""
    if sample_weight is None:
        return None
    weights = given = np.asarray(sample_weight)
    got = f"{given.dtype} of shape {given.shape}"
    with suppress(TypeError, ValueError):
        weights = given.astype(np.float64)
    if weights.shape == (n_points,) and weights.dtype == np.float64:
        mean = math.fsum(weights) / n_points if weights.min() > 0 else np.nan
        if 1 - 1e-6 <= mean <= LARGEST_MEAN:
            return None if (weights == 1).all() else weights
        got = f"a smallest of {weights.min():.3g} and a mean of {weights.mean():.3g}"
    raise DataError(
        f"{keyword('sample_weight')} must hold {n_points} positive numbers with a mean from 1 to "
        f"{LARGEST_MEAN:,}; got {got}. Pass the number of rows that each row stands for."
    )


class CopyLaw:
    """The owner kernel of copies of rows: law of ranks, spreads and probabilities.

    weights (n,): copies of each row; psis: cells per partitioning at the scales with lists.
    """

    def __init__(self, weights: NDArray[np.float64], psis: tuple[int, ...]) -> None:
        self._weights, self._psis = weights, psis
        self._n_copies = math.fsum(weights)
        n_others = math.floor(self._n_copies - 1)
        longest = math.ceil(LISTED * self._n_copies / min(psis)) if psis else 1
        self.n_ranks = min(n_others, longest) if n_others > LONGEST_LIST else n_others

    def mean_distances(self, neighbors: Neighbors) -> NDArray[np.float64]:
        """Return the mean distance (n,) of each copy to the others on its list."""
        means = np.empty(len(self._weights))

        def work(block: slice) -> None:
            own, taken = self._ranks(neighbors.indices[block], block)
            # Sums of NumPy depend on the CPU; cumulative ones do not.
            sums = np.cumsum(taken * neighbors.distances[block], axis=1)[:, -1]
            means[block] = sums / (own + np.cumsum(taken, axis=1)[:, -1])

        for_each_block(len(means), ROWS, work)
        return means

    def near_rows(self, neighbors: Neighbors, spreads: Array | None) -> NDArray[np.float32]:
        """Return the probabilities (n, k) of the neighbors; a row lacks that of its own copies."""
        rows, law = np.empty(neighbors.indices.shape, np.float32), self._cumulative(1)

        def work(block: slice) -> None:
            ids, scaled = neighbors.indices[block], neighbors.distances[block].astype(np.float64)
            scaled = scaled**2 if spreads is None else scaled**2 / spreads[ids].astype(np.float64)
            order = np.argsort(scaled, axis=1, kind="stable")
            own, taken = self._ranks(ids, block)
            taken = np.take_along_axis(taken, order, axis=1)
            ends = own[:, None] + np.cumsum(taken, axis=1)
            whole = at_ranks(law, ends[:, -1:])
            shares = (at_ranks(law, ends) - at_ranks(law, ends - taken)) / np.where(whole, whole, 1)
            np.put_along_axis(rows[block], order, shares.astype(np.float32), axis=1)

        for_each_block(len(rows), ROWS, work)
        return rows

    def toward(self, lengths: Array, ids: Array) -> NDArray[np.float32]:
        """Return weights (m, k) of the neighbors of new points, as `weigh_smoothly` does."""
        largest = lengths.max(axis=1, keepdims=True)
        powers = lengths / np.where(largest, largest, 1)
        for _ in range(4):  # 16th power
            powers = powers * powers
        copies = self._weights[ids]
        ranks = -0.5 * copies  # a point is not compared with itself
        for power, n_copies in zip(powers.T[:, :, None], copies.T[:, :, None], strict=True):
            both = powers + power
            ranks += n_copies * np.where(both, powers / np.where(both, both, 1), 0.5)
        law, ranks = self._cumulative(0), np.maximum(ranks, 0)
        return (at_ranks(law, ranks + copies) - at_ranks(law, ranks)).astype(np.float32)

    def _ranks(self, ids: Array, block: slice) -> tuple[Array, Array]:
        """Return the ranks of own copies (n,) and of neighbors (n, k), as far as there are any."""
        own, copies = np.clip(self._weights[block] - 1, 0, self.n_ranks), self._weights[ids]
        before = own[:, None] + np.cumsum(copies, axis=1) - copies
        return own, np.clip(self.n_ranks - before, 0, copies)

    def _cumulative(self, first: int) -> NDArray[np.float64]:
        """Return the mean law, summed over the ranks from the first on."""
        ranks = slice(first, first + self.n_ranks)
        law = np.cumsum(mean_law(self._psis, self._n_copies, ranks))
        return np.concatenate([[0.0], law])


def at_ranks(law: Array, ranks: Array) -> Array:
    """Return a cumulative law at some ranks, interpolated; its last value beyond."""
    whole = np.minimum(ranks.astype(np.int64), len(law) - 2)
    found: Array = law[whole] + np.minimum(ranks - whole, 1) * (law[whole + 1] - law[whole])
    return found
