"""Styles: sizes, fonts and colors, of one figure only."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

from isosne.errors import ParameterError
from isosne.plots import plot_map, plot_maps, save_figure
from isosne.plots.palette import DARK_COLORS
from isosne.plots.styles import DARK, STYLES
from tests.conftest import refuses

LABELS = ["a", "b", "c"] * 20
MM = 1 / 25.4


@pytest.mark.parametrize("style", STYLES)
def test_a_style_changes_no_setting_of_matplotlib(map_of, style):
    before = dict(mpl.rcParams)
    plot_map(map_of(60), LABELS, style=style, title="t", contours=True)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("color", [None, LABELS, np.linspace(0, 1, 60)])
def test_a_figure_for_a_paper_is_one_column_wide_in_8_points(map_of, color):
    ax = plot_map(map_of(60), color, style="paper", title="Map")
    ax.figure.canvas.draw()
    assert ax.figure.get_figwidth() == pytest.approx(89 * MM)
    assert ax.title.get_fontsize() == 8
    for legend in ax.figure.legends:
        assert {text.get_fontsize() for text in legend.get_texts()} == {8}
    for other in ax.figure.axes[1:]:
        assert {label.get_fontsize() for label in other.get_yticklabels()} == {8}


@pytest.mark.parametrize("n_classes", [3, 20, 60])
def test_the_legend_of_a_paper_is_below_the_map_and_inside_the_figure(map_of, n_classes):
    ax = plot_map(map_of(120), [f"class {i % n_classes}" for i in range(120)], style="paper")
    ax.figure.canvas.draw()
    (legend,) = ax.figure.legends
    inside, map_box = legend.get_window_extent(), ax.get_window_extent()
    whole = ax.figure.bbox
    assert inside.y1 <= map_box.y0
    assert whole.x0 <= inside.x0 < inside.x1 <= whole.x1
    assert whole.y0 <= inside.y0
    assert map_box.width > 0.85 * whole.width  # the map is as wide as the column


def test_four_maps_for_a_paper_fit_two_columns(map_of):
    axes = plot_maps({str(m): map_of(60) for m in range(4)}, LABELS, style="paper", legend=False)
    assert axes[0].figure.get_figwidth() <= 183 * MM


@pytest.mark.parametrize("style", ["screen", "paper"])
@pytest.mark.parametrize("n_classes", [3, 26])
def test_a_legend_takes_no_width_from_the_maps(map_of, style, n_classes):
    labels = [f"class {i % n_classes:02d}" for i in range(78)]
    axes = plot_maps({"a": map_of(78), "b": map_of(78)}, labels, style=style)
    figure = axes[0].figure
    figure.canvas.draw()
    assert axes[0].get_window_extent().width > 0.8 * STYLES[style].panel * figure.dpi
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1


def test_slides_have_large_fonts(map_of):
    ax = plot_map(map_of(60), LABELS, style="slides", title="Map")
    assert ax.title.get_fontsize() == 18
    assert ax.figure.get_figheight() <= 7.5


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_dark_figures_have_light_texts_and_their_own_colors(map_of, n_dims):
    ax = plot_map(map_of(60, n_dims), LABELS, style="dark", title="Map", mark=0)
    ax.figure.canvas.draw()
    assert to_hex(ax.figure.get_facecolor()) == DARK.background
    assert to_hex(ax.title.get_color()) == DARK.ink
    drawn = {to_hex(color) for color in ax.collections[0].get_facecolors()}
    if n_dims < 3:  # in 3-D, depth changes the color
        assert drawn == set(DARK_COLORS[:3])
    assert to_hex(ax.collections[1].get_facecolors()[0]) == DARK.ink  # the mark
    labels = ax.get_yticklabels() if n_dims == 1 else ax.get_legend().get_texts() if n_dims else []
    assert {to_hex(label.get_color()) for label in labels} == {DARK.ink}


def test_a_dark_color_bar_has_light_labels(map_of):
    ax = plot_map(map_of(60), np.linspace(0, 1, 60), kind="trust", style="dark")
    ax.figure.canvas.draw()
    bar = ax.figure.axes[1]
    assert {to_hex(label.get_color()) for label in bar.get_yticklabels()} == {DARK.ink}


def test_unlabeled_points_recede_on_dark(map_of):
    ax = plot_map(map_of(60), ["", "a"] * 30, style="dark")
    drawn = {to_hex(color) for color in ax.collections[0].get_facecolors()}
    assert drawn == {DARK.faint, DARK_COLORS[0]}
    assert to_hex(plot_map(map_of(9), style="dark").collections[0].get_facecolors()) == DARK.plain


def test_a_saved_figure_keeps_its_background(map_of, tmp_path):
    ax = plot_map(map_of(9), style="dark")
    path = save_figure(ax, tmp_path / "map.svg")
    assert f"fill: {DARK.background}" in path.read_text()


def test_an_unknown_style_is_refused(map_of):
    with refuses(
        ParameterError,
        "style must be one of screen, paper, slides, dark; got style='poster'. "
        "Use style='screen' for the default.",
    ):
        plot_map(map_of(9), style="poster")
