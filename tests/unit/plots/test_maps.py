"""Maps as pictures, by what is on them."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.proj3d import proj_transform

from isosne.plots import plot_map, plot_maps
from isosne.plots.palette import COLORS, FAINT
from isosne.plots.points import MAX_SCATTER
from isosne.quality import compare
from tests.unit.plots.conftest import entries


def rendered(ax):
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    return figure


def points_by_color(collection):
    """The points of a scatter, by the color they are drawn in."""
    by_color = {}
    colors = collection.get_facecolors()[:, :3]
    for position, color in zip(collection.get_offsets(), colors, strict=True):
        by_color.setdefault(tuple(color.round(3)), []).append(tuple(position))
    return by_color


def test_every_point_is_drawn_once_in_the_color_of_its_class(map_of):
    Y, y = map_of(60), np.arange(60) % 3
    by_color = points_by_color(plot_map(Y, y).collections[0])
    assert len(by_color) == 3
    for c in range(3):
        drawn = by_color[tuple(np.round(to_rgb(COLORS[c]), 3))]
        assert sorted(drawn) == sorted(map(tuple, Y[y == c]))


@pytest.mark.parametrize(
    ("style", "n_classes", "n_dims"),
    [("screen", 2, 3), ("screen", 26, 2), ("screen", 60, 2), ("paper", 3, 2), ("paper", 60, 2)],
)
def test_the_legend_is_within_the_figure_and_beside_the_map(map_of, style, n_classes, n_dims):
    name = "class" if style == "paper" else "a long name of the class"
    ax = plot_map(map_of(180, n_dims), [f"{name} {i % n_classes}" for i in range(180)], style=style)
    figure = rendered(ax)
    legend, drawn = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert drawn.x1 <= legend.x0 < legend.x1 <= figure.bbox.x1
    assert figure.bbox.y0 <= legend.y0 < legend.y1 <= figure.bbox.y1
    assert drawn.width > 0.4 * 89 / 25.4 * figure.dpi


def test_points_without_a_label_are_gray_beneath_the_others_and_last_in_the_legend(map_of):
    Y, labels = map_of(60), np.array(["b", "", "a"] * 20)
    ax = plot_map(Y, labels)
    assert entries(ax.get_legend()) == ["a", "b", "no label"]
    points = ax.collections[0]
    np.testing.assert_allclose(points.get_facecolors()[:20, :3], np.tile(to_rgb(FAINT), (20, 1)))
    assert sorted(map(tuple, points.get_offsets()[:20])) == sorted(map(tuple, Y[labels == ""]))


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_every_point_is_within_the_limits(map_of, n_dims):
    Y = map_of(50, n_dims)
    ax = plot_map(Y, ["b", "", "a", "a", "b"] * 10)
    rendered(ax)
    spans = [ax.get_xlim(), ax.get_ylim(), getattr(ax, "get_zlim", tuple)()][:n_dims]
    for coordinate, (low, high) in zip(Y.T, spans, strict=True):
        assert low < coordinate.min() < coordinate.max() < high


def test_values_have_a_color_bar_over_their_range(map_of):
    ax = plot_map(map_of(40), pd.Series(np.linspace(-2, 5, 40), name="age"))
    bar = rendered(ax).axes[1]
    assert bar.get_ylim() == pytest.approx((-2, 5))
    assert bar.get_ylabel() == "age"
    assert ax.get_legend() is None
    assert len(rendered(plot_map(map_of(4), [0.5] * 4, legend=False)).axes) == 1


def test_trust_has_the_scale_of_its_regions_with_words(map_of):
    X = map_of(40, 3)
    trust = compare(X, X[:, :2], k=5).trust()
    bar = rendered(plot_map(X[:, :2], trust)).axes[1]
    low, high = np.quantile(trust.regional(), [0.05, 0.95])
    assert bar.get_ylim() == pytest.approx((low, high))
    labels = [label.get_text() for label in bar.get_yticklabels()]
    assert labels == [f"{low:.0%}  fewer", f"{(low + high) / 2:.0%}", f"{high:.0%}  more"]
    assert bar.get_title(loc="left") == "neighbors\nkept, of 5"


def test_marks_are_crosses_over_their_points(map_of):
    Y = map_of(30)
    points, crosses = plot_map(Y, mark=[4, 9]).collections
    np.testing.assert_array_equal(crosses.get_offsets(), Y[[4, 9]])
    assert crosses.get_zorder() > points.get_zorder()


@pytest.mark.parametrize(
    ("title", "n_dims"), [("What was measured, and how. " * 7, 3), ("unbroken" * 30, 2)]
)
def test_a_long_title_is_not_cut_off(map_of, title, n_dims):
    ax = plot_map(map_of(40, n_dims), ["a", "b"] * 20, title=title)
    figure = rendered(ax)
    extent = ax.title.get_window_extent()
    assert figure.bbox.x0 <= extent.x0 < extent.x1 <= figure.bbox.x1
    assert extent.y1 <= figure.bbox.y1
    assert ax.get_window_extent().width > 480  # the map is no smaller for it
    assert "".join(ax.get_title().split()) == "".join(title.split())


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


@pytest.mark.parametrize("longest", [0, 2])
def test_a_box_has_one_scale_and_is_not_cut_off(map_of, longest):
    Y = map_of(60, 3)
    Y[:, longest] *= 4
    ax = plot_map(Y, ["a", "b"] * 30, mark=3)
    figure = rendered(ax)
    spans = ax.get_xlim(), ax.get_ylim(), ax.get_zlim()
    ratio = np.array(ax._box_aspect) / np.ptp(spans, axis=1)
    np.testing.assert_allclose(ratio, ratio[0])
    x, y, _ = proj_transform(*np.array(list(product(*spans))).T, ax.get_proj())
    pixels = ax.transData.transform(np.column_stack([x, y]))
    assert pixels.min() >= 0
    assert pixels[:, 0].max() <= ax.get_legend().get_window_extent().x0
    assert pixels[:, 1].max() <= figure.bbox.y1


def test_axes_of_the_user_are_drawn_on(map_of):
    import matplotlib.pyplot as plt

    ours = Figure().add_subplot()
    assert plot_map(map_of(5), ax=ours) is ours
    figure, ax = plt.subplots()
    try:
        assert plot_map(map_of(5), ["a"] * 5, ax=ax, title="A long title. " * 9) is ax
        rendered(ax)
        assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())
    finally:
        plt.close(figure)


def test_a_crowd_is_an_image_in_the_colors_of_its_classes(map_of):
    n = MAX_SCATTER + 1
    Y = np.concatenate([map_of(n // 2), map_of(n - n // 2) + np.array([50.0, 0.0])])
    ax = plot_map(Y, np.repeat(["left", "right"], [n // 2, n - n // 2]), mark=0)
    rendered(ax)
    (image,) = ax.images
    picture = np.asarray(image.get_array())
    opaque = picture[..., 3] > 0
    middle = picture.shape[1] // 2
    for half, color in ((slice(None, middle), COLORS[0]), (slice(middle, None), COLORS[1])):
        shown = picture[:, half][opaque[:, half]][:, :3]
        np.testing.assert_allclose(shown.mean(axis=0), to_rgb(color), atol=1e-6)
    left, right, low, high = image.get_extent()
    assert left <= Y[:, 0].min() < Y[:, 0].max() <= right
    assert low <= Y[:, 1].min() < Y[:, 1].max() <= high
    assert entries(ax.get_legend()) == ["left", "right"]
    assert len(ax.collections[0].get_offsets()) == 1  # the cross


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


def test_maps_colored_by_their_own_trust_have_one_color_bar(map_of):
    X = map_of(30, 3)
    maps = {"good": X, "bad": X[::-1]}
    axes = plot_maps(maps, {title: compare(X, Y, k=4).trust() for title, Y in maps.items()})
    assert len(rendered(axes[0]).axes) == 3
    assert [ax.name for ax in axes] == ["3d", "3d"]
