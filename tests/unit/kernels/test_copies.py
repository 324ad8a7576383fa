"""Weights of rows: the law that a row of weight w is w copies of itself."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import TSNE, OwnerKernel, Phase, Schedule, joint_probabilities
from isosne.errors import DataError, ParameterError
from isosne.kernels.copies import CopyLaw
from isosne.kernels.ownership import draw_subsets, owner_law
from isosne.layout.all_pairs import ExactRepulsion
from isosne.layout.attraction import ListedAttraction, SplitForces
from isosne.layout.start import _principal

RNG = np.random.default_rng(0)


def fitted(X, w, kernel="owner", **parameters):
    schedule = Schedule((Phase(2),))
    return TSNE(kernel, schedule=schedule, random_state=0, **parameters).fit(X, sample_weight=w)


def as_matrix(joint):
    n = len(joint.indptr) - 1
    return csr_array((joint.data, joint.indices, joint.indptr), shape=(n, n)).toarray()


def summed(P, weights):
    """Return P of copies, summed over the pairs of copies of two rows."""
    starts = np.r_[0, np.cumsum(weights)[:-1]]
    return np.add.reduceat(np.add.reduceat(P, starts, axis=0), starts, axis=1)


@pytest.mark.parametrize("local_scaling", [0, 0.5, 1])
@pytest.mark.parametrize(("n", "psis"), [(30, (5, 11)), (80, (20, 33))])
def test_affinities_are_those_of_copies(n, psis, local_scaling):
    X, w = RNG.normal(size=(n, 3)), RNG.integers(1, 5, n)
    size, copied_size = ([total / psi for psi in psis] for total in (n, w.sum()))
    kernel, copied = (OwnerKernel(s, local_scaling=local_scaling) for s in (size, copied_size))
    found = fitted(X, w, kernel)
    expected = joint_probabilities(np.repeat(X, w, axis=0), copied)
    assert found.kernel_.psi_ == expected.kernel.psi_ == psis
    whole = summed(as_matrix(expected.joint).astype(np.float64), w)
    kept = np.diag(whole).copy()
    np.fill_diagonal(whole, 0)
    np.testing.assert_allclose(as_matrix(found.affinities_), whole, atol=1e-7 * whole.max())
    np.testing.assert_allclose(found.affinities_.masses.kept, kept, atol=1e-7 * kept.max())


def test_lists_too_short_for_the_law_hold_the_whole_of_it():
    X, w = RNG.normal(size=(300, 3)), RNG.integers(1, 5, 300)
    joint = fitted(X, w, OwnerKernel((3, 10))).affinities_
    assert joint.data.sum() + joint.masses.kept.sum() == pytest.approx(1, abs=1e-6)


def test_weights_between_integers_are_interpolated():
    # Four points on a line, of weight 1.5 each: six copies, two cells. The first half rank of a
    # point is its own; its neighbors take 1.5 ranks each.
    X, w = np.array([[0.0], [1.0], [3.0], [7.0]]), np.full(4, 1.5)
    joint = fitted(X, w, OwnerKernel(2, local_scaling=0)).affinities_
    law = np.r_[0, np.cumsum([math.comb(5 - a, 1) for a in range(1, 6)])] / 10
    shares = np.diff(np.interp([0.5, 2, 3.5, 5], np.arange(6), law))
    p = np.zeros((4, 4))
    for i, order in enumerate([(1, 2, 3), (0, 2, 3), (1, 0, 3), (2, 1, 0)]):
        p[i, list(order)] = shares
    np.testing.assert_allclose(as_matrix(joint), (p + p.T) / 8, atol=1e-7)


def test_copies_drawn_for_broad_cells_have_the_shares_of_the_weights():
    w = RNG.uniform(0.2, 20, 3000)
    members = draw_subsets(100, 3000, np.random.default_rng(0), w).members
    counts = np.array([np.bincount(row, minlength=3000) for row in members])
    expected = w / w.sum() * members.shape[1]
    assert (np.abs(counts - expected) <= 1).all()  # rounded up or down
    assert counts.sum() == members.size


def test_new_points_compare_with_copies():
    X, w = np.array([[0.0], [1.0], [50.0]]), np.array([3.0, 2.0, 4.0])
    kernel = fitted(X, w, OwnerKernel(1.5, local_scaling=0)).kernel_
    ids, distances = np.array([[0, 1, 2]]), np.array([[0.1, 0.9, 49.9]])
    found = kernel.toward_neighbors()(None, ids, distances)[0, 0]
    law = owner_law(2, 9, 8)  # ranks 0 to 2 are copies of the first point, and so on
    expected = np.array([law[:3].sum(), law[3:5].sum(), law[5:].sum()]) / law.sum()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_map_of_weights_takes_the_steps_of_copies_that_move_together():
    X, w = RNG.normal(size=(60, 3)), RNG.integers(1, 4, 60)
    Y, starts, n_copies = RNG.normal(size=(60, 2)), np.r_[0, np.cumsum(w)[:-1]], w.sum()
    kernel, copied = (OwnerKernel(total / 15, local_scaling=1) for total in (60, n_copies))
    phase = Phase(50, divisor=16, momentum=0.5, shortest=0)
    found = TSNE(kernel, start=Y, schedule=Schedule((phase,), gains=False))
    found.fit(X, sample_weight=w)
    joint = joint_probabilities(np.repeat(X, w, axis=0), copied).joint
    forces = SplitForces(ListedAttraction(joint), ExactRepulsion())
    Y, update = Y.T.astype(np.float32), 0.0
    for _ in range(50):
        gradient = forces.gradient(np.repeat(Y, w, axis=1))
        update = 0.5 * update - n_copies / 16 * np.add.reduceat(gradient, starts, axis=1) / w
        Y = np.float32(Y + update)
    center = found.embedding_.mean(axis=0) - Y.mean(axis=1)
    np.testing.assert_allclose(found.embedding_ - center, Y.T, atol=1e-4 * np.abs(Y).max())


def test_weights_of_one_change_nothing(two_blobs):
    maps = [
        TSNE(random_state=0).fit(two_blobs, sample_weight=w).embedding_.tobytes()
        for w in (None, np.ones(len(two_blobs)))
    ]
    assert maps[0] == maps[1]


def test_the_law_has_a_rank_for_every_copy():
    law = CopyLaw(np.full(40, 10.0), (8,))  # cells of 50 copies: lists of 100
    assert law.n_ranks == 100


@pytest.mark.parametrize(
    "w", [[1, 2], np.zeros(20), np.full(20, 0.5), np.full(20, 2e4), ["a"] * 20]
)
def test_weights_are_checked(w):
    rule = "sample_weight must hold 20 positive numbers with a mean from 1 to 10,000; got "
    with pytest.raises(DataError, match=rule):
        fitted(RNG.normal(size=(20, 2)), w)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "gaussian"},
        {"kernel": OwnerKernel(label_weight=0.2)},
        {"affinities": "dense"},
        {"landmarks": 10},
    ],
)
def test_weights_are_refused_where_they_have_no_place(parameters):
    w = RNG.integers(1, 3, 20)
    with pytest.raises(ParameterError, match="sample_weight must be left out with kernels other"):
        fitted(RNG.normal(size=(20, 2)), w, **parameters)


def test_a_model_file_keeps_the_weights(tmp_path):
    X, w = RNG.normal(size=(120, 3)), RNG.uniform(0.5, 4, 120)
    model = fitted(X, w)
    model.save(tmp_path / "map.model")
    loaded = TSNE.load(tmp_path / "map.model")
    assert loaded.transform(X + 0.1).tobytes() == model.transform(X + 0.1).tobytes()
    ends = [each.continue_fit(5).embedding_ for each in (loaded, model)]
    np.testing.assert_allclose(*ends, atol=1e-5)  # sums in another order


def test_rows_that_extend_a_map_have_weight_one():
    X, w = RNG.normal(size=(40, 3)), RNG.integers(1, 4, 40)
    model = fitted(X, w).extend(X[:5] + 0.1, n_iter=2)
    assert model.kernel_.weights_.tolist() == [*w, *[1] * 5]


def test_a_checkpoint_of_other_weights_is_refused(tmp_path):
    X, model = RNG.normal(size=(40, 3)), TSNE(schedule=Schedule((Phase(2),)), random_state=0)
    model.fit(X, sample_weight=np.full(40, 2), checkpoint=tmp_path / "run")
    with pytest.raises(DataError, match="parameter sample_weight has changed"):
        model.fit(X, sample_weight=np.full(40, 3), checkpoint=tmp_path / "run")


def test_the_start_is_the_principal_components_of_copies():
    X, w = RNG.normal(size=(50, 4)) * [4, 3, 1, 1], RNG.integers(1, 9, 50)
    start = _principal(X, fitted(X, w).affinities_, 2)
    copies = _principal(np.repeat(X, w, axis=0), None, 2)[np.r_[0, np.cumsum(w)[:-1]]]
    shift = copies - copies.mean(axis=0)
    ratio = np.linalg.norm(shift) / np.linalg.norm(start)
    np.testing.assert_allclose(start * ratio, shift, atol=1e-3 * np.abs(shift).max())
