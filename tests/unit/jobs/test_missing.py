"""Rows with missing values: refused by a job, or left out and named in the manifest."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from isosne import Tiles, place_files
from isosne.errors import DataError, OutputError, ParameterError
from isosne.tiles import TileMap
from tests.unit.jobs.conftest import NAMES, rows_of
from tests.unit.jobs.test_place_files import WRITE, contents, refusal, table_of

GAPS = [2, 3, 4, 9, 69]


@pytest.fixture
def damaged(new_rows):
    rows = new_rows.copy()
    for k, gap in enumerate(GAPS):
        rows[gap, k % 3] = np.nan if k % 2 else np.inf
    return rows


@pytest.mark.parametrize("extension", WRITE)
def test_complete_rows_keep_their_order_and_ids(model_file, damaged, expected, tmp_path, extension):
    (tmp_path / "in").mkdir()
    WRITE[extension](tmp_path / "in" / f"t{extension}", table_of(damaged).drop_columns("when"))
    output = tmp_path / "out"
    done = place_files(model_file, tmp_path / "in", output, keep=["id"], missing="drop")
    assert (done.n_rows, done.n_dropped) == (65, 5)
    read = {".parquet": pd.read_parquet, ".csv": pd.read_csv}.get(extension, pd.read_feather)
    found = read(output / f"t{extension}")
    kept = np.delete(np.arange(70), GAPS)
    assert found["id"].tolist() == [f"r{i}" for i in kept]
    tolerance = 1e-2 if extension == ".csv" else 0  # text is read as float64
    np.testing.assert_allclose(found[["x", "y"]], expected[kept], atol=tolerance)
    record = json.loads((output / "_isosne" / "manifest.json").read_text())["parts"][0]
    assert (record["n_rows"], record["n_dropped"]) == (65, 5)
    assert record["dropped"] == [[2, 4], [9, 9], [69, 69]]


def test_arrays_have_no_ids_and_lose_the_same_rows(model_file, damaged, expected, tmp_path):
    np.save(tmp_path / "x.npy", damaged)
    place_files(model_file, tmp_path / "x.npy", tmp_path / "out", missing="drop")
    kept = np.delete(expected, GAPS, axis=0)
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "x.npy"), kept)


def test_a_part_whose_rows_are_all_incomplete_has_a_result_without_rows(model_file, tmp_path):
    (tmp_path / "in").mkdir()
    rows = np.full((4, 3), np.nan, np.float32)
    pq.write_table(table_of(rows), tmp_path / "in" / "a.parquet")
    pq.write_table(table_of(rows_of(6)), tmp_path / "in" / "b.parquet")
    where = model_file, tmp_path / "in", tmp_path / "out"
    tiles = Tiles(tmp_path / "tiles", values=["a"], levels=1)
    done = place_files(*where, keep=["id", "when"], missing="drop", tiles=tiles, quality=True)
    assert (done.n_rows, done.n_dropped) == (6, 4)
    a, b = (pq.read_table(tmp_path / "out" / f"{name}.parquet") for name in "ab")
    assert (len(a), len(b)) == (0, 6)
    assert a.schema.equals(b.schema, check_metadata=False)
    assert TileMap(tmp_path / "tiles").counts(0).sum() == 6


def test_tiles_count_the_rows_that_were_kept(model_file, damaged, new_rows, tmp_path):
    kept = np.delete(np.arange(70), GAPS)
    for name, rows in (("gaps", damaged), ("none", new_rows[kept])):
        (tmp_path / name).mkdir()
        pq.write_table(table_of(rows), tmp_path / name / "x.parquet")
        tiles = Tiles(tmp_path / f"{name}-tiles", values=["a"], trust=True, levels=2)
        output = tmp_path / f"{name}-out"
        place_files(model_file, tmp_path / name, output, missing="drop", tiles=tiles)
    found, expected = (contents(tmp_path / f"{name}-tiles") for name in ("gaps", "none"))
    tile_names = [name for name in expected if name.endswith(".tile")]
    assert len(tile_names) > 1
    assert all(found[name] == expected[name] for name in tile_names)


def test_without_drop_a_missing_value_is_an_error(model_file, damaged, tmp_path):
    np.save(tmp_path / "x.npy", damaged)
    settings = {"model": model_file, "source": tmp_path / "x.npy", "output": tmp_path / "out"}
    said = refusal(DataError, place_files, **settings)
    assert "an infinite value in row 2 (counting from 0), column 0" in said
    assert said.endswith("or pass missing='drop' to leave out the rows.")
    assert refusal(ParameterError, place_files, **settings, missing="error") == (
        "missing must be 'refuse' or 'drop'; got missing='error'. "
        "Pass missing='drop' to drop rows with missing values."
    )
    done = "the treatment of missing values was refuse, is now drop. "
    assert done in refusal(OutputError, place_files, **settings, missing="drop")


def test_names_of_columns_are_found_also_if_rows_are_dropped(model_file, damaged, tmp_path):
    frame = pd.DataFrame(damaged, columns=NAMES).assign(n=np.arange(70))[["n", *NAMES[::-1]]]
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=8)
    place_files(
        model_file, tmp_path / "x.parquet", tmp_path / "out", keep=["n", "c"], missing="drop"
    )
    found = pd.read_parquet(tmp_path / "out" / "x.parquet")
    kept = frame.drop(index=GAPS)
    assert found["n"].tolist() == kept["n"].tolist()
    np.testing.assert_array_equal(found["c"], kept["c"])
