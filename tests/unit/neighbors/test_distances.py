import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from isosne.neighbors import nearest_neighbors
from isosne.neighbors.distances import exact_set, search_set, sq_distances
from isosne.neighbors.metric import SAFE_EXPONENTS, Metric

METRICS = [
    (Metric("euclidean"), {"metric": "euclidean"}),
    (Metric("manhattan"), {"metric": "cityblock"}),
    (Metric("minkowski", 3.0), {"metric": "minkowski", "p": 3.0}),
    (Metric("minkowski", 1.5), {"metric": "minkowski", "p": 1.5}),
    (Metric("minkowski", 2.0), {"metric": "minkowski", "p": 2.0}),
    (Metric("minkowski", 70.5), {"metric": "minkowski", "p": 70.5}),
    (Metric("chebyshev"), {"metric": "chebyshev"}),
    (Metric("cosine"), {"metric": "cosine"}),
]
JACCARD = Metric("jaccard")
CASES = [
    pytest.param(metric, by_scipy, container, id=f"{metric.name}-{metric.p:g}-{container}")
    for metric, by_scipy in METRICS
    for container in ("float32", "float64", "uint8", "int64", "csr")
    if container != "csr" or metric.power in (1, 2)
]


def points_in(container, n=23, d=7, seed=0):
    X = np.random.default_rng(seed).integers(1, 40, (n, d)) * 1.0
    if container == "csr":
        X[np.random.default_rng(seed + 100).random(X.shape) < 0.6] = 0
        X[:, 0] = 1  # no row is all zero
        return csr_array(X), X
    return X.astype(container), X


@pytest.mark.parametrize(("metric", "by_scipy", "container"), CASES)
def test_squared_distances_are_those_of_scipy(metric, by_scipy, container):
    X, dense_X = points_in(container)
    Z, dense_Z = points_in(container, n=31, seed=1)
    search = exact_set(Z, metric)
    ours = np.vstack([sq_distances(X, slice(s, s + 10), search, metric) for s in (0, 10, 20)])
    # A cosine distance is a difference of numbers near one, so it has an absolute error.
    np.testing.assert_allclose(ours, cdist(dense_X, dense_Z, **by_scipy) ** 2, 1e-12, 1e-13)


@pytest.mark.parametrize(("metric", "by_scipy", "container"), CASES)
def test_copies_have_no_distance_and_a_subset_holds_the_chosen_columns(metric, by_scipy, container):
    X, _ = points_in(container)
    X = X * 1.1  # not whole numbers
    everything = exact_set(X, metric)
    sq = sq_distances(X, slice(0, X.shape[0]), everything, metric)
    assert np.all(np.diagonal(sq) == 0)
    assert np.all(sq >= 0)
    chosen = np.array([7, 3, 11])
    for part in (everything.subset(chosen), exact_set(X, metric, chosen)):
        found = sq_distances(X, slice(0, 5), part, metric)
        np.testing.assert_allclose(found, sq[:5, chosen], 1e-5, 1e-13)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_jaccard_distances_are_those_of_the_columns_that_are_not_zero(container):
    X = np.random.default_rng(0).integers(-3, 4, (20, 9)) * np.random.default_rng(1).integers(
        0, 2, 9
    )
    X[3] = X[7] = 0  # two empty sets are equal, and differ from all others
    sets = [set(np.flatnonzero(row)) for row in X]
    expected = [[len(a ^ b) / max(len(a | b), 1) for b in sets] for a in sets]
    found = sq_distances(container(X), slice(0, 20), exact_set(container(X), JACCARD), JACCARD)
    np.testing.assert_allclose(np.sqrt(found), expected, rtol=1e-15)


def test_precomputed_distances_are_squared_and_taken_by_column():
    D = np.abs(np.random.default_rng(0).normal(size=(6, 6))).astype(np.float32)
    metric = Metric("precomputed")
    search = exact_set(D, metric, np.array([4, 1]))
    expected = D[1:3][:, [4, 1]].astype(np.float64) ** 2
    np.testing.assert_array_equal(sq_distances(D, slice(1, 3), search, metric), expected)


@pytest.mark.parametrize("container", ["float64", "csr"])
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_cosine_distance_does_not_see_the_length_of_rows(container, factor):
    X, dense = points_in(container)
    metric = Metric("cosine")
    search = exact_set(X * factor, metric)
    sq = sq_distances(X, slice(0, 23), search, metric)
    np.testing.assert_allclose(sq, cdist(dense, dense, "cosine") ** 2, 1e-5, 1e-13)


def test_only_points_that_cannot_be_compared_as_they_are_are_copied():
    X = points_in("float64")[0]
    assert search_set(X, Metric()).points is X
    for other in (X.astype(np.float32)[:, ::2], np.asfortranarray(X), X.astype(np.int64)):
        assert not np.shares_memory(search_set(other, Metric()).points, other)
    X.flags.writeable = False  # compiled functions would be compiled again for it
    assert search_set(X, Metric()).points.flags.writeable


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_distances_are_the_same_whether_coordinates_are_scaled_or_not(dtype, metric):
    X = np.random.default_rng(0).normal(size=(200, 7)).astype(dtype)
    most = SAFE_EXPONENTS[np.dtype(dtype).itemsize]
    plain = nearest_neighbors(X, 5, metric=metric)
    for exponent in (-most - 9, -most + 9, most - 9, most + 9):
        found = nearest_neighbors(X * np.ldexp(dtype(1), exponent), 5, metric=metric)
        np.testing.assert_array_equal(found.indices, plain.indices)
        if abs(exponent) < 100:  # distances are float32, in which larger powers have no place
            np.testing.assert_array_equal(found.distances, np.ldexp(plain.distances, exponent))
