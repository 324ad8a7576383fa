"""Step 2 for neighbor lists."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import GaussianKernel, IsolationKernel, KNNKernel, nearest_neighbors
from isosne.affinities.dense import full_affinities
from isosne.affinities.sparse import sparse_affinities


def as_matrix(joint):
    n = len(joint.indptr) - 1
    return csr_array((joint.data, joint.indices, joint.indptr), shape=(n, n)).toarray()


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(50, 4)).astype(np.float32)


@pytest.mark.parametrize(
    "kernel",
    [
        IsolationKernel(5, random_state=0),
        IsolationKernel([4, 20], n_partitions="exact"),
        GaussianKernel([4, 9]),
        KNNKernel(3),
    ],
    ids=str,
)
def test_lists_of_all_points_give_the_dense_probabilities(kernel, points):
    kernel.fit(points)
    joint, isolated = sparse_affinities(kernel, nearest_neighbors(points, 49))
    full, _ = full_affinities(kernel.rows(), kernel)
    assert len(isolated) == 0
    # distances pass through float32 in lists, so Gaussians differ in the sixth digit
    np.testing.assert_allclose(as_matrix(joint), full.values, rtol=2e-4, atol=1e-9)


def test_short_lists_give_symmetric_probabilities_that_sum_to_one(points):
    kernel = GaussianKernel(5).fit(points)
    joint, _ = sparse_affinities(kernel, nearest_neighbors(points, 15))
    P = as_matrix(joint)
    assert np.array_equal(P, P.T)
    assert P.sum(dtype=float) == pytest.approx(1, abs=1e-6)
    assert not np.diagonal(P).any()
    assert (joint.data > 0).all()
    assert joint.indptr.dtype == np.int64


def test_a_point_alone_in_all_its_cells_gets_its_nearest_neighbor(points):
    kernel = IsolationKernel(50, n_partitions=10, random_state=0).fit(points)
    neighbors = nearest_neighbors(points, 5)
    joint, isolated = sparse_affinities(kernel, neighbors)
    assert isolated.tolist() == list(range(50))
    P = as_matrix(joint)
    for i in range(50):
        assert P[i, neighbors.indices[i, 0]] > 0
