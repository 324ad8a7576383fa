"""Slow twins of the Gaussian kernels, from the equations."""

import numpy as np


def row_probabilities(sq, precision):
    """Eq. 2 for one row of squared distances to others."""
    weights = np.exp(-precision * (sq - sq.min()))
    return weights / weights.sum()


def perplexity(probabilities):
    """Eq. 5: e to the entropy."""
    some = probabilities[probabilities > 0]
    return np.exp(-(some * np.log(some)).sum())


def precision_for(sq, wanted):
    """Find 1 / (2 sigma^2) by bisection on its logarithm (Eq. 4 and 5), to machine accuracy."""
    low, high = -150.0, 150.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if perplexity(row_probabilities(sq, np.exp(middle))) > wanted:
            low = middle
        else:
            high = middle
    return np.exp(0.5 * (low + high))


def bandwidths(D, wanted, *, own):
    """Standard deviation of each row; own: row i is point i, which is left out of it."""
    precisions = [
        precision_for(np.delete(row, i) ** 2 if own else row**2, wanted) for i, row in enumerate(D)
    ]
    return np.sqrt(0.5 / np.array(precisions))


def conditional(D, wanted):
    """Eq. 2: probabilities of the others in each row, zero on the diagonal."""
    P = np.zeros(D.shape)
    for i, row in enumerate(D):
        sq = np.delete(row, i) ** 2
        P[i, np.arange(len(row)) != i] = row_probabilities(sq, precision_for(sq, wanted))
    return P


def similarity(D, sigma):
    """Eq. 1 with the bandwidth of the row."""
    return np.exp(-(D**2) / (2 * sigma[:, None] ** 2))


def radii(D, k, *, own):
    """Distance of each row to its k-th nearest column, itself left out if own."""
    return np.array([np.sort(np.delete(row, i) if own else row)[k - 1] for i, row in enumerate(D)])


def adaptive(D, row_radii, column_radii):
    """App. D: the product of the two radii is the bandwidth."""
    return np.exp(-(D**2) / np.outer(row_radii, column_radii))


def knn(D, k):
    """App. D: one for the k nearest others, and for the point itself."""
    K = np.eye(len(D))
    for i, row in enumerate(D):
        others = [j for j in np.argsort(row, kind="stable") if j != i]
        K[i, others[:k]] = 1
    return K
