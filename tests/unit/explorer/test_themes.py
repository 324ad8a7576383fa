"""The colors of the page, on a light and on a dark background."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from isosne.explorer.assets import read_style
from isosne.explorer.colors import pack_colors
from isosne.explorer.themes import DARK, LIGHT
from isosne.plots.paint import Classes, Values
from isosne.plots.palette import COLORS, DARK_COLORS

TRUST = Values(np.linspace(0, 1, 5), 0.0, 1.0, is_trust=True)
NUMBERS = Values(np.linspace(0, 1, 5), 0.0, 1.0)


def luminance(color):
    """The relative luminance of WCAG 2."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(color, background):
    """The contrast of WCAG 2, from 1 to 21; graphics need 3, texts 4.5."""
    low, high = sorted([luminance(color), luminance(background)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks_can_be_read_on_the_background(theme):
    assert min(contrast(color, theme.background) for color in (theme.ink, theme.soft)) >= 4.5
    assert min(contrast(color, theme.background) for color in (theme.mark, theme.plain)) >= 3
    assert min(contrast(color, theme.background) for color in theme.lines) >= 3


def test_all_points_can_be_seen_on_the_dark_background():
    scales = [*DARK.scale_colors(TRUST, 20), *DARK.scale_colors(NUMBERS, 20)]
    assert min(contrast(color, DARK.background) for color in (*DARK.classes, *scales)) >= 3


def test_both_themes_have_a_color_for_each_class():
    assert LIGHT.classes == COLORS
    assert DARK.classes == DARK_COLORS
    paint = Classes(["a", "b", "none"], np.array([0, 2]), has_rest=True)
    assert DARK.class_colors(paint) == [*DARK.classes[:2], DARK.faint]
    assert pack_colors(paint, 2, DARK).tolist() == [
        int(DARK_COLORS[0][1:] + "ff", 16),
        int(DARK.faint[1:] + "ff", 16),
    ]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_style_sheet_has_the_colors_of_the_theme(theme):
    sheet = read_style("page.css")
    light, _, dark = sheet.partition("@media (prefers-color-scheme: dark)")
    rules = light if theme is LIGHT else dark
    assert f"--design-background-color: {theme.background};" in rules
    assert f"--design-background-text-color: {theme.ink};" in rules
    assert f"--isosne-soft: {theme.soft};" in rules
