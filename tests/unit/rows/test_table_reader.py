"""Tables from files and from standard input."""

import errno
import gc
import io
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import read_csv, write_csv
from pyarrow.feather import write_feather
from pyarrow.parquet import write_table as write_parquet

from isosne.errors import DataError, IsosneError, OutputError, ParameterError
from isosne.rows import MapWriter, read_map, read_table
from tests.conftest import refuses
from tests.unit.rows.formats import write_npz

WINE = "bottle,cultivar,alcohol,note,ash\n7,red,1.5,dry,2\n9,white,2.5,sweet,3\n4,red,3.5,dry,4\n"
VALUES = [[1.5, 2], [2.5, 3], [3.5, 4]]


@pytest.fixture
def wine(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text(WINE)
    return path


WRITERS = {"csv": write_csv, "parquet": write_parquet, "feather": write_feather}


def written(kind, folder):
    path = folder / f"wine.{kind}"
    WRITERS[kind](read_csv(io.BytesIO(WINE.encode())), path)
    return path


def check_wine(table):
    np.testing.assert_array_equal(table.rows.read(slice(None)), VALUES)
    assert table.ids.tolist() == [7, 9, 4]
    assert table.labels.tolist() == ["red", "white", "red"]
    assert table.names == ("alcohol", "ash")
    assert table.notes == ("Left out columns that are not numeric: 'note'.",)


ROLES = {"id": "bottle", "label": "cultivar", "text_columns": "leave_out"}


@pytest.mark.parametrize("kind", WRITERS)
def test_ids_labels_and_values_come_apart(kind, tmp_path):
    check_wine(read_table(written(kind, tmp_path), **ROLES))


class Pipe:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_comes_through_a_pipe_and_leaves_no_file(kind, tmp_path, monkeypatch):
    path = written(kind, tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr(sys, "stdin", Pipe(path.read_bytes()))
    table = read_table("-", **ROLES)
    check_wine(table)
    assert len(list(scratch.iterdir())) == 1
    del table
    gc.collect()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "Cannot read standard input: it is empty. Pipe "), (b"1,2\n3\n", "Every line must ")],
    ids=["empty", "ragged"],
)
def test_a_pipe_that_holds_no_table_is_refused_and_leaves_no_file(
    content, sentence, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Pipe(content))
    with pytest.raises(DataError, match=f"^{sentence}"):
        read_table("-")
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_larger_than_the_disk_is_refused_and_leaves_no_file(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("shutil.copyfileobj", fail)
    monkeypatch.setattr(sys, "stdin", Pipe(b"a,b\n1,2\n"))
    with pytest.raises(OutputError, match=r"no space left on the disk\. Free some space, "):
        read_table("-")
    assert list(tmp_path.iterdir()) == []


def test_standard_input_that_is_closed_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with refuses(DataError, "Cannot read standard input: it is closed. Pipe a table into it."):
        read_table("-")


REFUSED = {
    "id must name a column of {path}; got id='cultivr'. Did you mean 'cultivar'?": {
        "id": "cultivr"
    },
    "label must name a column of classes; 'bottle' has 3 different values in 3 rows. "
    "Name another column, or pass id='bottle' if it identifies the rows.": {"label": "bottle"},
    "id must name a column of unique values; 'cultivar' has 'red' 2 times. "
    "Name another column, or leave out id to use row numbers.": {"id": "cultivar"},
    "Every column must be numeric; {path} has columns of other types: 'note' (text). "
    "Pass exclude=['note'] to exclude them, or text_columns='leave_out' to skip all columns that "
    "are not numeric. To use them, pass a data frame to TSNE, or --mixed on the command line.": {
        "label": "cultivar",
        "text_columns": "refuse",
    },
}


@pytest.mark.parametrize(("sentence", "options"), REFUSED.items())
def test_columns_that_cannot_be_what_they_are_named_for_are_refused(sentence, options, wine):
    with refuses(IsosneError, sentence.format(path=wine)):
        read_table(wine, **{"text_columns": "leave_out"} | options)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_table_without_numbers_can_be_opened_for_its_other_columns(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    WRITERS[ending](pa.table({"a": ["u", "v"], "b": ["w", ""]}), path)
    found = read_table(path, text_columns="leave_out", needs_numbers=False)
    assert found.rows.shape == (2, 0)
    others = {name: read().tolist() for name, read in found.rows.side.items()}
    assert others == {"a": ["u", "v"], "b": ["w", ""]}


def test_missing_labels_are_counted(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,kind\n1,u\n2,\n3,u\n")
    table = read_table(path, label="kind")
    assert table.labels.tolist() == ["u", "", "u"]
    assert table.notes == ("1 row(s) have no label.",)
    assert table.ids is None


def test_columns_without_a_name_are_pointed_out(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",a\n0,1.5\n1,2.5\n")
    sentence = (
        "Columns without a name are used as features: 'unnamed_0'. "
        "Exclude them if they number the rows."
    )
    assert read_table(path).notes == (sentence,)
    assert read_table(path, exclude=["unnamed_0"]).names == ("a",)


def test_labels_of_an_archive_are_members(tmp_path):
    path = write_npz(tmp_path, np.ones((5, 2)))
    assert read_table(path, label="y").labels.tolist() == [0, 1, 2, 0, 1]
    with refuses(
        ParameterError, f"label must name a column of {path}; got label='z'. Available: 'y'."
    ):
        read_table(path, label="z")


def test_a_missing_file_suggests_the_nearest(wine):
    sentence = (
        f"source must be a file that exists; got source={str(wine)[:-4] + '.cvs'!r}. "
        f"Did you mean {str(wine)!r}?"
    )
    with refuses(ParameterError, sentence):
        read_table(str(wine)[:-4] + ".cvs")
    sentence = "source must be a file that exists; got source='/nowhere/x.csv'. Correct the path."
    with refuses(ParameterError, sentence):
        read_table("/nowhere/x.csv")


GAPS = "bottle,cultivar,alcohol,ash\n7,white,1.5,\n7,red,2.5,3\n4,red,NA,4\n2,red,inf,5\n,red,6,7\n"


def test_ids_and_labels_are_those_of_the_rows_kept(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text(GAPS)
    table = read_table(path, id="bottle", label="cultivar", missing="drop")
    np.testing.assert_array_equal(table.rows.read(slice(None)), [[2.5, 3], [6, 7]])
    assert table.ids.tolist() == ["7", ""]
    assert table.labels.tolist() == ["red", "red"]
    assert table.notes == (
        "Dropped 3 of 5 rows, which have missing or infinite values; the first is line 2.",
    )


def test_rows_without_ids_keep_their_numbers_in_the_file(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text(GAPS)
    columns = ["alcohol", "ash"]
    assert read_table(path, columns=columns, missing="drop").ids.tolist() == [1, 4]
    path.write_text(WINE)
    assert read_table(path, columns=columns, missing="drop").ids is None


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_one_long_text_does_not_widen_all_others(ending, tmp_path):
    n, longest = 4_000, 5_000
    path, out = tmp_path / "long.csv", tmp_path / f"map.{ending}"
    lines = [f"r{k},c{k % 3},{k}" for k in range(n)]
    path.write_text("\n".join(["id,class,a", *lines, f"{'x' * longest},{'y' * longest},5", ""]))
    tracemalloc.start()
    table = read_table(path, id="id", label="class")
    with MapWriter(out, table.ids, 2, {}, labels=table.labels) as writer:
        writer.write(np.zeros((n + 1, 2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25e6 < 4 * longest * n / 3
    assert read_map(out).ids.tolist() == table.ids.tolist()
