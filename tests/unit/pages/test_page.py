"""One map as a page, by what the page holds."""

import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isosne.errors import DataError, MissingPackageError, OutputError, ParameterError
from isosne.pages import write_page
from isosne.plots import plot_map
from isosne.plots.palette import COLORS, DARK_COLORS, DARK_FAINT, FAINT
from tests.conftest import refuses

EVIL = "</script><script>alert(1)</script><img src=https://example.org/x.png>"


@pytest.fixture
def page_of(tmp_path, read_page):
    """Write a page; return what it holds."""
    return lambda Y, **given: read_page(write_page(tmp_path / "map.html", Y, **given, force=True))


def test_a_page_holds_every_point_and_every_column(page_of, map_of):
    Y = map_of(50)
    columns = {"age": np.linspace(0.1, 9, 50), "kind": ["x", "y"] * 25, "id": np.arange(50) + 7}
    labels = ["a"] * 20 + ["b"] * 30
    given = {"columns": columns, "labels": labels, "color": "age", "hover": ["kind", "label"]}
    page = page_of(Y, **given)
    assert page.about["choices"][page.about["first"]]["name"] == "age"
    names = [page.about["columns"][c]["name"] for c in page.about["hover"]]
    assert names == ["kind", "label"]
    assert sorted(page.table["row"].tolist()) == list(range(50))
    np.testing.assert_array_equal(np.stack([page.column("x"), page.column("y")], axis=1), Y)
    assert page.column("age").tolist() == columns["age"].tolist()
    assert page.column("kind").tolist() == columns["kind"]
    assert page.column("id").tolist() == columns["id"].tolist()
    assert page.column("label").tolist() == ["a"] * 20 + ["b"] * 30


def test_the_legend_has_an_entry_for_each_class_in_the_colors_of_the_picture(page_of, map_of):
    Y, labels = map_of(120), [f"{row % 12:02d}" for row in range(119)] + ["00"]
    page = page_of(Y, labels=labels)
    (choice,) = page.about["choices"]
    assert choice["kind"] == "classes"
    assert [entry["name"] for entry in choice["classes"]] == sorted(set(labels))
    assert [entry["count"] for entry in choice["classes"]] == [11, *[10] * 10, 9]
    drawn = plot_map(Y, labels).get_legend().legend_handles
    light, dark = choice["palettes"]
    assert light == [handle.get_color() for handle in drawn]
    assert set(light) == set(COLORS[:12])
    assert dark == [DARK_COLORS[COLORS.index(color)] for color in light]
    codes = page.by_row(page.table[choice["fields"][0]])
    assert [choice["classes"][c]["name"] for c in codes] == labels


def test_readers_may_color_by_label_trust_and_fitting_columns(page_of, map_of):
    rng = np.random.default_rng(0)
    columns = {
        "number": rng.normal(size=200),
        "constant": np.ones(200),
        "few": np.arange(200) % 3,
        "many": np.arange(200),
        "word": ["even", "odd"] * 100,
        "name": [f"row {i}" for i in range(200)],
    }
    labels = pd.Series(["a", "b"] * 100, name="species")
    page = page_of(map_of(200), columns=columns, labels=labels, trust=rng.uniform(size=200))
    choices = {choice["title"]: choice for choice in page.about["choices"]}
    assert {title: choice["kind"] for title, choice in choices.items()} == {
        "species": "classes",
        "trust": "trust",
        "number": "values",
        "few": "classes",
        "many": "values",
        "word": "classes",
    }
    assert choices["many"]["ends"] == ["0", "199"]
    assert [entry["name"] for entry in choices["few"]["classes"]] == ["0", "1", "2"]


def test_columns_may_be_a_data_frame(page_of, map_of):
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"age": [1.5, 2.5, 3.5], "word": ["a", "b", None]})
        page = page_of(map_of(3), columns=frame)
        assert page.column("age").tolist() == [1.5, 2.5, 3.5]
        assert page.column("word").tolist() == ["a", "b", ""]


def test_points_without_a_label_are_gray_beneath_the_others_and_last(page_of, map_of):
    labels = np.array(["b", "", "a"] * 4)
    columns = {"kind": np.array(["", "x", None] * 4, object)}
    page = page_of(map_of(12), labels=labels, columns=columns)
    by_label, by_kind = page.about["choices"]
    assert [entry["name"] for entry in by_label["classes"]] == ["a", "b", "no label"]
    assert [entry["count"] for entry in by_label["classes"]] == [4, 4, 4]
    assert [colors[-1] for colors in by_label["palettes"]] == [FAINT, DARK_FAINT]
    assert page.table[by_label["fields"][0]][:4].tolist() == [2] * 4  # drawn first
    assert page.column("label").tolist() == labels.tolist()
    assert [entry["name"] for entry in by_kind["classes"]] == ["x", "no label"]
    assert [entry["count"] for entry in by_kind["classes"]] == [4, 8]
    assert page.by_row(page.table[by_kind["fields"][0]]).tolist() == [1, 0, 1] * 4


