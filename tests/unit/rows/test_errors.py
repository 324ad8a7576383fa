"""Errors of sources: one sentence that says what is wrong, where, and what to do."""

import importlib
import os
import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.errors import DataError, MissingPackageError, ParameterError
from isosne.rows import open_rows
from isosne.rows.arrays import DaskRows
from tests.conftest import refuses
from tests.unit.rows.formats import DENSE, SPARSE, TEXT, write_npy, write_parquet, write_text

X = np.random.default_rng(0).normal(size=(30, 3))
ADVICE = "Impute such values, exclude the column, or pass missing='drop' to leave out the rows."
ADVICE_OF_DASK = "Impute such values, exclude the column, or drop the rows with dropna beforehand."
ADVICE_ON_TEXT = "Write numbers as 1234.5 or 1.2e3, or exclude the column."


def with_value(value, row=17, column=2):
    changed = X.copy()
    changed[row, column] = value
    return changed


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        *((name, np.nan, "a missing value") for name in DENSE | TEXT),
        *((name, -np.inf, "an infinite value") for name in ("array", "npy", "parquet", "csv")),
    ],
)
def test_a_value_that_is_not_finite_is_named_by_row_and_column(name, value, word, tmp_path):
    rows = open_rows((DENSE | TEXT)[name](tmp_path, with_value(value)))
    assert len(rows.read(slice(0, 17))) == 17
    column = "column 2" if rows.column_names is None else f"column {rows.column_names[2]!r}"
    where = "row 17 (counting from 0)"
    if tmp_path.joinpath("n.csv").exists():
        where = "line 18"
    elif any(tmp_path.glob("*.[ct]s*v")) or any(tmp_path.glob("*.txt")):
        where = "line 19"
    advice = ADVICE_OF_DASK if isinstance(rows, DaskRows) else ADVICE
    sentence = (
        f"Every value must be a finite number; {rows.describe()} has {word} in {where}, {column}. "
        + advice
    )
    with refuses(DataError, sentence):
        rows.read(slice(9, 20))
    with refuses(DataError, sentence):
        rows.take([20, 17, 3])


@pytest.mark.parametrize("make", SPARSE.values(), ids=SPARSE)
def test_a_stored_value_that_is_not_finite_is_named(make, tmp_path):
    sparse = np.where(X > 0.5, X, 0)
    sparse[17, 1] = sparse[20, 0] = np.inf
    rows = open_rows(make(tmp_path, sparse))
    column = "1" if rows.column_names is None else "'c1'"
    sentence = (
        f"Every value must be a finite number; {rows.describe()} has an infinite value in row 17 "
        f"(counting from 0), column {column} (2 of the values read are not finite). {ADVICE}"
    )
    with refuses(DataError, sentence):
        rows.read(slice(9, None))


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_null_is_named_by_row_and_column(ending, tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"x.{ending}"
    table = pa.table({"a": [1, 2, 3, None, None], "b": [1.0, 2, 3, 4, 5]})
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path))
    rows = open_rows(path)
    np.testing.assert_array_equal(rows.read(slice(0, 3)), [[1, 1], [2, 2], [3, 3]])
    sentence = (
        f"Every value must be a finite number; {path} has a missing value in row 3 (counting from "
        f"0), column 'a' (2 of the values read are not finite). {ADVICE}"
    )
    with refuses(DataError, sentence):
        rows.read(slice(0, 5))
    with refuses(DataError, sentence.replace(" (2 of the values read are not finite)", "")):
        rows.take([3, 0])


@pytest.mark.parametrize(
    ("cell", "what", "advice"),
    [
        ("", "a missing value", ADVICE),
        ("NA", "a missing value", ADVICE),
        (" ? ", "a missing value", ADVICE),
        ("12,5", "'12,5'", ADVICE_ON_TEXT),
    ],
)
def test_a_field_that_is_no_number_is_named_by_line_and_column(cell, what, advice, tmp_path):
    path = write_text(tmp_path, X, "x.csv", ";")
    lines = path.read_text().splitlines()
    lines[18] = f"1;{cell};3"
    path.write_text("\n".join(lines))
    rows = open_rows(path)
    sentence = (
        f"Every value must be a finite number; {path} has {what} in line 19, column 'c1'. {advice}"
    )
    for read in (lambda: rows.read(slice(None)), lambda: rows.take([3, 17])):
        with refuses(DataError, sentence):
            read()


