import csv
import io
import re
import sys

import numpy as np
import pyarrow.parquet as parquet
import pytest

from isosne import TSNE
from isosne.errors import DataError
from isosne.explorer import exports
from isosne.explorer.measuring import Measurer
from isosne.explorer.session import DENSITY, SELECTIONS, TRUST
from isosne.files import read_map
from isosne.files.row_table import encode_csv
from tests.conftest import refuses

VIEW = ((-1.0, 1.0), (-1.0, 1.0))


def test_csv_has_exactly_the_selected_rows(mapped):
    rows = np.array([2, 40])
    content = exports.save_rows(mapped, rows, "csv").decode()
    found = list(csv.DictReader(io.StringIO(content)))
    assert [line["id"] for line in found] == ["p02", "p40"]
    assert [line["label"] for line in found] == ["tight", "loose"]
    _, Y = mapped.maps[0].frame(60)
    for line, row in zip(found, rows, strict=True):
        assert float(line["column 0"]) == mapped.rows.X[row, 0]
        assert float(line["map 1 x"]) == Y[row, 0]


def test_parquet_has_the_names_of_selections_and_null_for_rows_that_a_map_lacks(mapped):
    mapped.select(np.arange(10))
    mapped.name_selection("first")
    mapped.reembed()
    assert mapped.maps[1].run.join(60)
    content = exports.save_rows(mapped, np.array([3, 50]), "parquet")
    table = parquet.read_table(io.BytesIO(content))
    assert table["selection"].to_pylist() == ["first", ""]
    assert table["map 2 x"].null_count == 1


def test_missing_numbers_are_empty_cells_and_formulas_are_marked():
    content = encode_csv({"=x": np.array([1.0, np.nan]), "t": np.array(["@cmd", "ok"])})
    assert content == b"'=x,t\r\n1.0,'@cmd\r\n,ok\r\n"


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_picture_is_of_its_kind(mapped, kind, start):
    Y = mapped.maps[0].frame(60)[1]
    color = exports.find_color(mapped, 0, Measurer(mapped))
    assert exports.save_picture(Y, color, VIEW, kind).startswith(start)


def test_a_picture_has_the_colors_of_the_page(mapped):
    measurer = Measurer(mapped)
    measurer.find_density()
    measurer._look()
    mapped.select(np.arange(5))
    mapped.name_selection("first five")
    found = {}
    for color in ("label", "nothing", TRUST, DENSITY, SELECTIONS, "column 0", "name"):
        mapped.paint(color)
        found[color] = exports.find_color(mapped, 0, measurer)
    assert found["nothing"] == (None, "auto")
    assert {color: kind for color, (_, kind) in found.items() if kind != "auto"} == {
        TRUST: "trust",
        DENSITY: "values",
    }
    assert found["label"][0] is mapped.rows.labels
    assert found[TRUST][0] is measurer.of(mapped.maps[0]).trust
    assert found[SELECTIONS][0].tolist() == ["first five"] * 5 + [""] * 55
    assert found["column 0"][0].tolist() == mapped.rows.X[:, 0].tolist()
    Y = mapped.maps[0].frame(60)[1]
    pictures = [exports.save_picture(Y, found[c], VIEW, "png") for c in ("nothing", TRUST)]
    assert pictures[0] != pictures[1]


def test_a_picture_of_too_many_classes_is_not_colored(mapped):
    Y = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    names = np.array([f"n{i}" for i in range(200)])
    plain = exports.save_picture(Y, (None, "auto"), VIEW, "png")
    assert exports.save_picture(Y, (names, "auto"), VIEW, "png") == plain


def test_a_page_and_a_map_are_complete_files(mapped, tmp_path):
    assert b"<title>Owner kernel</title>" in exports.save_page(mapped, 0)
    path = tmp_path / "map.parquet"
    path.write_bytes(exports.save_map(mapped, 0))
    found = read_map(path)
    np.testing.assert_array_equal(found.embedding, mapped.maps[0].frame(60)[1])
    assert found.ids[1] == "p01"
    assert found.labels[59] == "loose"


def test_a_saved_page_needs_no_file_of_the_server(mapped):
    """Bokeh adds scripts of all models that it knows, and Panel's are files on the server."""
    assert "panel" in sys.modules
    page = exports.save_page(mapped, 0).decode()
    assert re.findall(r'(?:src|href)="([^"]*)"', page.partition("<body")[0]) == ["data:,"]
    assert "static/extensions" not in page


def test_a_saved_model_places_new_points(mapped, tmp_path):
    path = tmp_path / "model.isosne"
    path.write_bytes(exports.save_model(mapped, 0))
    model = TSNE.load(path)
    np.testing.assert_array_equal(
        model.transform(mapped.rows.X[:1]), mapped.maps[0].frame(60)[1][:1]
    )


def test_a_map_from_elsewhere_has_no_model(mapped):
    mapped.add_map(np.zeros((60, 2)), "other")
    with refuses(
        DataError,
        "Only a map that was computed here, and whose run has ended, has a model to save. "
        "Wait for the end of the run, or stop it.",
    ):
        exports.save_model(mapped, 1)
