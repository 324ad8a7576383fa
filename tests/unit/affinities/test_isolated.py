"""A point that is alone has the same probabilities in every form of the affinities."""

import numpy as np
import pytest

from isosne import IsolationKernel, nearest_neighbors
from isosne.affinities.dense import dense_affinities, full_affinities, tie_factors
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from tests.unit.affinities.test_dense import as_matrix

N = 60


def some_alone():
    """Three samples of 59 of 60 points: few points ever share a cell."""
    return np.random.default_rng(0).normal(size=(N, 2)), 59, 3


def all_alone():
    """Every point is sampled, so that each is alone; the nearest of some are mutual."""
    return np.random.default_rng(1).normal(size=(N, 2)), N, 2


def tied_to_one():
    """A far group around one point, to which all others of the group are tied."""
    X = np.random.default_rng(2).normal(size=(N, 2))
    angles = np.arange(5) * 2 * np.pi / 5
    X[:5] = 50 + np.c_[np.cos(angles), np.sin(angles)]
    X[5] = 50
    return X, N, 1


CASES = {"some": some_alone, "all": all_alone, "one": tied_to_one}


@pytest.fixture(params=CASES)
def case(request):
    """A fitted kernel, its points, and P from the law: an empty row has 1 for the nearest point."""
    X, psi, n_partitions = CASES[request.param]()
    kernel = IsolationKernel(psi, n_partitions=n_partitions, random_state=1).fit(X)
    counts = kernel.rows().counts().astype(float)
    np.fill_diagonal(counts, 0)
    alone = np.flatnonzero(counts.sum(axis=1) == 0)
    assert len(alone) > 0
    sq_dist = ((X[:, None] - X) ** 2).sum(axis=2) + np.where(np.eye(N), np.inf, 0)
    counts[alone, sq_dist[alone].argmin(axis=1)] = 1
    conditional = counts / counts.sum(axis=1, keepdims=True)
    return kernel, X, alone, (conditional + conditional.T) / (2 * N)


def assert_law(P, isolated, case):
    _, _, alone, expected = case
    np.testing.assert_array_equal(isolated, alone)
    np.testing.assert_allclose(P, expected, rtol=2e-6, atol=1e-12)
    np.testing.assert_allclose(P, P.T, rtol=1e-6)


def test_dense_affinities_as_counts_and_as_numbers_follow_the_law(case):
    joint, isolated = dense_affinities(case[0])
    assert joint.values.dtype == np.uint8
    assert (joint.factors >= 0).all()
    assert_law(as_matrix(joint), isolated, case)
    joint, isolated = full_affinities(case[0].rows(), case[0])
    assert_law(as_matrix(joint), isolated, case)


def test_sparse_affinities_follow_the_law(case):
    kernel, X, *_ = case
    joint, isolated = sparse_affinities(kernel, nearest_neighbors(X, N - 1))
    P = np.zeros((N, N))
    rows = np.repeat(np.arange(N), np.diff(joint.indptr))
    P[rows, joint.indices] = joint.data
    assert_law(P, isolated, case)


def test_sampled_affinities_follow_the_law_and_are_symmetric(case):
    kernel, _, alone, expected = case
    source = SampledAffinities(kernel, random_state=0)
    draws = np.zeros((400, N, N))
    for number, total in enumerate(draws):
        indices, weights = source.draw(number)
        np.add.at(total, (np.arange(N)[:, None], indices), weights)
    np.testing.assert_array_equal(source.isolated, alone)
    mean = draws.mean(axis=0)
    # What isolated points draw does not vary, except for which of several is tied to them.
    fixed = draws.std(axis=0) < 1e-9
    np.testing.assert_allclose(mean[fixed], expected[fixed], rtol=1e-4, atol=1e-9)
    spread = draws.std(axis=0)[~fixed] / np.sqrt(len(draws))
    assert np.all(np.abs(mean - expected)[~fixed] < 5 * spread)  # one in two million is beyond 5
    np.testing.assert_allclose(mean[alone].sum(axis=1), expected[alone].sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(mean.sum(), 1, rtol=1e-3)


def test_ties_in_a_circle_have_factors_too():
    # 0, 1 and 2 in a circle, as rounded distances can have it; 3 is tied to 0; 4 is not isolated.
    factors = np.array([9.0, 9.0, 9.0, 9.0, 0.05])
    tie_factors(np.array([0, 1, 2, 3]), np.array([1, 2, 0, 0]), factors)
    for i, j in ((0, 1), (1, 2), (2, 0), (3, 0)):
        assert factors[i] + factors[j] == pytest.approx(0.1)  # 1 / 2n
    assert factors[4] == 0.05
