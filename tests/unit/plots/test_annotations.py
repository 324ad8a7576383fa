"""Names on a map, as drawn; their places against loops over cells and exact arithmetic."""

from itertools import combinations

import numpy as np
import pytest

from isosne.errors import IsosneWarning
from isosne.plots import plot_map
from isosne.plots.annotations import (
    ClassNames,
    count_in_boxes,
    mix,
)
from isosne.plots.figures import DARK, SCREEN
from tests.reference import labels as slow
from tests.unit.plots.conftest import contrast


@pytest.fixture
def clusters():
    """Twelve clusters on a circle, the first the largest, with their labels."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(12).repeat(20), np.zeros(30, int)])
    angle = 2 * np.pi * y / 12
    Y = 10 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(size=(270, 2))
    return Y, y


def names_of(ax):
    ax.figure.canvas.draw()
    (found,) = (artist for artist in ax.artists if isinstance(artist, ClassNames))
    return found


def boxes_of(ax):
    """The extents of the visible texts in pixels, as rows left, bottom, right, top."""
    found = names_of(ax)
    renderer = ax.figure.canvas.get_renderer()
    shown = [text for text in found.texts if text.get_visible()]
    return np.array([text.get_window_extent(renderer).extents for text in shown])


def overlap(boxes):
    low, high = boxes[:, :2], boxes[:, 2:]
    pairs = combinations(zip((low + high) / 2, (high - low) / 2, strict=True), 2)
    return sum(slow.overlap(*first, *second) for first, second in pairs)


@pytest.mark.parametrize(("style", "length"), [("screen", 1), ("paper", 14), ("slides", 14)])
def test_names_do_not_overlap_and_stay_inside(clusters, style, length):
    Y, y = clusters
    ax = plot_map(Y, [chr(97 + c) * length for c in y], annotate=True, style=style)
    boxes, frame = boxes_of(ax), ax.get_window_extent().extents
    assert ax.get_legend() is None
    assert len(boxes) == 12
    assert overlap(boxes) == 0
    assert (boxes[:, :2] >= frame[:2]).all()
    assert (boxes[:, 2:] <= frame[2:]).all()


def test_each_name_is_beside_its_cluster(clusters):
    Y, y = clusters
    ax = plot_map(Y, [f"c{c:02d}" for c in y], annotate=True)
    found = names_of(ax)
    assert found.texts[0].get_text() == "c00"  # the largest has the first choice
    centers = ax.transData.transform([Y[y == c].mean(axis=0) for c in range(12)])
    for text in found.texts:
        place = ax.transAxes.transform(text.get_position())
        assert np.linalg.norm(centers - place, axis=1).argmin() == int(text.get_text()[1:])


def test_names_move_with_the_size_of_the_figure_and_the_view(clusters):
    Y, y = clusters
    ax = plot_map(Y, y.astype(str), annotate=True)
    before = [text.get_position() for text in names_of(ax).texts]
    ax.figure.canvas.draw()
    assert [text.get_position() for text in names_of(ax).texts] == before
    ax.figure.set_size_inches(2.5, 2.5)
    assert [text.get_position() for text in names_of(ax).texts] != before
    assert overlap(boxes_of(ax)) == 0
    ax.set_xlim(5, 15)  # clusters on the left are out of view
    shown = [text.get_text() for text in names_of(ax).texts if text.get_visible()]
    assert "0" in shown
    assert "6" not in shown


def test_a_map_colored_by_trust_is_named_by_labels(clusters):
    Y, y = clusters
    trust = np.linspace(0, 1, 270)
    ax = plot_map(Y, trust, kind="trust", annotate=y, names=[f"n{c}" for c in range(12)])
    assert {text.get_text() for text in names_of(ax).texts} == {f"n{c}" for c in range(12)}
    assert {text.get_color() for text in names_of(ax).texts} == {"#000000"}
    assert len(ax.figure.axes) == 2  # with its color bar


def test_what_has_no_room_is_left_out_with_a_warning(clusters):
    Y, y = clusters
    ax = plot_map(Y, [f"{c:02d} " + "w" * 18 for c in y], annotate=True)
    ax.figure.set_size_inches(0.9, 0.9)
    sentence = (
        r"There is no room on the map for 12 names, such as '00 w{18}'\. "
        r"Enlarge the figure, or use a legend\."
    )
    with pytest.warns(IsosneWarning, match=sentence):
        ax.figure.canvas.draw()
    (found,) = (artist for artist in ax.artists if isinstance(artist, ClassNames))
    assert not any(text.get_visible() for text in found.texts)


@pytest.mark.parametrize("style", [SCREEN, DARK], ids=["white", "dark"])
def test_names_are_legible_in_every_color(style):
    assert min(contrast(mix(c, style.ink), style.background) for c in style.colors) >= 4.5


def test_taken_cells_in_boxes():
    rng = np.random.default_rng(0)
    is_taken = rng.uniform(size=(20, 15)) < 0.3
    corners = np.sort(rng.integers(0, 15, size=(50, 2, 2)), axis=1)
    low, high = corners[:, 0], corners[:, 1] + 1
    low, high = np.minimum(low, 14), np.minimum(high, 15)
    expected = [slow.count_in_box(is_taken, *box) for box in zip(low, high, strict=True)]
    assert count_in_boxes(is_taken, low, high).tolist() == expected
