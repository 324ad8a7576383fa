"""Neighbors by the Hamming distance: all pairs, and from an index of the codes."""

import numpy as np
import pytest

from isosne.neighbors import approximate, nearest_neighbors
from isosne.neighbors.approximate import CodeIndex
from isosne.neighbors.codes import count_dtype
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import make_search
from tests.reference import neighbors as twin


def make_codes(n=80, t=30, n_cells=5, dtype=np.uint8, seed=0):
    return np.random.default_rng(seed).integers(0, n_cells, (n, t)).astype(dtype)


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize(("dtype", "k"), [("uint8", 1), ("int64", 12), ("float32", 79)])
def test_neighbors_differ_in_the_fewest_columns(dtype, k, method):
    X = make_codes(dtype=dtype)
    found = nearest_neighbors(X, k, metric="hamming", method=method)
    indices, distances = twin.nearest_neighbors(X, k, "hamming")
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, distances.astype(np.float32))


def test_counts_beyond_a_byte():
    X = make_codes(40, 300, 3)
    found = nearest_neighbors(X, 5, metric="hamming")
    indices, distances = twin.nearest_neighbors(X, 5, "hamming")
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, 1e-6)
    sizes = [count_dtype(t) for t in (255, 256, 65535, 65536)]
    assert sizes == [np.uint8, np.uint16, np.uint16, np.uint32]


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_new_points_are_compared_with_the_set(method):
    X, new = make_codes(), make_codes(9, n_cells=7, seed=1)  # 5 and 6 are codes of no point
    ids, distances = make_search(X, Metric("hamming"), method).nearest(new, 6)
    D = twin.distances(new, X, "hamming")
    np.testing.assert_array_equal(ids, twin.order(D)[:, :6])
    np.testing.assert_allclose(distances, np.take_along_axis(D, ids, axis=1), 1e-12)


def test_points_that_agree_with_few_are_filled_up_with_the_first_others():
    X = np.arange(60).reshape(12, 5)  # no two points agree anywhere
    found = CodeIndex(X).neighbors(4)
    for i in range(12):
        assert found.indices[i].tolist() == [j for j in range(12) if j != i][:4]
    assert np.all(found.distances == 1)


def test_columns_with_large_cells_count_but_add_no_candidates(monkeypatch):
    """Distances are exact; only points that share nothing but large cells are missed."""
    monkeypatch.setattr(approximate, "LARGEST_CELL", 20)
    rng = np.random.default_rng(0)
    X = np.column_stack([make_codes(60, 10, 12), rng.integers(0, 2, (60, 3))])
    assert max(np.bincount(X[:, 12])) > 20
    # Compiled code keeps the constant it was compiled with, so the loop runs as Python here.
    monkeypatch.setattr(approximate, "gather_nearest", approximate.gather_nearest.py_func)
    found = CodeIndex(X).neighbors(5)
    D = twin.distances(X, X, "hamming")
    np.testing.assert_allclose(found.distances, np.take_along_axis(D, found.indices, 1), 1e-6)
    is_seen = np.any(X[:, None, :10] == X[None, :, :10], axis=2)
    for i in range(60):
        order = [j for j in twin.order(D)[i] if j != i and is_seen[i, j]]
        assert found.indices[i].tolist() == order[:5]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_index_does_not_depend_on_threads(threads, n_threads):
    X = make_codes(1500, 12, 300, np.uint16)
    found = threads(n_threads, lambda: CodeIndex(X).neighbors(8))
    expected = nearest_neighbors(X, 8, metric="hamming")
    np.testing.assert_allclose(found.distances, expected.distances, 1e-6)
    assert np.mean(found.indices == expected.indices) > 0.9  # points that agree nowhere differ
