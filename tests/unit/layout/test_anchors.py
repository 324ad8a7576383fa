"""The pull toward the places of a previous map."""

from itertools import islice

import numpy as np
import pytest

from isosne._types import DenseMatrix
from isosne.layout.all_pairs import ExactForces
from isosne.layout.anchors import NARROWEST, Anchors, Pull, make_pull, radius_of
from isosne.layout.descent import Progress, descend
from isosne.layout.schedules import Phase, Schedule
from tests.reference import descent as reference

pytestmark = pytest.mark.usefixtures("one_thread")
N = 20
PLAIN = Schedule((Phase(300, momentum=0.5, step=5),))


def anchors_of(n_components=2, strength=10.0):
    """Places of every second point."""
    places = np.random.default_rng(1).normal(scale=5, size=(N // 2, n_components))
    return Anchors(np.arange(0, N, 2), places.astype(np.float32), strength)


def map_of(n_components, scale=3.0):
    start = np.random.default_rng(2).normal(scale=scale, size=(n_components, N))
    return start.astype(np.float32)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_value_and_gradient_are_those_of_the_equation(n_components):
    anchors, Y = anchors_of(n_components), map_of(n_components)
    pull, gradient = Pull(anchors, N), np.ones_like(Y)
    pull.add(Y, gradient)
    value, force, stiffness = reference.pull_term(Y.T.astype(float), *anchors[:3])
    assert pull.value(Y) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(gradient.T - 1, force, atol=1e-6)
    np.testing.assert_allclose(pull.stiffness, stiffness, rtol=1e-6)


def test_the_gradient_is_the_slope_of_the_value():
    pull, Y, step = Pull(anchors_of(), N), map_of(2), np.float32(0.25)
    gradient = np.zeros_like(Y)
    pull.add(Y, gradient)
    for c, i in ((0, 4), (1, 10), (0, 3)):  # the last one is not pulled
        above, below = Y.copy(), Y.copy()
        above[c, i] += step
        below[c, i] -= step
        slope = (pull.value(above) - pull.value(below)) / (2 * step)
        assert gradient[c, i] == pytest.approx(slope, abs=1e-5)


def test_a_descent_with_a_pull_is_that_of_the_slow_twin(joint):
    P = joint.values * (joint.factors[:, None] + joint.factors)
    anchors, Y = anchors_of(), map_of(2)
    phases = ((15, 4.0, 0.5, 5.0), (20, 1.0, 0.8, 5.0))
    expected = reference.descend(
        P.astype(float), Y.T.copy(), phases, pull=(anchors.rows, anchors.places, anchors.strength)
    )
    schedule = Schedule(
        tuple(Phase(n, exaggeration=e, momentum=m, step=s) for n, e, m, s in phases)
    )
    found = descend(ExactForces(joint), Progress.at(Y), schedule, Pull(anchors, N))
    for state, twin in zip(found, expected, strict=True):
        np.testing.assert_allclose(state.Y.T, twin, atol=2e-3)  # float32, amplified by 35 steps


@pytest.mark.parametrize("strength", [1e3, 1e9])
@pytest.mark.parametrize("schedule", [Schedule.annealed(), Schedule.paper()])
def test_no_strength_makes_a_map_diverge(joint, strength, schedule):
    Y, anchors = map_of(2), anchors_of(strength=strength)
    for _ in islice(descend(ExactForces(joint), Progress.at(Y), schedule, Pull(anchors, N)), 150):
        pass
    assert anchors.displacement(Y.T).max() < max(100 / strength, 1e-5)  # float32
    assert np.isfinite(Y).all()


def test_a_map_that_is_held_is_not_centered(joint):
    anchors = anchors_of(strength=1e6)
    moved = anchors._replace(places=anchors.places + np.float32(50))
    Y = map_of(2)
    Y += 50
    for _ in descend(ExactForces(joint), Progress.at(Y), PLAIN, Pull(moved, N)):
        pass
    np.testing.assert_allclose(Y.T[moved.rows].mean(axis=0), moved.places.mean(axis=0), atol=0.01)


@pytest.mark.parametrize(("distance", "leaves"), [(0.7, True), (1.3, False)])
def test_a_point_follows_its_neighbors_up_to_four_radii_by_the_root_of_the_strength(
    distance, leaves
):
    """Point 0 has affinity to point 1 only, which is held far from the place of point 0.

    Attraction is 4 p_0 d / (1 + d^2) at distance d, about 4 p_0 / d; with p_0 = 1 / n and
    displacement x the pull balances it if x d = 4 r^2 / strength, which x + d = D allows for
    D >= 4 r / sqrt(strength) only. The critical distance is one radius here.
    """
    strength, radius, n = 16.0, 100.0, 6
    center = np.array([[0, 0], [distance * radius, 0], [0, 0], [0, 0], [0, 0], [0, 0]], float)
    # The other places only give the map its radius.
    others = np.array([[0, 1], [0, -1], [0, 1], [0, -1]], float)
    center[2:] = others * radius * np.sqrt((6 - distance**2 * 5 / 6) / 4)
    places = center.astype(np.float32)
    assert radius_of(places) == pytest.approx(radius, rel=1e-3)
    pull = Pull(Anchors(np.arange(n), places, strength), n)
    pull.stiffness[1:] *= 1e6  # all but the first are held
    P = np.zeros((n, n), np.float32)
    P[0, 1] = P[1, 0] = 1 / n  # the row of the first point sums to 1 / n
    Y = np.ascontiguousarray(places.T)
    forces = ExactForces(DenseMatrix(P, np.full(n, 0.5, np.float32)))
    schedule = Schedule((Phase(3000, momentum=0.9, step=3.0),), gains=False)
    for _ in descend(forces, Progress.at(Y), schedule, pull):
        pass
    moved = np.linalg.norm(Y[:, 0] - places[0]) / radius
    assert (moved > 0.8 * distance) == leaves
    assert (moved < 0.5) != leaves


def test_a_strength_of_zero_is_no_pull():
    assert make_pull(None, N) is None
    assert make_pull(anchors_of(strength=0.0), N) is None
    assert make_pull(anchors_of()._replace(rows=np.array([], np.int64)), N) is None
    assert make_pull(anchors_of(), N).stiffness.sum() > 0


def test_anchors_of_chosen_points_are_counted_among_them():
    anchors = Anchors(np.array([1, 4, 7]), np.array([[1.0], [4.0], [7.0]], np.float32), 1.0)
    found = anchors.among(np.array([0, 4, 6, 7]))
    assert found.rows.tolist() == [1, 3]
    assert found.places.ravel().tolist() == [4.0, 7.0]


def test_displacement_is_measured_in_radii():
    assert radius_of(np.ones((3, 2), np.float32)) == NARROWEST
    places = np.array([[0, 0], [0, 6], [8, 0], [8, 6]], np.float32)
    assert radius_of(places) == pytest.approx(5)  # half the diagonal
    moved = places + np.array([[3, 4], [0, 0], [0, 10], [0, 0]], np.float32)
    found = Anchors(np.arange(4), places, 1.0).displacement(moved)
    np.testing.assert_allclose(found, [1, 0, 2, 0])
