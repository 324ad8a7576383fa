"""The near field: what is summed pair by pair, so that the mesh can be coarse."""

import numpy as np
import pytest

from isosne.layout.mesh import CUTOFFS, MeshRepulsion
from isosne.layout.near_field import (
    add_near,
    n_compared,
    n_near_pairs,
    smooth_similarity,
    sort_into_cells,
)
from tests.reference import repulsion as reference
from tests.unit.layout.maps import relative, repel

DOFS = [0.5, 1.0, 3.0, np.inf]
NEAR = CUTOFFS[1:]
ROUNDING = 2e-4
"""Relative error of reference values that are differences of differences."""


def wide_map(n, d, width):
    """Points of very uneven density: half in a narrow cluster, half all over a cube."""
    rng = np.random.default_rng(5)
    Y = width * rng.random((n, d))
    Y[: n // 2] = 0.3 * width + 0.03 * width * rng.normal(size=(n // 2, d))
    return Y.astype(np.float32)


def add_all(Y, cutoff, dof):
    """Return the push (n, d) and the sum of the near pairs of a map (n, d)."""
    push = np.zeros(Y.T.shape, np.float32)
    cells = sort_into_cells(np.ascontiguousarray(Y.T), cutoff)
    whole = add_near(cells, cutoff, np.float32(dof), push)
    return push.T, whole


@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("cutoff", NEAR)
def test_the_mesh_gets_w_outside_of_the_cutoff_and_a_smooth_part_inside(cutoff, dof):
    sq_dist = np.linspace(0, 4 * cutoff**2, 400)
    w = reference.similarity(sq_dist, dof)
    rest = w - smooth_similarity(sq_dist, dof, cutoff)
    assert np.abs(rest[sq_dist >= cutoff**2]).max() < 1e-15  # the same power, by other means
    np.testing.assert_allclose(
        rest, reference.near_part(sq_dist, cutoff, dof), atol=ROUNDING * np.abs(rest).max()
    )


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("cutoff", [2.0, 6.0])
def test_near_pairs_are_summed(cutoff, dof, d):
    Y = wide_map(60, d, 25.0)
    push, whole = add_all(Y, cutoff, dof)
    own = reference.near_part(0.0, cutoff, dof)
    sums = [reference.near_potential(y, Y, cutoff, dof) - own for y in Y.astype(float)]
    assert whole == pytest.approx(sum(sums), rel=10 * ROUNDING)
    expected, step = np.empty(Y.shape), 1e-4
    for i, y in enumerate(Y.astype(float)):
        for c in range(d):
            moved = step * np.eye(d)[c]
            # The pair of the point with itself has no slope at its own place.
            up, down = (reference.near_potential(y + s * moved, Y, cutoff, dof) for s in (1, -1))
            expected[i, c] = -(up - down) / (4 * step)  # push = -gradient / 2
    np.testing.assert_allclose(push, expected, atol=10 * ROUNDING * np.abs(expected).max())


def test_points_are_sorted_by_cell_and_equal_cells_keep_their_order():
    Y = np.float32([[0.1, 5.2, 0.3, 9.9, 5.4], [0.2, 0.1, 0.4, 9.8, 0.6]])
    cells = sort_into_cells(Y, 4.0)  # cells of width 2, from (0.1, 0.1): 5 x 5
    assert cells.sides == (1, 5, 5)
    assert cells.order.tolist() == [0, 2, 1, 4, 3]
    assert cells.cells.tolist() == [0, 0, 10, 10, 24]
    assert cells.starts[[0, 1, 10, 11, 24, 25]].tolist() == [0, 2, 2, 4, 4, 5]


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("cutoff", NEAR)
def test_forces_are_as_accurate_as_asked_for_with_every_cutoff(cutoff, dof, d):
    Y = wide_map(500, d, {1: 200.0, 2: 80.0, 3: 25.0}[d])
    expected, Z = reference.push(Y, dof), reference.sum_of_similarities(Y, dof)
    for accuracy in (0.03, 0.01):
        push, found = repel(Y, MeshRepulsion(d, dof, accuracy, cutoffs=(cutoff,)))
        assert relative(push, expected) < 2 * accuracy  # as for other maps of few points
        assert abs(found / Z - 1) < 0.5 * accuracy


def test_a_wide_map_has_a_near_field_and_a_narrow_one_has_none():
    Y = np.ascontiguousarray(wide_map(4000, 2, 150.0).T)
    repulsion = MeshRepulsion(2)
    cutoffs = []
    for factor in (1e-3, 0.05, 1.0):
        repel(np.float32(factor) * Y.T, repulsion)
        cutoffs.append(repulsion._grid.shape.cutoff)
    assert cutoffs[:2] == [0.0, 0.0]
    assert cutoffs[2] > 0
    cells = sort_into_cells(Y, cutoffs[2])
    assert n_compared(cells) == pytest.approx(n_near_pairs(Y, cutoffs[2]), rel=0.5)


def test_points_that_gather_inside_the_same_bounds_get_a_smaller_cutoff():
    rng = np.random.default_rng(0)
    Y = (100 * rng.random((2, 3000))).astype(np.float32)
    Y[:, 0], Y[:, 1] = 0, 100
    repulsion = MeshRepulsion(2)
    repel(Y.T, repulsion)
    before = repulsion._grid.shape
    Y[:, 2:] = 50 + rng.normal(size=(2, 2998))  # all but two in one cell
    push, _ = repel(Y.T, repulsion)
    assert repulsion._grid.shape.cutoff < before.cutoff
    assert relative(push, reference.push(Y.T, 1.0)) < 0.02
