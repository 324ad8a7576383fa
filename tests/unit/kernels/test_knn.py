import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import AdaptiveGaussianKernel, KNNKernel, nearest_neighbors
from isosne.errors import DegenerateRowsWarning
from tests.reference import gaussian as twin
from tests.reference.neighbors import distances

METRICS = ["euclidean", "manhattan", "minkowski", "cosine"]
CONTAINERS = ["float32", "float64", "csr"]


@pytest.mark.parametrize(
    ("metric", "container", "k"),
    [
        (metric, container, (1, 7, 59)[(m + c) % 3])
        for m, metric in enumerate(METRICS)
        for c, container in enumerate(CONTAINERS)
        if (metric, container) != ("minkowski", "csr")
    ],
)
def test_the_adaptive_gaussian_is_that_of_the_twin(two_blobs, metric, container, k):
    X = csr_array(two_blobs) if container == "csr" else two_blobs.astype(container)
    kernel = AdaptiveGaussianKernel(k, metric=metric, p=3).fit(X)
    D = distances(two_blobs, two_blobs, metric, 3)
    radii = twin.radii(D, k, own=True)
    # Radii are kept in float32; cosine distances of float32 points have some 1e-7 absolute error.
    np.testing.assert_allclose(kernel._radii(), radii, 1e-3 if metric == "cosine" else 1e-5)
    expected = twin.adaptive(D, radii, radii)
    np.testing.assert_allclose(kernel.similarity(), expected, 1e-2, 1e-4)
    assert kernel.similarity().dtype == np.float32


def test_the_adaptive_gaussian_of_new_points_takes_radii_among_the_fitted(two_blobs):
    kernel = AdaptiveGaussianKernel(5).fit(two_blobs)
    A, B = two_blobs[::7] + 0.2, two_blobs[::9] - 0.1
    radii_A, radii_B = (twin.radii(distances(Z, two_blobs), 5, own=False) for Z in (A, B))
    radii = twin.radii(distances(two_blobs, two_blobs), 5, own=True)
    np.testing.assert_allclose(kernel._radii(A), radii_A, rtol=1e-6)
    expected = twin.adaptive(distances(A, B), radii_A, radii_B)
    np.testing.assert_allclose(kernel.similarity(A, B), expected, 1e-4, 1e-7)
    expected = twin.adaptive(distances(A, two_blobs), radii_A, radii)
    np.testing.assert_allclose(kernel.similarity(A), expected, 1e-4, 1e-7)


def test_a_point_with_k_copies_is_similar_to_its_copies_alone():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [3.0]])
    kernel = AdaptiveGaussianKernel(2).fit(X)
    match = re.escape(
        "3 of 5 points have k=2 or more duplicates, so that their bandwidth is zero; they are "
        "similar only to their duplicates. Remove duplicate points, or raise k."
    )
    with pytest.warns(DegenerateRowsWarning, match=match):
        K = kernel.similarity()
    # At 1, the second nearest is at distance 1; at 3, at distance 3: exp(-4 / 3) = 0.2636.
    expected = np.zeros((5, 5))
    expected[:3, :3] = 1
    expected[3:, 3:] = [[1, np.exp(-4 / 3)], [np.exp(-4 / 3), 1]]
    np.testing.assert_allclose(K, expected, rtol=1e-6)
    with pytest.warns(DegenerateRowsWarning, match=match):
        block = kernel.rows().block(slice(0, 5))[0]
    np.testing.assert_array_equal(block, K)
    with pytest.warns(DegenerateRowsWarning, match=match):
        found = kernel.neighbor_similarity(nearest_neighbors(X, 2))
    np.testing.assert_array_equal(found[0, 0], [1, 1])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 7, 59])
def test_the_knn_kernel_marks_the_k_nearest_others(two_blobs, metric, k):
    kernel = KNNKernel(k, metric=metric, p=3).fit(two_blobs)
    expected = twin.knn(distances(two_blobs, two_blobs, metric, 3), k)
    np.testing.assert_array_equal(kernel.similarity(), expected)
    assert kernel.similarity().dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [1, 3])
def test_a_new_point_has_k_fitted_neighbors(two_blobs, k, dtype):
    kernel = KNNKernel(k).fit(two_blobs.astype(dtype))
    A = np.random.default_rng(0).normal(2, 2, (50, 5)).astype(dtype)
    K = kernel.similarity(A)
    D = distances(A, two_blobs.astype(dtype))
    expected = np.zeros(D.shape)
    np.put_along_axis(expected, np.argsort(D, axis=1)[:, :k], 1, axis=1)
    np.testing.assert_array_equal(K, expected)


def test_a_fitted_point_has_its_neighbors_among_points_passed_again(two_blobs):
    kernel = KNNKernel(3).fit(two_blobs)
    np.testing.assert_array_equal(kernel.similarity(None, two_blobs), kernel.similarity())
