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
    columns |= {"c_0": color[:, 1].tolist(), "c_1": color[:, 0].tolist()}
    columns |= {f"s_{c}": shape[:, c].tolist() for c in range(4)}
    write_csv(tmp_path / "table.csv", columns)
    write_csv(tmp_path / "new.csv", {name: values[:9] for name, values in columns.items()})
    return {"shape": shape, "color": color}


@pytest.mark.parametrize("landmarks", [None, 40])
def test_the_map_is_that_of_the_views(views, isosne, landmarks):
    chosen = ("--landmarks", landmarks) if landmarks else ()
    isosne("embed", "table.csv", *VIEWS, *SHORT, *chosen, "-o", "map.csv")
    drawn, model = read_map("map.csv"), short_tsne(landmarks=landmarks)
    np.testing.assert_array_equal(drawn.embedding, model.fit_transform(views))
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
    model = TSNE.load("m.isosne")
    for view, shift in zip(views.values(), np.split(model.input_scale_.shift, [4]), strict=True):
        np.testing.assert_array_equal(shift, np.nanmin(view, axis=0))
    new = {name: view[:9] for name, view in views.items()}
    for given in (new, np.hstack(list(new.values()))):
        np.testing.assert_allclose(model.transform(given), fitted[:9], atol=1e-5)


def test_the_plan_names_the_views(views, isosne):
    assert "of shape (50%), color (50%)" in isosne("embed", "table.csv", *VIEWS, "--plan").stdout


RULE = (
    "--view must be a new name and numeric columns of no other view, such as genes=g_*,total; got "
    "--view {}. The numeric columns are 'c_0', 'c_1', 's_0', 's_1', 's_2', 's_3'."
)
LEFT_OUT = "--outliers must be left out with --view. Leave out --outliers."
REFUSED = {
    "no such column": (["a=s_0,other"], RULE.format("a=s_0,other")),
    "no columns": (["s_0"], RULE.format("s_0")),
    "in two views": (["a=s_0", "--view", "b=s_*"], RULE.format("'b=s_*'")),
    "outliers": (["a=s_0", "--outliers"], LEFT_OUT),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_view_is_refused(views, isosne, name):
    line, sentence = REFUSED[name]
    found = isosne("embed", "table.csv", "--view", *line, "-o", "map.csv", code=2)
    assert found.stderr.splitlines()[-1] == f"Error: {sentence}"
