"""Text tables: what is found out about them, and what stands beside the values."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne.rows import open_rows
from isosne.rows.text import find_dialect
from tests.unit.rows.formats import write_h5ad, write_text


def written(folder, text, name="x.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ("a", "b")),
        ("1,2\n3,4\n", ("column_0", "column_1")),
        ("5.1,setosa\n4.9,setosa\n", ("column_0", "column_1")),
        ("0,label\n4.9,7\n", ("0", "label")),
        ("only\n1\n2\n", ("only",)),
        (" a ; b \n1;2\n", ("a", "b")),
        ('"a, b",c\n1,2\n', ("a, b", "c")),
        ("# made by hand\n# in May\na,b\n1,2\n", ("a", "b")),
        ("\n\na,b\n1,2\n", ("a", "b")),
        ("\ufeffa,b\n1,2\n", ("a", "b")),
        ("a|b\n1|2", ("a", "b")),
        ("a,b\n1.5;2,1\n", ("a", "b")),
    ],
)
def test_delimiter_and_header_are_found(text, names, tmp_path):
    assert find_dialect(written(tmp_path, text)).names == names


def test_a_header_can_be_declared(tmp_path):
    path = written(tmp_path, "1,2\n3,4\n")
    assert open_rows(path, header=True).column_names == ("1", "2")
    assert open_rows(path, header=False).shape == (2, 2)


def test_comments_and_blank_lines_are_passed_over(tmp_path):
    path = written(tmp_path, "# one\n\na,b\n1,2\n\n3,4\n\n")
    np.testing.assert_array_equal(open_rows(path).read(slice(None)), [[1, 2], [3, 4]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_text_beside_numbers_is_decoded(encoding, tmp_path):
    path = written(
        tmp_path, "größe,stadt\n1,Köln\n2,Łódź\n".replace("Łódź", "Düren"), "x.csv", encoding
    )
    rows = open_rows(path, exclude=["stadt"])
    assert rows.column_names == ("größe",)
    assert rows.side["stadt"]().tolist() == ["Köln", "Düren"]


def test_quoted_fields_may_hold_delimiters_and_marks(tmp_path):
    path = written(tmp_path, 'a,note,b\n1,"x, ""y""",2\n"3",z,4\n')
    rows = open_rows(path, text_columns="leave_out")
    np.testing.assert_array_equal(rows.read(slice(None)), [[1, 2], [3, 4]])
    assert rows.side["note"]().tolist() == ['x, "y"', "z"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["3", "12"], [3, 12]),
        (["03", "12"], ["03", "12"]),
        (["3", ""], ["3", ""]),
        (["3.0", "1"], ["3.0", "1"]),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"]),
    ],
)
def test_ids_are_integers_only_if_they_are_written_so(values, expected, tmp_path):
    path = written(tmp_path, "a,id\n" + "".join(f"1,{value}\n" for value in values))
    assert open_rows(path, exclude=["id"]).side["id"]().tolist() == expected


def test_lines_longer_than_the_sample_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("isosne.rows.text.SAMPLE_BYTES", 1_000)
    X = np.random.default_rng(0).normal(size=(4, 600))
    rows = open_rows(write_text(tmp_path, X, "x.csv", ","))
    assert rows.shape == X.shape
    np.testing.assert_array_equal(rows.take([3, 1]), X[[3, 1]])


def test_observations_stand_beside_the_values_of_anndata(tmp_path):
    X = np.random.default_rng(0).normal(size=(4, 3))
    path = write_h5ad(tmp_path, X)
    rows = open_rows(path)
    assert rows.column_names == ("c0", "c1", "c2")
    assert rows.side["kind"]().tolist() == ["T", "B", "T", "B"]
    assert rows.side["batch"]().tolist() == [0, 1, 2, 0]
    assert rows.side["index"]().tolist() == ["cell0", "cell1", "cell2", "cell3"]
    for key in ("X_pca", "obsm/X_pca"):
        np.testing.assert_array_equal(open_rows(path, key=key).take([2, 0]), X[[2, 0], :2])


def test_columns_beside_the_values_keep_integers_and_show_what_is_missing(tmp_path):
    columns = {
        "v": [1.0, 2.0, 3.0],
        "n": [3, 1, 2],
        "gap": [3, None, 2],
        "text": ["a", None, "c"],
        "kind": pa.array(["u", "v", "u"]).dictionary_encode(),
        "real": [0.5, 1.0, None],
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=2)
    side = open_rows(tmp_path / "x.parquet", columns=["v"]).side
    assert side["n"]().tolist() == [3, 1, 2]
    assert side["gap"]().tolist() == ["3", "", "2"]
    assert side["text"]().tolist() == ["a", "", "c"]
    assert side["kind"]().tolist() == ["u", "v", "u"]
    assert side["real"]().tolist() == ["0.5", "1.0", ""]
