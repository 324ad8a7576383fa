"""Forces in two parts against exact forces over all pairs, for each kind of repulsion."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne._types import DenseMatrix, SparseMatrix
from isosne.layout.all_pairs import ExactForces, ExactRepulsion
from isosne.layout.attraction import ListedAttraction, SplitForces
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.tree import TreeRepulsion

N = 300
DOFS = [0.5, 1.0, 3.0, np.inf]
REPULSIONS = {
    # name: how it is made, and the error of its forces relative to their size
    "exact": (lambda d, dof: ExactRepulsion(dof), 1e-5),
    "mesh": (lambda d, dof: MeshRepulsion(d, dof, accuracy=1e-3), 2e-3),
    "tree": (lambda d, dof: TreeRepulsion(d, dof, theta=0.2), 2e-3),
}


@pytest.fixture(scope="module")
def probabilities():
    """Joint probabilities of points on a line, each with some thirty partners; exact in float32."""
    places = np.sort(np.random.default_rng(0).random(N))
    K = np.exp(-(((places[:, None] - places) / 0.02) ** 2))
    K[K < 1e-3] = 0
    np.fill_diagonal(K, 0)
    return (K / K.sum()).astype(np.float32)


def split_forces(P, d, dof, kind):
    matrix = csr_array(P)
    sparse = SparseMatrix(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)
    return SplitForces(ListedAttraction(sparse, dof), REPULSIONS[kind][0](d, dof), dof)


def exact_forces(P, dof):
    return ExactForces(DenseMatrix(P, np.full(N, 0.5, np.float32)), dof=dof)


def some_map(d, width=2.0):
    return (width * np.random.default_rng(1).normal(size=(d, N))).astype(np.float32)


def attraction_alone(forces, Y):
    """Return the gradient's part that exaggeration multiplies."""
    return forces.gradient(Y, 2.0) - forces.gradient(Y, 1.0)


@pytest.mark.parametrize("exaggeration", [1.0, 12.0])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("kind", REPULSIONS)
def test_two_parts_give_the_forces_of_all_pairs(probabilities, kind, dof, d, exaggeration):
    Y = some_map(d)
    found = split_forces(probabilities, d, dof, kind).gradient(Y, exaggeration)
    exact = exact_forces(probabilities, dof)
    expected = exact.gradient(Y, exaggeration)
    # only the push is approximate; the gradient is a difference that may be smaller than its parts
    push = expected - exaggeration * attraction_alone(exact, Y)
    rounding = 1e-5 * np.linalg.norm(expected)
    bound = REPULSIONS[kind][1] * np.linalg.norm(push) + rounding
    assert np.linalg.norm(found - expected) < bound


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("kind", REPULSIONS)
def test_two_parts_give_the_value_of_all_pairs(probabilities, kind, dof, d):
    Y = some_map(d)
    found = split_forces(probabilities, d, dof, kind).value(Y)
    # log Z is off by the relative error of Z; the float32 sums of p log w hold five digits
    expected = exact_forces(probabilities, dof).value(Y)
    assert found == pytest.approx(expected, rel=2e-5, abs=REPULSIONS[kind][1])


@pytest.mark.parametrize("width", [1e-4, 0.3, 10.0])
@pytest.mark.parametrize("kind", REPULSIONS)
def test_they_agree_at_every_width_of_the_map(probabilities, kind, width):
    Y = some_map(2, width)
    split, exact = split_forces(probabilities, 2, 1.0, kind), exact_forces(probabilities, 1.0)
    expected = exact.gradient(Y)
    push = expected - attraction_alone(exact, Y)
    # at width 10 there is a point to two units of area: a mesh errs five times more there
    bound = 5 * REPULSIONS[kind][1] * np.linalg.norm(push) + 1e-5 * np.linalg.norm(expected)
    assert np.linalg.norm(split.gradient(Y) - expected) < bound
    assert split.value(Y) == pytest.approx(exact.value(Y), rel=1e-3)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("kind", REPULSIONS)
def test_the_gradient_is_the_slope_of_the_value(probabilities, kind, dof, d):
    Y = some_map(d)
    forces = split_forces(probabilities, d, dof, kind)
    gradient = forces.gradient(Y).astype(np.float64)
    direction = gradient / np.linalg.norm(gradient)
    # The value holds about six digits of 5, so a step must change it by far more than 1e-5; the
    # slope along the gradient is its norm, and a step of half a unit over 300 points is short.
    step = 0.5
    ahead, behind = ((Y + s * direction).astype(np.float32) for s in (step, -step))
    slope = (forces.value(ahead) - forces.value(behind)) / (2 * step)
    assert slope == pytest.approx(np.linalg.norm(gradient), rel=0.02)


@pytest.mark.parametrize("kind", REPULSIONS)
def test_the_order_in_memory_does_not_show(probabilities, kind):
    Y = some_map(2)
    forces = split_forces(probabilities, 2, 1.0, kind)
    before, value = forces.gradient(Y, 4.0), forces.value(Y)
    for iteration in (50, 300):
        forces.prepare(iteration, Y)
        # sums in another order round differently
        atol = 1e-5 * np.abs(before).max()
        np.testing.assert_allclose(forces.gradient(Y, 4.0), before, atol=atol)
        assert forces.value(Y) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("kind", REPULSIONS)
def test_threads_do_not_change_a_bit(threads, probabilities, kind):
    Y = some_map(2)

    def run():
        forces = split_forces(probabilities, 2, 1.0, kind)
        return forces.gradient(Y).tobytes(), forces.value(Y)

    assert threads(1, run) == threads(2, run)
