"""Where maps begin: at components of the data, at given places, or at those of a previous map."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from isosne import GaussianKernel, IsolationKernel
from isosne._types import DenseMatrix, SparseMatrix
from isosne.affinities.dense import dense_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.layout.anchors import Anchors
from isosne.layout.start import CARRIED_JITTER, carried_map, initial_map
from isosne.neighbors import nearest_neighbors

NAMES = ["pca", "spectral", "random"]
SPREAD = 1e-4


def place(start, X, n_components=2, seed=0, kernel=None, **how):
    joint, _ = dense_affinities((kernel or IsolationKernel(5, random_state=0)).fit(X))
    return initial_map(start, X, joint, n_components, np.random.default_rng(seed), **how)


def correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1])


@pytest.fixture
def cloud():
    """Points with axes of different lengths, so that principal components have an order."""
    return np.random.default_rng(5).normal(size=(300, 5)) * [5, 3, 1, 0.5, 0.1]


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("start", NAMES)
def test_the_widest_axis_has_a_deviation_of_1e_4(cloud, start, n_components):
    Y = place(start, cloud, n_components)
    assert Y.shape == (n_components, 300)
    assert Y.dtype == np.float32
    assert Y.flags.c_contiguous
    # the jitter of a hundredth changes it by a hundredth at most; 300 random numbers have a
    # deviation known to within 1 / sqrt(600) = 4 %, three times over
    assert Y.std(axis=1).max() == pytest.approx(SPREAD, rel=0.12 if start == "random" else 0.01)
    assert np.abs(Y).max() < 10 * SPREAD
    # it depends on the seed, and on nothing else
    assert place(start, cloud, n_components).tobytes() == Y.tobytes()
    assert place(start, cloud, n_components, seed=8).tobytes() != Y.tobytes()


def test_pca_starts_at_the_principal_components(cloud):
    Y = place("pca", cloud)
    expected = PCA(2).fit_transform(cloud)
    # noise of 1 % on the first axis, and of 1 % * 5 / 3 on the second
    assert correlation(Y[0], expected[:, 0]) > 0.999
    assert correlation(Y[1], expected[:, 1]) > 0.999
    assert Y[1].std() / Y[0].std() == pytest.approx(
        expected[:, 1].std() / expected[:, 0].std(), rel=0.02
    )


def test_spectral_starts_at_the_eigenvectors_of_the_random_walk():
    X = np.linspace(0, 1, 200)[:, None] ** 1.5
    kernel = GaussianKernel(20)
    Y = place("spectral", X, kernel=kernel)
    joint, _ = dense_affinities(kernel)
    P = joint.values.astype(float)
    values, vectors = np.linalg.eig(P / P.sum(axis=1, keepdims=True))
    order = np.argsort(-values.real)
    # jitter is one hundredth of the first axis
    assert correlation(Y[0], vectors[:, order[1]].real) > 0.999
    assert correlation(Y[1], vectors[:, order[2]].real) > 0.99
    # the slowest motion along a curve goes from one end to the other
    assert correlation(Y[0].argsort().argsort(), np.arange(200)) > 0.99


def test_spectral_is_the_same_for_lists_of_all_neighbors(cloud):
    X = cloud[:80]
    kernel = GaussianKernel(10).fit(X)
    dense, _ = dense_affinities(kernel)
    listed, _ = sparse_affinities(kernel, nearest_neighbors(X, 79))
    one, other = (
        initial_map("spectral", X, joint, 2, np.random.default_rng(0)) for joint in (dense, listed)
    )
    # lists hold float32 distances: probabilities agree in four digits
    np.testing.assert_allclose(one, other, atol=0.01 * SPREAD)


@pytest.mark.parametrize("n_components", [1, 3])
def test_spectral_starts_small_when_the_graph_falls_apart(n_components):
    # Sixty points in each of two heaps so far apart that no cell holds points of both.
    heap = np.random.default_rng(0).normal(size=(60, 4))
    X = np.vstack([0.01 * heap, 0.01 * heap[::-1] + 30])
    Y = place("spectral", X, n_components, kernel=IsolationKernel(40, random_state=0))
    assert Y.std(axis=1).max() == pytest.approx(SPREAD, rel=0.02)
    assert np.abs(Y).max() < 100 * SPREAD
    # the slowest motion of all is the one from heap to heap
    assert correlation(Y[0], np.arange(120) < 60) > 0.9


@pytest.mark.parametrize("start", NAMES)
def test_copies_of_a_point_start_apart(start):
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 8, axis=0)
    Y = place(start, X, kernel=IsolationKernel(20, random_state=0))
    assert len(np.unique(Y, axis=1).T) == 40


@pytest.mark.parametrize(("container", "n_columns"), [(np.asarray, 1), (csr_array, 2)])
def test_a_map_may_have_more_components_than_the_points_have_columns(cloud, n_columns, container):
    X = container(cloud[:, :n_columns])
    Y = place("pca", X, 3)
    assert Y.shape == (3, 300)
    assert Y[0].std() == pytest.approx(SPREAD, rel=0.01)
    # what is missing is jitter alone
    assert Y[2].std() == pytest.approx(0.01 * SPREAD, rel=0.2)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("start", NAMES)
def test_constant_data_have_a_small_finite_start(start, container):
    Y = place(start, container(np.ones((30, 4))))
    assert np.isfinite(Y).all()
    assert 0 < np.abs(Y).max() < 10 * SPREAD
    assert len(np.unique(Y, axis=1).T) == 30


def test_given_coordinates_are_small_if_the_first_steps_are_exaggerated(cloud):
    given = np.random.default_rng(0).normal(size=(300, 2)) * [9.0, 3.0] + 1000
    Y = place(given, cloud)
    assert Y.std(axis=1).max() == pytest.approx(SPREAD)
    np.testing.assert_allclose(Y.mean(axis=1), 0, atol=1e-6 * SPREAD)
    np.testing.assert_allclose(np.corrcoef([*Y, *given.T])[:2, 2:].diagonal(), 1)
    assert Y[1].std() / Y[0].std() == pytest.approx(given[:, 1].std() / given[:, 0].std())


def test_given_coordinates_are_otherwise_used_as_they_are_and_not_shared(cloud):
    given = np.asfortranarray(np.random.default_rng(0).normal(size=(300, 2)), np.float32)
    Y = place(given, cloud, is_exaggerated=False)
    np.testing.assert_array_equal(Y, given.T.astype(np.float32))
    assert Y.flags.c_contiguous
    # a descent changes the map in place: the user's array must not be that map
    assert not np.shares_memory(Y, given)


PLACES = np.array([[0, 0], [8, 4]], np.float32)
ANCHORS = Anchors(np.array([0, 1]), PLACES, 1.0)


def as_sparse(P):
    rows, columns = P.nonzero()
    indptr = np.searchsorted(rows, np.arange(len(P) + 1)).astype(np.int64)
    return SparseMatrix(indptr, columns.astype(np.int32), P[rows, columns].astype(np.float32))


def as_dense(P):
    return DenseMatrix(P.astype(np.float32), np.full(len(P), 0.5, np.float32))


def probabilities(n, pairs):
    P = np.zeros((n, n))
    for i, j, p in pairs:
        P[i, j] = P[j, i] = p
    return P


@pytest.mark.parametrize("form", [as_sparse, as_dense])
@pytest.mark.parametrize(
    ("pairs", "places"),
    [
        ([(0, 2, 0.1), (1, 2, 0.3)], [[6, 3]]),  # the weighted mean: a quarter of the way
        ([(1, 2, 0.2), (2, 3, 0.2), (3, 4, 0.2)], [[8, 4]] * 3),  # through other new points
        ([(0, 1, 0.3), (2, 3, 0.2)], [[4, 2]] * 2),  # without a path: the center
    ],
)
def test_new_points_start_at_the_mean_of_their_partners(form, pairs, places):
    n = 2 + len(places)
    Y = carried_map(ANCHORS, form(probabilities(n, pairs)), np.zeros((n, 2)))
    np.testing.assert_allclose(Y.T, [[0, 0], [8, 4], *places], atol=1e-5)


def test_noise_separates_new_points_and_leaves_the_others():
    joint = as_sparse(probabilities(4, [(0, 2, 0.3), (0, 3, 0.3)]))
    Y = carried_map(ANCHORS, joint, np.array([[9, 9], [9, 9], [1, 0], [0, -2]], float))
    np.testing.assert_allclose(
        Y.T, [[0, 0], [8, 4], [CARRIED_JITTER, 0], [0, -2 * CARRIED_JITTER]], atol=1e-6
    )


def test_drawn_partners_give_a_place_within_the_previous_map():
    X = np.random.default_rng(0).normal(size=(40, 3))
    source = SampledAffinities(IsolationKernel(4, n_partitions=20, random_state=0).fit(X))
    places = np.random.default_rng(1).normal(scale=9, size=(30, 2)).astype(np.float32)
    Y = carried_map(Anchors(np.arange(30), places, 1.0), source, np.zeros((40, 2)))
    np.testing.assert_array_equal(Y.T[:30], places)
    assert (Y.T[30:] >= places.min(axis=0)).all()
    assert (Y.T[30:] <= places.max(axis=0)).all()
    assert len(np.unique(Y.T[30:], axis=0)) > 1
