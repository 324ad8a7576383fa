"""Distances that are very large, very small, or powers of these: right, or refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import GaussianKernel, IsolationKernel, KNNKernel
from isosne.errors import DataError
from isosne.neighbors import nearest_neighbors
from isosne.neighbors.approximate import ClusteredPoints
from isosne.neighbors.distances import exact_set, search_set
from isosne.neighbors.exact import nearest
from isosne.neighbors.metric import Metric
from tests.conftest import make, refuses

X = np.random.default_rng(0).normal(size=(40, 4))


def minkowski(A, B, p):
    """All distances; differences are divided by the largest, in extended precision."""
    differences = np.abs(A[:, None].astype(np.longdouble) - B)
    largest = differences.max(axis=2, keepdims=True)
    shares = np.divide(differences, largest, where=largest > 0, out=np.zeros_like(differences))
    return (largest[..., 0] * (shares**p).sum(axis=2) ** (1 / np.longdouble(p))).astype(float)


@pytest.mark.parametrize("factor", [1e-140, 1.0, 1e140])
@pytest.mark.parametrize("p", [1.5, 3, 64, 65, 1e7])
def test_minkowski_distances_neither_overflow_nor_underflow(p, factor):
    metric = Metric("minkowski", p)
    near = X * factor
    near[1] = near[0] * (1 + 1e-7)  # a near point, whose powers are next to nothing
    search = exact_set(near, metric)
    keys = search.keys(search.query(near, slice(0, 40)), slice(0, 40))
    found = metric.distances(keys, search.scale)
    # Roots of sums of powers: the error of log x is multiplied by p, that of the sum divided.
    np.testing.assert_allclose(found, minkowski(near, near, p), rtol=1e-12)
    assert found[0, 1] > 0


KERNELS = {
    "sampled": IsolationKernel(0.5, n_partitions=20, metric="minkowski", p=1000),
    "sparse": IsolationKernel(0.5, n_partitions=20, metric="minkowski", p=10),
    "dense": GaussianKernel(5, metric="minkowski", p=100),
    "euclidean": KNNKernel(5),
}


@pytest.mark.filterwarnings("ignore:.*have more than perplexity neighbors at the same")
@pytest.mark.parametrize("far", [1e40, 1e140])
@pytest.mark.parametrize("name", KERNELS)
def test_far_points_get_finite_coordinates(name, far):
    affinities = name if name in ("sampled", "dense") else "sparse"
    model = make(KERNELS[name], affinities=affinities).fit(X)
    assert np.isfinite(model.transform(X[:3] * far)).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"])
def test_float32_points_are_compared_with_far_points_of_either_type(metric):
    search = search_set(X.astype(np.float32), Metric(metric, 7))
    for dtype in (np.float32, np.float64):
        ids, keys = nearest((X * 1e37).astype(dtype), search, 3)
        assert ids.min() >= 0
        assert np.isfinite(keys).all()


def test_approximate_lists_of_far_points_hold_each_point_once():
    # Their products overflow in float32, so that no candidate can be kept by its key.
    points = np.random.default_rng(2).normal(size=(300, 3)).astype(np.float32)
    ids, distances = ClusteredPoints(points, Metric()).nearest(points[:4] * np.float32(1e30), 20)
    assert [len(set(row)) for row in ids.tolist()] == [20] * 4
    assert np.isfinite(distances).all()


@pytest.mark.parametrize("contain", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel", [KNNKernel(3), KNNKernel(3, metric="manhattan")], ids=str)
def test_points_beyond_all_reach_are_refused(kernel, contain):
    kernel.fit(contain(X * 1e-100))
    sentence = (
        "Values of X must be at most 1e+150 times the largest fitted value, so that distances are "
        "finite; got 1e+200 times. Check the units of the columns."
    )
    with refuses(DataError, sentence):
        kernel.similarity(contain(X[:1] * 1e100 / np.abs(X[0]).max() * 5))


def test_points_beyond_the_reach_of_float32_are_refused():
    model = make(KNNKernel(3), affinities="sparse").fit(X.astype(np.float32))
    with pytest.raises(DataError, match=r"^Values of X must be at most 2.5e\+37 times the largest"):
        model.transform(X * 1e60)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_near_rows_of_a_sparse_matrix_are_told_apart_far_from_the_origin(metric):
    # Squares of 1e5 cancel to differences of 1e-2; in a cosine distance, to those of 1e-7.
    near = X * 1e-2 + 1e5
    sparse = csr_array(np.c_[near, np.where(X > 1, X, 0)])
    found = nearest_neighbors(sparse, 5, metric=metric)
    expected = nearest_neighbors(sparse.toarray(), 5, metric=metric)
    if metric == "cosine":  # rows of length 1 are rounded to 1e-16, and their distances are 1e-14
        np.testing.assert_allclose(found.distances, expected.distances, atol=1e-15)
    else:
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-6)
