import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import nearest_neighbors
from isosne.errors import ParameterError


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(20, 10)) * 3
    return (centers[rng.integers(0, 20, 6000)] + rng.normal(size=(6000, 10))).astype(np.float32)


def recall(found, true):
    return np.mean([np.isin(t, f).mean() for t, f in zip(true, found, strict=True)])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_nearly_all_neighbors_are_found(clusters, metric):
    true = nearest_neighbors(clusters, 30, metric=metric)
    found = nearest_neighbors(clusters, 30, metric=metric, method="approximate")
    # a third of all points or more are candidates: measured 0.9999
    assert recall(found.indices, true.indices) > 0.99


def test_distances_of_found_neighbors_are_exact_and_sorted(clusters):
    found = nearest_neighbors(clusters, 30, method="approximate")
    sample = np.arange(0, 6000, 50)
    X = clusters.astype(float)
    expected = np.linalg.norm(X[sample, None] - X[found.indices[sample]], axis=2)
    np.testing.assert_allclose(found.distances[sample], expected, rtol=1e-6)
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert not (found.indices == np.arange(6000)[:, None]).any()


def test_a_small_set_is_searched_completely(clusters):
    few = clusters[:70]
    true = nearest_neighbors(few, 69)
    found = nearest_neighbors(few, 69, method="approximate")
    assert np.array_equal(found.indices, true.indices)


def test_far_points_find_as_many_neighbors_as_others():
    # 60 far points alone in their clusters must look into many of them to fill 50 neighbors
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(4000, 3)), rng.normal(size=(60, 3)) * 1000].astype(np.float32)
    found = nearest_neighbors(X, 50, method="approximate")
    assert (found.indices >= 0).all()
    assert np.isfinite(found.distances).all()


def test_copies_are_neighbors_of_each_other_lower_index_first():
    X = np.repeat(np.random.default_rng(0).normal(size=(100, 4)), 5, axis=0)
    found = nearest_neighbors(X, 4, method="approximate")
    assert (found.distances == 0).all()
    assert np.array_equal(found.indices[7], [5, 6, 8, 9])


def test_threads_do_not_change_approximate_neighbors(clusters, threads):
    one, two = (
        threads(n, lambda: nearest_neighbors(clusters, 15, method="approximate")) for n in (1, 2)
    )
    assert np.array_equal(one.indices, two.indices)
    assert np.array_equal(one.distances, two.distances)


def test_only_dense_points_in_some_metrics_are_searched_approximately(clusters):
    sentence = (
        r"^method must be 'exact' for sparse points; got method='approximate'\. "
        r"The approximate search needs dense points\.$"
    )
    with pytest.raises(ParameterError, match=sentence):
        nearest_neighbors(csr_array(clusters[:50]), 3, method="approximate")
    sentence = (
        r"^metric must be one of 'euclidean', 'cosine', 'mahalanobis', 'hamming' for the "
        r"approximate neighbor search; got metric='manhattan'\. Choose the exact search\.$"
    )
    with pytest.raises(ParameterError, match=sentence):
        nearest_neighbors(clusters[:50], 3, metric="manhattan", method="approximate")


def test_an_unknown_method_is_refused(clusters):
    sentence = (
        r"^method must be 'exact' or 'approximate'; got method='fast'. Choose one of the two.$"
    )
    with pytest.raises(ParameterError, match=sentence):
        nearest_neighbors(clusters[:50], 3, method="fast")
