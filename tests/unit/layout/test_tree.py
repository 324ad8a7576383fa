"""Repulsion by a tree: against the definition, on maps with copies, of any width."""

import numpy as np
import pytest

from isosne.layout.attraction import curve_order
from isosne.layout.tree import LEAF_POINTS, LEVELS, TreeRepulsion, every_third, link
from tests.reference import repulsion as reference
from tests.unit.layout.maps import relative, repel, uneven_clusters, uniform

DOFS = [0.5, 1.0, 3.0, np.inf]


def assert_near(Y, dof, bounds):
    """Compare push and Z with the definition; the bounds of their errors by theta."""
    expected, expected_Z = reference.push(Y, dof), reference.sum_of_similarities(Y, dof)
    for theta, (of_push, of_Z) in bounds.items():
        push, Z = repel(Y, TreeRepulsion(Y.shape[1], dof, theta))
        assert relative(push, expected) < of_push
        assert abs(Z / expected_Z - 1) < of_Z


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("points", [uniform, uneven_clusters])
def test_half_is_accurate_to_a_hundredth_and_zero_is_the_definition(points, dof, d):
    bounds = {0.0: (1e-6, 1e-6)}  # float32 holds seven digits
    if d > 1:
        bounds[0.5] = 1e-2, 5e-3
    assert_near(points(1000, d), dof, bounds)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("points", [uniform, uneven_clusters])
def test_errors_fall_with_theta(points, d):
    Y = points(2000, d)
    expected = reference.push(Y, 1.0)
    found = [relative(repel(Y, TreeRepulsion(d, theta=t))[0], expected) for t in (1, 0.7, 0.5)]
    # about as the square or the cube of theta
    assert found[0] > 1.7 * found[1] > 1.7**2 * found[2] > 0
    assert found[0] < 0.05


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n", [2, 3, 4, LEAF_POINTS, LEAF_POINTS + 1, 2 * LEAF_POINTS + 1])
def test_small_maps(n, d):
    # one-dimensional maps of a few dozen points are the coarsest: a leaf spans half the map
    assert_near(uniform(n, d), 1.0, {0.5: (0.02, 0.01)})


@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("n", [2, 1000])
def test_equal_points_do_not_push(n, dof):
    push, Z = repel(np.full((n, 2), 3.25, np.float32), TreeRepulsion(2, dof))
    assert not push.any()
    assert n * (n - 1) == Z  # w = 1 for every pair


def test_copies_push_as_often_as_they_occur():
    # a third of the points lie at one place, more than fill a leaf, and every other one twice
    Y = np.repeat(uneven_clusters(300, 2), 2, axis=0)
    Y[::3] = Y[7]
    assert_near(Y, 1.0, {0.0: (1e-6, 1e-6), 0.5: (1e-2, 5e-3)})


def test_many_copies_cost_no_more_than_other_points():
    # a leaf of copies acts as one mass, on other copies too: 4e10 pairs would take a minute
    Y = np.ones((200_000, 2), np.float32)
    Y[:3] = [[0, 0], [2, 0], [0, 2]]
    push, Z = repel(Y, TreeRepulsion(2))
    m = len(Y) - 3
    # w to the copies is 1/3 from (0, 0), at a squared distance of 2, and from the other two
    # w among the three is 1/5, 1/5 and 1/9
    by_hand = m * (m - 1) + 6 * m / 3 + 2 * (1 / 5 + 1 / 5 + 1 / 9)
    assert pytest.approx(by_hand, rel=1e-6) == Z
    # the copies push by m w^2 = m / 9 along each axis, the two others by 2 / 25 each
    np.testing.assert_allclose(push[0], -m / 9 - 2 / 25, rtol=1e-6)


@pytest.mark.parametrize("distance", [1e3, 1e9, 1e30])
@pytest.mark.parametrize("dof", DOFS)
def test_one_far_point_leaves_the_others_as_they_were(dof, distance):
    Y = uneven_clusters(500, 2)
    Y[17] = distance
    others = np.arange(500) != 17
    push, _ = repel(Y, TreeRepulsion(2, dof, theta=0.2))
    with np.errstate(over="ignore", under="ignore"):
        expected = reference.push(Y, dof)
    # at 1e9 and beyond all the others share a cell of the last level, and act one by one
    assert relative(push[others], expected[others]) < 1e-3
    np.testing.assert_allclose(push[17], expected[17], rtol=1e-2, atol=1e-30)


