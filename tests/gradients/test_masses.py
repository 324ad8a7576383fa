"""Points with masses against their copies, which are moved together: forces, Z and objective."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne._types import Masses, SparseMatrix
from isosne.layout.all_pairs import ExactRepulsion
from isosne.layout.attraction import ListedAttraction, SplitForces
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.tree import TreeRepulsion
from tests.reference import repulsion as reference

RNG = np.random.default_rng(0)
N = 200
WEIGHTS = RNG.integers(1, 6, N)
WHOLE = WEIGHTS.sum()
REPULSIONS = {
    # name: how it is made, and the error of its forces relative to their size
    "exact": (lambda d, dof: ExactRepulsion(dof), 1e-6),
    "mesh": (lambda d, dof: MeshRepulsion(d, dof, accuracy=3e-3), 6e-3),
    "tree": (lambda d, dof: TreeRepulsion(d, dof, theta=0.2), 2e-3),
}


def joint_of_copies():
    """Return P (WHOLE, WHOLE) of copies: symmetric, more for pairs of copies of one point."""
    owner = np.repeat(np.arange(N), WEIGHTS)
    P = np.exp(-(((owner[:, None] - owner) / 5) ** 2)) * (np.abs(owner[:, None] - owner) < 12)
    np.fill_diagonal(P, 0)
    return P / P.sum()


def merged(P):
    """Return P of the points: the sums over the pairs of copies."""
    starts = np.r_[0, np.cumsum(WEIGHTS)[:-1]]
    sums = np.add.reduceat(np.add.reduceat(P, starts, axis=0), starts, axis=1)
    kept = np.diag(sums).copy()
    np.fill_diagonal(sums, 0)
    rows = csr_array(sums.astype(np.float32))
    v = WEIGHTS / WEIGHTS.mean()
    within = WEIGHTS * (WEIGHTS - 1) / WEIGHTS.mean() ** 2
    masses = Masses(v.astype(np.float32), within, kept)
    return SparseMatrix(rows.indptr.astype(np.int64), rows.indices, rows.data, masses)


def weighted_forces(d, dof, kind):
    joint = merged(joint_of_copies())
    repulsion = REPULSIONS[kind][0](d, dof)
    return SplitForces(ListedAttraction(joint, dof), repulsion, dof)


def copied(Y):
    return np.repeat(Y, WEIGHTS, axis=1).astype(np.float64)


def some_map(d):
    return (5 * np.random.default_rng(1).normal(size=(d, N))).astype(np.float32)


def exact_gradient(Y, dof):
    """Return 4 sum_j (p - q) u (y_i - y_j) of the first copy of each point, and the push in it."""
    P, all_copies = joint_of_copies(), copied(Y)
    Z = reference.sum_of_similarities(all_copies.T, dof)
    gradient, push = np.zeros(Y.shape), np.zeros(Y.shape)
    for i, first in enumerate(np.r_[0, np.cumsum(WEIGHTS)[:-1]]):
        diffs = all_copies[:, [first]] - all_copies
        sq_dist = (diffs**2).sum(axis=0)
        u, w = reference.steepness(sq_dist, dof), reference.similarity(sq_dist, dof)
        push[:, i] = 4 * ((w * u / Z) * diffs).sum(axis=1)
        gradient[:, i] = 4 * ((P[first] * u) * diffs).sum(axis=1) - push[:, i]
    return gradient, push


def exact_value(Y, dof):
    """Return KL(P || Q) of the copies."""
    P, Y = joint_of_copies(), copied(Y)
    w = reference.similarity(((Y[:, :, None] - Y[:, None]) ** 2).sum(axis=0), dof)
    np.fill_diagonal(w, 0)
    Q, is_pair = w / w.sum(), P > 0
    return float((P[is_pair] * np.log(P[is_pair] / Q[is_pair])).sum())


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", [0.5, 1.0, np.inf])
@pytest.mark.parametrize("kind", REPULSIONS)
def test_a_mass_moves_like_its_copies(kind, dof, d):
    Y = some_map(d)
    expected, push = exact_gradient(Y, dof)
    # Steps are proportional to the number of points: N here, WHOLE for copies.
    found = weighted_forces(d, dof, kind).gradient(Y) * N / WHOLE
    bound = REPULSIONS[kind][1] * np.linalg.norm(push) + 1e-6 * np.linalg.norm(expected)
    assert np.linalg.norm(found - expected) < bound


@pytest.mark.parametrize("kind", REPULSIONS)
def test_the_objective_is_that_of_the_copies(kind):
    Y = some_map(2)
    found = weighted_forces(2, 1.0, kind).value(Y)
    assert found == pytest.approx(exact_value(Y, 1.0), rel=2e-6, abs=REPULSIONS[kind][1] / 2)


@pytest.mark.parametrize("kind", REPULSIONS)
def test_the_order_in_memory_does_not_show(kind):
    Y, forces = some_map(2), weighted_forces(2, 1.0, kind)
    before = forces.gradient(Y)
    forces.prepare(50, Y)
    assert np.abs(forces.gradient(Y) - before).max() < 1e-5 * np.abs(before).max()
