"""Similarity along lists: what every kernel says of fitted and of further points near by."""

import numpy as np
import pytest

from isosne import (
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    nearest_neighbors,
)
from isosne.neighbors.search import ExactSearch

N = 60
KERNELS = {
    "drawn": IsolationKernel(8, n_partitions=50, random_state=0),
    "two scales": IsolationKernel([4, 20], n_partitions=50, random_state=0),
    "forest": IsolationKernel(8, n_partitions=50, partition="forest", random_state=0),
    "exact": IsolationKernel([4, 20], n_partitions="exact"),
    "gaussian": GaussianKernel([5, 12]),
    "adaptive": AdaptiveGaussianKernel(5),
    "knn": KNNKernel(5),
    "cosine": GaussianKernel(5, metric="cosine"),
}


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(N, 4))


@pytest.fixture
def further(points):
    return points[:15] + np.random.default_rng(1).normal(0, 0.3, (15, 4))


def normalized(layers):
    return layers / layers.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("name", KERNELS)
def test_the_first_partners_are_those_of_longer_lists(points, name):
    kernel = KERNELS[name].fit(points)
    neighbors = nearest_neighbors(points, 40, metric=kernel.metric)
    some, whole = (kernel.neighbor_similarity(neighbors, k) for k in (15, None))
    assert (some.shape[1:], whole.shape[1:]) == ((N, 15), (N, 40))
    assert some.dtype == np.float32
    assert some.flags.c_contiguous
    if not isinstance(kernel, GaussianKernel):  # whose bandwidth goes by the list
        assert np.array_equal(some, whole[:, :, :15])


@pytest.mark.parametrize("name", KERNELS)
def test_further_points_are_as_similar_to_all_their_neighbors_as_to_all_points(
    points, further, name
):
    kernel = KERNELS[name].fit(points)
    search = ExactSearch(kernel.X_fit_, kernel.metric_)
    ids, distances = search.nearest(further, N)
    compare = kernel.toward_neighbors(search.neighbors(N - 1))
    layers = compare(further, ids, distances)
    assert layers.shape[1:] == (15, N)
    assert layers.flags.c_contiguous
    found = np.zeros((15, N))
    np.put_along_axis(found, ids.astype(int), normalized(layers).mean(axis=0), axis=1)
    # float32 throughout; the exact kernel's lists may be cut at 1e-6
    np.testing.assert_allclose(found, kernel._toward_fitted()(further), rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_few_neighbors_hold_nearly_all_of_the_similarity_or_say_how_many_do(name):
    kernel = KERNELS[name]
    for n in (30, 1000):
        assert 1 <= kernel.n_partners(n) <= kernel.n_relevant(n)


def test_cells_at_scales_are_those_of_the_columns(points, further):
    kernel = KERNELS["two scales"].fit(points)
    layers, psis = kernel.cells_at_scales(), kernel.psi_
    assert psis == (4, 20)
    assert np.array_equal(np.hstack(layers), kernel.cells())
    assert np.array_equal(np.hstack(kernel.cells_at_scales(further)), kernel.cells(further))


@pytest.mark.parametrize(
    ("n", "kernel", "n_drawn"),
    [
        (400, IsolationKernel(40), 200),
        (10_000, IsolationKernel(0.1), 200),
        (10_001, IsolationKernel(0.1), 0),  # cells of ten points
        (10_001, IsolationKernel(334), 0),
        (10_001, IsolationKernel(333), 200),  # cells of more than thirty
        (10_001, IsolationKernel([0.5, 0.01]), 200),  # at one of the scales
        (10_001, IsolationKernel(0.1, partition="forest"), 200),
        (10_001, IsolationKernel(0.1, n_partitions=7), 7),
        (400, IsolationKernel(40, n_partitions="exact"), 0),
    ],
    ids=str,
)
def test_many_points_in_small_cells_are_compared_in_closed_form(n, kernel, n_drawn):
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    kernel.set_params(random_state=0).fit(X)
    assert [len(part.samples) for part in kernel.partitions_] == [n_drawn] * bool(n_drawn) * len(
        kernel.psi_
    )
    assert (kernel.cell_bytes(n) > 0) == (n_drawn > 0)


def test_a_number_can_be_asked_for_instead_of_auto():
    assert IsolationKernel().drawn_if_auto() == 200
    assert IsolationKernel(n_partitions=30).drawn_if_auto() == 30
    assert IsolationKernel(n_partitions="exact").drawn_if_auto() == "exact"


def test_neighbors_can_be_found_approximately_for_dense_points_in_two_metrics(points):
    assert GaussianKernel().has_approximate_neighbors()
    assert KNNKernel(metric="cosine").fit(points).has_approximate_neighbors()
    assert not KNNKernel(metric="manhattan").has_approximate_neighbors()
    assert not IsolationKernel(metric="precomputed").has_approximate_neighbors()
