"""Neighbors by the Hamming distance."""

import numpy as np
import pytest

from isosne.neighbors import nearest_neighbors
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import make_search
from tests.reference import neighbors as twin


def make_codes(n=80, t=30, n_cells=5, dtype=np.uint8, seed=0):
    return np.random.default_rng(seed).integers(0, n_cells, (n, t)).astype(dtype)


@pytest.mark.parametrize(
    ("dtype", "k", "t"),
    [("uint8", 1, 30), ("int64", 12, 30), ("float32", 79, 30), ("uint8", 5, 300)],
)
def test_neighbors_differ_in_the_fewest_columns(dtype, k, t):
    X = make_codes(t=t, dtype=dtype)
    found = nearest_neighbors(X, k, metric="hamming")
    indices, distances = twin.nearest_neighbors(X, k, "hamming")
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, np.float32(distances))


def test_new_points_are_compared_with_the_set():
    X, new = make_codes(), make_codes(9, n_cells=7, seed=1)  # 5 and 6 are codes of no point
    ids, distances = make_search(X, Metric("hamming"), "exact").nearest(new, 6)
    D = twin.distances(new, X, "hamming")
    np.testing.assert_array_equal(ids, twin.order(D)[:, :6])
    np.testing.assert_allclose(distances, np.take_along_axis(D, ids, axis=1), 1e-12)
