"""Pictures as files."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from isosne.errors import OutputError, ParameterError
from isosne.plots import (
    plot_lines,
    plot_map,
    plot_maps,
    plot_rnx,
    plot_similarity_from,
    save_figure,
)
from isosne.plots.image_files import whole_file
from tests.conftest import refuses

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".PNG": b"\x89PNG"}


@pytest.mark.parametrize("suffix", STARTS)
def test_the_suffix_names_the_format(tmp_path, map_of, suffix):
    path = save_figure(plot_map(map_of(20), np.arange(20) % 9), tmp_path / f"map{suffix}")
    assert path.read_bytes().startswith(STARTS[suffix])
    assert [file.name for file in tmp_path.iterdir()] == [f"map{suffix}"]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_picture_has_the_same_bytes(tmp_path, map_of, suffix):
    written = [
        save_figure(plot_map(map_of(20), ["a", "b"] * 10, mark=1), tmp_path / f"{i}{suffix}")
        for i in range(2)
    ]
    assert written[0].read_bytes() == written[1].read_bytes()


ODD = ["$$", "$5-$10", r"$\frac$", "50% _a^b_ {", "a\x01b", "\ud800", r"\$"]
SHOWN = ["$$", "$5-$10", r"$\frac$", "50% _a^b_ {", "a\ufffdb", "?", r"\$"]


def labels_of(n):
    return np.array(ODD * n, object)


def draw_map(map_of, n_dims=2, title="$$"):
    points = map_of(14, n_dims)
    return plot_map(points, pd.Series(labels_of(2), name="$x$"), title=title)


DRAWINGS = {
    "map": draw_map,
    "lanes": lambda map_of: draw_map(map_of, 1),
    "box": lambda map_of: draw_map(map_of, 3),
    "values": lambda map_of: plot_map(map_of(9), pd.Series(np.arange(9.0), name="$$"), title="$ $"),
    "maps": lambda map_of: plot_maps({name: map_of(14) for name in ODD}, labels_of(2)),
    "lines": lambda map_of: plot_lines({"$$": ([1, 2], [3, 4])}, x_label="$$", y_label="$a"),
    "curves": lambda map_of: plot_rnx({"$$": ([1, 2], [0.3, 0.4])}),
    "similarities": lambda map_of: plot_similarity_from({"$$": np.ones(7)}, labels_of(1)),
}


@pytest.mark.parametrize("suffix", [".png", ".svg"])
@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_names_and_titles_are_text_and_no_formulas(tmp_path, map_of, draw, suffix):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # of a font
        path = save_figure(draw(map_of), tmp_path / f"map{suffix}", dpi=40)
    if suffix == ".svg":
        ElementTree.parse(path)


def test_names_with_dollar_signs_are_shown_as_they_are(map_of):
    ax = draw_map(map_of, title="$5 to $10")
    assert ax.get_title() == "$5 to $10"
    assert not ax.title.get_parse_math()
    legend = ax.get_legend()
    assert sorted(text.get_text() for text in legend.get_texts()) == sorted(SHOWN)
    assert not any(text.get_parse_math() for text in (legend.get_title(), *legend.get_texts()))


def test_axes_arrays_and_figures_can_be_saved(tmp_path, map_of):
    axes = plot_maps({"a": map_of(5), "b": map_of(5)})
    written = {
        save_figure(drawn, tmp_path / f"{i}.png", dpi=50).read_bytes()
        for i, drawn in enumerate([axes, axes[0], axes[0].figure])
    }
    assert len(written) == 1


def test_what_stands_out_of_a_figure_without_layout_is_kept(tmp_path, map_of):
    ax = Figure(figsize=(2, 2)).add_axes((0, 0, 1, 1))
    plot_map(map_of(4), ["a long name", "b"] * 2, ax=ax)
    header = save_figure(ax, tmp_path / "map.png", dpi=100).read_bytes()[16:20]
    assert int.from_bytes(header, "big") > 210  # wider than the figure's 200 pixels


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path):
    target = tmp_path / "map.png"
    target.write_bytes(b"old")

    def write_half():
        with whole_file(target, force=True) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path, map_of, suffix):
    resource = pytest.importorskip("resource")
    limits, path = resource.getrlimit(resource.RLIMIT_FSIZE), tmp_path / f"map{suffix}"
    ax = plot_map(map_of(9))
    sentence = (
        f"Cannot write {path}: no space left on the disk. Free some space, or write to another "
        "disk. An existing file of that name was not changed."
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with refuses(OutputError, sentence):
            save_figure(ax, path, dpi=40)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_replaces_another_unless_told_otherwise(tmp_path, map_of):
    target = tmp_path / "map.png"
    target.write_bytes(b"old")
    with refuses(
        OutputError,
        f"Cannot write {target}: the file already exists. "
        "Choose another name, or pass force=True to replace it.",
    ):
        save_figure(plot_map(map_of(4)), target, force=False)
    assert target.read_bytes() == b"old"
    save_figure(plot_map(map_of(4)), target)
    assert target.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_written_is_one_sentence(tmp_path):
    target = tmp_path / "map.png"
    with (
        refuses(
            OutputError,
            f"Cannot write {target}: permission denied. "
            "Choose another folder, or change its permissions.",
        ),
        whole_file(target, force=True),
    ):
        raise PermissionError(13, "Permission denied")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("map.pgn", "Did you mean map.png?"),
        ("map.sgv", "Did you mean map.svg?"),
        ("map.xlsx", "Use one of these suffixes."),
        ("map", "Use one of these suffixes."),
    ],
)
def test_an_unknown_suffix_names_the_nearest(tmp_path, map_of, name, hint):
    path = tmp_path / name
    with refuses(
        ParameterError, f"path must end in .png or .svg or .pdf; got path={str(path)!r}. {hint}"
    ):
        save_figure(plot_map(map_of(4)), path)


def test_a_missing_folder_is_named(tmp_path, map_of):
    path = tmp_path / "figures" / "map.png"
    with refuses(
        OutputError,
        f"Cannot write {path}: the folder {path.parent} does not exist. Create the folder first.",
    ):
        save_figure(plot_map(map_of(4)), path)


def test_a_folder_is_not_a_file(tmp_path, map_of):
    path = tmp_path / "map.png"
    path.mkdir()
    with refuses(OutputError, f"Cannot write {path}: it is a folder. Name a file in it."):
        save_figure(plot_map(map_of(4)), path)


def test_something_else_than_a_picture_is_refused(tmp_path):
    with refuses(
        ParameterError,
        "drawn must be Axes, an array of Axes or a Figure, not int. "
        "Pass the result of a function of isosne.plots.",
    ):
        save_figure(3, tmp_path / "map.png")
