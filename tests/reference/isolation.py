"""Slow twins of the isolation kernel, from the equations."""

from itertools import combinations

import numpy as np


def cells(D, samples):
    """Cell of each point in each partitioning: the nearest sampled point, ties to the lowest.

    D (n, n_fitted) distances to the fitted points; samples: ascending ids for each partitioning.
    """
    found = np.empty((len(D), len(samples)), int)
    for p, sample in enumerate(samples):
        for i in range(len(D)):
            found[i, p] = np.argmin([D[i, z] for z in sample])
    return found


def similarity(D, samples, D_other=None):
    """Eq. 7, word for word: the share of partitionings in which two points share a cell."""
    left = cells(D, samples)
    right = left if D_other is None else cells(D_other, samples)
    K = np.zeros((len(left), len(right)))
    for p in range(len(samples)):
        K += np.equal.outer(left[:, p], right[:, p])
    return K / len(samples)


def expected_similarity(D, psi, D_other=None):
    """Eq. 6: the expectation over every sample of psi fitted points there is."""
    return similarity(D, list(combinations(range(D.shape[1]), psi)), D_other)
