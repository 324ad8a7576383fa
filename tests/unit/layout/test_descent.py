"""The descent: one step, phases, stop rules, divergence, and a slow twin."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import GaussianKernel
from isosne._types import DenseMatrix, SparseMatrix
from isosne.affinities.dense import dense_affinities
from isosne.errors import DivergedError
from isosne.layout.all_pairs import ExactForces, ExactRepulsion
from isosne.layout.attraction import ListedAttraction, SplitForces
from isosne.layout.descent import Progress, advance, descend, sharpness
from isosne.layout.forces import Forces
from isosne.layout.schedules import ChangeBelow, Phase, RateFalls, Schedule
from tests.conftest import refuses
from tests.reference import descent as reference

pytestmark = pytest.mark.usefixtures("one_thread")


class Slope(Forces):
    """A field with a constant gradient and a list of values, which notes what it is asked."""

    dof = 1.0

    def __init__(self, gradient, values=()):
        self.constant = np.asarray(gradient, np.float32)
        self.values = iter(values)
        self.exaggerations = []

    def gradient(self, Y, exaggeration):
        self.exaggerations.append(exaggeration)
        return self.constant

    def value(self, Y):
        return next(self.values)


def first_map(n=20, d=2, spread=1.0, seed=1):
    return (spread * np.random.default_rng(seed).normal(size=(d, n))).astype(np.float32)


def test_one_step_follows_the_rule_by_hand():
    # momentum 0.5, step 2
    # point:            0                 1                 2                 3
    # gradient:         1                -1                 1                -1
    # update:          -1                -1                 2                 2
    # signs:            differ            agree             agree             differ
    # gain:             1 + 0.2 = 1.2     2 * 0.8 = 1.6     1 * 0.8 = 0.8     0.3 + 0.2 = 0.5
    # new update:      -0.5 - 2.4 = -2.9 -0.5 + 3.2 = 2.7   1 - 1.6 = -0.6    1 + 1 = 2
    # place before:     0                 0                 1                 1
    # place after:     -2.9               2.7               0.4               3       mean 0.8
    # centered:        -3.7               1.9              -0.4               2.2
    Y = np.array([[0, 0, 1, 1]], np.float32)
    update = np.array([[-1, -1, 2, 2]], np.float32)
    gains = np.array([[1, 2, 1, 0.3]], np.float32)
    gradient = np.array([[1, -1, 1, -1]], np.float32)
    limits = np.ones(Y.shape[1], np.float32), np.zeros(Y.shape[1], np.float32)
    advance(Y, update, gains, gradient, limits, (0.5, 2.0, True), True)
    # float32 holds seven digits
    np.testing.assert_allclose(gains, [[1.2, 1.6, 0.8, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(update, [[-2.9, 2.7, -0.6, 2]], rtol=1e-6)
    np.testing.assert_allclose(Y, [[-3.7, 1.9, -0.4, 2.2]], rtol=1e-6)
    assert gradient.tolist() == [[1, -1, 1, -1]]


def test_a_share_shortens_the_step_of_one_point():
    Y, update = np.zeros((2, 1, 2), np.float32)
    gains, gradient = np.ones((1, 2), np.float32), np.array([[1, -1]], np.float32)
    limits = np.array([1, 0.25], np.float32), np.zeros(2, np.float32)
    advance(Y, update, gains, gradient, limits, (0.5, 2.0, False), True)
    assert update.tolist() == [[-2, 0.5]]
    assert gains.tolist() == [[1, 1]]


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_loads_are_n_times_the_sums_of_rows(form):
    P = np.random.default_rng(0).random((20, 20)).astype(np.float32)
    P += P.T
    np.fill_diagonal(P, 0)
    P /= P.sum()
    if form == "dense":
        forces = ExactForces(DenseMatrix(P, np.full(20, 0.5, np.float32)))
    else:
        joint = csr_array(P)
        listed = SparseMatrix(joint.indptr.astype(np.int64), joint.indices, joint.data)
        forces = SplitForces(ListedAttraction(listed), ExactRepulsion())
    np.testing.assert_allclose(forces.loads(), 20 * P.sum(axis=1), rtol=1e-5)


def test_a_point_that_is_near_to_everyone_stays_in_the_map():
    # The paper's two clusters, in 50 dimensions; the origin is the nearest to every point.
    rng = np.random.default_rng(0)
    X = np.zeros((201, 50))
    X[:100, :25], X[100:200, 25:] = rng.normal(size=(100, 25)), rng.normal(size=(100, 25))
    kernel = GaussianKernel(100).fit(X)
    joint, _ = dense_affinities(kernel)
    far = []
    for schedule in (Schedule.annealed(), replace(Schedule.annealed(), bounded=False)):
        Y = first_map(n=201, spread=1e-4)
        for _ in descend(ExactForces(joint), Progress.at(Y), schedule):
            pass
        far.append(np.linalg.norm(Y[:, 200]) / np.linalg.norm(Y[:, :200], axis=0).max())
    assert far[0] < 1
    assert far[1] > 1.4  # what happens without bounds


def laplacian(joint, shares):
    P = joint.values * (joint.factors[:, None].astype(float) + joint.factors)
    return shares[:, None] * len(P) * (np.diag(P.sum(axis=1)) - P)


@pytest.mark.parametrize("dof", [1.0, 0.5])
def test_sharpness_is_the_largest_eigenvalue_of_the_laplacian(joint, dof):
    shares = np.linspace(0.5, 1, 20, dtype=np.float32)
    largest = np.abs(np.linalg.eigvals(laplacian(joint, shares))).max()
    slope = (dof + 1) / (2 * dof)  # of the attraction at distance 0
    found = sharpness(ExactForces(joint, dof=dof), shares, 2)
    # From below, by the power method; repulsion takes a thousandth.
    assert 0.97 * slope * largest < found <= 1.001 * slope * largest


def test_momentum_is_reduced_where_the_map_moves_uphill():
    field = Slope([[1, -1]])
    schedule = Schedule((Phase(3, momentum=0.99, step=1),), gains=False)
    progress = Progress.at(np.zeros((1, 2), np.float32))
    run = descend(field, progress, schedule)
    next(run)
    assert progress.update.tolist() == [[-1, 1]]
    field.constant = np.array([[-0.5, 0.5]], np.float32)  # the last update led uphill
    next(run)
    np.testing.assert_allclose(progress.update, [[-0.4, 0.4]], rtol=1e-6)  # -0.9 + 0.5
    field.constant = np.array([[0.5, -0.5]], np.float32)
    next(run)
    np.testing.assert_allclose(progress.update, [[-0.896, 0.896]], rtol=1e-6)  # -0.396 - 0.5


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_map_stays_centered(joint, d):
    Y = first_map(d=d) + np.float32(5)
    for state in descend(ExactForces(joint), Progress.at(Y), Schedule.standard(n_iter=260)):
        # twenty float32 numbers of size s are summed to within 20 * 6e-8 s
        assert np.abs(state.Y.mean(axis=1)).max() <= 2e-6 * np.abs(state.Y).max()
    assert state.Y is Y


def test_phases_follow_each_other_with_their_exaggeration_and_step():
    field = Slope([[1, -1]])
    phases = (
        Phase(3, exaggeration=7, momentum=0, step=2),
        Phase(2, exaggeration=1, momentum=0, step=0.5),
    )
    Y = np.zeros((1, 2), np.float32)
    states = [
        (s.iteration, s.phase, float(s.Y[0, 1]), s.gradient_norm)
        for s in descend(field, Progress.at(Y), Schedule(phases, gains=False))
    ]
    assert field.exaggerations == [7, 7, 7, 1, 1]
    assert [state[:2] for state in states] == [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1)]
    assert [state[2] for state in states] == [2, 4, 6, 6.5, 7]
    assert [state[3] for state in states] == pytest.approx([2**0.5] * 5)


class Bowl(Slope):
    """Points on springs: the value is the sum of their squares over two."""

    def __init__(self):
        super().__init__([[0.0]])

    def gradient(self, Y, exaggeration):
        return Y.copy()

    def value(self, Y):
        return float(np.square(Y, dtype=np.float64).sum()) / 2


def test_oscillations_die_out_although_momentum_is_high():
    Y = first_map(n=6000, d=1)
    schedule = Schedule((Phase(300, momentum=0.998, step=0.01),), gains=False)
    values = [state.value() for state in descend(Bowl(), Progress.at(Y), schedule)]
    # The largest value of 50 steps, more than a swing: without a brake, 0.55 of that at the start
    assert max(values[-50:]) < 1e-3 * max(values[:50])


def test_the_value_of_a_step_is_computed_once():
    forces = Slope([[1, -1]], [3.0, 2.0, 1.0])
    steps = descend(forces, Progress.at(first_map(2, 1)), Schedule((Phase(3),)))
    assert [(state.value(), state.value()) for state in steps] == [(3, 3), (2, 2), (1, 1)]
    # A stop rule asks for the value of every second step; the states of these steps know it.
    forces = Slope([[1, -1]], [5.0, 4.0])
    phase = Phase(4, stop=ChangeBelow(every=2))
    states = list(descend(forces, Progress.at(first_map(2, 1)), Schedule((phase,))))
    assert len(states) == 4
    assert states[-1].value() == 4


# Values after 3, 6, 9, ... steps. Relative decreases from 15 steps on: 1/10, 1/5, 1/6, 1/10, 1/27,
# so the rate falls for the third time after 27 steps.
PEAK = [100, 100, 100, 100, 90, 72, 60, 54, 52]


@pytest.mark.parametrize(
    ("rule", "values", "last"),
    [
        (RateFalls(), PEAK, 27),
        # the rate rises all the time: 1/10, 1/9, 1/8, ...
        (RateFalls(), [130, 120, 110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10], 40),
        # falls need not follow each other: 1/5, 1/10, 1/5, 1/10, 1/5, 1/10
        (RateFalls(), [100] * 5 + [80, 72, 57.6, 51.84, 41.472, 37.325], 33),
        # falls up to 15 steps do not count
        (RateFalls(), [100, 50, 45, 44, 43.9, *np.arange(43, 0, -3.0)], 40),
        (RateFalls(wait=0, every=1, delay=0), [100, 50, 40], 3),
        # after 5, 10, ... steps: 0.1 / 5 is above 0.9 / 5000; 0.0005 / 5 is below 0.8995 / 5000
        (ChangeBelow(), [2.0, 1.5, 1.0, 0.9, 0.8995], 25),
        # not before 15 steps
        (ChangeBelow(), [1.0, 1.0, 1.0, 0.9, 0.9], 25),
        # 0.001 / 5 = 0.0002 is above 0.899 / 5000 = 0.00018
        (ChangeBelow(), [2.0, 1.5, 1.0, 0.9, 0.899, 0.898, 0.897, 0.896], 40),
        # a rise counts as a change
        (ChangeBelow(), [1.0, 0.9, 1.0, 0.9, 1.0, 0.9, 1.0, 0.9], 40),
        (ChangeBelow(wait=2, every=2, share=0.1), [1.0, 0.9], 4),
    ],
)
def test_a_phase_ends_by_its_rule(rule, values, last):
    field = Slope([[1, -1]], values)
    run = descend(field, Progress.at(first_map(2, 1)), Schedule((Phase(40, stop=rule),)))
    assert [state.iteration for state in run][-1] == last


@pytest.mark.parametrize("rule", [RateFalls(), ChangeBelow(), ChangeBelow(0, 50, 3e-5)])
def test_a_rule_ends_a_phase_after_its_fewest_steps_at_the_earliest(rule):
    # the relative decrease falls at once, and is below any share
    values = 1 + 1e-12 * 0.5 ** np.arange(200)
    run = descend(
        Slope([[1, -1]], values), Progress.at(first_map(2, 1)), Schedule((Phase(400, stop=rule),))
    )
    assert [state.iteration for state in run][-1] == rule.fewest


def test_the_next_phase_begins_where_a_rule_ended_the_last():
    field = Slope([[1, -1]], PEAK)
    schedule = Schedule((Phase(500, exaggeration=12, stop=RateFalls()), Phase(4)))
    run = descend(field, Progress.at(first_map(2, 1)), schedule)
    states = [(state.iteration, state.phase) for state in run]
    assert len(states) == 31
    assert states[26:28] == [(27, 0), (28, 1)]
    assert field.exaggerations == [12] * 27 + [1.0] * 4


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_map_without_bounds_is_an_error_that_names_the_step(bad):
    field = Slope([[1, -1]])
    run = descend(field, Progress.at(first_map(2, 1)), Schedule((Phase(9, step=123.5),)))
    next(run)
    next(run)
    field.constant = np.array([[bad, 1]], np.float32)
    sentence = (
        "The optimization diverged at step 3 with step length 123.5. "
        "Choose a schedule with shorter steps."
    )
    with refuses(DivergedError, sentence):
        next(run)


@pytest.mark.parametrize("gains", [True, False])
def test_the_path_is_that_of_a_slow_twin(joint, gains):
    phases = [(15, 4.0, 0.5, 3.0), (15, 1.0, 0.8 if gains else 0.99, 3.0)]
    schedule = Schedule(tuple(Phase(*phase) for phase in phases), gains)
    before = [part.tobytes() for part in joint]
    Y = first_map(seed=0)
    factors = joint.factors.astype(float)
    P = joint.values * (factors[:, None] + factors)
    expected = list(reference.descend(P, Y.T.copy(), phases, has_gains=gains))
    found = [state.Y.T.copy() for state in descend(ExactForces(joint), Progress.at(Y), schedule)]
    assert len(found) == len(expected) == 30
    for one, other in zip(found, expected, strict=True):
        # float32 against float64 over 30 steps, each of which passes on the errors before it:
        # measured 9e-7 from this start, 8e-7 to 3e-5 from five others
        np.testing.assert_allclose(one, other, atol=2e-5 * np.abs(other).max())
    assert [part.tobytes() for part in joint] == before  # probabilities are not changed


def test_a_map_that_collapses_keeps_its_shape_and_gets_back_its_size():
    class Shrinking(Slope):
        """Pull to the center, so strong that every step divides the map by ten."""

        def gradient(self, Y, exaggeration):
            return 0.9 * Y

    Y = np.random.default_rng(0).normal(0, 1e-4, (2, 50)).astype(np.float32)
    Y -= Y.mean(axis=1, keepdims=True)
    shape = Y / np.linalg.norm(Y)
    schedule = Schedule((Phase(200, momentum=0.0, step=1.0),))
    for state in descend(Shrinking(Y), Progress.at(Y), schedule):
        # gains shrink to 0.01 while signs agree, so later steps are shorter; none may lose the map
        assert state.Y.std(axis=1).max() > 0.9e-8
    # gains above one throw the map over to the other side, as a whole
    assert abs((Y / np.linalg.norm(Y) * shape).sum()) > 0.999
