"""Colors of classes, as seen with normal vision and with three kinds of color blindness.

Neighboring classes get colors that differ: against all assignments, and on a map.
"""

import numpy as np
import pytest

from isosne.plots.paint import Classes, Values, spread_colors
from isosne.plots.palette import COLORS, DARK_COLORS, assign, color_distances
from tests.reference import colors as slow
from tests.reference.colors import VIEWS, seen, smallest


@pytest.mark.parametrize(
    ("colors", "in_worst_view", "in_normal_view"),
    [
        (COLORS, {8: 13.7, 10: 11, 26: 5.4, 60: 3.2}, {26: 9.1, 60: 6.7}),
        (DARK_COLORS, {8: 11, 10: 9.3, 26: 4.7, 60: 2.7}, {26: 9.4, 60: 5.8}),
    ],
)
def test_the_first_colors_are_far_apart_in_every_view(colors, in_worst_view, in_normal_view):
    for n, least in in_worst_view.items():
        assert min(smallest(colors[:n], view) for view in VIEWS) >= least
    for n, least in in_normal_view.items():
        assert smallest(colors[:n], "normal") >= least


def test_colors_differ_from_their_background():
    lightness = seen(COLORS, "normal")[:, 0]
    assert lightness.min() > 33
    assert lightness.max() < 86
    assert seen(DARK_COLORS, "normal")[:, 0].min() > 55


@pytest.mark.parametrize("on_dark", [False, True])
def test_a_scale_is_smooth(on_dark):
    scale = Values(np.arange(3.0), 0.0, 2.0, on_dark=on_dark)
    steps = np.diff(scale.colors_of(np.linspace(0, 2, 1000)), axis=0)
    assert (np.abs(steps).max(axis=1) > 0).all()  # no two neighbors are equal
    assert np.abs(steps).max() < 2 / 255


def symmetric(m, seed):
    values = np.random.default_rng(seed).uniform(size=(m, m))
    values += values.T
    np.fill_diagonal(values, 0)
    return values


def test_no_swap_improves_an_assignment():
    near, cost = symmetric(12, 0), symmetric(12, 100)
    order = assign(near, cost)
    assert sorted(order) == list(range(12))
    energy = slow.energy(near, cost, order)
    assert energy < slow.energy(near, cost, range(12))
    assert all(slow.energy(near, cost, other) >= energy - 1e-9 for other in slow.swapped(order))


def test_distances_of_colors_are_those_of_the_formulas():
    colors = COLORS[:12]
    worst = np.min([slow.distances(colors, view) for view in slow.VIEWS], axis=0)
    expected = (slow.distances(colors, "normal") + worst) / 200
    np.testing.assert_allclose(color_distances(tuple(colors)), expected, rtol=1e-9, atol=1e-12)


def grid_of_classes(n, per_class=5):
    """Classes on a square grid of centers."""
    of_point = np.arange(n * per_class) % n
    side = int(np.ceil(np.sqrt(n)))
    Y = np.column_stack([of_point % side, of_point // side]).astype(float)
    return Classes([str(c) for c in range(n)], of_point), Y


def nearest_distance(classes, Y, views=VIEWS):
    """The smallest distance in color between classes that are next to each other."""
    n = classes.n_classes
    gaps = np.linalg.norm(Y[:n, None] - Y[:n], axis=2)
    worst = np.min([slow.distances(classes.colors, view) for view in views], axis=0)
    return worst[(gaps > 0) & (gaps < 1.1)].min()


@pytest.mark.parametrize("n", [25, 60])
def test_neighbors_differ_more_than_without_an_assignment(n):
    classes, Y = grid_of_classes(n)
    spread = spread_colors(classes, Y)
    assert sorted(spread.colors) == sorted(classes.colors)
    assert nearest_distance(spread, Y) > 1.5 * nearest_distance(classes, Y)


def test_classes_without_points_and_coinciding_centers():
    names = [str(c) for c in range(13)]
    classes = Classes([*names, "no label"], np.arange(24) % 12, has_rest=True)
    spread = spread_colors(classes, np.zeros((24, 2)))
    assert sorted(spread.colors) == sorted(classes.colors)
    alone = Classes(names, np.zeros(4, np.int64))
    assert spread_colors(alone, np.zeros((4, 2))) is alone
