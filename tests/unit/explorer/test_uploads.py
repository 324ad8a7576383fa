"""Tables and maps that the browser sends."""

import io

import numpy as np
import pytest

from isosne.errors import DataError
from isosne.explorer.uploads import MAPS, TABLES, Reading, upload_map, upload_table
from isosne.files import MapWriter

TABLE = "name,kind,a,b\n" + "".join(f"r{i},{'uv'[i % 2]},{i},{i * i}\n" for i in range(6))
GAPS = "name,kind,size,color\nr0,u,0,red\nr1,v,,red\nr2,u,2,\n" + "".join(
    f"r{i},{'uv'[i % 2]},{i},{'red' if i < 5 else 'blue'}\n" for i in range(3, 8)
)


@pytest.fixture
def rows():
    """Six rows with identifiers."""
    return upload_table(TABLE.encode(), "table.csv", Reading("kind", "name"))[0]


def as_npy(Y):
    buffer = io.BytesIO()
    np.save(buffer, Y)
    return buffer.getvalue()


def test_a_table_has_its_columns_and_the_words_that_read_it_again(rows):
    assert rows.ids.tolist() == [f"r{i}" for i in range(6)]
    assert rows.labels.tolist() == list("uvuvuv")
    assert rows.X.tolist() == [[i, i * i] for i in range(6)]
    options = ("--text-columns", "leave_out", "--label", "kind", "--id", "name")
    assert rows.words == ("table.csv", *options)


def test_a_table_is_scaled_and_its_columns_are_shown_in_their_units():
    rows, _ = upload_table(TABLE.encode(), "table.csv", Reading("kind", "name", "minmax"))
    np.testing.assert_allclose(rows.X, [[i / 5, i * i / 25] for i in range(6)], rtol=1e-6)
    assert rows.columns[1].data.tolist() == [i * i for i in range(6)]
    assert rows.words[-2:] == ("--scale", "minmax")


def test_a_table_with_mixed_columns_is_read_as_it_is():
    rows, _ = upload_table(GAPS.encode(), "table.csv", Reading("kind", "name", is_mixed=True))
    assert rows.words == ("table.csv", "--mixed", "--label", "kind", "--id", "name")
    assert {column.name for column in rows.columns} == {"size", "color"}
    texts = {column.name: rows.texts(column, slice(3)) for column in rows.columns}
    assert texts == {"size": ["0", "", "2"], "color": ["red", "red", ""]}
    assert rows.to_fit(None).shape == (8, 2)
    assert rows.to_fit(np.array([1, 5, 6])).frame["size"].to_pylist()[1:] == [5, 6]


def test_columns_that_distort_the_map_are_noted():
    lines = [f"{i},{i % 3},{1000 * (i % 5)}" for i in range(12)]
    _, notes = upload_table("\n".join(["n,a,b", *lines]).encode(), "table.csv", Reading())
    assert notes == (
        "The column 'n' numbers the rows, and is used as a feature. Open the table again, with "
        "this column as the row identifier, to leave it out. The column 'b' dominates the "
        "distances: its standard deviation is 412 times that of the median column. Open the table "
        "again, with scaled columns."
    )
    _, notes = upload_table(
        "\n".join(["n,a,b", *lines]).encode(), "table.csv", Reading(None, "n", "minmax")
    )
    assert notes == ""


def test_missing_values_name_the_box_of_the_form():
    content = TABLE.replace("r2,u,2,4", "r2,u,,4").encode()
    with pytest.raises(DataError, match=r"Or tick the box for missing values\.$"):
        upload_table(content, "table.csv", Reading("kind", "name"))


def test_an_array_is_in_the_order_of_the_rows(rows):
    Y = np.arange(12, dtype=np.float64).reshape(6, 2)
    found, notes = upload_map(as_npy(Y), "umap.npy", rows)
    np.testing.assert_array_equal(found, Y)
    assert notes == "Points of umap.npy are matched with rows by their order."


@pytest.mark.parametrize("names", ["x,y", "UMAP_1,UMAP_2"])
def test_a_table_with_identifiers_may_be_in_any_order(rows, names):
    lines = [f"r{i},{i}.5,{-i}.5" for i in (3, 0, 5, 1, 4, 2)]
    content = "\n".join([f"id,{names}", *lines]).encode()
    found, _ = upload_map(content, "umap.csv", rows)
    assert found[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


def test_a_map_of_isosne_is_matched_by_its_identifiers(rows, tmp_path):
    path = tmp_path / "map.parquet"
    with MapWriter(path, rows.ids[::-1], 2, {"seed": 0}) as writer:
        writer.write(np.arange(12.0).reshape(6, 2))
    found, notes = upload_map(path.read_bytes(), "map.parquet", rows)
    np.testing.assert_array_equal(found, np.arange(12.0).reshape(6, 2)[::-1])
    assert notes == ""


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (
            b"",
            "map.xlsx",
            f"A map must end in one of {', '.join(MAPS)}; got map.xlsx. Choose another file.",
        ),
        (
            b"id,x,y\nr0,0,0\nr1,1,1\n",
            "umap.csv",
            (
                "A map must have one point for each of the 6 rows of table.csv; it has 2 points. "
                "Pass a map of all rows."
            ),
        ),
        (
            b"id,x,y\nr0,0,0\nz,1,1\n",
            "umap.csv",
            (
                "Every point of the map must be a row of the table; 1 of 2 are not in table.csv, "
                "such as 'z'. Pass the table that the map was made from, and its identifiers with "
                "id."
            ),
        ),
        (
            b"id,a\nr0,0\nr1,1\n",
            "umap.csv",
            (
                "A map must have the columns x and y, or two or three columns of coordinates; "
                "umap.csv has a, id. Rename the columns of the coordinates to x and y."
            ),
        ),
    ],
)
def test_a_map_that_does_not_fit_is_refused_by_its_name(rows, content, name, sentence):
    with pytest.raises(DataError) as caught:
        upload_map(content, name, rows)
    assert str(caught.value) == sentence


def test_a_damaged_array_is_refused_by_its_name(rows):
    with pytest.raises(DataError, match=r"umap\.npy") as caught:
        upload_map(as_npy(np.zeros((6, 2)))[:-5], "umap.npy", rows)
    assert "/tmp" not in str(caught.value)


def test_a_table_of_another_format_is_refused():
    sentence = f"A table must end in one of {', '.join(TABLES)}; got x.docx. Choose another file."
    with pytest.raises(DataError) as caught:
        upload_table(b"", "x.docx", Reading())
    assert str(caught.value) == sentence


def test_rows_without_identifiers_are_numbered(rows):
    plain, _ = upload_table(TABLE.encode(), "table.csv", Reading())
    content = b"id,x,y\n" + "".join(f"{i},{i}.5,0\n" for i in (2, 1, 0, 3, 5, 4)).encode()
    found, _ = upload_map(content, "umap.csv", plain)
    assert found[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
