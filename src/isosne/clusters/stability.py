"""Agreement of repeated clusterings: adjusted Rand index, and Jaccard index per cluster."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from isosne._types import Array


def mean_agreement(runs: list[Array]) -> float:
    """Return the mean adjusted Rand index over all pairs of clusterings."""
    return float(np.mean([adjusted_rand_score(a, b) for a, b in combinations(runs, 2)]))


def best_jaccard(labels: Array, others: list[Array]) -> NDArray[np.float64]:
    """Return for each cluster the largest Jaccard index in another clustering, on average.

    The Jaccard index of two clusters is the number of common members, divided by the number of
    points that belong to either.
    """
    found = [_jaccard(labels, other).max(axis=1) for other in others]
    mean: NDArray[np.float64] = np.mean(found, axis=0)
    return mean


def _jaccard(labels: Array, other: Array) -> NDArray[np.float64]:
    """Return the Jaccard index of each cluster of one clustering with each of another."""
    shape = int(labels.max()) + 1, int(other.max()) + 1
    pairs = labels.astype(np.int64) * shape[1] + other
    common = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
    either = common.sum(axis=1, keepdims=True) + common.sum(axis=0) - common
    shares: NDArray[np.float64] = common / either
    return shares
