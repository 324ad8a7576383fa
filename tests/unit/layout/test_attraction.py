"""Attraction along lists of pairs, kept or drawn, beside repulsion, in any order of memory."""

import numpy as np
import pytest

from isosne import GaussianKernel, IsolationKernel, nearest_neighbors
from isosne._types import SparseMatrix
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.layout.all_pairs import ExactRepulsion
from isosne.layout.attraction import (
    EARLY_SHARE,
    FULL_UNTIL,
    LAST_SHARE,
    DrawnAttraction,
    ListedAttraction,
    SplitForces,
)

N = 150
DOFS = [0.5, 1.0, 3.0, np.inf]


def points():
    return np.random.default_rng(0).normal(size=(N, 4))


def some_rows(d=2):
    """Return rows of two or three coordinates; a map of one dimension has a second that is zero."""
    Y = np.zeros((N, max(2, d)), np.float32)
    Y[:, :d] = 3 * np.random.default_rng(1).normal(size=(N, d))
    return Y


@pytest.fixture(scope="module")
def joint():
    kernel = GaussianKernel(8).fit(points())
    return sparse_affinities(kernel, nearest_neighbors(points(), 24))[0]


@pytest.fixture(scope="module")
def source():
    kernel = IsolationKernel([12, 30], n_partitions=50, random_state=0).fit(points())
    return SampledAffinities(kernel, random_state=1)


def as_matrix(joint):
    P = np.zeros((N, N))
    for i in range(N):
        row = slice(joint.indptr[i], joint.indptr[i + 1])
        P[i, joint.indices[row]] = joint.data[row]
    return P


def slow_pull_and_loss(P, Y, dof):
    """Word for word: sum_j p u (y_i - y_j), and -sum p log w."""
    Y = Y.astype(float)
    difference = Y[:, None] - Y
    sq_dist = (difference**2).sum(axis=2)
    if np.isinf(dof):
        return (P[..., None] * difference).sum(axis=1), (P * sq_dist).sum()
    u = (dof + 1) / (2 * dof) / (1 + sq_dist / dof)
    log_w = -(dof + 1) / 2 * np.log1p(sq_dist / dof)
    return ((P * u)[..., None] * difference).sum(axis=1), -(P * log_w).sum()


def pull_of(attraction, Y):
    pull = np.full_like(Y, np.nan)
    attraction.pull(Y, pull)
    return pull


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
def test_kept_pairs_pull_as_the_equations_say(joint, dof, d):
    attraction, Y = ListedAttraction(joint, dof), some_rows(d)
    pull, loss = slow_pull_and_loss(as_matrix(joint), Y, dof)
    # some 40 float32 terms a row: five digits of the largest
    np.testing.assert_allclose(pull_of(attraction, Y), pull, atol=1e-5 * np.abs(pull).max())
    assert attraction.loss(Y) == pytest.approx(loss, rel=1e-5)
    assert attraction.n_points == N


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
def test_drawn_partners_pull_as_the_equations_say(source, dof, d):
    attraction, Y = DrawnAttraction(source, dof), some_rows(d)
    attraction.prepare(0)
    matrices = []
    for number in (0, 1):  # the first judges the objective, the second pulls
        indices, weights = source.draw(number)
        P = np.zeros((N, N))
        np.add.at(P, (np.arange(N)[:, None], indices), weights)
        matrices.append(P)
    pull, _ = slow_pull_and_loss(matrices[1], Y, dof)
    _, loss = slow_pull_and_loss(matrices[0], Y, dof)
    np.testing.assert_allclose(pull_of(attraction, Y), pull, atol=1e-5 * np.abs(pull).max())
    assert attraction.loss(Y) == pytest.approx(loss, rel=1e-5)


def test_negative_entropy_is_the_sum_of_p_log_p(source):
    joint = SparseMatrix(np.array([0, 2, 4]), np.zeros(4, np.int32), np.float32([0, 0.25, 0.75, 0]))
    expected = 0.25 * np.log(0.25) + 0.75 * np.log(0.75)  # probabilities of zero add nothing
    assert ListedAttraction(joint).negative_entropy == pytest.approx(expected, rel=1e-15)
    drawn = DrawnAttraction(source)
    assert drawn.negative_entropy == source.mean_log_p(source.draw(0))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_order_in_memory_changes_nothing(joint, d):
    attraction = ListedAttraction(joint)
    attraction.prepare(0)
    Y = some_rows(d)
    pull, loss = pull_of(attraction, Y), attraction.loss(Y)
    order = np.arange(N)
    for seed in range(3):
        step = np.random.default_rng(seed).permutation(N)
        attraction = attraction.arranged(step)
        order = order[step]
        # A row keeps the order of its pairs, so its sum does not change by a bit.
        assert np.array_equal(pull_of(attraction, Y[order]), pull[order])
        # Rows are summed in another order, in float64.
        assert attraction.loss(Y[order]) == pytest.approx(loss, rel=1e-12)


def test_partners_are_drawn_anew_at_every_step_whatever_was_drawn_before(source):
    attraction, jumped, Y = DrawnAttraction(source), DrawnAttraction(source), some_rows()
    pulls, losses = [], []
    for iteration in range(5):
        attraction.prepare(iteration)
        pulls.append(pull_of(attraction, Y))
        losses.append(attraction.loss(Y))
    assert len({pull.tobytes() for pull in pulls}) == 5
    assert len(set(losses)) == 1  # judged by the same pairs throughout
    jumped.prepare(4)
    assert np.array_equal(pull_of(jumped, Y), pulls[4])


def test_steps_shorten_toward_the_end_only_where_partners_are_drawn(joint, source):
    kept, drawn = ListedAttraction(joint), DrawnAttraction(source)
    progress = np.linspace(0, 1, 21)
    assert {kept.step_share(p) for p in progress} == {1.0}
    assert drawn.step_share(0.0) == EARLY_SHARE  # before the last phase
    shares = np.array([drawn.step_share(p) for p in progress[1:]])
    full = progress[1:] <= FULL_UNTIL
    assert (shares[full] == 1).all()
    assert (np.diff(shares[~full]) < 0).all()
    assert shares[-1] == pytest.approx(LAST_SHARE)


def test_a_tiny_map_has_the_value_of_equal_similarities(joint):
    forces = SplitForces(ListedAttraction(joint), ExactRepulsion())
    tiny = np.random.default_rng(1).normal(size=(2, N)).astype(np.float32) * np.float32(1e-6)
    # All q equal: KL = sum p log p + log(n (n - 1)).
    expected = forces.attraction.negative_entropy + np.log(N * (N - 1))
    assert forces.value(tiny) == pytest.approx(expected, rel=1e-5)
    assert expected > 0
