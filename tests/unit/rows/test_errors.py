"""Errors of sources: one sentence that says what is wrong, where, and what to do."""

import importlib
import os
import re

import anndata
import numpy as np
import pyarrow as pa
import pytest
import zarr
from dask.dataframe import from_pandas
from pyarrow.csv import write_csv
from pyarrow.feather import write_feather
from pyarrow.parquet import write_table
from scipy.sparse import csr_array

from isosne.errors import DataError, MissingPackageError, ParameterError
from isosne.rows import open_rows
from isosne.rows.arrays import DaskRows
from tests.conftest import refuses
from tests.unit.rows.formats import DENSE, SPARSE, TEXT, write_npy

X = np.random.default_rng(0).normal(size=(30, 3))
ADVICE = "Impute such values, exclude the column, or pass missing='drop' to leave out the rows."
ADVICE_OF_DASK = "Impute such values, exclude the column, or drop the rows with dropna beforehand."
ADVICE_ON_TEXT = "Write numbers as 1234.5 or 1.2e3, or exclude the column."
FINITE = "Every value must be a finite number; {path} has "


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        *((name, np.nan, "a missing value") for name in DENSE | TEXT),
        *((name, -np.inf, "an infinite value") for name in ("array", "npy", "parquet", "csv")),
    ],
)
def test_a_value_that_is_not_finite_is_named_by_row_and_column(name, value, word, tmp_path):
    values = X.copy()
    values[17, 2] = value
    rows = open_rows((DENSE | TEXT)[name](tmp_path, values))
    assert len(rows.read(slice(0, 17))) == 17
    column = "column 2" if rows.column_names is None else f"column {rows.column_names[2]!r}"
    where = "row 17 (counting from 0)"
    if tmp_path.joinpath("n.csv").exists():
        where = "line 18"
    elif any(tmp_path.glob("*.[ct]s*v")) or any(tmp_path.glob("*.txt")):
        where = "line 19"
    advice = ADVICE_OF_DASK if isinstance(rows, DaskRows) else ADVICE
    sentence = f"{FINITE.format(path=rows.describe())}{word} in {where}, {column}. {advice}"
    for read in (lambda: rows.read(slice(9, 20)), lambda: rows.take([20, 17, 3])):
        with refuses(DataError, sentence):
            read()


@pytest.mark.parametrize("make", SPARSE.values(), ids=SPARSE)
def test_a_stored_value_that_is_not_finite_is_named(make, tmp_path):
    sparse = np.where(X > 0.5, X, 0)
    sparse[17, 1] = sparse[20, 0] = np.inf
    rows = open_rows(make(tmp_path, sparse))
    column = "1" if rows.column_names is None else "'c1'"
    sentence = (
        f"{FINITE.format(path=rows.describe())}an infinite value in row 17 (counting from 0), "
        f"column {column} (2 of the values read are not finite). {ADVICE}"
    )
    with refuses(DataError, sentence):
        rows.read(slice(9, None))


KINDS = {
    "csv": lambda table, path: write_csv(table, path) or path,
    "parquet": lambda table, path: write_table(table, path) or path,
    "feather": lambda table, path: write_feather(table, str(path)) or path,
    "pandas": lambda table, path: table.to_pandas(),
    "dask": lambda table, path: from_pandas(table.to_pandas(), npartitions=2),
}


