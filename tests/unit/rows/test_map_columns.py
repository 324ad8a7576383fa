"""Further columns of a map: numbers about the points, such as clusters."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne.errors import DataError, ParameterError
from isosne.rows import MapWriter, open_rows, read_map
from tests.conftest import refuses

IDS = ["a", "b", "c"]
Y = np.arange(6.0).reshape(3, 2)
COLUMNS = {"cluster": np.array([1, 0, 1]), "outlier_score": np.array([0.1, 1 / 3, 0.9])}


def write(path, columns=COLUMNS, ids=IDS):
    with MapWriter(path, ids, 2, {"seed": 0}, labels=["x", "y", "x"], columns=columns) as writer:
        writer.write(Y[:2])
        writer.write(Y[2:])
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv", "npz", "feather", "arrow", "h5ad"])
def test_columns_come_back_as_they_were(ending, tmp_path):
    found = read_map(write(tmp_path / f"map.{ending}"))
    assert list(found.columns) == list(COLUMNS)
    for name, values in COLUMNS.items():
        np.testing.assert_array_equal(found.columns[name], values)
        assert found.columns[name].dtype.kind == values.dtype.kind
    assert found.labels.tolist() == ["x", "y", "x"]
    assert found.provenance == {"seed": 0, "columns": list(COLUMNS)}


def test_an_array_of_coordinates_leaves_them_out(tmp_path):
    assert read_map(write(tmp_path / "map.npy")).columns == {}


def test_a_table_has_them_after_the_coordinates(tmp_path):
    frame = pd.read_csv(write(tmp_path / "map.csv"))
    assert list(frame) == ["id", "label", "x", "y", "cluster", "outlier_score"]
    assert frame["outlier_score"].tolist() == COLUMNS["outlier_score"].tolist()


def test_a_column_of_another_program_is_not_one_of_them(tmp_path):
    path = tmp_path / "map.csv"
    path.write_text("id,x,y,cluster\na,1,2,0\nb,3,4,1\n")
    assert read_map(path).columns == {}


def test_a_column_that_became_text_is_refused(tmp_path):
    path = write(tmp_path / "map.parquet")
    table = pq.read_table(path)
    place = table.column_names.index("cluster")
    pq.write_table(table.set_column(place, "cluster", pa.array(["p", "q", "r"])), path)
    sentence = (
        f"The column 'cluster' of the map {path} must hold numbers; got text. Compute the map "
        "again, or remove the column."
    )
    with refuses(DataError, sentence):
        read_map(path)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"x": [1, 2, 3]},
            (
                "columns must have names other than id, ids, label, labels, embedding, isosne, x, "
                "y, z; got columns='x'. Rename the column."
            ),
        ),
        (
            {"score": [1.0, np.nan, 2.0]},
            (
                "columns must be finite numbers; got float64 of shape (3,) in 'score'. Pass one "
                "number per row."
            ),
        ),
        (
            {"score": [1.0, 2.0]},
            (
                "columns must have 3 values, one per row; got 2 in 'score'. Pass columns of the "
                "same table."
            ),
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, sentence, tmp_path):
    with refuses(ParameterError, sentence):
        write(tmp_path / "map.csv", columns)
    assert list(tmp_path.iterdir()) == []


def test_a_map_knows_the_table_that_it_was_made_from(tmp_path):
    rows, copy = open_rows(np.arange(6.0).reshape(3, 2)), open_rows(np.ones((3, 2)))
    made_of = {"shape": list(rows.shape), "fingerprint": rows.fingerprint()}
    with MapWriter(tmp_path / "map.parquet", None, 2, {"input": made_of}) as writer:
        writer.write(Y)
    drawn = read_map(tmp_path / "map.parquet")
    drawn.check_table(rows)
    with pytest.raises(DataError, match="it has 4 rows and 2 columns, not 3 rows and 2 columns"):
        drawn.check_table(open_rows(np.ones((4, 2))))
    with pytest.raises(DataError, match="its content differs"):
        drawn.check_table(copy)


def test_a_table_whose_name_is_not_utf8_has_a_fingerprint(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv"))
    path.write_text("a,b\n1,2\n")
    assert len(open_rows(path).fingerprint()) == 32