@pytest.mark.parametrize("width", [1e-30, 1e-4, 1e4, 1e30, 1e38])
@pytest.mark.parametrize("dof", DOFS)
def test_maps_of_any_width_have_finite_forces(dof, width):
    Y = (width * np.random.default_rng(0).uniform(-1, 1, (400, 2))).astype(np.float32)
    push, Z = repel(Y, TreeRepulsion(2, dof))
    assert np.isfinite(push).all()
    assert 0 <= Z <= 400 * 399


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [slice(7, 8), slice(None)])
def test_a_map_without_bounds_has_forces_that_are_not_numbers(which, bad):
    Y = np.ascontiguousarray(uniform(300, 2).T)
    Y[1, which] = bad
    push = np.empty_like(Y)
    with np.errstate(invalid="ignore"):
        assert np.isnan(TreeRepulsion(2).push(Y, push))
    assert np.isnan(push).all()


def test_one_repulsion_serves_maps_of_several_sizes():
    repulsion = TreeRepulsion(2)
    for n in (300, 40, 500, 300):
        Y = uniform(n, 2)
        found, expected = repel(Y, repulsion), repel(Y, TreeRepulsion(2))
        assert found[0].tobytes() == expected[0].tobytes()
        assert found[1] == expected[1]


@pytest.mark.parametrize("cell", [0, 1, 5, 2**LEVELS - 1, 0b1011_0011_1000_1111_0101])
def test_bits_of_a_code_are_three_apart(cell):
    expected = sum((cell >> bit & 1) << 3 * bit for bit in range(LEVELS))
    assert every_third(cell) == expected


@pytest.mark.parametrize("spread", [8, 2**12, 2**60])
def test_nodes_are_nested_runs_of_points(spread):
    codes = np.sort(np.random.default_rng(4).integers(0, spread, 2000))
    links, leaves = np.empty((4000, 3), np.int32), np.empty(2000, np.int32)
    n_nodes, n_leaves = link(codes, links, leaves)
    after, first, last = links[:n_nodes].T
    assert (first[0], last[0], after[0]) == (0, 2000, n_nodes)
    for node in range(n_nodes):
        parts = []
        part = node + 1
        while part < after[node]:
            parts.append(part)
            part = after[part]
        assert part == after[node]
        if parts:
            assert len(parts) > 1
            np.testing.assert_array_equal(first[parts], [first[node], *last[parts[:-1]]])
            assert last[parts[-1]] == last[node]
    leaves = leaves[:n_leaves]
    np.testing.assert_array_equal(leaves, np.flatnonzero(after == np.arange(n_nodes) + 1))
    np.testing.assert_array_equal(first[leaves], [0, *last[leaves[:-1]]])
    assert (last - first)[leaves].max() <= LEAF_POINTS


def mean_step(Y, order):
    return np.linalg.norm(np.diff(Y[:, order], axis=1), axis=0).mean()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("width", [1e-6, 1e6])
def test_neighbors_on_the_map_follow_each_other_on_the_curve(d, width):
    Y = (width * np.random.default_rng(0).normal(size=(d, 4000))).astype(np.float32)
    order = curve_order(Y)
    assert np.array_equal(np.sort(order), np.arange(4000))
    by_chance = mean_step(Y, np.random.default_rng(1).permutation(4000))
    # n points in d dimensions lie some n^(-1/d) of a width apart; the curve jumps now and then
    assert mean_step(Y, order) < {1: 0.01, 2: 0.1, 3: 0.25}[d] * by_chance


def test_points_of_one_cell_keep_their_order():
    Y = np.zeros((2, 9), np.float32)
    assert curve_order(Y).tolist() == list(range(9))
    Y[:, 4] = 1
    assert curve_order(Y).tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 4]


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
def test_a_map_beyond_all_bounds_has_some_order_without_a_warning(value):
    Y = np.ascontiguousarray(uniform(50, 2).T)
    Y[0, 3], Y[0, 4] = value, -value
    assert np.array_equal(np.sort(curve_order(Y)), np.arange(50))
