import numpy as np
import pytest

from isosne import IsolationKernel
from isosne.kernels.closed_form import TOLERANCE, all_pairs, list_length, listed_pairs
from tests.reference import isolation as twin
from tests.reference.neighbors import distances, order


def few_points(with_copies, seed):
    rng = np.random.default_rng(seed)
    if with_copies:
        return rng.integers(0, 2, (9, 2)).astype(np.float64)
    return rng.normal(size=(9, 2))


# The closed form is summed in float64 and returned in float32.
ERROR = TOLERANCE + 1e-7


@pytest.mark.parametrize("with_copies", [False, True])
@pytest.mark.parametrize("psi", range(2, 10))
def test_the_closed_form_is_the_expectation_over_all_samples(psi, with_copies):
    X, A, B = (few_points(with_copies, seed) for seed in range(3))
    kernel = IsolationKernel(psi=psi, n_partitions="exact").fit(X)
    D, D_A, D_B = (distances(points, X) for points in (X, A, B[:4]))
    for found, expected in (
        (kernel.similarity(), twin.expected_similarity(D, psi)),
        (kernel.similarity(A), twin.expected_similarity(D_A, psi, D)),
        (kernel.similarity(A, B[:4]), twin.expected_similarity(D_A, psi, D_B)),
    ):
        np.testing.assert_allclose(found, expected, atol=ERROR)


def test_listed_pairs_of_further_points_are_those_of_the_full_matrix(two_blobs):
    further = two_blobs[::7] + 0.2
    lists = order(distances(two_blobs, two_blobs)).astype(np.int32)
    own = order(distances(further, two_blobs)).astype(np.int32)
    K = all_pairs(own, lists, (3, 20), 60)
    partners = np.random.default_rng(4).integers(0, 60, (len(further), 5)).astype(np.int32)
    found = listed_pairs(own, partners, lists, (3, 20))
    np.testing.assert_array_equal(found, np.take_along_axis(K, partners[None], axis=2))


def test_half_of_the_pairs_mirrored_are_all_pairs():
    # More points than the block of rows that is mirrored at a time (256).
    X = np.random.default_rng(5).normal(size=(300, 2))
    lists = order(((X[:, None] - X) ** 2).sum(axis=2)).astype(np.int32)[:, :40]
    half = all_pairs(lists, lists, (50,), 300)
    whole = all_pairs(lists, lists.copy(), (50,), 300)
    # The two sums of one pair run in different orders.
    np.testing.assert_allclose(half, whole, atol=1e-7)
    np.testing.assert_array_equal(half, half.transpose(0, 2, 1))


def test_several_psi_in_one_pass_are_the_single_ones(subspace_clusters):
    lists = order(distances(subspace_clusters, subspace_clusters)).astype(np.int32)
    together = all_pairs(lists, lists, (2, 7, 100), 100)
    for s, psi in enumerate((2, 7, 100)):
        np.testing.assert_array_equal(together[s], all_pairs(lists, lists, (psi,), 100)[0])


@pytest.mark.parametrize("psi", [10, 60, 150])
def test_cutting_the_lists_costs_less_than_the_tolerance(psi):
    X = np.random.default_rng(6).normal(size=(200, 3))
    lists = order(((X[:, None] - X) ** 2).sum(axis=2)).astype(np.int32)
    length = list_length(200, psi)
    assert length < 200
    cut = np.ascontiguousarray(lists[:, :length])
    error = all_pairs(lists, lists, (psi,), 200) - all_pairs(cut, cut, (psi,), 200)
    assert error.max() <= TOLERANCE + 1e-7  # and the last digit of float32
    assert error.min() >= -1e-7  # what is left out only adds


def test_lists_longer_than_a_vector_of_words_count_right():
    # 3000 ranks take three vectors of 1024 bits; on a line, x = first and y = last point have no
    # nearer point in common until the middle.
    X = np.arange(3000.0)[:, None]
    kernel = IsolationKernel(psi=2, n_partitions="exact").fit(X)
    K = kernel.similarity(X[[0, 1500, 2999]], X[[0, 10]])
    # For points i < j of a line and a sample a < b, the border lies at (a + b) / 2, a tie to a.
    a, b = np.triu_indices(3000, 1)
    border = (a + b) / 2
    for i, x in enumerate((0, 1500, 2999)):
        for j, y in enumerate((0, 10)):
            expected = np.mean((x <= border) == (y <= border))
            assert abs(K[i, j] - expected) < ERROR


def test_self_similarity_is_one_with_more_points_than_two_bytes_count():
    X = np.arange(70_000.0)[:, None]
    kernel = IsolationKernel(psi=2, n_partitions="exact").fit(X)
    np.testing.assert_allclose(kernel.similarity(X[:1], X[:1]), 1, atol=ERROR)
