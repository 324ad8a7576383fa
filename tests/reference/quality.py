"""Quality of a map by definition: R_NX and its area, Davies-Bouldin and Calinski-Harabasz."""

import numpy as np
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score


def ranks(points):
    """Return the rank of each point among the neighbors of each other one; 0 is the point."""
    points = np.asarray(points, np.float64)
    sq_dist = ((points[:, None] - points) ** 2).sum(axis=2)
    np.fill_diagonal(sq_dist, -1)
    order = np.argsort(sq_dist, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(points))[None], axis=1)
    return rank


def r_nx(X, Y):
    """Return R_NX(k) for k = 1..n-2: the share of k neighbors kept, less what chance would keep.

    Q_NX(k) is the part of the co-ranking matrix with both ranks at most k, divided by n k.
    """
    n = len(X)
    co_ranking = np.zeros((n, n), int)
    np.add.at(co_ranking, (ranks(X), ranks(Y)), 1)
    k = np.arange(1, n - 1)
    kept = co_ranking[1:, 1:].cumsum(axis=0).cumsum(axis=1).diagonal()[: n - 2]
    q_nx = kept / (n * k)
    return ((n - 1) * q_nx - k) / (n - 1 - k)


def auc_rnx(X, Y):
    """Return the mean of R_NX(k) over k = 1..n-2 with weights 1/k."""
    weights = 1 / np.arange(1, len(X) - 1)
    return (weights * r_nx(X, Y)).sum() / weights.sum()


def scaled(Y):
    """Return the map with each axis scaled to 0..1."""
    Y = np.asarray(Y, np.float64)
    return (Y - Y.min(axis=0)) / np.ptp(Y, axis=0)


def davies_bouldin(Y, labels):
    return davies_bouldin_score(scaled(Y), labels)


def calinski_harabasz(Y, labels):
    return calinski_harabasz_score(scaled(Y), labels)
