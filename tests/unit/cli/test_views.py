"""`isosne embed --view`: views of a table by the names of its columns, kept by its model."""

import numpy as np
import pytest

from isosne import TSNE
from isosne.rows import read_map
from tests.unit.cli.conftest import SHORT, short_tsne, write_csv

VIEWS = ("--view", "shape=s_*", "--view", "color=c_1,c_0")


@pytest.fixture
def views(tmp_path, monkeypatch):
    """The two views in a table of 90 rows, of which rows 4 and 5 lack the second."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    shape, color = rng.normal(size=(90, 4)) * [1, 2, 3, 4], rng.normal(size=(90, 2))
    color[4:6] = np.nan
    columns = {"id": [f"r{i}" for i in range(90)], "note": ["x"] * 90}
    columns |= {f"c_{c}": color[:, 1 - c].tolist() for c in range(2)}
    columns |= {f"s_{c}": shape[:, c].tolist() for c in range(4)}
    write_csv(tmp_path / "table.csv", columns)
    write_csv(tmp_path / "new.csv", {name: values[:9] for name, values in columns.items()})
    return {"shape": shape, "color": color}


def scaled(view):
    return (view - np.nanmean(view, axis=0)) / np.nanstd(view, axis=0)


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_the_map_is_that_of_the_views(views, isosne, scale):
    isosne("embed", "table.csv", *VIEWS, "--scale", scale, *SHORT, "-o", "map.csv")
    drawn = read_map("map.csv")
    known = {name: scaled(v) if scale == "standard" else v for name, v in views.items()}
    # The scale is a shift and a factor, which round differently than a quotient.
    expected = short_tsne().fit_transform(known)
    tolerance = 0 if scale == "none" else 1e-3
    np.testing.assert_allclose(drawn.embedding, expected, atol=tolerance)
    assert drawn.ids[:2].tolist() == ["r0", "r1"]
    assert drawn.provenance["parameters"]["view"] == list(VIEWS[1::2])


def test_a_model_places_and_adds_rows_of_a_table(views, isosne):
    line = ("embed", "table.csv", *VIEWS, *SHORT, "--scale", "minmax")
    isosne(*line, "-o", "map.csv", "--save-model", "m.isosne")
    isosne("place", "m.isosne", "new.csv", "-o", "places.csv")
    fitted = read_map("map.csv").embedding
    np.testing.assert_allclose(read_map("places.csv").embedding, fitted[:9], atol=1e-5)
    isosne("extend", "m.isosne", "new.csv", "-o", "all.csv", "--n-iter", 20)
    assert len(read_map("all.csv").embedding) == 99
    # In Python, as views or side by side.
    model = TSNE.load("m.isosne")
    new = {name: view[:9] for name, view in views.items()}
    for given in (new, np.hstack(list(new.values()))):
        np.testing.assert_allclose(model.transform(given), fitted[:9], atol=1e-5)


def test_landmarks_of_views(views, isosne):
    isosne("embed", "table.csv", *VIEWS, *SHORT, "--landmarks", 40, "-o", "map.csv")
    model = short_tsne(landmarks=40)
    np.testing.assert_array_equal(read_map("map.csv").embedding, model.fit_transform(views))


def test_the_plan_names_the_views(views, isosne):
    assert "of shape (50%), color (50%)" in isosne("embed", "table.csv", *VIEWS, "--plan").stdout


RULE = (
    "--view must be a new name and numeric columns of no other view, such as genes=g_*,total; got "
    "--view {}. The numeric columns are 'c_0', 'c_1', 's_0', 's_1', 's_2', 's_3'."
)
LEFT_OUT = "{0} must be left out with --view{1}. Leave out {0}."
REFUSED = {
    "no such column": (["a=s_0,other"], RULE.format("a=s_0,other")),
    "no columns": (["s_0"], RULE.format("s_0")),
    "in two views": (["a=s_0", "--view", "b=s_*"], RULE.format("'b=s_*'")),
    "columns": (
        ["a=s_0", "--columns", "c_0"],
        LEFT_OUT.format("--columns", "; got --columns c_0"),
    ),
    "outliers": (
        ["a=s_0", "--outliers"],
        LEFT_OUT.format("--outliers", ""),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_view_is_refused(views, isosne, name):
    line, sentence = REFUSED[name]
    found = isosne("embed", "table.csv", "--view", *line, "-o", "map.csv", code=2)
    assert found.stderr.splitlines()[-1] == f"Error: {sentence}"


def test_views_of_standard_input_are_refused(isosne):
    found = isosne("embed", "-", *VIEWS, "-o", "map.csv", code=2, input="a,b\n1,2\n")
    assert "TABLE must be a file with --view; got '-'. Save the table to a file." in found.stderr
