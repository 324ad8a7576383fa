"""Maps as pictures, by what is on them."""

import logging
import subprocess
import sys
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.proj3d import proj_transform

from isosne.errors import DataError, MissingPackageError, ParameterError
from isosne.plots import plot_map, plot_maps, raster
from isosne.plots.palette import COLORS, FAINT
from isosne.plots.points import MAX_SCATTER
from isosne.quality import Trust, trust
from tests.conftest import refuses


def entries(legend):
    return [text.get_text() for text in legend.get_texts()]


def rendered(ax):
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    return figure


def points_by_color(collection):
    """The points of a scatter, by the color they are drawn in."""
    found = {}
    colors = collection.get_facecolors()[:, :3]
    for position, color in zip(collection.get_offsets(), colors, strict=True):
        found.setdefault(tuple(color.round(3)), []).append(tuple(position))
    return found


def test_every_point_is_drawn_once_in_the_color_of_its_class(map_of):
    Y, y = map_of(60), np.arange(60) % 3
    points = plot_map(Y, y).collections[0]
    by_color = points_by_color(points)
    assert len(by_color) == 3
    for c in range(3):
        drawn = by_color[tuple(np.round(to_rgb(COLORS[c]), 3))]
        assert sorted(drawn) == sorted(map(tuple, Y[y == c]))


def test_classes_are_drawn_in_a_mixed_order_that_is_always_the_same(map_of):
    Y, y = map_of(200), np.repeat([0, 1], 100)
    first, again = (plot_map(Y, y).collections[0].get_offsets() for _ in range(2))
    np.testing.assert_array_equal(first, again)
    last_of_first_class = max(i for i, p in enumerate(first) if p[0] in Y[:100, 0])
    assert last_of_first_class > 150


def test_the_legend_names_the_classes(map_of):
    ax = plot_map(map_of(9), [2, 0, 1] * 3, names=["iris", "rose", "lily"])
    assert entries(ax.get_legend()) == ["iris", "rose", "lily"]


def test_the_legend_shows_names_that_matplotlib_would_hide(map_of):
    assert entries(plot_map(map_of(2), ["_a", "b"]).get_legend()) == [" _a", "b"]


@pytest.mark.parametrize("letters", [8, 20, 40])
def test_long_names_are_not_cut_off(map_of, letters):
    ax = plot_map(map_of(6), [f"{'Wine'[i % 4] * letters}" for i in range(6)])
    assert rendered(ax).bbox.x1 >= ax.get_legend().get_window_extent().x1


@pytest.mark.parametrize(("n_classes", "n_dims"), [(2, 3), (8, 2), (26, 3), (60, 2)])
def test_the_legend_lies_within_the_figure_and_beside_the_axes(map_of, n_classes, n_dims):
    ax = plot_map(map_of(180, n_dims), [f"class {i % n_classes}" for i in range(180)])
    figure = rendered(ax)
    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(ax.get_window_extent())
    assert figure.bbox.x1 >= legend.x1
    assert figure.bbox.y0 <= legend.y0
    assert figure.bbox.y1 >= legend.y1


def test_points_without_a_label_are_gray_beneath_the_others_and_last_in_the_legend(map_of):
    Y, labels = map_of(60), np.array(["b", "", "a"] * 20)
    ax = plot_map(Y, labels)
    assert entries(ax.get_legend()) == ["a", "b", "no label"]
    points = ax.collections[0]
    colors = points.get_facecolors()[:, :3]
    np.testing.assert_allclose(colors[:20], np.tile(to_rgb(FAINT), (20, 1)))
    assert (np.abs(colors[20:] - to_rgb(FAINT)).max(axis=1) > 0.1).all()
    drawn_first = points.get_offsets()[:20]
    assert sorted(map(tuple, drawn_first)) == sorted(map(tuple, Y[labels == ""]))


