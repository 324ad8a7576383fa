"""Slow twin of the neighbor search: all distances, then a stable sort."""

import numpy as np


def distance(x, z, metric="euclidean", p=2.0):
    """One distance, from its definition."""
    x, z = np.asarray(x, np.float64), np.asarray(z, np.float64)
    if metric == "cosine":
        return 1 - (x @ z) / np.sqrt((x @ x) * (z @ z))
    if metric == "hamming":
        return np.mean(x != z)
    if metric == "chebyshev":
        return np.abs(x - z).max()
    power = {"euclidean": 2.0, "manhattan": 1.0, "minkowski": p}[metric]
    return (np.abs(x - z) ** power).sum() ** (1 / power)


def distances(A, B, metric="euclidean", p=2.0):
    """All distances of two sets of points; the points themselves are distances if precomputed."""
    if metric == "precomputed":
        return np.asarray(A, np.float64)
    if metric == "mahalanobis":  # of B, the fitted points
        inverse = np.linalg.inv(np.cov(np.asarray(B, np.float64).T))
        return np.array([[np.sqrt((a - b) @ inverse @ (a - b)) for b in B] for a in A])
    return np.array([[distance(a, b, metric, p) for b in B] for a in A])


def order(D):
    """Rank the columns of each row by distance; equal distances, lower index first."""
    return np.argsort(D, axis=1, kind="stable")


def nearest_neighbors(X, k, metric="euclidean", p=2.0):
    """Indices and distances of the k nearest others."""
    D = distances(X, X, metric, p)
    indices = np.array([[j for j in row if j != i][:k] for i, row in enumerate(order(D))])
    return indices, np.take_along_axis(D, indices, axis=1)
