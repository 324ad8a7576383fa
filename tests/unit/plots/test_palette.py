"""Colors of classes, as seen with normal vision and with three kinds of color blindness.

Neighboring classes get colors that differ: against all assignments, and on a map.
"""

import numpy as np
import pytest

from isosne.plots.figures import DARK, SCREEN
from isosne.plots.paint import Classes, Values, spread_colors
from isosne.plots.palette import (
    COLORS,
    DARK_COLORS,
    DARK_FAINT,
    DARK_LINE_COLORS,
    FAINT,
    LINE_COLORS,
    assign,
    color_distances,
    on_dark,
)
from tests.reference import colors as slow
from tests.reference.colors import VIEWS, seen, smallest
from tests.unit.plots.conftest import contrast


@pytest.mark.parametrize(
    ("colors", "in_worst_view", "in_normal_view"),
    [
        (COLORS, {8: 8.4, 10: 8.3, 26: 3.9, 60: 2.4}, {8: 13.6, 10: 13.1, 26: 8.6, 60: 4.9}),
        (DARK_COLORS, {8: 8.5, 10: 7.9, 26: 3.7, 60: 2.3}, {8: 13.5, 10: 13.5, 26: 8.0, 60: 4.7}),
    ],
)
def test_the_first_colors_are_far_apart_in_every_view(colors, in_worst_view, in_normal_view):
    for n, least in in_worst_view.items():
        assert min(smallest(colors[:n], view) for view in VIEWS) >= least
    for n, least in in_normal_view.items():
        assert smallest(colors[:n], "normal") >= least


@pytest.mark.parametrize(
    ("colors", "background", "low", "high"),
    [(COLORS, SCREEN.background, 45, 70), (DARK_COLORS, DARK.background, 62, 88)],
)
def test_colors_are_of_even_weight_and_differ_from_their_background(colors, background, low, high):
    lightness = seen(colors, "normal")[:, 0]
    assert low <= lightness[:10].min() < lightness[:10].max() <= high
    assert min(contrast(color, background) for color in colors) >= 3
    lines = LINE_COLORS if colors is COLORS else DARK_LINE_COLORS
    assert min(contrast(color, background) for color in lines) >= 4.5


def test_a_class_has_the_same_hue_on_white_and_on_dark():
    light, dark = (seen(colors, "normal")[:, 1:] for colors in (COLORS, DARK_COLORS))
    across = (
        (light * dark).sum(axis=1) / np.linalg.norm(light, axis=1) / np.linalg.norm(dark, axis=1)
    )
    assert np.degrees(np.arccos(across)).max() < 16
    assert on_dark([COLORS[3], FAINT]) == [DARK_COLORS[3], DARK_FAINT]


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
