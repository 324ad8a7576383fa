"""The colors of points and figures, on a light and on a dark background."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from isosne.explorer.assets import read_asset
from isosne.explorer.canvas import Canvas
from isosne.explorer.colors import DARK, LIGHT, list_choices, pack_colors, paint
from isosne.explorer.data import from_python
from isosne.explorer.session import SELECTIONS, TRUST, Session
from isosne.plots.paint import Values
from isosne.plots.palette import FAINT, MAX_CLASSES
from tests.unit.plots.conftest import contrast


def packed(color):
    return int(color[1:] + "ff", 16)


def test_values_without_a_number_are_gray():
    found = pack_colors(Values(np.array([0.0, np.nan, 1.0]), 0.0, 1.0), 3)
    assert found[1] == packed(FAINT)
    assert len(set(found.tolist())) == 3


def test_choices_are_labels_first_and_selections_once_they_have_names(session):
    names = list_choices(session)
    assert names[:3] == ["label", "nothing", TRUST]
    assert SELECTIONS not in names
    session.select([1])
    session.name_selection("x")
    assert SELECTIONS in list_choices(session)


def test_a_column_without_colors_says_why(two_blobs):
    days = np.arange(MAX_CLASSES + 60).astype("datetime64[D]")
    X = np.resize(two_blobs, (len(days), 5))
    columns = {"<day>": days, "one": np.zeros(len(days))}
    session = Session(from_python(X, days.astype(str), columns=columns))
    many = f"{len(days)} distinct values, too many for colors"
    for color, legend in {
        "<day>": f"<b>&lt;day&gt;</b><span>{many}</span>",
        "label": f"<b>label</b><span>{many}</span>",
        "one": "<b>one</b><span>all values are equal</span>",
        "nothing": "",
    }.items():
        session.color = color
        painted = paint(session)
        assert (painted.paints, painted.legend) == ((None, None), legend)


def rules_of(theme):
    """Return the part of the style sheet that is of a theme."""
    light, _, dark = read_asset("page.css").partition("@media (prefers-color-scheme: dark)")
    return light if theme is LIGHT else dark


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks_can_be_read_on_the_background(theme):
    assert min(contrast(color, theme.background) for color in (theme.mark, theme.plain)) >= 3
    texts = re.findall(r"--isosne-(?!line)\w+: (#\w+);", rules_of(theme))
    assert len(texts) == 6
    assert min(contrast(color, theme.background) for color in (theme.ink, *texts)) >= 4.5


def test_all_points_can_be_seen_on_the_dark_background():
    shown = list(DARK.classes)
    for is_trust in (False, True):
        values = Values(np.linspace(0, 1, 5), 0.0, 1.0, is_trust=is_trust)
        shown += DARK.tint(values).sample_scale(20)
    assert min(contrast(color, DARK.background) for color in shown) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_style_sheet_has_the_colors_of_the_theme(theme):
    rules = rules_of(theme)
    assert f"--design-background-color: {theme.background};" in rules
    assert f"--design-background-text-color: {theme.ink};" in rules


def test_a_hidden_class_is_marked_in_the_legend_and_is_neither_drawn_nor_selected(mapped):
    canvas = Canvas(mapped)
    canvas.arrange()
    canvas.hide(0)
    canvas.tick()
    assert canvas.legend.object.count('aria-pressed="false"') == 1
    drawn = canvas._points.rows
    assert set(mapped.rows.labels[drawn].tolist()) == {canvas.painted.paints[0].names[1]}
    around = {"type": "rect", "x0": -9, "x1": 9, "y0": -9, "y1": 9}
    canvas._lasso(canvas.figures[0], SimpleNamespace(final=True, geometry=around))
    np.testing.assert_array_equal(mapped.selection, np.sort(drawn))
    mapped.color = "color"  # other classes: all are shown
    canvas.repaint()
    assert canvas.is_visible().all()
