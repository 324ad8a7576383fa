"""Sparse matrices of distances, such as ``adata.obsp["distances"]``: those to the neighbors."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import AdaptiveGaussianKernel, GaussianKernel, KNNKernel, nearest_neighbors
from tests.conftest import make

K = 30
KERNELS = {
    "gaussian": GaussianKernel(8),
    "adaptive": AdaptiveGaussianKernel(6),
    "knn": KNNKernel(6),
}


@pytest.fixture
def points():
    return np.random.default_rng(5).normal(size=(70, 4))


def graph_of(points, fitted=None, k=K):
    """Return the distances of points to the nearest fitted points; of these, to the others."""
    others = points if fitted is None else fitted
    D = np.sqrt(((points[:, None] - others) ** 2).sum(axis=2))
    order = np.argsort(D, axis=1, kind="stable")
    order = order[:, 1 : k + 1] if fitted is None else order[:, :k]
    indptr = np.arange(0, len(points) * k + 1, k)
    distances = np.take_along_axis(D, order, axis=1)
    return csr_array((distances.ravel(), order.ravel(), indptr), shape=D.shape)


def precomputed(name):
    return KERNELS[name].__class__(**KERNELS[name].get_params() | {"metric": "precomputed"})


@pytest.mark.parametrize("name", KERNELS)
def test_the_map_is_that_of_the_points(points, name):
    model = make(precomputed(name), start="random").fit(graph_of(points))
    twin = make(KERNELS[name], start="random", affinities="sparse").fit(points)
    assert model.plan_.affinities == "sparse"
    assert model.plan_.n_neighbors == twin.plan_.n_neighbors
    np.testing.assert_allclose(model.affinities_.data, twin.affinities_.data, rtol=1e-5)
    np.testing.assert_array_equal(model.affinities_.indices, twin.affinities_.indices)
    np.testing.assert_allclose(model.embedding_, twin.embedding_, atol=1e-2)


@pytest.mark.parametrize("name", KERNELS)
def test_new_points_are_placed_by_their_stored_distances(points, name):
    new = points[:6] + 0.1
    model = make(precomputed(name)).fit(graph_of(points))
    twin = make(KERNELS[name], affinities="sparse").fit(points)
    twin.embedding_, twin._finished.placer = model.embedding_, None
    placed = model.transform(graph_of(new, points))
    np.testing.assert_allclose(placed, twin.transform(new), atol=1e-3)
    all_distances = np.sqrt(((new[:, None] - points) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(all_distances), placed, atol=1e-5)
    copy = csr_array(graph_of(points[:1], points))
    np.testing.assert_array_equal(model.transform(copy), model.embedding_[:1])


def test_neighbors_are_the_nearest_of_the_stored_ones():
    # Row 0 stores itself and its distances to 1, 2 and 3, of which two are equal; row 3 a copy.
    rows, columns = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 2, 3, 0, 2, 0, 1, 0, 2]
    distances = [0.0, 2.0, 2.0, 0.5, 2.0, 1.0, 2.0, 1.0, 0.5, 0.0]
    graph = csr_array((distances, (rows, columns)), shape=(4, 4))
    found = nearest_neighbors(graph, 2, metric="precomputed")
    np.testing.assert_array_equal(found.indices, [[3, 1], [2, 0], [1, 0], [2, 0]])
    np.testing.assert_array_equal(found.distances, [[0.5, 2], [1, 2], [1, 2], [0, 0.5]])


def test_automatic_perplexity_is_a_third_of_the_stored_distances(points):
    model = make(GaussianKernel(metric="precomputed")).fit(graph_of(points))
    assert model.kernel_.perplexity == model.kernel_.perplexity_[0] == K / 3
