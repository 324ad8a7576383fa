"""Modularity from its definition, and the best of all clusterings of a few points."""

import numpy as np


def modularity(P, resolution, labels):
    """The sum over pairs in the same cluster of p_ij less the resolution times p_i p_j."""
    P = P / P.sum()
    p = P.sum(axis=1)
    total = 0.0
    for i in range(len(P)):
        for j in range(len(P)):
            if labels[i] == labels[j]:
                total += P[i, j] - resolution * p[i] * p[j]
    return total


def clusterings(n):
    """Yield every clustering of n points, as labels that grow by at most one."""
    if n == 0:
        yield []
        return
    for labels in clusterings(n - 1):
        for c in range(max(labels, default=-1) + 2):
            yield [*labels, c]


def best_clustering(P, resolution):
    """Try all clusterings; return the highest modularity, and its labels."""
    values = ((modularity(P, resolution, labels), labels) for labels in clusterings(len(P)))
    return max(values, key=lambda pair: pair[0])


def mean_best_jaccard(labels, others):
    """For each cluster, the largest Jaccard index in another clustering, averaged over these."""
    found = []
    for c in range(max(labels) + 1):
        own = set(np.flatnonzero(labels == c))
        best = []
        for other in others:
            sets = [set(np.flatnonzero(other == d)) for d in range(max(other) + 1)]
            best.append(max(len(own & s) / len(own | s) for s in sets))
        found.append(np.mean(best))
    return np.array(found)
