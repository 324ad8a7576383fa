"""Measures of neighborhoods, word for word and pair by pair."""

import numpy as np


def distances(points):
    points = np.asarray(points, np.float64)
    return ((points[:, None] - points) ** 2).sum(axis=2)


def neighbor_ranks(D):
    """Return ranks (n, n): 1 for the nearest other point; equal distances, lower index first."""
    n = len(D)
    ranks = np.zeros((n, n), int)
    for i in range(n):
        others = sorted((D[i][j], j) for j in range(n) if j != i)
        for rank, (_, j) in enumerate(others, start=1):
            ranks[i, j] = rank
    return ranks


def overlap(in_data, in_map, k):
    """Return, for each point, how many of its k neighbors are its k neighbors in the map."""
    n = len(in_data)
    return [
        sum(in_data[i, j] <= k and in_map[i, j] <= k for j in range(n) if j != i) for i in range(n)
    ]


def r_nx(in_data, in_map, k):
    """Eq. 10."""
    n = len(in_data)
    q_nx = sum(overlap(in_data, in_map, k)) / (n * k)
    return ((n - 1) * q_nx - k) / (n - 1 - k)


def auc_rnx(in_data, in_map, ks):
    """Eq. 11."""
    return sum(r_nx(in_data, in_map, k) / k for k in ks) / sum(1 / k for k in ks)


def paper_ks(n):
    """Return 0.01 n, 0.03 n, ..., 0.99 n as whole numbers for which R(k) is defined."""
    return sorted({min(max(round(share * n / 100), 1), n - 2) for share in range(1, 100, 2)})


def excess(in_first, in_second, k):
    """Return, for each point, how far its k nearest in the second lie beyond k in the first.

    As a share of the worst case, in which they are the k farthest.
    """
    n = len(in_first)
    worst = sum(n - 1 - a - k for a in range(k))
    return [
        sum(max(in_first[i, j] - k, 0) for j in range(n) if j != i and in_second[i, j] <= k) / worst
        for i in range(n)
    ]