EMPTY = "{path} must contain a table; it is empty. Write the file again."
NOT_TEXT = (
    "{path} must be plain text in UTF-8; it has bytes that are not. "
    "Convert it to UTF-8, or give the file the extension of its format."
)
QUOTES = (
    "Quotation marks must be closed; {path} has an odd number of them. "
    "Correct the line with the open one."
)
NO_ROWS = (
    "{path} must have at least one row and one numeric column; got 0 row(s) and 2 column(s). "
    "Pass a table that contains values."
)
NO_NUMBERS = (
    "{path} must have at least one numeric column; none of its 2 column(s) is left. "
    "Exclude fewer columns, or encode text as numbers."
)
FIELDS = (
    "Every line must have 3 field(s), as the first line has; {{path}} has 2 in line {}. "
    "Correct or remove that line."
)
TEXTS = {
    "empty field": ("a;b\n1;2\n3;\n", f"a missing value in line 3, column 'b'. {ADVICE}"),
    "word": ("a;b\n1;2\n3; ? \n", f"a missing value in line 3, column 'b'. {ADVICE}"),
    "text": ("a;b\n1;2\n3;12,5\n", f"'12,5' in line 3, column 'b'. {ADVICE_ON_TEXT}"),
    "odd number": ("a,b\n1,2\n3,1_000\n", f"'1_000' in line 3, column 'b'. {ADVICE_ON_TEXT}"),
    "after a blank line": (
        "a,b\n1,2\n\n3,4\n5,nan\n",
        f"a missing value in row 2 (counting from 0), column 'b'. {ADVICE}",
    ),
    "several": (
        "a,b\n" + "1,2\n" * 200 + "nan,\n3,NA\n",
        "a missing value in line 202, column 'a' (3 of the values read are not finite). " + ADVICE,
    ),
}
TABLES = {
    **{name: (text, FINITE + sentence) for name, (text, sentence) in TEXTS.items()},
    "fields": ("a,b,c\n1,2,3\n1,2,3\n4,5\n6,7,8\n", FIELDS.format(4)),
    "fields far on": ("a,b,c\n" + "1,2,3\n" * 500 + "4,5\n6,7,8\n", FIELDS.format(502)),
    "open quotation mark": ('a,b\n1,"x, y"\n2,"x\n3,z\n', QUOTES),
    "nothing": ("", EMPTY),
    "blank lines": ("\n\n", EMPTY),
    "a comment": ("# only a comment\n", EMPTY),
    "a header": ("a,b\n", NO_ROWS),
    "UTF-16": ("\ufeffa,b".encode("utf-16-le"), NOT_TEXT),
    "a null": ("a,b\n1,\0\n", NOT_TEXT),
    "Latin-1": ("a,Größe\n1,2\n".encode("latin-1"), NOT_TEXT),
    "text alone": ("a,b\nu,v\n", NO_NUMBERS),
    "repeated names": (
        "a,b,a\n1,2,3\n",
        "Column names must be unique; {path} has 'a' more than once. Rename one of the columns.",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), TABLES.values(), ids=TABLES)
