"""Maps that the browser sends, and files that it receives."""

import csv
import io
import re
import sys

import numpy as np
import pyarrow.parquet as parquet
import pytest

from isosne import TSNE
from isosne.errors import DataError
from isosne.explorer import files
from isosne.explorer.canvas import Canvas
from isosne.explorer.colors import paint
from isosne.explorer.controls import Messages
from isosne.explorer.data import from_python
from isosne.explorer.files import upload_map
from isosne.explorer.measuring import measure
from isosne.explorer.panes import KeepPane
from isosne.explorer.session import TRUST
from isosne.rows import read_map
from isosne.rows.maps import READABLE
from tests.conftest import refuses

CORNERS = np.array([[-1.0, -1.0], [1.0, 1.0]])


def test_csv_has_exactly_the_selected_rows(mapped):
    rows = np.array([2, 40])
    content = files.save_rows(mapped, rows, "csv").decode()
    found = list(csv.DictReader(io.StringIO(content)))
    assert [line["id"] for line in found] == ["p02", "p40"]
    assert [line["label"] for line in found] == ["tight", "loose"]
    Y = mapped.maps[0].Y
    for line, row in zip(found, rows, strict=True):
        assert float(line["column 0"]) == mapped.rows.X[row, 0]
        assert float(line["map 1 x"]) == Y[row, 0]


def test_parquet_has_the_names_of_selections_and_null_for_rows_that_a_map_lacks(mapped):
    mapped.select(np.arange(10))
    mapped.name_selection("first")
    mapped.reembed()
    assert mapped.maps[1].join(60)
    content = files.save_rows(mapped, np.array([3, 50]), "parquet")
    table = parquet.read_table(io.BytesIO(content))
    assert table["selection"].to_pylist() == ["first", ""]
    assert table["map 2 x"].null_count == 1


def test_a_picture_has_the_colors_of_the_page(mapped):
    shown = mapped.maps[0]
    mapped.measures = {shown: measure(mapped, shown, 20)}
    mapped.color = TRUST  # unknown of 40 rows, which are gray
    trusted = paint(mapped).paints[0]
    pictures = [files.save_picture(shown.Y, one, CORNERS, "png") for one in (None, trusted)]
    assert pictures[0] != pictures[1]


def test_every_button_saves_a_complete_file(mapped, tmp_path):
    canvas, Y = Canvas(mapped), mapped.maps[0].Y
    canvas.arrange()
    _, *buttons = KeepPane(mapped, canvas, Messages()).view[0]
    for button in buttons:
        (tmp_path / button.filename).write_bytes(button.callback().getvalue())
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "map.svg").read_text()
    assert "<title>Owner kernel</title>" in (tmp_path / "map.html").read_text()
    model = TSNE.load(tmp_path / "model.isosne")
    np.testing.assert_array_equal(model.transform(mapped.rows.X[:1]), Y[:1])
    found = read_map(tmp_path / "map.parquet")
    np.testing.assert_array_equal(found.embedding, Y)
    assert found.ids[1] == "p01"
    assert found.labels[59] == "loose"


def test_a_saved_page_needs_no_file_of_the_server(mapped):
    """Bokeh adds scripts of all models that it knows, and Panel's are files on the server."""
    assert "panel" in sys.modules
    page = files.save_page(mapped, 0).decode()
    assert re.findall(r'(?:src|href)="([^"]*)"', page.partition("<body")[0]) == ["data:,"]
    assert "static/extensions" not in page


def test_a_map_from_elsewhere_has_no_model(mapped):
    mapped.add_map(np.zeros((60, 2)), "other")
    with refuses(
        DataError,
        "Only a map that was computed here, and whose run has ended, has a model to save. "
        "Wait for the end of the run, or stop it.",
    ):
        files.save_model(mapped, 1)


@pytest.fixture
def rows():
    """Six rows with identifiers."""
    return from_python(np.eye(6), ids=[f"r{i}" for i in range(6)])


def test_a_map_with_identifiers_may_be_in_any_order(rows):
    lines = [f"r{i},{i}.5,{-i}.5" for i in (3, 0, 5, 1, 4, 2)]
    found, _ = upload_map("\n".join(["id,UMAP_1,UMAP_2", *lines]).encode(), "umap.csv", rows)
    assert found[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (
            b"",
            "map.xlsx",
            f"A map must end in one of {', '.join(READABLE)}; got map.xlsx. Choose another file.",
        ),
        (
            b"id,x,y\nr0,0,0\nr1,1,1\n",
            "umap.csv",
            (
                "A map must have one point for each of the 6 rows of data from Python; it has 2 "
                "points. Pass a map of all rows."
            ),
        ),
    ],
)
def test_a_map_that_does_not_fit_is_refused_by_its_name(rows, content, name, sentence):
    with refuses(DataError, sentence):
        upload_map(content, name, rows)


def test_a_damaged_array_is_refused_by_its_name(rows):
    np.save(content := io.BytesIO(), np.zeros((6, 2)))
    with pytest.raises(DataError, match=r"umap\.npy") as caught:
        upload_map(content.getvalue()[:-5], "umap.npy", rows)
    assert "/tmp" not in str(caught.value)
