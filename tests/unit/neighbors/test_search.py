from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.neighbors import nearest_neighbors
from isosne.neighbors.exact import ExactSearch, is_other, keep_nearest, with_self
from isosne.neighbors.metric import Metric
from tests.reference import neighbors as twin

METRICS = ["euclidean", "manhattan", "minkowski", "chebyshev", "cosine", "mahalanobis"]


def assert_same_neighbors(found, X, k, metric="euclidean"):
    indices, distances = twin.nearest_neighbors(X, k, metric, 3)
    np.testing.assert_array_equal(found.indices, indices)
    # Distances are returned in float32.
    np.testing.assert_allclose(found.distances, distances, 1e-6, 1e-12)
    assert found.indices.dtype == np.int32
    assert found.distances.dtype == np.float32


@pytest.mark.parametrize(("k", "dtype"), [(1, "float32"), (7, "float64"), (59, "float32")])
@pytest.mark.parametrize("metric", METRICS)
def test_neighbors_are_those_of_a_stable_sort(two_blobs, metric, dtype, k):
    X = two_blobs.astype(dtype)
    found = nearest_neighbors(X, k, metric=metric, p=3)
    if metric == "cosine":  # not exact to the last digit: points are scaled in their own type
        _, distances = twin.nearest_neighbors(X, k, metric)
        np.testing.assert_allclose(found.distances, distances, 1e-4, 1e-6)
    else:
        assert_same_neighbors(found, X, k, metric)


@pytest.mark.parametrize(
    ("metric", "container"),
    [
        *product(METRICS[:4], (np.float32, np.float64, np.uint8, np.int64)),
        *product(METRICS[:2], [csr_array]),
    ],
)
@pytest.mark.parametrize("k", [5, 89])
def test_equal_distances_go_to_the_lower_index(duplicates, metric, container, k):
    # On a grid of whole numbers sums of powers are exact, so ties are ties everywhere.
    X = container(duplicates)
    assert_same_neighbors(nearest_neighbors(X, k, metric=metric, p=3), duplicates, k, metric)


def test_ties_are_settled_alike_across_blocks_and_tiles():
    # More points than a tile has columns (2048) and many more than a block has rows (256).
    X = np.random.default_rng(0).integers(0, 4, (2300, 2)).astype(np.float32)
    found = nearest_neighbors(X, 6)
    sq = ((X[:, None].astype(np.int32) - X.astype(np.int32)) ** 2).sum(axis=2)
    order = np.argsort(sq, axis=1, kind="stable")[:, :400]  # about 144 copies of each point
    expected = [[j for j in row if j != i][:6] for i, row in enumerate(order)]
    np.testing.assert_array_equal(found.indices, expected)


@pytest.mark.parametrize("k", [3, 30])
def test_neither_a_far_point_nor_a_large_offset_blurs_float32_points(one_far_point, k):
    offset = np.random.default_rng(6).normal(size=(80, 4)) + 1e4
    for X in (one_far_point.astype(np.float32), offset.astype(np.float32)):
        assert_same_neighbors(nearest_neighbors(X, k), X, k)


def test_precomputed_ties_go_to_the_lower_index(duplicates):
    D = twin.distances(duplicates, duplicates, "manhattan")
    found = nearest_neighbors(D.astype(np.int64), 12, metric="precomputed")
    assert_same_neighbors(found, duplicates, 12, "manhattan")


@pytest.mark.parametrize("k", [1, 8, 89])
def test_lists_with_self_are_the_stable_order_and_lose_self_again(duplicates, k):
    found = nearest_neighbors(duplicates, k)
    lists = with_self(found)
    order = twin.order(twin.distances(duplicates, duplicates))
    for i in range(90):
        expected = [j for j in order[i] if j == i or j in found.indices[i]]
        # Where all k are copies with lower indices, the point itself stands last.
        np.testing.assert_array_equal(lists[i], expected)
    others = lists[is_other(lists, np.arange(90))]
    np.testing.assert_array_equal(others.reshape(90, k), found.indices)


@pytest.mark.parametrize("kind", ["distinct", "ties", "equal", "overflow"])
@pytest.mark.parametrize("n_kept", [1, 64])
def test_the_nearest_of_several_tiles_are_kept(kind, n_kept):
    rng = np.random.default_rng(0)
    keys = rng.normal(size=(20, 700)).astype(np.float32)
    if kind == "ties":
        keys = np.round(keys)
    if kind == "equal":
        keys[:] = 3
    if kind == "overflow":
        keys[:, ::3] = np.nan
        keys[5, 1:500] = np.nan  # a first tile without a number
    kept_keys, kept_ids = np.full((20, n_kept), np.inf), np.full((20, n_kept), -1, np.int32)
    for start, stop in [(0, 400), (400, 450), (450, 700)]:
        keep_nearest(np.ascontiguousarray(keys[:, start:stop]), start, kept_keys, kept_ids)
    order = np.argsort(keys, axis=1, kind="stable")[:, :n_kept]  # NaN last
    np.testing.assert_array_equal(np.sort(kept_ids, axis=1), np.sort(order, axis=1))
    found = np.take_along_axis(keys, kept_ids.astype(int), axis=1)
    np.testing.assert_array_equal(kept_keys, found)


def test_fewer_numbers_than_are_kept_leave_places_empty():
    keys = np.full((1, 300), np.nan, np.float32)
    keys[0, [7, 200]] = 1, 0
    kept_keys, kept_ids = np.full((1, 5), np.inf), np.full((1, 5), -1, np.int32)
    keep_nearest(keys, 0, kept_keys, kept_ids)
    assert sorted(kept_ids[0]) == [-1, -1, -1, 7, 200]


def make_codes(n=80, t=30, n_cells=5, dtype=np.uint8, seed=0):
    return np.random.default_rng(seed).integers(0, n_cells, (n, t)).astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "k", "t"),
    [("uint8", 1, 30), ("int64", 12, 30), ("float32", 79, 30), ("uint8", 5, 300)],
)
def test_neighbors_of_codes_differ_in_the_fewest_columns(dtype, k, t):
    X = make_codes(t=t, dtype=dtype)
    assert_same_neighbors(nearest_neighbors(X, k, metric="hamming"), X, k, "hamming")


def test_new_codes_are_compared_with_the_set():
    X, new = make_codes(), make_codes(9, n_cells=7, seed=1)  # 5 and 6 are codes of no point
    ids, distances = ExactSearch(X, Metric("hamming")).nearest(new, 6)
    D = twin.distances(new, X, "hamming")
    np.testing.assert_array_equal(ids, twin.order(D)[:, :6])
    np.testing.assert_allclose(distances, np.take_along_axis(D, ids, axis=1), 1e-12)