def test_a_text_table_is_refused_with_the_place_and_what_to_do(content, sentence, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with refuses(DataError, sentence.format(path=path)):
        open_rows(path, text_columns="leave_out").read(slice(None))


@pytest.mark.parametrize("kind", KINDS)
def test_text_columns_are_refused_or_left_out_or_excluded(kind, tmp_path):
    columns = {"a": [1.0, 3], "name": ["x", "y"], "b": [2.0, 4], "kind": ["u", "v"]}
    table = KINDS[kind](pa.table(columns), tmp_path / f"t.{kind}")
    with pytest.raises(DataError, match=r"^Every column must be numeric; .* Pass exclude=\['name'"):
        open_rows(table)
    for rows in (
        open_rows(table, text_columns="leave_out"),
        open_rows(table, exclude=["name", "kind"]),
        open_rows(table, columns=["a", "b"]),
    ):
        assert rows.column_names == ("a", "b")
        np.testing.assert_array_equal(rows.read(slice(None)), [[1, 2], [3, 4]])
        np.testing.assert_array_equal(rows.side["kind"](), ["u", "v"])
        assert set(rows.side) == {"name", "kind"}
    assert open_rows(table, text_columns="leave_out").left_out == ("name", "kind")
    swapped = open_rows(table, columns=["b", "a"])
    np.testing.assert_array_equal(swapped.take([1]), [[4, 3]])
    with pytest.raises(ParameterError, match=r"got exclude=\['nmae'\]\. Did you mean 'name'\?$"):
        open_rows(table, exclude=["nmae"])
    with pytest.raises(ParameterError, match=r"columns=\['zzz'\]\. Available: 'a', 'name', 'b', "):
        open_rows(table, columns=["zzz"])


NO_VALUES = (
    "X must have at least one row and one numeric column; got {} row(s) and {} column(s). "
    "Pass a table that contains values."
)
OBJECTS = {
    "X must be two-dimensional, with one point per row; got shape (3,). "
    "Reshape it, or choose another array.": X[0],
    "X must be numeric; row 0 (counting from 0), column 0 holds the text 'a'. "
    "Encode the column as numbers, or leave it out.": np.array([["a", "b"]]),
    "X must be numeric; got dtype complex128. "
    "Encode values that are not real numbers, or leave them out.": X * 1j,
    NO_VALUES.format(0, 3): X[:0],
    NO_VALUES.format(4, 0): csr_array((4, 0)),
}


@pytest.mark.parametrize(("sentence", "data"), OBJECTS.items())
def test_what_is_no_table_of_numbers_is_refused(data, sentence):
    with refuses(DataError, sentence):
        open_rows(data)


OPTIONS = {
    "text_columns must be 'refuse' or 'leave_out'; got text_columns='drop'. "
    "Pass text_columns='leave_out' to skip columns that are not numeric.": {"text_columns": "drop"},
    "columns must be a list of columns; got columns='a'. Pass columns=['a'].": {"columns": "a"},
    "exclude must name a column of X; got exclude=['a']. Its columns have no names.": {
        "exclude": ["a"]
    },
}


@pytest.mark.parametrize(("sentence", "options"), OPTIONS.items())
def test_parameters_are_checked(sentence, options):
    with refuses(ParameterError, sentence):
        open_rows(X, **options)


def test_rows_to_read_are_checked():
    rows = open_rows(X)
    rule = "indices must be integers from 0 to 29, the last row of X. "
    for indices in ([0, 30], [-1], [0.5]):
        with refuses(ParameterError, f"{rule}Pass the indices of existing rows."):
            rows.take(indices)
    rule = "rows must be a slice of consecutive rows; got rows=slice(0, 9, 2). "
    with refuses(ParameterError, f"{rule}Use take for other rows."):
        rows.read(slice(0, 9, 2))


FILES = {name: (DENSE | TEXT)[name] for name in ("npy", "compressed npz", "parquet", "csv", "h5ad")}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_changes_while_it_is_read_is_noticed(make, tmp_path):
    path = make(tmp_path, X)
    rows, stamp = open_rows(path), path.stat()
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 10**9))
    sentence = (
        f"{path} must not change while it is read; it was written again. "
        "Wait until the file is complete, then start again."
    )
    for read in (lambda: rows.read(slice(5, 9)), lambda: rows.take([3]), rows.fingerprint):
        with refuses(DataError, sentence):
            read()
    path.unlink()
    with refuses(DataError, f"Cannot read {path}: no such file. Correct the path."):
        rows.read(slice(None))


def test_a_file_that_shrinks_in_the_middle_of_a_read_is_noticed(tmp_path, monkeypatch):
    path = write_npy(tmp_path, X)
    rows = open_rows(path)
    fetch = np.fromfile

    def cut_and_fetch(*arguments, **more):
        os.truncate(path, 200)
        return fetch(*arguments, **more)

    monkeypatch.setattr(np, "fromfile", cut_and_fetch)
    with pytest.raises(DataError, match=r"it was written again\. Wait until the file is complete"):
        rows.read(slice(None))


def test_a_path_through_a_file_and_an_array_cut_short_are_refused(tmp_path):
    path = write_npy(tmp_path, X)
    sentence = "not a directory. Correct the path, or change its permissions."
    with refuses(DataError, f"Cannot read {path / 'x.npy'}: {sentence}"):
        open_rows(path / "x.npy")
    os.truncate(path, 500)
    sentence = (
        f"{path} must have 848 bytes according to its header; got 500. "
        "The file is truncated: write or copy it again."
    )
    with refuses(DataError, sentence):
        open_rows(path)


@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "h5ad"])
def test_a_file_of_another_kind_is_refused(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    path.write_text("this is not what the name says, however long it is")
    damaged = "the file is damaged, incomplete, or not of the format that its extension names"
    with pytest.raises(DataError, match=rf"^Cannot read {re.escape(str(path))}: {damaged} "):
        open_rows(path)


DECOMPRESS = (
    "Decompress it first: only text tables are read from compressed files (.gz, .bz2, .zst, .lz4)."
)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("x.npy.gz", DECOMPRESS),
        ("x.xls", "Save the sheet as CSV UTF-8 in the spreadsheet program, and pass that file."),
        ("x.doc", "Convert the file, or correct its extension."),
    ],
)
def test_other_extensions_are_refused(name, advice, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"x")
    endings = ".csv, .tsv, .txt, .parquet, .feather, .arrow, .npy, .npz, .zarr, .h5ad"
    sentence = f"source must be a file that ends in one of {endings}; got source={str(path)!r}. "
    with refuses(ParameterError, sentence + advice):
        open_rows(path)


