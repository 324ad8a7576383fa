"""Neighbor graphs as a pair of indices and distances, as neighbor searches return them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from isosne import OwnerKernel, PrecomputedKernel
from isosne.errors import DataError
from tests.conftest import make, refuses

K = 20


@pytest.fixture
def search():
    points = np.random.default_rng(5).normal(size=(70, 4))
    return NearestNeighbors(n_neighbors=K).fit(points)


def given():
    return make(OwnerKernel(metric="precomputed"))


def padded(part, filler):
    return np.pad(part, ((0, 0), (0, 2)), constant_values=filler)


@pytest.mark.parametrize(
    "form", ["without themselves", "either order", "themselves first", "padded"]
)
def test_the_map_is_that_of_the_sparse_matrix(search, form):
    distances, ids = search.kneighbors()
    own = np.arange(len(ids))[:, None]
    pair = {
        "without themselves": (ids, distances),
        "either order": (distances, ids),
        "themselves first": (np.hstack([own, ids]), np.hstack([own * 0 + 0.03, distances])),
        "padded": (padded(ids, -1), padded(distances, np.inf)),
    }[form]
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
    kernel = PrecomputedKernel().fit((ids, 1 / distances))
    graph = search.kneighbors_graph(mode="distance").toarray()
    expected = np.divide(1, graph, out=np.zeros_like(graph), where=graph > 0)
    np.testing.assert_allclose(kernel.similarity(), expected, rtol=1e-6)
    np.testing.assert_allclose(kernel.similarity((ids[:3], 1 / distances[:3])), expected[:3], 1e-6)


def test_distances_that_were_rounded_differently_are_taken(search):
    distances, ids = search.kneighbors()
    rounded = distances * (1 + 1e-3 * np.random.default_rng(0).random(distances.shape))
    assert given().fit((ids, rounded)).embedding_.shape == (70, 2)


RULE = "two arrays of the same shape (n, k), one of them of integers; got {} and {}"
RANGE = "indices from 0 to 69, or -1 for a missing neighbor; got the index {}"
REPEATED = "different neighbors in each row; got a neighbor twice in one row"
IDS, ALL, SHORT = (
    "int64 of shape (70, 20)",
    "float64 of shape (70, 20)",
    "float64 of shape (70, 19)",
)
PAIRS = {
    "shape": (lambda ids, D: (ids, D[:, 1:]), RULE.format(IDS, SHORT)),
    "no indices": (lambda ids, D: (D, D), RULE.format(ALL, ALL)),
    "too large": (lambda ids, D: (ids + 1, D), RANGE.format(70)),
    "too small": (lambda ids, D: (ids - 2, D), RANGE.format(-2)),
    "twice": (lambda ids, D: (np.where(np.arange(K) == 1, ids[:, :1], ids), D), REPEATED),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_that_is_no_graph_is_refused(search, name):
    change, what = PAIRS[name]
    distances, ids = search.kneighbors()
    sentence = f"The indices and distances of neighbors must be {what}. Pass both as the neighbor "
    with refuses(DataError, sentence + "search returned them."):
        given().fit(change(np.asarray(ids, np.int64), distances))