def test_lines_count_rows_where_some_lines_are_blank(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n\n3,4\n5,nan\n")
    rows = open_rows(tmp_path / "x.csv")
    assert rows.shape == (3, 2)
    with pytest.raises(DataError, match=r"has a missing value in row 2 \(counting from 0\)"):
        rows.read(slice(None))


def test_missing_fields_are_counted_however_they_are_written(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 200 + "nan,\n3,NA\n")
    with pytest.raises(DataError, match=r"line 202, column 'a' \(3 of the values read are not"):
        open_rows(tmp_path / "x.csv").read(slice(None))


def test_a_number_that_is_written_oddly_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,1_000\n")
    sentence = (
        f"Every value must be a finite number; {tmp_path / 'x.csv'} has '1_000' in line 3, "
        f"column 'b'. {ADVICE_ON_TEXT}"
    )
    with refuses(DataError, sentence):
        open_rows(tmp_path / "x.csv").read(slice(None))


@pytest.mark.parametrize("n_before", [2, 500])
def test_a_line_with_another_number_of_fields_is_named(n_before, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n" + "1,2,3\n" * n_before + "4,5\n6,7,8\n")
    sentence = (
        f"Every line must have 3 field(s), as the first line has; {path} has 2 in line "
        f"{n_before + 2}. Correct or remove that line."
    )
    with refuses(DataError, sentence):
        open_rows(path)


def test_a_quotation_mark_that_is_left_open_is_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,b\n1,"x, y"\n2,"x\n3,z\n')
    sentence = (
        f"Quotation marks must be closed; {path} has an odd number of them. "
        "Correct the line with the open one."
    )
    with refuses(DataError, sentence):
        open_rows(path, exclude=["b"])


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n"])
def test_an_empty_file_is_refused(content, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with refuses(DataError, f"{path} must contain a table; it is empty. Write the file again."):
        open_rows(path)


def test_a_header_alone_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n")
    sentence = (
        f"{path} must have at least one row and one numeric column; got 0 row(s) and 2 column(s). "
        "Pass a table that contains values."
    )
    with refuses(DataError, sentence):
        open_rows(path)


@pytest.mark.parametrize("content", [b"\xff\xfea\0,\0b\0", b"a,b\n1,\0\n"])
def test_bytes_that_are_no_text_are_refused(content, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    sentence = (
        f"{path} must be plain text in UTF-8 or Latin-1; it has bytes that are not text. "
        "Save it as UTF-8, or give the file the extension of its format."
    )
    with refuses(DataError, sentence):
        open_rows(path)


def text_table(folder, ending):
    path = folder / f"t.{ending}"
    if ending == "csv":
        path.write_text("a,name,b,kind\n1,x,2,u\n3,y,4,v\n")
        return path
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1.0, 3], "name": ["x", "y"], "b": [2.0, 4], "kind": ["u", "v"]})
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif ending == "feather":
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path))
    elif ending == "pandas":
        return table.to_pandas()
    elif ending == "dask":
        frames = pytest.importorskip("dask.dataframe")
        return frames.from_pandas(table.to_pandas(), npartitions=2)
    return path


TABLES = ["csv", "parquet", "feather", "pandas", "dask"]


@pytest.mark.parametrize("ending", TABLES)
def test_text_columns_are_refused_or_left_out_or_excluded(ending, tmp_path):
    table = text_table(tmp_path, ending)
    with pytest.raises(DataError, match=r"^Every column must be numeric; ") as caught:
        open_rows(table)
    assert str(caught.value).endswith(
        "Pass exclude=['name', 'kind'] to exclude them, or text_columns='leave_out' to skip all "
        "columns that are not numeric. To use them, pass a data frame to TSNE, or --mixed on the "
        "command line."
    )
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


@pytest.mark.parametrize("ending", TABLES)
def test_an_unknown_column_suggests_the_nearest(ending, tmp_path):
    table = text_table(tmp_path, ending)
    with pytest.raises(ParameterError, match=r"got exclude=\['nmae'\]\. Did you mean 'name'\?$"):
        open_rows(table, exclude=["nmae"])
    with pytest.raises(
        ParameterError,
        match=r"^columns must .* got columns=\['zzz'\]\. Available: 'a', 'name', 'b', 'kind'\.$",
    ):
        open_rows(table, columns=["zzz"])


def test_a_table_of_text_alone_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\nu,v\n")
    sentence = (
        f"{path} must have at least one numeric column; none of its 2 column(s) is left. "
        "Exclude fewer columns, or encode text as numbers."
    )
    with refuses(DataError, sentence):
        open_rows(path, text_columns="leave_out")


def test_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,a\n1,2,3\n")
    sentence = (
        f"Column names must be unique; {path} has 'a' more than once. Rename one of the columns."
    )
    with refuses(DataError, sentence):
        open_rows(path)


