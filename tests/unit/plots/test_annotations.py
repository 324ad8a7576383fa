"""Names on a map, as drawn."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from isosne.errors import IsosneWarning, ParameterError
from isosne.plots import plot_map, plot_maps
from isosne.plots.annotations import ClassNames, mix
from isosne.plots.palette import FAINT
from isosne.plots.styles import DARK, SCREEN
from tests.conftest import refuses


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


@pytest.mark.parametrize("style", ["screen", "paper", "slides", "dark"])
@pytest.mark.parametrize("length", [1, 14])
def test_names_do_not_overlap_and_stay_inside(clusters, style, length):
    Y, y = clusters
    ax = plot_map(Y, [chr(97 + c) * length for c in y], annotate=True, style=style)
    boxes, frame = boxes_of(ax), ax.get_window_extent().extents
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


def test_names_replace_the_legend(clusters):
    Y, y = clusters
    labels = y.astype(str)
    assert plot_map(Y, labels).get_legend() is not None
    assert plot_map(Y, labels, annotate=True).get_legend() is None
    assert plot_map(Y, labels, annotate=True, legend=True).get_legend() is not None


def test_a_map_colored_by_trust_is_named_by_labels(clusters):
    Y, y = clusters
    trust = np.linspace(0, 1, 270)
    ax = plot_map(Y, trust, kind="trust", annotate=y, names=[f"n{c}" for c in range(12)])
    assert {text.get_text() for text in names_of(ax).texts} == {f"n{c}" for c in range(12)}
    assert {text.get_color() for text in names_of(ax).texts} == {"black"}
    assert len(ax.figure.axes) == 2  # with its color bar


def test_points_without_a_label_have_no_name(clusters):
    Y, y = clusters
    labels = ["" if c == 3 else str(c) for c in y]
    ax = plot_map(Y, labels, annotate=True)
    names = {text.get_text() for text in names_of(ax).texts}
    assert names == {str(c) for c in range(12)} - {"3"}
    assert FAINT in [f"#{bytes(np.uint8(255 * c[:3] + 0.5)).hex()}" for c in unique_colors(ax)]


def unique_colors(ax):
    return np.unique(ax.collections[0].get_facecolors(), axis=0)


def test_long_names_are_wrapped_and_cut(clusters):
    Y, y = clusters
    long = "a name of many words that does not fit on one line, nor on three of them"
    ax = plot_map(Y, np.where(y == 0, long, "b"), annotate=True)
    text = next(t for t in names_of(ax).texts if t.get_text() != "b").get_text()
    assert text.startswith("a name of many words\n")
    assert text.endswith(" ...")
    assert max(map(len, text.splitlines())) <= 20


def test_dollar_signs_enclose_no_formula(clusters):
    Y, y = clusters
    ax = plot_map(Y, np.where(y == 0, "$5 and $6", "b"), annotate=True)
    assert "$5 and $6" in [text.get_text() for text in names_of(ax).texts]
    assert not any(text.get_parse_math() for text in names_of(ax).texts)


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


def test_names_do_not_cover_images(clusters):
    Y, y = clusters
    ax = plot_map(Y, y.astype(str), annotate=True, images=np.zeros((270, 4, 4)))
    texts = boxes_of(ax)
    extents = [ax.transData.transform(np.reshape(i.get_extent(), (2, 2)).T) for i in ax.images]
    both = np.vstack([texts, np.reshape(extents, (-1, 4))])
    assert len(extents) > 12
    assert overlap(both) == overlap(both[len(texts) :]) == 0


def test_several_maps(clusters):
    Y, y = clusters
    axes = plot_maps({"one": Y, "two": -Y}, y.astype(str), annotate=True)
    assert axes[0].figure.legends == []
    for ax in axes:
        assert overlap(boxes_of(ax)) == 0
        assert len(boxes_of(ax)) == 12


@pytest.mark.parametrize("n_dims", [1, 3])
def test_only_two_dimensional_maps_are_annotated(map_of, n_dims):
    with refuses(
        ParameterError,
        f"annotate must be False for a map with {n_dims} column(s). "
        "Only two-dimensional maps have room for names; use a legend.",
    ):
        plot_map(map_of(6, n_dims), ["a", "b"] * 3, annotate=True)


@pytest.mark.parametrize("color", [None, [0.5] * 6])
def test_names_need_labels(map_of, color):
    with refuses(
        ParameterError,
        "annotate must be an array of labels if the points are not colored by class; "
        "got annotate=True. Pass the labels, as in annotate=y.",
    ):
        plot_map(map_of(6), color, annotate=True)


@pytest.mark.parametrize(
    ("annotate", "got"),
    [
        ("yes", "; got annotate='yes'"),
        (None, "; got annotate=None"),
        (["a", "b"], ", not an array of shape (2,)"),
    ],
)
def test_other_names_are_refused(map_of, annotate, got):
    with refuses(
        ParameterError,
        "annotate must be True, False, or an array with a label for each of the 6 points"
        f"{got}. Use annotate=True for the classes that color the points.",
    ):
        plot_map(map_of(6), ["a", "b"] * 3, annotate=annotate)


def test_legend_is_a_choice_of_three(map_of):
    with refuses(
        ParameterError,
        "legend must be True, False or 'auto'; got legend='yes'. "
        "Use legend='auto' for a legend unless classes are named on the map.",
    ):
        plot_map(map_of(6), legend="yes")


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
