"""Rows from tables and from Python."""

import numpy as np
import pandas as pd
import pytest

import isosne
from isosne.cli.tables import open_table
from isosne.errors import DataError, ParameterError
from isosne.explorer.data import from_python, from_table, plain_values, show_values
from isosne.explorer.files import save_rows
from isosne.explorer.session import Session
from tests.conftest import refuses
from tests.unit.explorer.conftest import QUICK


@pytest.fixture
def explored(tmp_path):
    """Open a table as `isosne explore` does."""

    def explore(lines, **options):
        path = tmp_path / "table.csv"
        path.write_text("\n".join(lines))
        unscaled, table = open_table(str(path), {"id": "name", "label": "kind", **options}, None)
        return from_table(table, unscaled, "table.csv", ("name", "kind"), ())

    return explore


def test_a_table_is_scaled_and_its_columns_are_shown_in_their_units(explored):
    lines = ["name,kind,a,b", *(f"r{i},{'uv'[i % 2]},{i},{i * i}" for i in range(6))]
    rows = explored(lines, scale="minmax")
    assert rows.ids.tolist() == [f"r{i}" for i in range(6)]
    assert rows.labels.tolist() == list("uvuvuv")
    np.testing.assert_allclose(rows.X, [[i / 5, i * i / 25] for i in range(6)], rtol=1e-6)
    assert [column.name for column in rows.columns] == ["a", "b"]
    assert rows.columns[1].data.tolist() == [i * i for i in range(6)]


def test_a_table_with_mixed_columns_is_read_as_it_is(explored):
    lines = ["name,kind,size,color", "r0,u,0,red", "r1,v,,red", "r2,u,2,"]
    rows = explored([*lines, *(f"r{i},v,{i},{'blue' * (i % 2)}" for i in range(3, 8))], mixed=True)
    texts = {c.name: show_values(plain_values(c, slice(3))).tolist() for c in rows.columns}
    assert texts == {"size": ["0", "", "2"], "color": ["red", "red", ""]}
    assert rows.to_fit(None).shape == (8, 2)
    assert rows.to_fit(np.array([1, 5, 6])).frame["size"].to_pylist()[1:] == [5, 6]


def test_identifiers_and_labels_must_be_as_many_as_rows(two_blobs):
    with pytest.raises(ParameterError, match="have one identifier for each of 60 rows"):
        from_python(two_blobs, ids=[1])
    sentence = (
        "labels must have one entry per row; got 3 for 60 rows. Pass them in the order of the rows."
    )
    with refuses(DataError, sentence):
        from_python(two_blobs, [1, 2, 3])


def test_labels_are_described_like_columns(two_blobs):
    data = from_python(two_blobs, np.tile(["a", "b"], 30), columns={"n": np.arange(60)})
    assert [column.name for column in data.described()][::6] == ["label", "n"]
    assert data.described()[0].words == ["a", "b"]


def test_a_model_of_other_points_is_refused(two_blobs):
    model = QUICK.make_model().fit(two_blobs)
    sentence = (
        "A map must have two coordinates for each of the 50 rows; got an array of shape (60, 2). "
        "Pass a map or a model of the same table."
    )
    with refuses(DataError, sentence):
        isosne.explore(model, X=two_blobs[:50])
    with refuses(DataError, "A model needs its points. Pass them as X."):
        isosne.explore(model)


def test_labels_and_identifiers_of_any_type_are_text_that_files_can_have():
    labels = pd.Series([None, np.nan, True, "\udc80", pd.Timestamp("2026-01-02")], name="\udcff")
    ids = ["a", "b", "\udc80", "c", "d"]
    rows = from_python(np.eye(5), labels, ids, {"day": pd.date_range("2026-01-01", periods=5)})
    assert rows.labels.tolist() == ["", "", "True", r"\udc80", "2026-01-02 00:00:00"]
    assert (rows.label_name, rows.ids[2]) == (r"\udcff", r"\udc80")
    assert rows.columns[-1].words[:2] == ["2026-01-01", "2026-01-02"]
    session = Session(rows)
    for kind in ("csv", "parquet"):
        assert save_rows(session, np.arange(5), kind)
