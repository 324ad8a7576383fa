"""Neighbor graphs as a pair of indices and distances, as neighbor searches return them."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from isosne import OwnerKernel, PrecomputedKernel
from isosne.errors import DataError
from tests.conftest import make, refuses

K = 20
given = partial(make, OwnerKernel(metric="precomputed"))


@pytest.fixture
def search():
    points = np.random.default_rng(5).normal(size=(70, 4))
    return NearestNeighbors(n_neighbors=K).fit(points)


def padded(part, first, last):
    return np.hstack([np.broadcast_to(first, (len(part), 1)), part, np.full((len(part), 2), last)])


@pytest.mark.parametrize("form", ["either order", "themselves first, some missing"])
def test_the_map_is_that_of_the_sparse_matrix(search, form):
    pair = distances, ids = search.kneighbors()
    if form != "either order":
        pair = padded(ids, np.arange(70)[:, None], -1), padded(distances, 0.03, np.inf)
    expected = given().fit(csr_array(search.kneighbors_graph(mode="distance")))
    np.testing.assert_array_equal(given().fit(pair).embedding_, expected.embedding_)


def test_new_rows_are_placed_by_their_neighbors_among_the_fitted_ones(search):
    new = np.vstack([search._fit_X[:1], search._fit_X[:5] + 0.1])
    model = given().fit(search.kneighbors())
    expected = model.transform(csr_array(search.kneighbors_graph(new, mode="distance")))
    for place in (model.transform, model.place):
        np.testing.assert_array_equal(place(search.kneighbors(new)), expected)
    np.testing.assert_array_equal(expected[0], model.embedding_[0])


def test_affinities_can_be_a_pair(search):
    distances, ids = search.kneighbors()
    kernel, expected = PrecomputedKernel().fit((ids, 1 / distances)), np.zeros((70, 70), np.float32)
    np.put_along_axis(expected, ids, np.float32(1 / distances), axis=1)
    np.testing.assert_array_equal(kernel.similarity((ids[:3], 1 / distances[:3])), expected[:3])
    np.testing.assert_array_equal(kernel.similarity(), expected)


def test_distances_that_were_rounded_differently_are_taken(search):
    distances, ids = search.kneighbors()
    noise = np.random.default_rng(0).random(distances.shape)
    assert given().fit((ids, distances * (1 + 1e-3 * noise))).embedding_.shape == (70, 2)


RULE = "two arrays of the same shape (n, k), one of them of integers; got {0} and {0}"
RANGE = "indices from 0 to 69, or -1 for a missing neighbor; got the index {}"
REPEATED = "different neighbors in each row; got a neighbor twice in one row"
PAIRS = {
    "no indices": (lambda ids, D: (D, D), RULE.format("float64 of shape (70, 20)")),
    "too large": (lambda ids, D: (ids + 1, D), RANGE.format(70)),
    "too small": (lambda ids, D: (ids - 2, D), RANGE.format(-2)),
    "twice": (lambda ids, D: (np.hstack([ids[:, 1:], ids[:, 1:2]]), D), REPEATED),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_that_is_no_graph_is_refused(search, name):
    change, what = PAIRS[name]
    distances, ids = search.kneighbors()
    sentence = f"The indices and distances of neighbors must be {what}. Pass both as the neighbor "
    with refuses(DataError, sentence + "search returned them."):
        given().fit(change(ids, distances))
