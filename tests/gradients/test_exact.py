"""Exact forces against finite differences of the objectives, computed apart in float64."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import TSNE
from isosne._types import DenseMatrix, SparseMatrix
from isosne.layout.all_pairs import ExactForces, ExactRepulsion
from isosne.layout.attraction import ListedAttraction, SplitForces
from isosne.layout.objectives import JSE, KL, NeRV
from tests.reference import objectives as reference

N = 23


@pytest.fixture
def probabilities():
    """Joint probabilities with every third pair at zero, exact in float32."""
    K = np.random.default_rng(0).random((N, N)) ** 3
    K = np.triu(K, 1) * (np.add.outer(np.arange(N), np.arange(N)) % 3 > 0)
    return ((K + K.T) / (2 * K.sum())).astype(np.float32)


def dense(P):
    return DenseMatrix(P, np.full(len(P), 0.5, np.float32))


def sparse(P):
    matrix = csr_array(P)
    return SparseMatrix(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)


OBJECTIVES = [
    (KL(), reference.kl),
    (NeRV(0.9), partial(reference.nerv, trade_off=0.9)),
    (NeRV(0.2), partial(reference.nerv, trade_off=0.2)),
    (JSE(0.5), partial(reference.jse, mixture=0.5)),
    (JSE(0.9), partial(reference.jse, mixture=0.9)),
    (JSE(0.01), partial(reference.jse, mixture=0.01)),
]
NAMES = [str(objective) for objective, _ in OBJECTIVES]


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.5, 1.0, 3.0, np.inf])
@pytest.mark.parametrize(("objective", "function"), OBJECTIVES, ids=NAMES)
def test_gradient_and_value_equal_the_definition(
    probabilities, objective, function, dof, n_components
):
    Y = np.random.default_rng(1).normal(size=(N, n_components)).astype(np.float32)
    forces = ExactForces(dense(probabilities), objective, dof)
    exact = probabilities.astype(float)
    expected = reference.gradient(lambda Z: function(exact, Z, dof=dof), Y.astype(float))
    found = forces.gradient(Y.T).T
    # float32 sums over 23 points hold six digits; differences of step 1e-5 about as many
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert forces.value(Y.T) == pytest.approx(function(exact, Y.astype(float), dof=dof), rel=1e-5)


@pytest.mark.parametrize("dof", [1.0, 2.0, np.inf])
def test_listed_pairs_give_the_same_forces_as_all_pairs(probabilities, dof):
    Y = np.random.default_rng(1).normal(size=(2, N)).astype(np.float32)
    listed, full = (
        SplitForces(ListedAttraction(sparse(probabilities), dof), ExactRepulsion(dof), dof),
        ExactForces(dense(probabilities), dof=dof),
    )
    np.testing.assert_allclose(listed.gradient(Y, 12), full.gradient(Y, 12), rtol=1e-4, atol=1e-7)
    assert listed.value(Y) == pytest.approx(full.value(Y), rel=1e-5)


def test_counts_give_the_same_forces_as_their_probabilities():
    rng = np.random.default_rng(2)
    counts = np.triu(rng.integers(0, 200, (N, N)), 1).astype(np.uint8)
    counts += counts.T
    factors = (0.5 / N / counts.sum(axis=1, dtype=int)).astype(np.float32)
    P = (counts * (factors[:, None].astype(float) + factors)).astype(np.float32)
    Y = rng.normal(size=(2, N)).astype(np.float32)
    counted, full = ExactForces(DenseMatrix(counts, factors)), ExactForces(dense(P))
    np.testing.assert_allclose(counted.gradient(Y), full.gradient(Y), rtol=1e-4, atol=1e-8)
    assert counted.value(Y) == pytest.approx(full.value(Y), rel=1e-5)


def test_exaggeration_multiplies_the_attraction_alone(probabilities):
    Y = np.random.default_rng(1).normal(size=(2, N)).astype(np.float32)
    for objective in (KL(), NeRV(0.5), JSE(0.5)):
        forces = ExactForces(dense(probabilities), objective)
        once, twice, thrice = (forces.gradient(Y, e).copy() for e in (1, 2, 3))
        np.testing.assert_allclose(thrice - twice, twice - once, rtol=2e-3, atol=1e-6)
        # what one unit of exaggeration adds is KL's attraction, whatever the objective
        kl = ExactForces(dense(probabilities))
        extra = kl.gradient(Y, 2) - kl.gradient(Y, 1)
        np.testing.assert_allclose(twice - once, extra, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("objective", [NeRV(1.0), JSE(1e-7)])
def test_mixtures_have_kl_as_their_limit(probabilities, objective):
    Y = np.random.default_rng(1).normal(size=(2, N)).astype(np.float32)
    limit, kl = ExactForces(dense(probabilities), objective), ExactForces(dense(probabilities))
    for exaggeration in (1, 12):
        expected = kl.gradient(Y, exaggeration)
        found = limit.gradient(Y, exaggeration)
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_a_perfect_map_has_value_zero():
    Y = np.random.default_rng(1).normal(size=(2, 40)).astype(np.float32)
    P = reference.map_probabilities(Y.T.astype(float), 1.0).astype(np.float32)
    for objective in (KL(), NeRV(0.5), JSE(0.5)):
        forces = ExactForces(dense(P), objective)
        assert 0 <= forces.value(Y) < 1e-6
        # at a typical distance of 2 and p of 1/1600 the forces alone are about 1e-2
        assert np.abs(forces.gradient(Y)).max() < 1e-7


@pytest.mark.parametrize("schedule", ["annealed", "standard"])
@pytest.mark.parametrize("dof", [3.0, 10.0, 100.0, np.inf])
@pytest.mark.parametrize("n", [5, 12, 40])
def test_few_points_do_not_diverge_with_light_tails(n, dof, schedule):
    X = np.random.default_rng(n).normal(size=(n, 3))
    X[::3] *= 5
    model = TSNE("gaussian", objective=KL(dof=dof), schedule=schedule, random_state=0).fit(X)
    assert np.isfinite(model.kl_divergence_)
    assert np.abs(model.embedding_).max() < 1000
