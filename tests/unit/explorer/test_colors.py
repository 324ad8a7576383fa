"""The colors of points and figures, on a light and on a dark background."""

import numpy as np
import pytest

from isosne.explorer.assets import read_asset
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


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks_can_be_read_on_the_background(theme):
    assert min(contrast(color, theme.background) for color in (theme.ink, theme.soft)) >= 4.5
    assert min(contrast(color, theme.background) for color in (theme.mark, theme.plain)) >= 3
    assert min(contrast(color, theme.background) for color in theme.lines) >= 3


def test_all_points_can_be_seen_on_the_dark_background():
    shown = list(DARK.classes)
    for is_trust in (False, True):
        values = Values(np.linspace(0, 1, 5), 0.0, 1.0, is_trust=is_trust)
        shown += DARK.tint(values).sample_scale(20)
    assert min(contrast(color, DARK.background) for color in shown) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_style_sheet_has_the_colors_of_the_theme(theme):
    sheet = read_asset("page.css")
    light, _, dark = sheet.partition("@media (prefers-color-scheme: dark)")
    rules = light if theme is LIGHT else dark
    assert f"--design-background-color: {theme.background};" in rules
    assert f"--design-background-text-color: {theme.ink};" in rules
    assert f"--isosne-soft: {theme.soft};" in rules