@pytest.mark.parametrize("blank", [" ", "\u2003"])
def test_a_name_without_letters_can_be_drawn(map_of, blank):
    assert entries(plot_map(map_of(4), ["a", blank] * 2).get_legend())[:2] == sorted(["a", blank])


@pytest.mark.parametrize("n_dims", [1, 3])
def test_points_without_a_label_have_their_lane_and_their_box(map_of, n_dims):
    ax = plot_map(map_of(60, n_dims), ["b", "", "a"] * 20)
    rendered(ax)
    if n_dims == 1:
        assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "no label"]


def test_the_color_of_a_value_does_not_fade_with_depth(map_of):
    Y = map_of(60, 3)
    ax = plot_map(Y, Y[:, 0])
    rendered(ax)
    assert len(np.unique(ax.collections[0].get_facecolors()[:, 3])) == 1
    ax = plot_map(Y, ["a", "b"] * 30)
    rendered(ax)
    assert len(np.unique(ax.collections[0].get_facecolors()[:, 3])) > 1


def test_above_60_classes_shapes_differ_too(map_of):
    ax = plot_map(map_of(122), [f"{i % 61:02d}" for i in range(122)])
    assert len({path.vertices.tobytes() for path in ax.collections[0].get_paths()}) == 2
    markers = [handle.get_marker() for handle in ax.get_legend().legend_handles]
    assert markers == ["o"] * 60 + ["s"]
    ax = plot_map(map_of(122), [f"{i % 60:02d}" for i in range(122)])
    assert len(ax.collections[0].get_paths()) == 1


def test_26_classes_have_26_colors(map_of):
    ax = plot_map(map_of(260), [f"{i % 26:02d}" for i in range(260)])
    assert len(points_by_color(ax.collections[0])) == 26
    assert len(entries(ax.get_legend())) == 26


def test_axes_carry_no_ticks_and_one_scale(map_of):
    ax = plot_map(map_of(50))
    figure = rendered(ax)
    assert len(ax.get_xticks()) == len(ax.get_yticks()) == 0
    box = ax.get_window_extent()
    x_unit = box.width / np.ptp(ax.get_xlim())
    y_unit = box.height / np.ptp(ax.get_ylim())
    assert x_unit == pytest.approx(y_unit)
    assert isinstance(figure, Figure)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_every_point_is_within_the_limits(map_of, n_dims):
    Y = map_of(50, n_dims)
    ax = plot_map(Y, np.arange(50) % 2)
    rendered(ax)
    spans = [ax.get_xlim(), ax.get_ylim(), getattr(ax, "get_zlim", tuple)()]
    for coordinate, (low, high) in zip(Y.T, spans, strict=False):
        if n_dims == 1:
            low, high = ax.get_xlim()
        assert low < coordinate.min()
        assert coordinate.max() < high


def test_copies_of_one_point_have_an_area(map_of):
    ax = plot_map(np.ones((5, 2)))
    rendered(ax)
    assert np.ptp(ax.get_xlim()) > 0


def test_points_shrink_as_they_grow_in_number(map_of):
    sizes = [plot_map(map_of(n)).collections[0].get_sizes()[0] for n in (100, 2000, 50_000)]
    assert sizes[0] > sizes[1] > sizes[2] > 0
    assert plot_map(map_of(10), point_size=7).collections[0].get_sizes().tolist() == [7]


def test_values_have_a_color_bar_over_their_range(map_of):
    ax = plot_map(map_of(40), pd.Series(np.linspace(-2, 5, 40), name="age"))
    bar = rendered(ax).axes[1]
    assert bar.get_ylim() == pytest.approx((-2, 5))
    assert bar.get_ylabel() == "age"
    assert ax.get_legend() is None


def test_equal_values_can_be_drawn(map_of):
    rendered(plot_map(map_of(4), [1.5] * 4))


def test_trust_has_a_fixed_scale(map_of):
    ax = plot_map(map_of(40), np.linspace(0.4, 0.6, 40), kind="trust")
    bar = rendered(ax).axes[1]
    assert bar.get_ylim() == (0, 1)
    labels = [label.get_text() for label in bar.get_yticklabels()]
    assert labels == ["0  unreliable", "0.5", "1  reliable"]


