"""Names on a map, as drawn; their places against loops over cells and exact arithmetic."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from isosne.errors import IsosneWarning
from isosne.plots import plot_map
from isosne.plots.annotations import (
    CELL,
    GAP,
    Boxes,
    ClassNames,
    count_crossings,
    count_in_boxes,
    grid_shape,
    mix,
    place_labels,
    segments_cross,
    segments_meet_boxes,
)
from isosne.plots.figures import DARK, SCREEN
from tests.reference import labels as slow

FRAME = np.array([300.0, 240.0])


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
    left, bottom, right, top = boxes.T
    wide = (left[:, None] < right) & (right[:, None] > left)
    high = (bottom[:, None] < top) & (top[:, None] > bottom)
    return int(np.triu(wide & high, 1).sum())


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
    ground = luminance(style.background)
    for color in style.colors:
        light, dark = sorted([luminance(mix(color, style.ink)), ground], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5  # the contrast that WCAG 2 asks for


def luminance(color):
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def regions_at(centers, frame=FRAME):
    """Disks of radius 12 around centers in points, as masks of the grid."""
    middles = (np.indices(grid_shape(frame)).transpose(1, 2, 0) + 0.5) * CELL
    return [np.linalg.norm(middles - center, axis=2) < 12 for center in centers]


def place(centers, sizes, frame=FRAME):
    regions = regions_at(centers, frame)
    is_taken = np.any(regions, axis=0)
    return place_labels(np.array(sizes, float), regions, is_taken, frame)


def test_taken_cells_in_boxes():
    rng = np.random.default_rng(0)
    is_taken = rng.uniform(size=(20, 15)) < 0.3
    corners = np.sort(rng.integers(0, 15, size=(50, 2, 2)), axis=1)
    low, high = corners[:, 0], corners[:, 1] + 1
    low, high = np.minimum(low, 14), np.minimum(high, 15)
    expected = [slow.count_in_box(is_taken, *box) for box in zip(low, high, strict=True)]
    assert count_in_boxes(is_taken, low, high).tolist() == expected


def test_segments_that_cross_and_that_meet_boxes():
    rng = np.random.default_rng(1)
    start, end, begin, target = rng.integers(-4, 5, size=(4, 300, 2)).astype(float)
    expected = [slow.cross(*case) for case in zip(start, end, begin, target, strict=True)]
    assert segments_cross(start, end, begin, target).tolist() == expected
    boxes = Boxes(np.zeros((300, 2)), rng.integers(1, 3, size=(300, 2)).astype(float), target)
    met = segments_meet_boxes(start, end, boxes)
    expected = [slow.meets_box(a, b, -h, h) for a, b, h in zip(start, end, boxes[1], strict=True)]
    assert met.tolist() == expected
    assert 0 < sum(expected) < 300


def test_crossings_are_counted_with_leaders_and_boxes():
    # A leader from the left to the right through a box at 50, and through its leader.
    mine = Boxes(np.array([[10.0, 0.0]]), np.array([[5.0, 5.0]]), np.array([[100.0, 0.0]]))
    box = Boxes(np.array([[50.0, 0.0]]), np.array([[5.0, 5.0]]), np.array([[50.0, 40.0]]))
    above = Boxes(np.array([[70.0, 20.0]]), np.array([[5.0, 5.0]]), np.array([[70.0, -40.0]]))
    far = Boxes(np.array([[70.0, 90.0]]), np.array([[5.0, 5.0]]), np.array([[70.0, 60.0]]))
    assert count_crossings(mine, box).tolist() == [1]
    assert count_crossings(mine, above).tolist() == [1]
    assert count_crossings(mine, far).tolist() == [0]


def test_boxes_do_not_overlap_and_stay_inside():
    rng = np.random.default_rng(0)
    centers = rng.uniform(20, FRAME - 20, size=(14, 2))
    sizes = np.column_stack([rng.uniform(10, 70, 14), np.full(14, 12.0)])
    middles, halves, _ = boxes = place(centers, sizes)
    assert np.isfinite(boxes.middles).all()
    assert (middles - halves >= GAP).all()
    assert (middles + halves <= FRAME - GAP).all()
    for i in range(14):
        for j in range(i):
            assert not slow.overlap(middles[i], halves[i], middles[j], halves[j])
    assert np.array_equal(place(centers, sizes).middles, middles)


def test_a_box_is_nearer_to_its_own_region_than_to_others():
    centers = np.array([[100.0, 120.0], [150.0, 120.0], [200.0, 120.0]])
    boxes = place(centers, [[60, 12]] * 3)
    for j, middle in enumerate(boxes.middles):
        away = np.maximum(np.abs(centers - middle) - boxes.halves[j], 0)
        assert np.linalg.norm(away, axis=1).argmin() == j
