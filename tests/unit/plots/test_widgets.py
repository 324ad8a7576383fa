"""Maps as widgets, with the real jupyter-scatter: colors, links, selection."""

import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isosne.errors import DataError, MissingPackageError, ParameterError
from isosne.plots import compare_widget, widget
from isosne.plots.palette import COLORS, FAINT, PLAIN, TRUST_SCALE
from isosne.quality import trust
from tests.conftest import make, refuses

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(name="Y")
def places():
    return np.random.default_rng(0).normal(size=(30, 2)) * [10, 1]


def hexes(colors):
    return ["#" + "".join(f"{round(255 * part):02x}" for part in color[:3]) for color in colors]


def legend(shown):
    return shown.scatters[0].widget.legend_encoding["color"]


def test_a_model_is_shown_on_equal_scales(two_blobs):
    model = make().fit(two_blobs)
    shown = widget(model)
    assert VIEW in shown._repr_mimebundle_()[0]
    (scatter,) = shown.scatters
    places = scatter.widget.points[:, :2]
    assert abs(places).max() < 1
    ratio = np.ptp(places, axis=0) / np.ptp(model.embedding_, axis=0)
    np.testing.assert_allclose(ratio[0], ratio[1], rtol=1e-5)
    assert hexes([scatter.widget.color]) == [PLAIN]
    assert not scatter.widget.legend
    assert scatter.widget.height == 480


def test_labels_have_the_colors_of_figures_and_a_legend(Y):
    label = pd.Series([None, *["b", "a"] * 14, "b"], name="species", dtype=object)
    shown = widget(Y, label, hover={"row": np.arange(30), "species": label}, height=300)
    (scatter,) = shown.scatters
    assert hexes(scatter.widget.color) == [*COLORS[:2], FAINT]
    assert [entry[0] for entry in legend(shown)["values"]] == ["a", "b", "no label"]
    assert scatter.widget.points[:4, 2].tolist() == [2, 1, 0, 1]
    assert scatter.widget.tooltip_properties == ["species", "row"]
    assert scatter.widget.height == 300


def test_two_labels_of_the_same_name_are_one_class(Y):
    shown = widget(Y, np.repeat([0, 1, 2], 10), names=["low", "high", "low"])
    assert [entry[0] for entry in legend(shown)["values"]] == ["low", "high"]
    assert hexes(shown.scatters[0].widget.color) == list(COLORS[:2])


def test_values_are_shades(Y):
    shown = widget(Y, np.linspace(3, 5, 30))
    values = legend(shown)["values"]
    assert (values[0][2], values[-1][2]) == ("3", "5")
    shades = shown.scatters[0].widget.points[:, 2]
    np.testing.assert_allclose(shades, np.linspace(0, 1, 30), atol=1e-6)


NAMES = ["below 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 and above", "not measured"]
FIFTHS = dict(zip(NAMES, [*(to_hex(TRUST_SCALE(k / 4)) for k in range(5)), FAINT], strict=True))


@pytest.mark.parametrize("n_queries", [30, 10])
def test_trust_is_shown_in_fifths_and_gray_where_it_was_not_measured(Y, n_queries):
    X = Y @ np.diag([1.0, 12.0]) + np.random.default_rng(1).normal(size=(30, 2))
    measured = trust(X, Y, 5, n_queries=n_queries, random_state=0)
    expected = np.full(30, "not measured", object)
    fifths = np.floor(5 * measured.agreement + 1e-9).astype(int).clip(max=4)
    expected[measured.points] = np.array(list(FIFTHS), object)[fifths]
    scatter = widget(Y, measured).scatters[0].widget
    names = [entry[0] for entry in scatter.legend_encoding["color"]["values"]]
    assert names == [name for name in FIFTHS if name in set(expected)]
    assert hexes(scatter.color) == [FIFTHS[name] for name in names]
    of_point = scatter.points[:, 2].astype(int)
    np.testing.assert_array_equal(np.array(names, object)[of_point], expected)


def test_one_value_and_one_dimension(Y):
    widget(Y, np.ones(30))
    places = widget(Y[:, :1], np.repeat(["a", "b"], 15)).scatters[0].widget.points[:, 1]
    assert places[:15].min() > places[15:].max()  # each class has its own lane


def test_the_selection_is_read_and_set(Y):
    shown = widget(Y)
    assert shown.selection.tolist() == []
    shown.selection = [7, 2]
    assert shown.selection.tolist() == [2, 7]
    shown.scatters[0].widget.selection = np.array([5, 4], np.uint32)  # as the browser does
    assert shown.selection.tolist() == [4, 5]
    assert shown.selection.dtype == np.int64
    sentence = (
        "selection must be an integer from 0 to 29; got selection=30. "
        "Pass a row index, or a list of row indices."
    )
    with refuses(ParameterError, sentence):
        shown.selection = [30]


def test_maps_are_linked(Y):
    shown = compare_widget({"one": Y, "other": -Y}, np.repeat(["a", "b"], 15), height=400)
    assert VIEW in shown._repr_mimebundle_()
    one, other = (scatter.widget for scatter in shown.scatters)
    assert one.view_sync == other.view_sync is not None
    one.selection = np.array([3, 1], np.uint32)
    assert other.selection.tolist() == [3, 1]
    assert shown.selection.tolist() == [1, 3]
    other.hovering = 17
    assert one.hovering == 17
    shown.selection = [8]
    assert one.selection.tolist() == other.selection.tolist() == [8]
    assert hexes(one.color) == hexes(other.color) == list(COLORS[:2])


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda Y: widget(np.ones((4, 3))),
            DataError,
            (
                "The map must have one or two dimensions; got 3. Draw three dimensions with "
                "isosne.plots.plot_map, or pass two columns of the map."
            ),
        ),
        (
            lambda Y: widget(Y, hover={"name": ["a"]}),
            DataError,
            (
                "hover must have one entry per point in each column; got shape (1,) in 'name' for "
                "30 points. Pass the rows of the map."
            ),
        ),
        (
            lambda Y: widget(Y, height=10),
            ParameterError,
            "height must be an integer from 100 up; got height=10. 480 is usual.",
        ),
        (
            lambda Y: compare_widget([Y, Y]),
            ParameterError,
            (
                "maps must be a mapping from titles to at least two maps. Pass a dictionary such "
                "as {'owner': model, 'gaussian': other}."
            ),
        ),
        (
            lambda Y: compare_widget({"a": Y, "b": Y[:20]}),
            DataError,
            (
                "All maps must have the same points; got different numbers (a: 30, b: 20). Pass "
                "maps of the same rows, in the same order."
            ),
        ),
    ],
)
def test_what_cannot_be_shown_is_named(Y, call, error, sentence):
    with refuses(error, sentence):
        call(Y)


def test_without_jupyter_scatter_one_sentence_says_so(Y, monkeypatch):
    monkeypatch.setitem(sys.modules, "jscatter", None)
    sentence = (
        "isosne.plots.widget needs the package jscatter, which is not installed. "
        "Install it with: pip install 'isosne[widgets]'"
    )
    with refuses(MissingPackageError, sentence):
        widget(Y)
