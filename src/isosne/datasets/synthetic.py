"""The paper's simulated data: Gaussian clusters in subspaces that intersect at the origin.

Each function returns ``X, y``. The first point is the origin, which several clusters share; the
paper marks it with a cross. It has the label of one of these clusters.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._random import RandomState, as_generator

FIVE_MEANS = (0, 0, 0, 400, 500)
"""Means of the five clusters in their own dimensions (Table 1)."""

Labeled = tuple[NDArray[np.float64], NDArray[np.int64]]


def make_five_clusters(
    *, dimension: int = 10, n_each: int = 250, random_state: RandomState = None
) -> Labeled:
    """Generate five clusters, each in its own dimensions (Table 1, App. C).

    Parameters
    ----------
    dimension : int, default=10
        Number of dimensions of each cluster; X has five times as many.
    n_each : int, default=250
        Number of points per cluster.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (5 * n_each, 5 * dimension)
        Points. In its own dimensions, cluster i has standard deviation i^2; clusters 1 to 3 have
        mean 0, clusters 4 and 5 have means 400 and 500.
    y : array of int, shape (5 * n_each,)
        Cluster of each point, from 0 to 4.

    Examples
    --------
    >>> from isosne.datasets import make_five_clusters
    >>> X, y = make_five_clusters(n_each=20, random_state=0)
    >>> X.shape
    (100, 50)
    """
    check_count(dimension, "dimension", low=1, hint="The paper uses 10.")
    check_count(n_each, "n_each", low=2, hint="The paper uses 250.")
    rng = as_generator(random_state)
    X = np.zeros((5 * n_each, 5 * dimension))
    y = np.repeat(np.arange(5), n_each)
    for c, mean in enumerate(FIVE_MEANS):
        own = slice(c * dimension, (c + 1) * dimension)
        X[y == c, own] = rng.normal(mean, (c + 1.0) ** 2, (n_each, dimension))
    X[0] = 0
    return X, y


def make_two_clusters(*, n_each: int = 500, random_state: RandomState = None) -> Labeled:
    """Generate two clusters of equal density, each in 100 of 200 dimensions (Table 2).

    Parameters
    ----------
    n_each : int, default=500
        Number of points per cluster.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (2 * n_each, 200)
        Points.
    y : array of int, shape (2 * n_each,)
        Cluster of each point, 0 or 1.

    Examples
    --------
    >>> from isosne.datasets import make_two_clusters
    >>> make_two_clusters(n_each=20, random_state=0)[0].shape
    (40, 200)
    """
    check_count(n_each, "n_each", low=2, hint="The paper uses 500.")
    rng = as_generator(random_state)
    X = np.zeros((2 * n_each, 200))
    y = np.repeat([0, 1], n_each)
    X[:n_each, :100] = rng.normal(size=(n_each, 100))
    X[n_each:, 100:] = rng.normal(size=(n_each, 100))
    X[0] = 0
    return X, y


def make_shared_clusters(*, random_state: RandomState = None) -> Labeled:
    """Generate three clusters in 100 dimensions that share two attributes (App. A).

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (1020, 100)
        Points. Cluster 1 uses attributes 1 to 51, cluster 2 attributes 50 to 100. Cluster 3 has 20
        points and uses attributes 50 and 51. The first point is the origin, in cluster 3.
    y : array of int, shape (1020,)
        Cluster of each point, from 0 to 2.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.datasets import make_shared_clusters
    >>> X, y = make_shared_clusters(random_state=0)
    >>> np.bincount(y).tolist()
    [500, 500, 20]
    """
    rng = as_generator(random_state)
    X = np.zeros((1020, 100))
    y = np.repeat([2, 0, 1], [20, 500, 500])
    X[y == 0, :51] = rng.normal(size=(500, 51))
    X[y == 1, 49:] = rng.normal(size=(500, 51))
    X[y == 2, 49:51] = rng.normal(size=(20, 2))
    X[0] = 0
    return X, y
