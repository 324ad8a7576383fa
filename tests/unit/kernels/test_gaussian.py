import math
import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import GaussianKernel, nearest_neighbors
from isosne.errors import DegenerateRowsWarning
from tests.reference import gaussian as twin
from tests.reference.neighbors import distances

# Our bisection ends within 5e-5 nats of the entropy; the twin goes on to machine accuracy. For
# these data the bandwidth then agrees to a few parts in ten thousand.
RTOL = 1e-3


def probabilities(block):
    """Scale rows of a square block to sum one, with a zero diagonal."""
    P = block.astype(np.float64)
    np.fill_diagonal(P, 0)
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("data", "perplexity"),
    [("two_blobs", 1.5), ("two_blobs", 30.0), ("two_blobs", 50), ("subspace_clusters", 5)],
)
def test_bandwidths_are_those_of_the_twin(request, data, perplexity):
    X = request.getfixturevalue(data)
    sigma = GaussianKernel(perplexity).fit(X).bandwidths()
    assert sigma.shape == (1, len(X))
    expected = twin.bandwidths(distances(X, X), perplexity, own=True)
    np.testing.assert_allclose(sigma[0], expected, rtol=RTOL)


@pytest.mark.parametrize(
    ("metric", "container"),
    [
        *(("euclidean", "float32"), ("euclidean", "csr"), ("manhattan", "float64")),
        *(("minkowski", "float32"), ("cosine", "csr"), ("cosine", "float64")),
    ],
)
def test_rows_are_the_conditional_probabilities_up_to_a_factor(two_blobs, metric, container):
    X = csr_array(two_blobs) if container == "csr" else two_blobs.astype(container)
    rows = GaussianKernel(8, metric=metric, p=3).fit(X).rows()
    assert (rows.n_points, rows.n_scales) == (60, 1)
    block = rows.block(slice(0, 60))
    assert block.dtype == np.float32
    expected = twin.conditional(distances(two_blobs, two_blobs, metric, 3), 8)
    np.testing.assert_allclose(probabilities(block[0]), expected, 5e-3, 1e-5)


def test_similarity_is_equation_1_with_the_bandwidth_of_the_row_among_fitted_points(two_blobs):
    kernel = GaussianKernel(9).fit(two_blobs)
    expected = twin.similarity(distances(two_blobs, two_blobs), kernel.bandwidths()[0])
    # Squared distances are right to five digits, and an exponent of 20 multiplies their error.
    np.testing.assert_allclose(kernel.similarity(), expected, 1e-4, 1e-7)
    A, B = two_blobs[::7] + 0.2, two_blobs[::11] - 0.1
    sigma = kernel.bandwidths(A)[0]
    expected = twin.bandwidths(distances(A, two_blobs), 9, own=False)
    np.testing.assert_allclose(sigma, expected, rtol=RTOL)
    for found, other in ((kernel.similarity(A), two_blobs), (kernel.similarity(A, B), B)):
        np.testing.assert_allclose(found, twin.similarity(distances(A, other), sigma), 1e-4, 1e-7)


@pytest.mark.parametrize(
    ("n", "perplexity"), [(2, 1), (4, 1), (5, 4 / 3), (61, 20), (91, 30), (200, 30)]
)
def test_automatic_perplexity_is_30_or_a_third_of_the_others(n, perplexity):
    X = np.random.default_rng(0).normal(size=(n, 2))
    kernel = GaussianKernel()
    assert kernel.fit(X).perplexity_.tolist() == [perplexity]
    assert kernel.resolved(n).perplexity == perplexity
    assert kernel.perplexity == "auto"
    assert kernel.costs(n).n_partners == math.ceil(3 * perplexity)


def test_several_perplexities_are_layers_and_their_mean(two_blobs):
    kernel = GaussianKernel([4, 20]).fit(two_blobs)
    single = [GaussianKernel(value).fit(two_blobs) for value in (4, 20)]
    layers = kernel.rows().block(slice(5, 50))
    assert layers.shape == (2, 45, 60)
    for s in range(2):
        np.testing.assert_array_equal(layers[s], single[s].rows().block(slice(5, 50))[0])
        np.testing.assert_array_equal(kernel.bandwidths()[s], single[s].bandwidths()[0])
    mean = (single[0].similarity() + single[1].similarity()) / 2
    np.testing.assert_allclose(kernel.similarity(), mean, rtol=1e-6)


def test_points_with_many_copies_take_the_limit_with_a_warning():
    # Five copies at 0, each with four others at distance zero; perplexity 3 cannot be had there.
    X = np.array([[0.0]] * 5 + [[1.0], [1.5], [4.0], [8.0]])
    kernel = GaussianKernel(3).fit(X)
    match = re.escape(
        "5 of 9 points have more than perplexity neighbors at the same smallest distance, so that "
        "no bandwidth gives that perplexity; these neighbors get equal weight. Remove duplicate "
        "points, or raise perplexity."
    )
    with pytest.warns(DegenerateRowsWarning, match=match):
        block = kernel.rows().block(slice(0, 9))[0]
    np.testing.assert_array_equal(block[:5], np.tile([1] * 5 + [0] * 4, (5, 1)))
    assert np.all(np.isfinite(block))
    with pytest.warns(DegenerateRowsWarning, match=match):
        sigma = kernel.bandwidths()[0]
    assert np.all(sigma[:5] == 0)
    with pytest.warns(DegenerateRowsWarning, match=match):
        found = kernel.neighbor_similarity(nearest_neighbors(X, 8))[0]
    np.testing.assert_array_equal(found[:5], np.tile([1] * 4 + [0] * 4, (5, 1)))
    with pytest.warns(DegenerateRowsWarning, match=match):
        K = kernel.similarity()
    np.testing.assert_array_equal(K[:5], block[:5])
    assert np.all(np.isfinite(K))


def test_as_many_copies_as_the_perplexity_have_a_bandwidth_and_no_warning():
    X = np.array([[0.0]] * 4 + [[1.0], [1.5], [4.0], [8.0]])
    block = GaussianKernel(3).fit(X).rows().block(slice(0, 4))[0]
    assert np.all(block[:, :4] == 1)
    assert np.all(block[:, 4:] < 1e-4)  # an entropy 5e-5 nats above that of the copies alone


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_high_dimensional_rows_do_not_vanish(shift):
    # Squared distances of 4000 with a bandwidth near one: exp(-2000) is nothing in any float.
    X = np.random.default_rng(0).normal(size=(30, 2000)) + shift
    P = probabilities(GaussianKernel(1.2).fit(X).rows().block(slice(0, 30))[0])
    np.testing.assert_allclose([twin.perplexity(row) for row in P], 1.2, rtol=1e-3)