def test_columns_of_an_array_have_no_names():
    sentence = "exclude must name a column of X; got exclude=['a']. Its columns have no names."
    with refuses(ParameterError, sentence):
        open_rows(X, exclude=["a"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"text_columns": "drop"},
            (
                "text_columns must be 'refuse' or 'leave_out'; got text_columns='drop'. "
                "Pass text_columns='leave_out' to skip columns that are not numeric."
            ),
        ),
        (
            {"exclude": "id"},
            "exclude must be a list of column names; got exclude='id'. Pass exclude=['id'].",
        ),
        (
            {"columns": "a"},
            "columns must be a list of column names; got columns='a'. Pass columns=['a'].",
        ),
    ],
)
def test_options_are_checked(options, sentence):
    with refuses(ParameterError, sentence):
        open_rows(X, **options)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            X[0],
            (
                "X must be two-dimensional, with one point per row; got shape (3,). "
                "Reshape it, or choose another array."
            ),
        ),
        (
            np.array([["a", "b"]]),
            (
                "X must be numeric; row 0 (counting from 0), column 0 holds the text 'a'. "
                "Encode the column as numbers, or leave it out."
            ),
        ),
        (
            X * 1j,
            (
                "X must be numeric; got dtype complex128. "
                "Encode values that are not real numbers, or leave them out."
            ),
        ),
        (
            X[:0],
            (
                "X must have at least one row and one numeric column; "
                "got 0 row(s) and 3 column(s). Pass a table that contains values."
            ),
        ),
        (
            csr_array((4, 0)),
            (
                "X must have at least one row and one numeric column; "
                "got 4 row(s) and 0 column(s). Pass a table that contains values."
            ),
        ),
    ],
    ids=["vector", "text", "complex", "no rows", "no columns"],
)
def test_what_is_no_table_of_numbers_is_refused(data, sentence):
    with refuses(DataError, sentence):
        open_rows(data)


@pytest.mark.parametrize(
    ("indices", "sentence"),
    [
        (
            [0, 30],
            (
                "indices must be from 0 to 29, the last row of X; got indices=30. "
                "Pass the indices of existing rows."
            ),
        ),
        (
            [-1],
            (
                "indices must be from 0 to 29, the last row of X; got indices=-1. "
                "Pass the indices of existing rows."
            ),
        ),
        (
            [0.5],
            (
                "indices must be a list of integers, not float64 of shape (1,). "
                "Pass the indices of rows."
            ),
        ),
    ],
)
def test_rows_that_do_not_exist_are_refused(indices, sentence):
    with refuses(ParameterError, sentence):
        open_rows(X).take(indices)


def test_only_consecutive_rows_are_read():
    sentence = (
        "rows must be a slice of consecutive rows; got rows=slice(0, 9, 2). "
        "Use take for other rows."
    )
    with refuses(ParameterError, sentence):
        open_rows(X).read(slice(0, 9, 2))


def on_disk(make, folder):
    source = make(folder, X)
    return source, open_rows(source)


FILES = {
    name: make
    for name, make in (DENSE | TEXT).items()
    if name not in ("array", "part of a memmap", "memmap") and "dask" not in name
    if "zarr" not in name and "folder" not in name
}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_grows_while_it_is_read_is_noticed(make, tmp_path):
    path, rows = on_disk(make, tmp_path)
    rows.read(slice(0, 5))
    before = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"more")
    sentence = (
        f"{path} must not change while it is read; its size was {before:,} bytes and is now "
        f"{before + 4:,}. Wait until the file is complete, then start again."
    )
    for read in (lambda: rows.read(slice(5, 9)), lambda: rows.take([3]), rows.fingerprint):
        with refuses(DataError, sentence):
            read()


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_is_written_again_while_it_is_read_is_noticed(make, tmp_path):
    path, rows = on_disk(make, tmp_path)
    stamp = path.stat()
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 10**9))
    sentence = (
        f"{path} must not change while it is read; it was written again. "
        "Wait until the file is complete, then start again."
    )
    with refuses(DataError, sentence):
        rows.read(slice(5, 9))


def test_a_file_that_shrinks_in_the_middle_of_a_read_is_noticed(tmp_path, monkeypatch):
    path, rows = on_disk(write_npy, tmp_path)
    fetch = type(rows._values).__getitem__

    def cut_and_fetch(self, part):
        os.truncate(path, 200)
        return fetch(self, part)

    monkeypatch.setattr(type(rows._values), "__getitem__", cut_and_fetch)
    with pytest.raises(DataError, match=r"bytes and is now 200\. Wait until the file is complete"):
        rows.read(slice(None))


