"""Slow twin of the owner kernel: every sample there is, one after the other."""

from itertools import combinations
from math import comb

import numpy as np


def owners(D, samples):
    """Fraction of the samples in which each fitted point is the nearest to each row of D (n, m)."""
    K = np.zeros(D.shape)
    for sample in samples:
        for i in range(len(D)):
            K[i, min(sample, key=lambda z: (D[i, z], z))] += 1
    return K / len(samples)


def expected_owners(D, psi):
    """The same over all samples of psi of the m fitted points."""
    return owners(D, list(combinations(range(D.shape[1]), psi)))


def smoothed_law(distances, law):
    """The law at ranks in which a point counts by how much nearer it is, interpolated."""
    weights = np.zeros(distances.shape)
    for i, row in enumerate(distances):
        for j in range(len(row)):
            rank = sum(1 / (1 + (other / row[j]) ** 16) for other in np.delete(row, j))
            weights[i, j] = np.interp(rank, np.arange(len(law)), law)
    return weights


def scaled_orders(D, n_ranked, exponent):
    """The others of each point, with its n_ranked nearest in the order of scaled distances."""
    n = len(D)
    orders = [sorted((j for j in range(n) if j != i), key=lambda j, i=i: D[i, j]) for i in range(n)]
    spreads = [np.mean([D[i, j] for j in orders[i][:n_ranked]]) for i in range(n)]
    for i, order in enumerate(orders):
        order[:n_ranked] = sorted(
            order[:n_ranked], key=lambda j, i=i: D[i, j] ** 2 / spreads[j] ** exponent
        )
    return orders


def rows_of_ranks(D, psis, n_ranked):
    """p_{j|i} of the owner kernel over the n_ranked nearest of each point, mean over the scales."""
    n = len(D)
    rows = np.zeros((n, n))
    for i in range(n):
        order = sorted((j for j in range(n) if j != i), key=lambda j, i=i: D[i, j])[:n_ranked]
        for psi in psis:
            law = [comb(n - 1 - a, psi - 1) for a in range(1, len(order) + 1)]
            for j, share in zip(order, law, strict=True):
                rows[i, j] += share / sum(law) / len(psis)
    return rows


def rows_with_labels(D, own, labels, weight):
    """Rows of which a share goes to the class of the point, by cells of 2, 3, .. of its points."""
    rows = own.copy()
    for label in set(labels.tolist()) - {-1}:
        members = np.flatnonzero(labels == label)
        sizes = [s for s in (2, 3, 4, 6, 8, 12, 16, 24) if s <= len(members) / 4] or [2]
        psis = [min(max(2, round(len(members) / s)), len(members) - 1) for s in sizes]
        same = rows_of_ranks(D[np.ix_(members, members)], psis, len(members) - 1)
        rows[members] *= 1 - weight
        rows[np.ix_(members, members)] += weight * same
    return rows
