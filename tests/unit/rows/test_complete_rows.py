"""Rows with missing values are dropped, in every format; the others do not change."""

from decimal import Decimal

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne.errors import DataError, MissingValuesError, ParameterError
from isosne.rows import blocks, open_rows
from isosne.rows.scaled import CompleteRows
from isosne.rows.text import MISSING_WORDS
from tests.conftest import refuses
from tests.unit.rows.formats import DENSE, SPARSE, TEXT, write_npy

N = 150  # more rows than lie between two known positions of a text table
X = np.random.default_rng(0).normal(size=(N, 3))
NUMBERED = {name: make for name, make in DENSE.items() if not name.startswith("dask")}
LACKING = {
    "the first": [0],
    "the last": [N - 1],
    "every other": range(0, N, 2),
    "all but two": [k for k in range(N) if k not in (70, 71)],
    "some": [3, 4, 5, 63, 64, 100],
}


def lacking(rows, value=np.nan):
    changed = X.copy()
    changed[rows, np.arange(len(rows)) % 3] = value
    return changed


def dropped(make, folder, values):
    return open_rows(make(folder, values), missing="drop")


# Every format with some rows, and every pattern of rows with three formats that differ most.
FORMATS = [(name, "some") for name in NUMBERED | TEXT]
PATTERNS = [
    (name, which) for name in ("array", "parquet", "csv") for which in LACKING if which != "some"
]


@pytest.mark.parametrize(("name", "which"), FORMATS + PATTERNS)
def test_rows_that_are_left_are_those_of_the_array(name, which, tmp_path):
    make, rows = (NUMBERED | TEXT)[name], LACKING[which]
    found = dropped(make, tmp_path, lacking(rows))
    expected = np.delete(X, rows, axis=0)
    n = len(expected)
    assert found.shape == expected.shape
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.kept, np.delete(np.arange(N), rows))
    np.testing.assert_array_equal(found.read(slice(None)), expected)
    np.testing.assert_array_equal(found.read(slice(1, n - 1)), expected[1 : n - 1])
    np.testing.assert_array_equal(
        np.vstack([found.read(part) for part in blocks(found, 200)]), expected
    )
    mixed = np.random.default_rng(1).integers(0, n, 20)
    np.testing.assert_array_equal(found.take(mixed), expected[mixed])


@pytest.mark.parametrize("make", SPARSE.values(), ids=SPARSE)
def test_sparse_rows_that_are_left_are_those_of_the_array(make, tmp_path):
    values = np.where(X > 0.5, X, 0)
    values[[0, 70, 149], [1, 0, 2]] = np.nan, np.inf, np.nan
    found = dropped(make, tmp_path, values)
    expected = np.delete(values, [0, 70, 149], axis=0)
    assert found.is_sparse
    np.testing.assert_array_equal(found.read(slice(None)).toarray(), expected)
    np.testing.assert_array_equal(found.read(slice(60, 80)).toarray(), expected[60:80])
    np.testing.assert_array_equal(found.take([9, 0, 69]).toarray(), expected[[9, 0, 69]])


def test_infinite_values_count_as_missing():
    found = open_rows(lacking([2, 90], -np.inf), missing="drop")
    np.testing.assert_array_equal(found.kept, np.delete(np.arange(N), [2, 90]))


@pytest.mark.parametrize("make", [DENSE["array"], DENSE["parquet"]])
def test_complete_rows_are_returned_untouched(make, tmp_path):
    source = make(tmp_path, X)
    found = open_rows(source, missing="drop")
    assert not isinstance(found, CompleteRows)
    assert found.fingerprint() == open_rows(source).fingerprint()


@pytest.mark.parametrize("word", sorted({"", " ", '""', '"NA"', "NaN", "NULL", *MISSING_WORDS}))
def test_a_field_can_be_missing_in_many_words(word, tmp_path):
    (tmp_path / "x.csv").write_text(f"a;b\n1;2\n3;{word}\n5;6\n")
    rows = open_rows(tmp_path / "x.csv")
    np.testing.assert_array_equal(rows.take([1], allow_missing=True), [[3, np.nan]])
    np.testing.assert_array_equal(open_rows(rows, missing="drop").kept, [0, 2])


def test_a_line_of_tabs_is_a_row_and_a_blank_line_is_none(tmp_path):
    (tmp_path / "x.tsv").write_text("a\tb\tkind\n1\t2\tu\n\n\t\t\n\n3\t4\tv\n\t5\tw\n6\t7\tx\n")
    found = open_rows(tmp_path / "x.tsv", exclude=["kind"], missing="drop")
    assert found.kept.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(found.read(slice(None)), [[1, 2], [3, 4], [6, 7]])
    assert found.side["kind"]().tolist() == ["u", "v", "x"]


