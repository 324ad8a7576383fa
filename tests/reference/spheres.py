"""The score of the isolation distributional kernel, from its definition."""

import numpy as np


def sphere_of(x, sample):
    """Return the index of the sphere that holds x, or None.

    The sphere of a sampled point reaches to the nearest other sampled point.
    """
    distances = [np.sqrt(((x - z) ** 2).sum()) for z in sample]
    nearest = int(np.argmin(distances))
    others = [z for c, z in enumerate(sample) if c != nearest]
    radius = min(np.sqrt(((sample[nearest] - z) ** 2).sum()) for z in others)
    return nearest if distances[nearest] <= radius else None


def scores(A, X, samples):
    """The mean over the samples of the share of X in the sphere of each row of A."""
    found = np.zeros(len(A))
    for ids in samples:
        sample = X[ids]
        of_data = [sphere_of(x, sample) for x in X]
        for i, a in enumerate(A):
            sphere = sphere_of(a, sample)
            if sphere is not None:
                found[i] += of_data.count(sphere) / len(X)
    return found / len(samples)


def similarity(A, B, X, samples):
    """The share of the samples of X in which two points are in the same sphere."""
    K = np.zeros((len(A), len(B)))
    for ids in samples:
        left, right = ([sphere_of(x, X[ids]) for x in points] for points in (A, B))
        K += [[a is not None and a == b for b in right] for a in left]
    return K / len(samples)
