"""Styles of figures, and figures as files and in notebooks."""

import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isosne.errors import OutputError
from isosne.plots import plot_lines, plot_map, plot_maps, plot_rnx, save_figure
from isosne.plots.figures import DARK
from isosne.plots.palette import DARK_COLORS

LABELS = ["a", "b", "c"] * 20
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("color", [None, LABELS, np.linspace(0, 1, 60)])
def test_a_figure_for_a_paper_is_one_column_wide_in_8_points(map_of, color):
    before = dict(mpl.rcParams)
    ax = plot_map(map_of(60), color, style="paper", title="Map")
    assert dict(mpl.rcParams) == before
    ax.figure.canvas.draw()
    assert ax.figure.get_figwidth() == pytest.approx(89 / 25.4)
    assert ax.title.get_fontsize() == 8
    if color is LABELS:
        assert {text.get_fontsize() for text in ax.get_legend().get_texts()} == {8}
    for other in ax.figure.axes[1:]:
        assert {label.get_fontsize() for label in other.get_yticklabels()} == {8}


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_dark_figures_have_light_texts_and_their_own_colors(map_of, n_dims):
    ax = plot_map(map_of(60, n_dims), LABELS, style="dark", title="Map", mark=0)
    ax.figure.canvas.draw()
    assert to_hex(ax.figure.get_facecolor()) == DARK.background
    assert to_hex(ax.title.get_color()) == DARK.ink
    if n_dims < 3:  # in 3-D, depth changes the color
        drawn = {to_hex(color) for color in ax.collections[0].get_facecolors()}
        assert drawn == set(DARK_COLORS[:3])
    assert to_hex(ax.collections[1].get_facecolors()[0]) == DARK.ink  # the mark
    labels = ax.get_yticklabels() if n_dims == 1 else ax.get_legend().get_texts()
    assert {to_hex(label.get_color()) for label in labels} == {DARK.ink}


@pytest.mark.parametrize("n_dims", [2, 3])
def test_a_notebook_shows_the_picture(map_of, n_dims):
    formats = pytest.importorskip("IPython.core.formatters")
    data, _ = formats.DisplayFormatter().format(plot_map(map_of(9, n_dims)))
    assert data["image/png"]
    assert plot_maps({"a": map_of(9)})[0]._repr_png_().startswith(STARTS[".png"])


@pytest.mark.parametrize("suffix", STARTS)
def test_the_same_picture_has_the_same_bytes(tmp_path, map_of, suffix):
    written = [
        save_figure(plot_map(map_of(20), ["a", "b"] * 10, mark=1), tmp_path / f"{i}{suffix}")
        for i in range(2)
    ]
    assert written[0].read_bytes() == written[1].read_bytes()
    assert written[0].read_bytes().startswith(STARTS[suffix])
    assert sorted(tmp_path.iterdir()) == written


HOSTILE = ["$$", "$5-$10", r"$\frac$", "<script>alert(1)</script>", "a\x01b", "\ud800", "&amp;"]
SHOWN = ["$$", "$5-$10", r"$\frac$", "<script>alert(1)</script>", "a\ufffdb", "?", "&amp;"]
COLUMN = pd.Series(np.array(HOSTILE * 2, object), name="<b>$x$")
DRAWINGS = {
    "map": lambda map_of: plot_map(map_of(14), COLUMN, title="</svg>$$", annotate=True),
    "lanes": lambda map_of: plot_map(map_of(14, 1), COLUMN),
    "values": lambda map_of: plot_map(map_of(9), pd.Series(np.arange(9.0), name="<$$")),
    "maps": lambda map_of: plot_maps({name: map_of(14) for name in HOSTILE}, COLUMN),
    "lines": lambda map_of: plot_lines({"<$$": ([1, 2], [3, 4])}, x_label="$$", y_label="$a"),
    "curves": lambda map_of: plot_rnx({"<$$": ([1, 2], [0.3, 0.4])}),
}


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_texts_from_data_are_neither_formulas_nor_markup(tmp_path, map_of, draw):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # of a font
        path = save_figure(draw(map_of), tmp_path / "map.svg")
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
    assert not {"script", "b"} & tags


def test_names_are_shown_as_they_are(map_of):
    ax = plot_map(map_of(14), COLUMN, title="$5 to $10")
    assert ax.get_title() == "$5 to $10"
    legend = ax.get_legend()
    assert sorted(text.get_text() for text in legend.get_texts()) == sorted(SHOWN)
    assert not any(text.get_parse_math() for text in (legend.get_title(), *legend.get_texts()))


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path, map_of):
    resource = pytest.importorskip("resource")
    limits, path = resource.getrlimit(resource.RLIMIT_FSIZE), tmp_path / "map.svg"
    ax = plot_map(map_of(9))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OutputError, match="no space left on the disk"):
            save_figure(ax, path, dpi=40)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