def test_a_folder_has_parquet_files_with_the_same_columns(tmp_path):
    sentence = (
        f"A folder must contain files that end in .parquet; {tmp_path} has none. "
        "Name the folder that contains them."
    )
    with refuses(DataError, sentence):
        open_rows(tmp_path)
    write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    write_table(pa.table({"a": [1.0], "b": [2]}), tmp_path / "2.parquet")
    sentence = (
        "All files of a folder must have the same columns in the same order; column 'b' is int64 "
        "in 2.parquet and double in 1.parquet. Write the files again with one schema."
    )
    with refuses(DataError, sentence):
        open_rows(tmp_path)


@pytest.mark.parametrize("formats", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_what_must_be_held_whole_is_held_against_the_limit(formats, tmp_path):
    path = formats["compressed npz"](tmp_path, np.repeat(X, 2000, axis=0))
    open_rows(path, memory_limit=10**8)
    with pytest.raises(
        DataError,
        match=rf"\A{re.escape(str(path))} must fit in memory; it takes [12] MB, and 1 MB are "
        r"available\. Save the array as an \.npy file \(np\.save\), whose rows are read in parts, "
        r"or raise memory_limit\.\Z",
    ):
        open_rows(path, memory_limit=10**6)


def test_an_archive_of_several_tables_needs_a_key(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, A=X, B=X + 1, y=np.arange(30))
    sentence = (
        f"{path} must have an array X, or only one two-dimensional array; it has 'A', 'B', 'y'. "
        "Name the array to read with key."
    )
    with refuses(DataError, sentence):
        open_rows(path)
    np.testing.assert_array_equal(open_rows(path, key="B").take([4]), X[[4]] + 1)
    sentence = f"key must name an array of {path}; got key='C'. Available: 'A', 'B', 'y'."
    with refuses(ParameterError, sentence):
        open_rows(path, key="C")


def test_a_zarr_group_needs_a_key(tmp_path):
    path = tmp_path / "g.zarr"
    group = zarr.open_group(path, mode="w")
    group.create_array("points", data=X)
    np.testing.assert_array_equal(open_rows(path).take([2]), X[[2]])
    group.create_array("others", data=X + 1)
    sentence = f"key must name an array of {path}; got key='pionts'. Did you mean 'points'?"
    with refuses(ParameterError, sentence):
        open_rows(path, key="pionts")
    np.testing.assert_array_equal(open_rows(path, key="others").take([2]), X[[2]] + 1)


def test_values_of_h5ad_stored_by_columns_are_refused(tmp_path):
    path = tmp_path / "x.h5ad"
    anndata.AnnData(csr_array(X).tocsc()).write_h5ad(path)
    sentence = (
        f"X of {path} must be a dense array or a CSR matrix; got csc_matrix. "
        "Convert it with scipy.sparse.csr_matrix, and write the file again."
    )
    with refuses(DataError, sentence):
        open_rows(path)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("x.parquet", "pyarrow", "files"),
        ("x.zarr", "zarr", "zarr"),
        ("x.h5ad", "h5py", "anndata"),
    ],
)
def test_a_package_that_is_absent_is_named_with_its_extra(
    name, package, extra, tmp_path, monkeypatch
):
    def import_nothing(wanted, *rest, **more):
        if wanted.partition(".")[0] == package:
            raise ImportError(wanted)
        return real(wanted, *rest, **more)

    real = importlib.import_module
    monkeypatch.setattr("isosne._extras.import_module", import_nothing)
    path = tmp_path / name
    path.touch()
    sentence = (
        f"Reading {path} needs the package {package}, which is not installed. "
        f"Install it with: pip install 'isosne[{extra}]'"
    )
    with refuses(MissingPackageError, sentence):
        open_rows(path)


def test_a_name_with_control_characters_is_spelled_out_on_one_line(tmp_path):
    path = tmp_path / "a\nb\x1b[31m.csv"
    path.write_bytes(b"\xff,1\n")
    with pytest.raises(DataError) as caught:
        open_rows(path)
    assert r"a\nb\x1b[31m.csv must be plain text in UTF-8" in str(caught.value)
    assert "\n" not in str(caught.value)
