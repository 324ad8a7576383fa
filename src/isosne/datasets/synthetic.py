"""The paper's simulations: Gaussian clusters in subspaces that meet at the origin.

Each function returns ``X, y``. The first point is the origin itself, which several clusters share:
the point that the paper marks with a cross. It carries the label of one of them.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._random import RandomState, as_generator

Labeled = tuple[NDArray[np.float64], NDArray[np.int64]]


def make_five_clusters(
    *, n_each: int = 250, demo_deviations: bool = False, random_state: RandomState = None
) -> Labeled:
    """Return five clusters, each in 10 of 50 dimensions of its own (Table 1).

    Parameters
    ----------
    n_each : int, default=250
        Points in a cluster.
    demo_deviations : bool, default=False
        Whether cluster i has standard deviation i^4, as in the authors' demo, instead of i^2, as
        the text's variances 1, 16, 81, 256, 625 ask for.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (5 * n_each, 50)
        Clusters 1 to 3 have mean 0, clusters 4 and 5 mean 400 and 500 in their dimensions.
    y : array of int
        The cluster, from 0 to 4.
    """
    return make_growing_clusters(
        10, n_each=n_each, demo_deviations=demo_deviations, random_state=random_state
    )


def make_growing_clusters(
    dimension: int,
    *,
    n_each: int = 250,
    demo_deviations: bool = False,
    random_state: RandomState = None,
) -> Labeled:
    """Return the five clusters with a subspace of any dimension (App. C).

    Parameters
    ----------
    dimension : int
        Dimensions of each cluster; X has five times as many.
    n_each : int, default=250
        Points in a cluster.
    demo_deviations : bool, default=False
        Standard deviations i^4 instead of i^2.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (5 * n_each, 5 * dimension)
        The points.
    y : array of int
        The cluster, from 0 to 4.
    """
    check_count(dimension, "dimension", low=1, hint="The paper has 10.")
    check_count(n_each, "n_each", low=2, hint="The paper has 250.")
    rng = as_generator(random_state)
    X = np.zeros((5 * n_each, 5 * dimension))
    y = np.repeat(np.arange(5), n_each)
    for c, mean in enumerate([0, 0, 0, 400, 500]):
        own = slice(c * dimension, (c + 1) * dimension)
        deviation = (c + 1.0) ** (4 if demo_deviations else 2)
        X[y == c, own] = rng.normal(mean, deviation, (n_each, dimension))
    X[0] = 0
    return X, y


def make_two_clusters(*, n_each: int = 500, random_state: RandomState = None) -> Labeled:
    """Return two clusters of equal density, each in 100 of 200 dimensions (Table 2).

    Parameters
    ----------
    n_each : int, default=500
        Points in a cluster.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (2 * n_each, 200)
        The points.
    y : array of int
        The cluster, 0 or 1.
    """
    check_count(n_each, "n_each", low=2, hint="The paper has 500.")
    rng = as_generator(random_state)
    X = np.zeros((2 * n_each, 200))
    y = np.repeat([0, 1], n_each)
    X[:n_each, :100] = rng.normal(size=(n_each, 100))
    X[n_each:, 100:] = rng.normal(size=(n_each, 100))
    X[0] = 0
    return X, y


def make_shared_clusters(*, random_state: RandomState = None) -> Labeled:
    """Return three clusters in 100 dimensions that share two attributes (App. A).

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (1020, 100)
        Cluster 1 fills attributes 1 to 51, cluster 2 attributes 50 to 100, cluster 3, of 20
        points, attributes 50 and 51. The first point is the origin and belongs to cluster 3.
    y : array of int
        The cluster, from 0 to 2.
    """
    rng = as_generator(random_state)
    X = np.zeros((1020, 100))
    y = np.repeat([2, 0, 1], [20, 500, 500])
    X[y == 0, :51] = rng.normal(size=(500, 51))
    X[y == 1, 49:] = rng.normal(size=(500, 51))
    X[y == 2, 49:51] = rng.normal(size=(20, 2))
    X[0] = 0
    return X, y