def test_a_file_that_goes_away_is_noticed(tmp_path):
    path, rows = on_disk(write_npy, tmp_path)
    path.unlink()
    with refuses(DataError, f"Cannot read {path}: no such file. Correct the path."):
        rows.read(slice(None))


def test_a_path_through_a_file_is_refused(tmp_path):
    path = write_npy(tmp_path, X) / "x.npy"
    sentence = f"Cannot read {path}: not a directory. Correct the path, or change its permissions."
    with refuses(DataError, sentence):
        open_rows(path)


def test_an_array_that_is_cut_short_is_refused(tmp_path):
    path = write_npy(tmp_path, X)
    os.truncate(path, 500)
    sentence = (
        f"{path} must have 848 bytes according to its header; got 500. "
        "The file is truncated: write or copy it again."
    )
    with refuses(DataError, sentence):
        open_rows(path)


DAMAGED = (
    r"\ACannot read {}: the file is damaged, incomplete, or not of the format that its extension "
    r"names \(\w+: .+\)\. Write or copy it again\.\Z"
)


@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "h5ad"])
def test_a_file_of_another_kind_is_refused(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    path.write_text("this is not what the name says, however long it is")
    with pytest.raises(DataError, match=DAMAGED.format(re.escape(str(path)))):
        open_rows(path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = write_parquet(tmp_path, X)
    data = bytearray(path.read_bytes())
    data[8:300] = bytes(292)
    path.write_bytes(data)
    with pytest.raises(DataError, match=DAMAGED.format(re.escape(str(path)))):
        open_rows(path).read(slice(None))


ENDINGS = ".csv, .tsv, .txt, .parquet, .feather, .arrow, .npy, .npz, .zarr, .h5ad"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (
            "x.csv.gz",
            "Decompress the file first: rows of a compressed file cannot be read by index.",
        ),
        ("x.xlsx", "Convert the file, or correct its extension."),
    ],
)
def test_other_extensions_are_refused(name, advice, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"x")
    sentence = (
        f"source must be a file that ends in one of {ENDINGS}; got source={str(path)!r}. {advice}"
    )
    with refuses(ParameterError, sentence):
        open_rows(path)


def test_a_folder_without_parquet_files_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    sentence = (
        f"A folder must contain files that end in .parquet; {tmp_path} has none. "
        "Name the folder that contains them."
    )
    with refuses(DataError, sentence):
        open_rows(tmp_path)


def test_files_of_a_folder_must_have_the_same_columns(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1.0], "b": [2]}), tmp_path / "2.parquet")
    sentence = (
        "All files of a folder must have the same columns in the same order; column 'b' is int64 "
        "in 2.parquet and double in 1.parquet. Write the files again with one schema."
    )
    with refuses(DataError, sentence):
        open_rows(tmp_path)


@pytest.mark.parametrize("sparse", [False, True])
def test_what_must_be_held_whole_is_held_against_the_limit(sparse, tmp_path):
    make = SPARSE["compressed npz"] if sparse else DENSE["compressed npz"]
    path = make(tmp_path, np.repeat(X, 2000, axis=0))
    open_rows(path, memory_limit=10**8)
    with pytest.raises(
        DataError,
        match=rf"\A{re.escape(str(path))} is compressed and must fit in memory; it takes [12] MB "
        r"uncompressed, and 1 MB are available\. Save it uncompressed \(np\.savez, or save_npz "
        r"with compressed=False\), or raise memory_limit\.\Z",
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
    with refuses(
        ParameterError,
        f"key must name an array of {path}; got key='C'. Available: 'A', 'B', 'y'.",
    ):
        open_rows(path, key="C")


def test_a_zarr_group_needs_a_key(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    group.create_array("points", data=X)
    np.testing.assert_array_equal(open_rows(tmp_path / "g.zarr").take([2]), X[[2]])
    group.create_array("others", data=X + 1)
    sentence = (
        f"key must name an array of {tmp_path / 'g.zarr'}; got key='pionts'. Did you mean 'points'?"
    )
    with refuses(ParameterError, sentence):
        open_rows(tmp_path / "g.zarr", key="pionts")
    found = open_rows(tmp_path / "g.zarr", key="others").take([2])
    np.testing.assert_array_equal(found, X[[2]] + 1)


def test_values_of_h5ad_stored_by_columns_are_refused(tmp_path):
    anndata = pytest.importorskip("anndata")
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
        ("x.feather", "pyarrow", "files"),
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