def test_trust_is_drawn_as_it_is_measured(map_of):
    X = map_of(40, 3)
    ax = plot_map(X[:, :2], trust(X, X[:, :2], k=5))
    assert len(ax.collections[0].get_offsets()) == 40
    bar = rendered(ax).axes[1]
    assert bar.get_title(loc="left") == "fraction of 5\nneighbors\npreserved"
    over, beside = bar.title.get_window_extent(), bar.get_window_extent()
    assert over.y0 - beside.y1 < 20  # pixels
    assert bar._left_title.get_window_extent().x0 == pytest.approx(beside.x0, abs=2)


def test_points_whose_trust_nobody_asked_lie_faint_behind(map_of):
    some = Trust(np.array([3, 7]), np.array([0.1, 0.9]), np.zeros(2), np.zeros(2))
    behind, front = plot_map(map_of(40), some).collections
    assert len(behind.get_offsets()) == 40
    assert behind.get_facecolors()[0][:3] == pytest.approx(to_rgb(FAINT))
    assert len(front.get_offsets()) == 2


def test_marks_are_crosses_over_their_points(map_of):
    Y = map_of(30)
    points, crosses = plot_map(Y, mark=[4, 9]).collections
    np.testing.assert_array_equal(crosses.get_offsets(), Y[[4, 9]])
    assert crosses.get_zorder() > points.get_zorder()
    assert len(plot_map(Y, mark=0).collections[1].get_offsets()) == 1


def test_a_legend_can_be_left_out(map_of):
    assert plot_map(map_of(4), ["a", "b"] * 2, legend=False).get_legend() is None
    assert len(rendered(plot_map(map_of(4), [0.5] * 4, legend=False)).axes) == 1


@pytest.mark.parametrize(
    ("title", "n_dims"), [("What was measured, and how. " * 7, 3), ("unbroken" * 30, 2)]
)
def test_a_long_title_is_not_cut_off(map_of, title, n_dims):
    ax = plot_map(map_of(40, n_dims), ["a", "b"] * 20, title=title)
    figure = rendered(ax)
    extent = ax.title.get_window_extent()
    assert figure.bbox.x0 <= extent.x0 < extent.x1 <= figure.bbox.x1
    assert extent.y1 <= figure.bbox.y1
    assert ax.get_window_extent().width > 500  # the map is no smaller for it
    assert "".join(ax.get_title().split()) == "".join(title.split())


def test_a_long_title_is_not_cut_off_on_axes_of_the_user(map_of):
    figure = Figure((3, 3), layout="constrained")
    ax = plot_map(map_of(40), title="What was measured, and how. " * 3, ax=figure.add_subplot())
    figure.draw_without_rendering()
    assert ax.title.get_window_extent().x0 >= 0


def test_the_title_is_written(map_of):
    assert plot_map(map_of(4), title="wine").get_title() == "wine"


