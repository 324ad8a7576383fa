"""Colors of classes, as seen with normal vision and with three kinds of color blindness."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from isosne.plots.palette import COLORS, MAX_CLASSES, SHAPES, class_color, class_shape

# What a dichromat sees, in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
VIEWS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# From linear RGB to OKLab: Ottosson 2020.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def seen(colors, view):
    """The colors in OKLab, times 100, as one of the views shows them."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.transpose(VIEWS[view]), 0, 1)
    return 100 * np.cbrt(linear @ TO_CONES.T) @ TO_LAB.T


def distances(colors, view):
    lab = seen(colors, view)
    return np.sqrt(((lab[:, None] - lab[None]) ** 2).sum(axis=2))


def smallest(colors, view):
    return distances(colors, view)[np.triu_indices(len(colors), 1)].min()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("n", "least"), [(3, 24), (5, 17), (8, 13.7), (10, 11), (16, 8), (26, 5.4)]
)
def test_the_first_colors_are_far_apart_in_every_view(view, n, least):
    assert smallest(COLORS[:n], view) >= least


def test_26_colors_are_9_apart_for_normal_vision():
    assert smallest(COLORS, "normal") >= 9


def test_eight_colors_are_farther_apart_than_those_of_okabe_and_ito():
    okabe_ito = ["#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00"]
    okabe_ito.append("#CC79A7")
    assert min(smallest(okabe_ito, view) for view in VIEWS) < 8
    assert min(smallest(COLORS[:8], view) for view in VIEWS) > 13


@pytest.mark.parametrize("view", VIEWS)
def test_classes_of_one_shape_are_10_apart_in_every_view(view):
    apart = distances(COLORS, view)
    shapes = np.array([class_shape(c, 26) for c in range(26)])
    alike = np.equal.outer(shapes, shapes) & ~np.eye(26, dtype=bool)
    assert apart[alike].min() >= 10


def test_colors_are_neither_white_nor_black():
    lightness = seen(COLORS, "normal")[:, 0]
    assert lightness.min() > 33
    assert lightness.max() < 86


def test_few_classes_are_circles():
    assert {class_shape(c, 8) for c in range(8)} == {"o"}


def test_every_class_has_its_own_color_and_shape():
    pairs = {(class_color(c), class_shape(c, MAX_CLASSES)) for c in range(MAX_CLASSES)}
    assert len(pairs) == MAX_CLASSES == 26 * len(SHAPES)