@pytest.mark.parametrize("unit", [1e-300, 1e300, -1e308])
def test_numbers_of_any_size_are_spread_over_the_colors(page_of, map_of, unit):
    page = page_of(map_of(4), columns={"age": unit * np.array([-1.0, -0.5, 0.0, 1.0])})
    (choice,) = page.about["choices"]
    shares = np.array([0, 0.25, 0.5, 1])
    shown = page.by_row(page.table[choice["fields"][0]])
    np.testing.assert_allclose(shown, shares if unit > 0 else 1 - shares, rtol=1e-6)


def test_numbers_that_are_missing_are_gray(page_of, map_of):
    columns = {"age": [1.0, np.nan, np.inf, 3.0]}
    page = page_of(map_of(4), columns=columns)
    (choice,) = page.about["choices"]
    shown = page.by_row(page.table[choice["fields"][0]])
    np.testing.assert_array_equal(shown, [0, np.nan, np.nan, 1])  # from 1 to 3
    assert choice["ends"] == ["1", "3"]
    (mapper,) = page.find("LinearColorMapper")
    assert mapper["attributes"]["nan_color"] == FAINT


def test_one_dimension_has_a_lane_for_each_class(page_of, map_of):
    labels = np.repeat(["a", "b", "c"], 10)
    page = page_of(map_of(30, 1), labels=labels)
    assert [column["name"] for column in page.about["coordinates"]] == ["x"]
    lanes = page.by_row(page.table["m0y"]).reshape(3, 10)
    assert lanes[0].min() > lanes[1].max()
    assert lanes[1].min() > lanes[2].max()
    assert len(page.find("Scatter")) == 3  # normal, unselected, hovered


def test_three_dimensions_are_shown_as_three_faces(page_of, map_of):
    Y = map_of(30, 3)
    page = page_of(Y, title="a box")
    assert len(page.find("Plot")) == 3
    assert re.findall(r"[xyz] and [xyz]", page.words) == ["x and y", "x and z", "y and z"]
    found = [page.column(axis) for axis in "xyz"]
    np.testing.assert_array_equal(np.stack(found, axis=1), Y)


def test_a_page_refers_to_nothing_outside(page_of, map_of):
    page = page_of(map_of(9), labels=["$$x$$"] * 9, title="$$y$$")
    assert page.references == ["data:,"]  # an empty icon
    assert page.links == []
    assert "link" in page.tags
    assert not re.search(r"@import|url\(\s*['\"]?https?:", page.text)
    assert "mathjax" not in page.text.lower().partition("<body")[0].partition("bokeh-gl")[2]
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page.text)
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy


def test_what_users_name_never_becomes_html(page_of, map_of):
    Y = map_of(4)
    plain = page_of(Y, columns={"c": list("abab")}, labels=list("xyxy"))
    evil = page_of(Y, columns={EVIL: [EVIL, "b"] * 2}, labels=[EVIL, "y"] * 2, title=EVIL)
    assert evil.tags == plain.tags
    assert evil.references == plain.references
    assert EVIL not in evil.text
    assert evil.words.count(EVIL) == 3  # title, heading, what to color by
    assert evil.column(EVIL).tolist() == [EVIL, "b"] * 2


def wrong_length(name):
    return (
        f"The column {name!r} must have one entry per point; got shape (3,) for 4 points. "
        "Pass the values in the order of the rows of the map."
    )


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        pytest.param(
            "map.hmtl",
            {},
            "path must end in .html or .htm; got path='map.hmtl'. Did you mean '.html'?",
        ),
        pytest.param("map.html", {"labels": [1, 2, 3]}, wrong_length("labels")),
        pytest.param("map.html", {"trust": [1, 0, 1]}, wrong_length("trust")),
        pytest.param(
            "old.html",
            {},
            "Cannot write old.html: the file already exists. "
            "Choose another name, or pass force=True to replace it.",
        ),
        pytest.param(
            "map.html",
            {"columns": {"n": range(4), "k": [0, 1] * 2}, "color": "same"},
            "color must be one of n, k; got color='same'. Constant columns, and text that differs "
            "in almost every row, cannot be used.",
        ),
        pytest.param(
            "map.html",
            {"columns": {"age": range(4)}, "labels": list("abab"), "hover": ["Age"]},
            "hover must name columns of the page: label, age; got hover='Age'. "
            "The names are case-sensitive.",
        ),
    ],
)
def test_refusals_leave_nothing_behind(tmp_path, monkeypatch, map_of, name, given, sentence):
    monkeypatch.chdir(tmp_path)
    old = tmp_path / "old.html"
    old.write_text("old")
    with refuses((DataError, ParameterError, OutputError), sentence):
        write_page(name, map_of(4), **given)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]
    write_page(old, map_of(4), force=True)
    assert "<title>Map of 4 points</title>" in old.read_text()


def test_without_bokeh_one_sentence_says_what_to_install(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("isosne.pages")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with refuses(
        MissingPackageError,
        "isosne.pages needs the package bokeh, which is not installed. "
        "Install it with: pip install 'isosne[pages]'",
    ):
        __import__("isosne.pages")


def test_names_that_are_not_unicode_are_shown_with_a_replacement(tmp_path):
    columns = {"\udc80": np.arange(4) / 3}  # as in the name of a file that is not UTF-8
    path = write_page(tmp_path / "map.html", np.eye(4)[:, :2], columns=columns, title="a\udc80")
    page = path.read_text(encoding="utf-8")
    assert "<title>a\ufffd</title>" in page
    assert r"<option>\udc80</option>" in page