def test_one_dimension_with_classes_has_a_lane_for_each(map_of):
    Y, y = map_of(60, 1), np.arange(60) % 3
    ax = plot_map(Y, y, names=["a", "b", "c"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert ax.get_legend() is None
    by_color = points_by_color(ax.collections[0])
    for c in range(3):
        x, lane = np.array(by_color[tuple(np.round(to_rgb(COLORS[c]), 3))]).T
        np.testing.assert_array_equal(np.sort(x), np.sort(Y[y == c, 0]))
        assert np.abs(lane + c).max() < 0.5


def test_one_dimension_without_classes_is_wide_where_points_are_dense():
    Y = np.concatenate([np.full(500, 0.0), np.linspace(-5, 5, 50)])[:, None]
    x, y = np.asarray(plot_map(Y).collections[0].get_offsets()).T
    assert np.ptp(y[x == 0]) > 20 * np.ptp(y[np.abs(x) > 1])


def test_three_dimensions_are_drawn_in_a_box_of_one_scale(map_of):
    Y = map_of(50, 3)
    ax = plot_map(Y, np.arange(50) % 12, mark=3)
    rendered(ax)
    assert ax.name == "3d"
    spans = [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()), np.ptp(ax.get_zlim())]
    ratio = np.array(ax._box_aspect) / spans
    np.testing.assert_allclose(ratio, ratio[0])
    assert len(ax.collections) == 2


@pytest.mark.parametrize("longest", [0, 1, 2])
def test_an_oblong_box_is_not_cut_off(map_of, longest):
    Y = map_of(60, 3)
    Y[:, longest] *= 4
    ax = plot_map(Y, ["a", "b"] * 30)
    figure = rendered(ax)
    corners = np.array(list(product(ax.get_xlim(), ax.get_ylim(), ax.get_zlim())))
    x, y, _ = proj_transform(*corners.T, ax.get_proj())
    pixels = ax.transData.transform(np.column_stack([x, y]))
    assert pixels.min() >= 0
    assert pixels[:, 0].max() <= ax.get_legend().get_window_extent().x0
    assert pixels[:, 1].max() <= figure.bbox.y1


def test_axes_of_the_user_are_drawn_on(map_of):
    figure = Figure()
    ax = figure.add_subplot()
    assert plot_map(map_of(5), ax=ax) is ax


def test_axes_of_pyplot_are_drawn_on(map_of):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    try:
        assert plot_map(map_of(5), ["a"] * 5, ax=ax) is ax
        rendered(ax)
        assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())
    finally:
        plt.close(figure)


@pytest.mark.usefixtures("pyplot_is_untouched")
def test_figures_of_our_own_stay_out_of_pyplot(map_of):
    plot_map(map_of(5))
    plot_maps({"a": map_of(5)})


@pytest.mark.slow
def test_importing_plots_leaves_pyplot_and_datashader_alone():
    code = (
        "import sys, isosne.plots\n"
        "assert not {'matplotlib.pyplot', 'datashader'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_one_sentence_says_so(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("isosne.plots")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with refuses(
        MissingPackageError,
        "isosne.plots needs the package matplotlib, which is not installed. "
        "Install it with: pip install 'isosne[plot]'",
    ):
        __import__("isosne.plots")


