"""Objectives of one's own: any object with value and derivative."""

import numpy as np
import pytest

from isosne import KL, GaussianKernel, Phase, Schedule
from isosne.affinities.dense import dense_affinities
from isosne.layout.all_pairs import CustomForces, ExactForces
from tests.unit.tsne.conftest import make

N = 60


class HandKL:
    """KL(P || Q), written by hand."""

    def __init__(self, dof=1.0):
        self.dof = dof

    def value(self, P, Q):
        some = P > 0
        return (P[some] * np.log(P[some] / Q[some])).sum()

    def derivative(self, P, Q):
        return -np.divide(P, Q, out=np.zeros_like(P), where=Q > 0)


class SquaredError:
    """The sum of squared differences, an objective that isosne does not have."""

    def value(self, P, Q):
        return ((P - Q) ** 2).sum()

    def derivative(self, P, Q):
        return 2 * (Q - P)


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(N, 5))


@pytest.fixture(scope="module")
def joint(points):
    return dense_affinities(GaussianKernel(10).fit(points))[0]


@pytest.fixture(scope="module", name="Y")
def some_map():
    return np.random.default_rng(1).normal(size=(2, N)).astype(np.float32)


@pytest.mark.parametrize("objective", [HandKL(), HandKL(0.5), HandKL(np.inf), SquaredError()])
def test_the_gradient_is_that_of_the_value(joint, Y, objective):
    forces = CustomForces(joint, objective)
    gradient = forces.gradient(Y)
    assert gradient.dtype == np.float32
    largest = float(np.abs(gradient).max())
    step = np.float32(2.0**-10)  # both ends and the width between them are exact in float32
    for axis, i in ((0, 0), (1, 0), (0, 17), (1, 59)):
        ends = []
        for sign in (1, -1):
            moved = Y.copy()
            moved[axis, i] += sign * step
            ends.append((forces.value(moved), moved[axis, i]))
        slope = (ends[0][0] - ends[1][0]) / float(ends[0][1] - ends[1][1])
        # Values are in float64: what is left is the curvature over 2^-10, and the float32 result.
        assert gradient[axis, i] == pytest.approx(slope, rel=1e-4, abs=1e-5 * largest)


@pytest.mark.parametrize("exaggeration", [1.0, 4.0])
@pytest.mark.parametrize("dof", [1.0, 0.5, 3.0, np.inf])
def test_kl_by_hand_has_the_gradient_and_the_value_of_kl(joint, Y, dof, exaggeration):
    hand, own = CustomForces(joint, HandKL(dof)), ExactForces(joint, KL(dof), dof)
    expected = own.gradient(Y, exaggeration)
    # sums of 60 terms in float32 against float64
    scale = np.abs(expected).max()
    np.testing.assert_allclose(hand.gradient(Y, exaggeration), expected, atol=1e-5 * scale)
    assert hand.value(Y) == pytest.approx(own.value(Y), rel=1e-5)
    assert hand.dof == own.dof


def test_an_objective_of_one_s_own_is_minimized(points):
    model = make(
        GaussianKernel(10), objective=SquaredError(), schedule=Schedule((Phase(100, step=200),))
    )
    model.fit(points)
    assert model.trace_[-1, 1] < model.trace_[0, 1]
    assert model.continue_fit(50).kl_divergence_ < model.trace_[1, 1]