@pytest.mark.parametrize("kind", ["parquet", "pyarrow", "pandas", "polars"])
def test_nulls_of_any_type_are_missing(kind, tmp_path):
    columns = {
        "whole": pa.array([1, None, 3, 4, 5], pa.int32()),
        "flag": pa.array([True, False, None, True, False]),
        "half": pa.array(np.array([0.5, 1, 1.5, np.nan, 2.5], np.float16)),
        "price": pa.array([Decimal("1.25"), Decimal(0), Decimal(1), Decimal(2), Decimal(3)]),
        "kind": ["u", "v", "w", "x", "y"],
    }
    table, path = pa.table(columns), tmp_path / "x.parquet"
    pq.write_table(table, path)
    source = {
        "parquet": path,
        "pyarrow": table,
        "pandas": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow(table),
    }[kind]
    found = open_rows(source, text_columns="leave_out", missing="drop")
    assert found.column_names == ("whole", "flag", "half", "price")
    assert found.left_out == ("kind",)
    np.testing.assert_array_equal(found.read(slice(None)), [[1, 1, 0.5, 1.25], [5, 0, 2.5, 3]])
    assert found.side["kind"]().tolist() == ["u", "y"]


@pytest.mark.parametrize("make", [DENSE["array"], TEXT["csv"]])
def test_a_table_without_a_complete_row_is_refused(make, tmp_path):
    values = lacking([3, 5])
    values[:, 1] = np.nan
    source = make(tmp_path, values)
    rows = open_rows(source)
    column = "1" if rows.column_names is None else "'c1'"
    sentence = (
        f"At least one row must have no missing value; all 150 rows of {rows.describe()} have "
        f"one, 150 of them in column {column}. Exclude that column, or impute the missing values."
    )
    with refuses(DataError, sentence):
        open_rows(source, missing="drop")


def test_rows_of_dask_are_not_dropped_here(tmp_path):
    source = DENSE["dask array"](tmp_path, X)
    sentence = (
        "missing must be 'refuse' for a Dask collection, whose rows are not read in advance; got "
        "missing='drop'. Drop the rows with the dropna method of the collection beforehand."
    )
    for collection in (source, open_rows(source)):
        with refuses(ParameterError, sentence):
            open_rows(collection, missing="drop")
    sentence = (
        "missing must be 'refuse' or 'drop'; got missing='keep'. "
        "Pass missing='drop' to drop rows with missing values."
    )
    with refuses(ParameterError, sentence):
        open_rows(X, missing="keep")


def test_messages_name_the_row_of_the_file(tmp_path):
    rows = dropped(TEXT["csv"], tmp_path, lacking([0, 5]))
    assert rows.describe() == str(tmp_path / "x.csv")
    assert rows.note() == (
        "Dropped 2 of 150 rows, which have missing or infinite values; the first is line 2."
    )
    with pytest.raises(DataError, match="has an infinite value in line 8, column 'c2'"):
        rows._check_finite(np.array([[1, 2, np.inf]]), [4])
    rows = open_rows(lacking([148, 149]), missing="drop")
    assert rows.note().endswith("; the first is row 148 (counting from 0).")


def test_the_fingerprint_tells_which_rows_were_kept(tmp_path):
    path = write_npy(tmp_path, lacking([3]))
    found = open_rows(path, missing="drop")
    assert found.fingerprint() == open_rows(path, missing="drop").fingerprint()
    others = CompleteRows(open_rows(path), np.delete(np.arange(N), 4))
    assert found.fingerprint() != others.fingerprint()


def test_values_that_are_masked_are_missing():
    X = np.ma.masked_equal(np.arange(12).reshape(4, 3), 7)
    found = open_rows(X, missing="drop")
    np.testing.assert_array_equal(found.kept, [0, 1, 3])
    np.testing.assert_array_equal(found.read(slice(None)), np.asarray(X)[[0, 1, 3]])


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_masked_values_of_dask_are_missing(dtype):
    X = np.arange(40).reshape(20, 2).astype(dtype)
    rows = open_rows(da.ma.masked_equal(da.from_array(X, chunks=(5, 2)), 7))
    np.testing.assert_array_equal(rows.read(slice(5, 20)), X[5:])
    for use in (lambda: rows.take([3, 12]), lambda: list(rows.apply(np.sum, 64))):
        with pytest.raises(MissingValuesError, match=r"a missing value in row 3 .*, column 1"):
            use()


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_large_integers_beside_nulls_keep_every_digit(kind, tmp_path):
    large = [2**53 + 1, None, 2**62 + 3, 2**63 - 1, 5]
    other = [1, 2, 3, None, 2**53 + 3]
    table = pa.table({"a": pa.array(large, kind), "b": pa.array(other, kind)})
    pq.write_table(table, tmp_path / "x.parquet")
    rows = open_rows(tmp_path / "x.parquet", missing="drop")
    expected = np.array([[2**53 + 1, 1], [2**62 + 3, 3], [5, 2**53 + 3]], kind)
    assert rows.dtype == kind
    for found in (rows.read(slice(None)), rows.take([0, 1, 2])):
        assert found.dtype == kind
        np.testing.assert_array_equal(found, expected)
