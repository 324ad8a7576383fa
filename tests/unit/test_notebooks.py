"""What notebooks show: tables and small pictures, as HTML that is well formed and escaped."""

import inspect
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn import config_context

from isosne import TSNE, GaussianKernel
from isosne._html import MOST_POINTS, Markup, columns_table, escape, fill, map_picture, pairs_table
from isosne.plots import plot_map
from isosne.structure import null_test
from isosne.studies import sweep
from tests.conftest import SHORT, make


@pytest.fixture
def model(two_blobs):
    return make(GaussianKernel(5)).fit(two_blobs)


def parse(html):
    """Parse a fragment, which must be well formed; return its words and the number of pictures."""
    root = ET.fromstring(f"<div>{html}</div>")
    return " ".join(" ".join(root.itertext()).split()), len(list(root.iter("svg")))


def test_a_fitted_model_shows_its_map_and_its_figures(model):
    words, n_pictures = parse(model._repr_mimebundle_()["text/html"])
    assert n_pictures == 1
    for part in ("60 points in 2 dimensions", "GaussianKernel", "steps 60", "Plan"):
        assert part in words
    assert f"objective {model.kl_divergence_:.4f}" in words
    assert model._repr_html_() == model._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_an_unfitted_model_shows_the_diagram_of_scikit_learn():
    assert "sk-container" in TSNE()._repr_mimebundle_()["text/html"]


def test_results_show_what_they_print(model, two_blobs):
    found = model.report(two_blobs, np.repeat([0, 1], 30))
    for value in (model.plan_, found):
        words, _ = parse(value._repr_html_())
        assert words == " ".join(str(value).split())


def test_a_null_test_shows_its_figures_and_prints_as_a_sentence(two_blobs):
    found = null_test(two_blobs, n_draws=4)
    words, _ = parse(found._repr_html_())
    assert words.startswith(f"p-value {found.p_value:.4g} statistic {found.statistic:.4g} ")
    assert repr(found) == str(found)
    assert repr(found) in words


def test_results_print_as_tables_without_print(model, two_blobs):
    assert repr(model.plan_) == str(model.plan_)
    assert repr(model.report(two_blobs)).splitlines()[1].split() == ["metric", "euclidean"]
    estimator = TSNE(schedule=SHORT, random_state=0)
    lines = repr(sweep(two_blobs, "gaussian", [3, 8], estimator=estimator, n_jobs=1)).splitlines()
    assert lines[0].split()[:2] == ["perplexity", "kl_divergence"]
    assert [line.split()[0] for line in lines[1:3]] == ["3", "8"]
    assert lines[3].startswith("best by auc_rnx: perplexity ")


def test_a_sweep_shows_a_table_with_the_best_row_in_bold(two_blobs):
    found = sweep(
        two_blobs, "gaussian", [3, 8], estimator=TSNE(schedule=SHORT, random_state=0), n_jobs=1
    )
    html = found._repr_html_()
    words, _ = parse(html)
    assert "perplexity" in words
    (bold,) = re.findall(r"<tr style='font-weight:bold'>(.*?)</tr>", html)
    assert f"<td>{found.best['auc_rnx']:.4g}</td>" in bold


def test_text_is_escaped():
    for html in (pairs_table([("<b>", "a&b")]), columns_table(["<i>"], [["<script>"]])):
        parse(html)
        assert "<b>" not in html
        assert "<i>" not in html
        assert "<script>" not in html


@pytest.mark.parametrize(
    ("content", "html"),
    [
        ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#x27;"),
        (Markup("<b>"), "<b>"),
        (["<", Markup("<i>")], "&lt;<i>"),
        ("a\0b\x1bc\td\n\udc80", "a\ufffdb\ufffdc\td\n\ufffd"),
        (None, "None"),
    ],
)
def test_all_but_markup_is_escaped_and_what_html_cannot_contain_is_replaced(content, html):
    assert escape(content) == html
    assert escape(escape(content)) == html


def test_values_in_markup_are_formatted_and_escaped():
    found = fill("<p>{:.2f} {name} {}</p>", 1.234, Markup("<b>"), name="<{}>")
    assert found == "<p>1.23 &lt;{}&gt; <b></p>"
    assert isinstance(found, Markup)


@pytest.mark.parametrize("shape", [(1, 2), (50, 1), (50, 3), (10_000, 2)])
def test_maps_of_every_shape_are_drawn_within_the_picture(shape):
    Y = np.random.default_rng(0).normal(size=shape) * 1e3
    html = map_picture(Y, "map")
    places = np.array(re.findall(r"M([-\d.]+) ([-\d.]+)h0", html), dtype=float)
    assert len(places) == shape[0] if shape[0] <= MOST_POINTS else 2000 < len(places) <= MOST_POINTS
    assert 0 <= places.min() <= places.max() <= 240


def test_plot_draws_the_map(model):
    axes = model.plot(np.repeat(["a", "b"], 30), title="Two blobs")
    assert axes.get_title() == "Two blobs"
    assert sum(len(points.get_offsets()) for points in axes.collections) == 60


def test_plot_has_the_parameters_of_plot_map_except_two():
    ours = inspect.signature(TSNE.plot).parameters
    theirs = inspect.signature(plot_map).parameters
    assert set(theirs) - set(ours) == {"embedding", "mark", "point_size"}
    shared = [name for name in theirs if name in ours]
    assert list(ours) == ["self", *shared]
    for name in shared:
        assert (ours[name].kind, ours[name].default) == (theirs[name].kind, theirs[name].default)


def test_plot_passes_every_parameter_on(model):
    classes = np.repeat([0, 1], 30)
    _, ax = plt.subplots()
    axes = model.plot(
        classes,
        kind="labels",
        names=["left", "right"],
        annotate=True,
        style="dark",
        legend=True,
        ax=ax,
    )
    assert axes is ax
    expected = plot_map(
        model.embedding_,
        classes,
        names=["left", "right"],
        annotate=True,
        style="dark",
        legend=True,
        ax=plt.subplots()[1],
    )
    assert [type(part) for part in axes.get_children()] == [
        type(part) for part in expected.get_children()
    ]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["left", "right"]
    assert len(model.plot(classes, kind="values").figure.axes) == 2  # the map and its color bar
