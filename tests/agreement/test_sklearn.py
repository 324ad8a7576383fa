"""scikit-learn, which was written by others, finds the same."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.manifold._utils import _binary_search_perplexity
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from isosne import GaussianKernel, IsolationKernel, nearest_neighbors


def wine():
    X = load_wine().data
    return (X - X.mean(axis=0)) / X.std(axis=0)


def digits():
    return np.unique(load_digits().data[:400], axis=0)


@pytest.mark.parametrize("perplexity", [5, 30, 100])
@pytest.mark.parametrize("load", [wine, digits])
def test_gaussian_rows_are_the_conditional_probabilities_of_scikit_learn(load, perplexity):
    X = load()
    n = len(X)
    sq = pairwise_distances(X, metric="sqeuclidean").astype(np.float32)
    expected = _binary_search_perplexity(sq, perplexity, 0)
    P = GaussianKernel(perplexity).fit(X).rows().block(slice(0, n))[0].astype(np.float64)
    np.fill_diagonal(P, 0)
    P /= P.sum(axis=1, keepdims=True)
    # Its bisection stops within 1e-5 nats of the entropy, ours within 5e-5.
    np.testing.assert_allclose(P, expected, atol=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("load", [wine, digits])
def test_neighbors_are_as_far_as_those_of_scikit_learn(load, dtype, metric):
    X = load().astype(dtype)
    found = nearest_neighbors(X, 15, metric=metric)
    search = NearestNeighbors(n_neighbors=15, metric=metric, algorithm="brute")
    expected, _ = search.fit(X.astype(np.float64)).kneighbors()
    # Distances in float32; cosine distances of float32 rows are right to about 1e-7.
    np.testing.assert_allclose(found.distances, expected, 1e-5, 1e-6)


def test_neighbors_of_standardized_wine_are_those_of_scikit_learn():
    X = wine()
    _, expected = NearestNeighbors(n_neighbors=20, algorithm="brute").fit(X).kneighbors()
    np.testing.assert_array_equal(nearest_neighbors(X, 20).indices, expected)


def test_forest_cells_resemble_the_leaves_of_scikit_learns_isolation_trees():
    X = wine()
    psi, t = 8, 400
    ours = IsolationKernel(psi, n_partitions=t, partition="forest", random_state=0).fit(X)
    forest = IsolationForest(n_estimators=t, max_samples=psi, random_state=0).fit(X)
    leaves = np.column_stack(
        [
            tree.apply(X.astype(np.float32)[:, columns])
            for tree, columns in zip(forest.estimators_, forest.estimators_features_, strict=True)
        ]
    )
    theirs = np.mean(leaves[:, None] == leaves, axis=2)
    off = ~np.eye(len(X), dtype=bool)
    # Their trees stop at depth ceil(log2 psi) = 3, so leaves are larger; the order is much alike.
    assert np.corrcoef(ours.similarity()[off], theirs[off])[0, 1] > 0.9
    assert theirs[off].mean() > ours.similarity()[off].mean()
