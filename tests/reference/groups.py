"""The isolation distributional kernel, from the similarities of all pairs of rows."""

import numpy as np


def similarity(K, groups):
    """K(S, T) / sqrt(K(S, S) K(T, T)), K(S, T) the mean similarity of a row of S to one of T.

    K: similarities of all rows; groups: the rows of each group.
    """
    means = np.array([[K[np.ix_(S, T)].mean() for T in groups] for S in groups])
    return means / np.sqrt(np.outer(np.diagonal(means), np.diagonal(means)))
