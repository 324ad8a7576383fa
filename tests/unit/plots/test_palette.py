"""Colors of classes, as seen with normal vision and with three kinds of color blindness."""

import pytest

from isosne.plots.palette import COLORS, DARK_COLORS, MAX_CLASSES, SHAPES, class_shape
from tests.reference.colors import VIEWS, seen, smallest


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("n", "least"), [(3, 24), (5, 17), (8, 13.7), (10, 11), (16, 8), (26, 5.4), (60, 3.2)]
)
def test_the_first_colors_are_far_apart_in_every_view(view, n, least):
    assert smallest(COLORS[:n], view) >= least


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("n", "least"), [(3, 20), (8, 11), (10, 9.3), (26, 4.7), (60, 2.7)])
def test_the_first_dark_colors_are_far_apart_in_every_view(view, n, least):
    assert smallest(DARK_COLORS[:n], view) >= least


@pytest.mark.parametrize(
    ("colors", "of_26", "of_60"), [(COLORS, 9.1, 6.7), (DARK_COLORS, 9.4, 5.8)]
)
def test_many_colors_are_apart_for_normal_vision(colors, of_26, of_60):
    assert smallest(colors[:26], "normal") >= of_26
    assert smallest(colors, "normal") >= of_60


def test_eight_colors_are_farther_apart_than_those_of_okabe_and_ito():
    okabe_ito = ["#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00"]
    okabe_ito.append("#CC79A7")
    assert min(smallest(okabe_ito, view) for view in VIEWS) < 8
    assert min(smallest(COLORS[:8], view) for view in VIEWS) > 13


def test_colors_are_neither_white_nor_black():
    lightness = seen(COLORS, "normal")[:, 0]
    assert lightness.min() > 33
    assert lightness.max() < 86


def test_dark_colors_are_light():
    assert seen(DARK_COLORS, "normal")[:, 0].min() > 55


def test_up_to_60_classes_are_circles():
    assert {class_shape(c) for c in range(60)} == {"o"}


def test_every_class_has_its_own_color_and_shape():
    pairs = {(COLORS[c % 60], class_shape(c)) for c in range(MAX_CLASSES)}
    assert len(pairs) == MAX_CLASSES == 60 * len(SHAPES)