def test_a_crowd_is_shaded_in_the_colors_of_its_classes(map_of):
    n = MAX_SCATTER + 1
    Y = np.concatenate([map_of(n // 2), map_of(n - n // 2) + np.array([50.0, 0.0])])
    ax = plot_map(Y, np.repeat(["left", "right"], [n // 2, n - n // 2]), mark=0)
    rendered(ax)
    (image,) = ax.images
    picture = np.asarray(image.get_array())
    opaque = picture[..., 3] > 0
    middle = picture.shape[1] // 2
    for half, color in ((slice(None, middle), COLORS[0]), (slice(middle, None), COLORS[1])):
        np.testing.assert_allclose(
            picture[:, half][opaque[:, half]][:, :3].mean(axis=0), to_rgb(color), atol=1e-6
        )
    left, right, low, high = image.get_extent()
    assert left <= Y[:, 0].min() < Y[:, 0].max() <= right
    assert low <= Y[:, 1].min() < Y[:, 1].max() <= high
    assert entries(ax.get_legend()) == ["left", "right"]
    assert len(ax.collections[0].get_offsets()) == 1  # the cross
    box = ax.get_window_extent()
    units = box.width / np.ptp(ax.get_xlim()), box.height / np.ptp(ax.get_ylim())
    assert units[0] == pytest.approx(units[1])


def test_in_a_crowd_points_without_a_label_are_seen_where_there_are_no_others():
    Y = np.repeat([[0.0, 0.0], [1.0, 1.0]], MAX_SCATTER, axis=0)
    labels = np.tile(["a", "", "", ""], MAX_SCATTER // 2)
    labels[MAX_SCATTER:] = ""
    picture = np.asarray(plot_map(Y, labels).images[0].get_array())
    shown = np.unique(picture[picture[..., 3] > 0][:, :3], axis=0)
    np.testing.assert_allclose(shown, sorted([to_rgb(COLORS[0]), to_rgb(FAINT)]))


def test_a_point_alone_in_a_crowd_is_a_mark_of_nine_pixels(map_of):
    Y = np.concatenate([map_of(MAX_SCATTER), [[9.0, 9.0], [9.0, -9.0]]])
    labels = np.repeat(["many", "one", "other"], [MAX_SCATTER, 1, 1])
    picture = np.asarray(plot_map(Y, labels).images[0].get_array())
    for color in COLORS[1:3]:
        is_mark = np.isclose(picture[..., :3], to_rgb(color)).all(axis=2) & (picture[..., 3] > 0)
        rows, columns = np.nonzero(is_mark)
        assert len(rows) == 9
        assert (np.ptp(rows), np.ptp(columns)) == (2, 2)


def test_pixels_among_others_are_not_spread():
    picture = np.zeros((40, 40, 4))
    picture[::2, ::2] = 1.0
    np.testing.assert_array_equal(raster.enlarge_isolated(picture), picture)


@pytest.mark.parametrize("color", [None, "values"])
def test_a_crowd_is_shaded_by_value_or_in_one_color(map_of, color):
    Y = map_of(MAX_SCATTER + 1)
    ax = plot_map(Y, None if color is None else Y[:, 0])
    picture = np.asarray(ax.images[0].get_array())
    shown = picture[picture[..., 3] > 0][:, :3]
    assert (len(np.unique(shown, axis=0)) == 1) == (color is None)
    if color:  # viridis runs from purple to yellow
        bright = np.where(picture[..., 3] > 0, picture[..., 1], np.nan)
        halves = np.array_split(bright, 2, axis=1)
        assert np.nanmean(halves[0]) < np.nanmean(halves[1])


def test_a_crowd_without_datashader_is_drawn_point_by_point(map_of, monkeypatch, caplog):
    monkeypatch.setattr(raster, "find_spec", lambda name: None)
    with caplog.at_level(logging.INFO, "isosne"):
        ax = plot_map(map_of(MAX_SCATTER + 1))
    assert len(ax.collections[0].get_offsets()) == MAX_SCATTER + 1
    assert ax.collections[0].get_rasterized()
    assert caplog.messages == [
        "datashader is not installed; drawing points one by one, which is slower"
    ]


def test_maps_beside_each_other_have_titles_and_one_legend(map_of):
    maps = {f"psi {psi}": map_of(40) * psi for psi in (2, 4, 8, 16, 32)}
    axes = plot_maps(maps, ["a", "b"] * 20, mark=3)
    figure = rendered(axes[0])
    assert [ax.get_title() for ax in axes] == list(maps)
    assert {ax.get_figure() for ax in axes} == {figure}
    assert [ax.get_legend() for ax in axes] == [None] * 5
    (legend,) = figure.legends
    assert entries(legend) == ["a", "b"]
    boxes = [ax.get_window_extent() for ax in axes]
    assert not any(legend.get_window_extent().overlaps(box) for box in boxes)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert all(len(ax.collections) == 2 for ax in axes)


@pytest.mark.parametrize("n_classes", [20, 26, 60])
def test_a_long_legend_fits_beside_one_row_of_maps(map_of, n_classes):
    y = np.arange(180) % n_classes
    axes = plot_maps({"a": map_of(180), "b": map_of(180)}, [f"class {c}" for c in y])
    figure = rendered(axes[0])
    legend = figure.legends[0].get_window_extent()
    assert not any(legend.overlaps(ax.get_window_extent()) for ax in axes)
    assert figure.bbox.y0 <= legend.y0
    assert legend.y1 <= figure.bbox.y1


def test_columns_are_as_asked(map_of):
    axes = plot_maps({str(i): map_of(5) for i in range(6)}, columns=2)
    assert axes[0].get_gridspec().get_geometry() == (3, 2)


def test_maps_colored_by_their_own_trust_have_one_color_bar(map_of):
    X = map_of(30, 3)
    maps = {"good": X[:, :2], "bad": X[::-1, :2]}
    axes = plot_maps(maps, {title: trust(X, Y, k=4) for title, Y in maps.items()})
    assert len(rendered(axes[0]).axes) == 3


def test_maps_in_space_are_drawn_in_boxes(map_of):
    axes = plot_maps({"a": map_of(10, 3), "b": map_of(10, 3)}, [0, 1] * 5)
    rendered(axes[0])
    assert [ax.name for ax in axes] == ["3d", "3d"]


Y = np.random.default_rng(0).normal(size=(5, 2))
BAD = Y.copy()
BAD[2, 1] = np.nan
REFUSED = {
    "nan": (
        (BAD, {}),
        DataError,
        (
            "embedding must be finite; got 1 NaN and 0 infinite value(s), the first in row 2 "
            "(counting from 0), column 1. "
            "Leave out or impute the rows that hold them."
        ),
    ),
    "columns": (
        (np.ones((5, 4)), {}),
        DataError,
        (
            "embedding must be a dense array with 1 to 3 columns; got shape (5, 4). "
            "Pass the embedding, such as TSNE().fit(X).embedding_, not the data."
        ),
    ),
    "mark": (
        (Y, {"mark": 5}),
        ParameterError,
        (
            "mark must be an integer from 0 to 4; got mark=5. "
            "Pass a row index, or a list of row indices."
        ),
    ),
    "mark below": (
        (Y, {"mark": [0, -1]}),
        ParameterError,
        (
            "mark must be an integer from 0 to 4; got mark=-1. "
            "Pass a row index, or a list of row indices."
        ),
    ),
    "point size": (
        (Y, {"point_size": 0}),
        ParameterError,
        (
            "point_size must be a number from 0.01 up; got point_size=0. "
            "Use point_size='auto' to choose it by the number of points."
        ),
    ),
    "flat axes": (
        (np.ones((5, 3)), {"ax": Figure().add_subplot()}),
        ParameterError,
        (
            "ax must be 3-D Axes for a map with 3 column(s), not Axes. "
            "Pass figure.add_subplot(projection='3d'), or ax=None for a new figure."
        ),
    ),
    "deep axes": (
        (Y, {"ax": Figure().add_subplot(projection="3d")}),
        ParameterError,
        (
            "ax must be 2-D Axes for a map with 2 column(s), not Axes3D. "
            "Pass figure.add_subplot(), or ax=None for a new figure."
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_of_plot_map(case):
    (embedding, options), error, sentence = REFUSED[case]
    with refuses(error, sentence):
        plot_map(embedding, **options)


def test_maps_of_different_dimensions_are_refused():
    with refuses(
        ParameterError,
        "maps must all have the same number of columns, not 2 and 3. "
        "Draw maps of different dimensions in separate figures.",
    ):
        plot_maps({"a": Y, "b": np.ones((5, 3))})


def test_no_map_is_refused():
    with refuses(
        ParameterError,
        "maps must contain at least one map; got maps={}. Pass a mapping from titles to maps.",
    ):
        plot_maps({})


def test_the_map_that_is_wrong_is_named():
    with refuses(
        DataError,
        "The map 'b' must be finite; got 1 NaN and 0 infinite value(s), the first in row 2 "
        "(counting from 0), column 1. "
        "Leave out or impute the rows that hold them.",
    ):
        plot_maps({"a": Y, "b": BAD})


def test_columns_must_be_a_count():
    with refuses(
        ParameterError,
        "columns must be an integer from 1 up; got columns=0. "
        "Use columns=None to choose it by the number of maps.",
    ):
        plot_maps({"a": Y}, columns=0)
