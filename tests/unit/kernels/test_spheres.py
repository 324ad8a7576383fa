"""Cells that are spheres around the sampled points."""

import numpy as np
import pytest

from isosne import TSNE, IsolationKernel
from tests.reference import spheres as reference


def make(psi, n_partitions=6):
    return IsolationKernel(psi, n_partitions=n_partitions, partition="spheres", random_state=0)


@pytest.mark.parametrize("psi", [2, 9, 60])
@pytest.mark.parametrize("data", ["two_blobs", "duplicates"])
def test_similarity_is_the_share_of_samples_with_a_common_sphere(request, data, psi):
    X = request.getfixturevalue(data)
    kernel = make(psi).fit(X)
    samples, A = kernel.partitions_[0].samples, X[:10] + 0.25
    for found, expected in (
        (kernel.similarity(), reference.similarity(X, X, X, samples)),
        (kernel.similarity(A), reference.similarity(A, X, X, samples)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6)  # a count divided by t, in float32


def test_a_point_beyond_its_nearest_sphere_is_in_no_cell():
    kernel = make(2).fit(np.array([[0.0], [1.0]]))  # spheres of radius 1 around 0 and 1
    cells = kernel.cells([[-1.0], [0.4], [2.0], [2.1]])
    np.testing.assert_array_equal(cells, np.tile([[0], [0], [1], [2]], 6))
    assert cells.dtype == np.uint8
    assert kernel.transform([[2.1]]).nnz == 0
    np.testing.assert_array_equal(kernel.similarity([[2.1]], [[2.1], [3.0]]), [[0, 0]])


@pytest.mark.parametrize("psi", [253, 254, 255])
def test_codes_hold_the_cell_of_points_in_none(psi):
    X = np.random.default_rng(0).normal(size=(260, 2))
    far = np.full((2, 2), 50.0) * [[1], [2]]
    kernel = make(psi).fit(X)
    assert (kernel.cells(far) == psi).all()
    assert not kernel.similarity(far, far).any()


@pytest.mark.parametrize("affinities", ["dense", "sparse", "sampled"])
def test_a_new_point_in_no_cell_is_placed_at_its_nearest(two_blobs, affinities):
    kernel = IsolationKernel(9, n_partitions=20, partition="spheres")
    settings = {"affinities": affinities, "forces": "exact", "schedule": "standard"}
    model = TSNE(kernel, random_state=0, **settings).fit(two_blobs)
    far = two_blobs[:3] + 1000 * np.eye(5)[:3]
    assert (model.kernel_.cells(far) == 9).all()
    nearest = np.linalg.norm(far[:, None] - two_blobs, axis=2).argmin(axis=1)
    distance = np.linalg.norm(model.transform(far)[:, None] - model.embedding_, axis=2)
    assert (np.argsort(distance, axis=1)[:, :3] == nearest[:, None]).any(axis=1).all()
