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
from isosne.affinities.dense import conditional_rows
from isosne.neighbors.exact import ExactSearch

N = 60
KERNELS = {
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


@pytest.mark.parametrize(
    ("name", "data"),
    [(name, "points") for name in KERNELS] + [(name, "duplicates") for name in ("forest", "exact")],
)
def test_blocks_of_rows_and_lists_of_all_neighbors_are_the_similarity(request, name, data):
    X = request.getfixturevalue(data)
    kernel = KERNELS[name].fit(X)
    rows, n = kernel.rows(), len(X)
    layers = rows.block(slice(0, n))
    assert layers.shape == (rows.n_scales, rows.n_points, n)
    assert layers.dtype == np.float32
    np.testing.assert_allclose(rows.block(slice(13, 20)), layers[:, 13:20], rtol=1e-5)
    if not isinstance(kernel, GaussianKernel):  # whose rows have any scale
        np.testing.assert_allclose(layers.mean(axis=0), kernel.similarity(), rtol=1e-5, atol=1e-6)
    neighbors = nearest_neighbors(X, n - 1, metric=kernel.metric)
    expected = np.take_along_axis(layers, neighbors.indices[None].astype(int), axis=2)
    # Lists of the exact kernel are cut; distances in lists are float32, so that a bisection may end
    # a step apart.
    rtol = 5e-3 if isinstance(kernel, GaussianKernel) else 1e-4
    np.testing.assert_allclose(kernel.neighbor_similarity(neighbors), expected, rtol, 1e-5)


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
    np.put_along_axis(found, ids.astype(int), conditional_rows(layers), axis=1)
    expected = kernel.toward_fitted()(further)
    assert expected.shape == (layers.shape[0], 15, N)
    # float32 throughout; the exact kernel's lists may be cut at 1e-6
    np.testing.assert_allclose(found, conditional_rows(expected), rtol=2e-4, atol=2e-6)


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
    resolved = kernel.resolved(n)
    assert resolved.n_partitions == (n_drawn or "exact")
    assert (kernel.costs(n).n_partitions > 0) == (n_drawn > 0)
    assert kernel.costs(n) == resolved.costs(n)
    if n_drawn == 0 or n == 400:  # a fit of what the plan resolves does what the rule says
        X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
        drawn = resolved.set_params(random_state=0).fit(X).partitions_
        assert [len(part.samples) for part in drawn] == [n_drawn] * bool(n_drawn)
