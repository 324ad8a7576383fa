"""A job places each part of a folder once, and only what is missing when it is run again."""

import os
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

from isosne import TSNE, place_files
from isosne.errors import DataError, OutputError, ParameterError
from isosne.place import parts
from tests.unit.place.conftest import FEW, NAMES, rows_of

GAPS = [2, 3, 4, 9, 69]
SIZES = {"year=2024/part-0.parquet": 40, "year=2024/part-1.parquet": 7, "year=2025/a.parquet": 23}


def table_of(rows, first=0):
    """Rows as a table with other columns, in another order than at fit."""
    n = len(rows)
    ids = [f"r{first + i}" for i in range(n)]
    when = np.datetime64("2024-01-01") + np.arange(n)
    columns = {name: rows[:, NAMES.index(name)] for name in ("b", "c", "a")}
    return pa.table({"id": ids, "when": when, **columns})


def contents(folder):
    """What each file of a folder holds, by relative name."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def source(tmp_path, new_rows):
    """A partitioned Parquet data set."""
    first = 0
    for name, n in SIZES.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table_of(new_rows[first : first + n], first), path)
        first += n
    (tmp_path / "in" / "_SUCCESS").touch()
    (tmp_path / "in" / "year=2024" / ".part-0.parquet.crc").touch()
    return tmp_path / "in"


@pytest.fixture
def job(model_file, source, tmp_path):
    """Run the job."""

    def run(**settings):
        where = {"model": model_file, "source": source, "output": tmp_path / "out"} | settings
        return place_files(**where)

    return run


def test_each_part_gets_a_result_with_its_name_order_and_columns(job, tmp_path, expected):
    done = job(keep=["id", "when"])
    assert (done.n_parts, done.n_done, done.n_placed, done.n_rows) == (3, 3, 3, 70)
    assert done.is_complete
    first = 0
    for name, n in SIZES.items():
        found = pq.read_table(tmp_path / "out" / name, partitioning=None)
        assert found.column_names == ["id", "when", "x", "y"]
        assert found["id"].to_pylist() == [f"r{first + i}" for i in range(n)]
        assert found.schema.field("when").type == table_of(rows_of(1)).schema.field("when").type
        np.testing.assert_array_equal(
            np.column_stack([found["x"], found["y"]]), expected[first : first + n]
        )
        first += n
    names = {p.name for p in (tmp_path / "out").rglob("*") if p.is_file() and p.suffix != ".json"}
    assert names == {"part-0.parquet", "part-1.parquet", "a.parquet"}


WRITE = {
    ".parquet": lambda path, table: pq.write_table(table, path, row_group_size=9),
    ".feather": lambda path, table: feather.write_feather(table, path, chunksize=9),
    ".arrow": lambda path, table: feather.write_feather(table, path, compression="uncompressed"),
    ".csv": lambda path, table: write_csv(table, path),
}


@pytest.mark.parametrize("extension", WRITE)
def test_parts_of_every_format_keep_columns_also_features(
    model_file, new_rows, expected, tmp_path, extension
):
    (tmp_path / "in").mkdir()
    table = table_of(new_rows).drop_columns("when")
    table = table.set_column(0, "id", pa.array([f"=A{i}" for i in range(70)]))
    WRITE[extension](tmp_path / "in" / f"t{extension}", table)
    place_files(model_file, tmp_path / "in", tmp_path / "out", keep=["b", "id"])
    result = tmp_path / "out" / f"t{extension}"
    if extension == ".csv":
        found = pd.read_csv(result)
        np.testing.assert_allclose(found["b"], new_rows[:, 1], rtol=1e-6)
        np.testing.assert_allclose(found[["x", "y"]], expected, atol=1e-2)  # read as float64
    else:
        read = pq.read_table if extension == ".parquet" else feather.read_table
        found = read(result).to_pandas()
        np.testing.assert_array_equal(found["b"], new_rows[:, 1])
        np.testing.assert_array_equal(found[["x", "y"]], expected)
    assert list(found.columns) == ["b", "id", "x", "y"]
    mark = "'" if extension == ".csv" else ""  # a spreadsheet would compute it
    assert found["id"].tolist() == [f"{mark}=A{i}" for i in range(70)]


def test_parts_without_names_are_arrays(model_file, new_rows, expected, tmp_path):
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "x.npy", new_rows)
    place_files(model_file, tmp_path / "in" / "x.npy", tmp_path / "out")
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "x.npy"), expected)
    with pytest.raises(ParameterError, match=r"Its columns have no names\.$"):
        place_files(model_file, tmp_path / "in", tmp_path / "other", keep=["id"])


def test_a_model_without_names_takes_all_columns_that_are_not_kept(new_rows, tmp_path):
    model = TSNE(random_state=0, schedule=FEW).fit(rows_of(150))
    model.save(tmp_path / "model.isosne")
    (tmp_path / "in").mkdir()
    frame = pd.DataFrame(new_rows, columns=["p", "q", "r"]).assign(number=np.arange(70))
    frame.to_parquet(tmp_path / "in" / "t.parquet")
    place_files(tmp_path / "model.isosne", tmp_path / "in", tmp_path / "out", keep=["number"])
    found = pd.read_parquet(tmp_path / "out" / "t.parquet")
    assert found["number"].tolist() == list(range(70))
    np.testing.assert_array_equal(found[["x", "y"]], model.place(new_rows))


def test_a_part_without_complete_rows_has_a_result_without_rows(job, source, tmp_path):
    empty = table_of(rows_of(1)).slice(1)
    pq.write_table(empty, source / "empty.parquet")
    feather.write_feather(empty, source / "empty.feather")
    pq.write_table(table_of(np.full((4, 3), np.nan, np.float32)), source / "gaps.parquet")
    done = job(keep=["id", "when"], missing="drop")
    assert (done.n_rows, done.n_dropped) == (70, 4)
    schema = pq.read_schema(tmp_path / "out" / "year=2025" / "a.parquet")
    for name in ("empty.parquet", "gaps.parquet"):
        found = pq.read_table(tmp_path / "out" / name)
        assert found.schema.equals(schema, check_metadata=False)
        assert len(found) == 0
    assert len(feather.read_table(tmp_path / "out" / "empty.feather")) == 0


def test_an_error_in_one_part_leaves_the_others_and_the_job_resumes(job, source, tmp_path):
    path = source / "year=2024" / "part-1.parquet"
    good = path.read_bytes()
    path.write_bytes(good[:-9])
    with pytest.raises(DataError, match=r"part-1\.parquet"):
        job()
    assert (tmp_path / "out" / "year=2024" / "part-0.parquet").exists()
    assert not any(name.endswith(".part") for name in contents(tmp_path / "out"))
    path.write_bytes(good)
    assert job().n_placed == 2


def test_progress_is_told_before_the_first_part_and_after_each(job):
    told = []
    job(callback=told.append)
    assert [(state.n_done, state.n_placed, state.n_rows) for state in told] == [
        (0, 0, 0),
        (1, 1, 40),
        (2, 2, 47),
        (3, 3, 70),
    ]


def test_shares_are_disjoint_and_give_the_files_of_one_process(job, tmp_path):
    job()
    shared = [job(output=tmp_path / "shared", share=f"{k}/2") for k in (2, 1)]
    assert [done.n_placed for done in shared] == [1, 2]
    assert [done.is_complete for done in shared] == [False, True]
    assert contents(tmp_path / "shared") == contents(tmp_path / "out")


def refusal(error, call, **settings):
    with pytest.raises(error) as caught:
        call(**settings)
    return str(caught.value)


def test_another_model_is_refused(job, model_file, tmp_path):
    job()
    other = tmp_path / "other.isosne"
    TSNE(random_state=1, schedule=FEW).fit(pd.DataFrame(rows_of(90), columns=NAMES)).save(other)
    before = contents(tmp_path / "out")
    said = refusal(OutputError, job, model=other)
    assert said.startswith(
        f"Cannot write to {tmp_path / 'out'}: the folder belongs to a different job: the model was "
    )
    assert said.endswith("Choose another folder, or delete this one; nothing was changed.")
    assert contents(tmp_path / "out") == before


def test_a_part_that_has_changed_or_gone_is_refused_once_it_is_placed(job, source, tmp_path):
    job()
    path, result = (tmp_path / name / "year=2025" / "a.parquet" for name in ("in", "out"))
    os.utime(path, ns=(0, 10**18))
    assert refusal(DataError, job) == (
        "The input of a job must not change; 'year=2025/a.parquet' has changed since it was "
        f"placed. Restore it, or choose another folder than {tmp_path / 'out'}."
    )
    content = path.read_bytes()
    path.unlink()
    assert "'year=2025/a.parquet' is no longer there. " in refusal(DataError, job)
    path.write_bytes(content)
    result.unlink()  # a part without a result may be corrected
    assert job().n_placed == 1


def test_a_folder_with_other_files_is_refused_and_not_changed(job, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    assert refusal(OutputError, job) == (
        f"Cannot write to {tmp_path / 'out'}: the folder contains other files, such as "
        "'thesis.tex'. Choose an empty or new folder."
    )
    assert contents(tmp_path / "out") == {"thesis.tex": b"x"}


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"input": 3}', "[" * 99_999])
def test_a_damaged_record_is_refused(job, tmp_path, content):
    job()
    path = tmp_path / "out" / "_isosne" / "job.json"
    path.write_text(content)
    assert refusal(DataError, job) == (
        f"Cannot read {path}: the file is damaged. Choose another output folder."
    )


@pytest.mark.parametrize("output", ["in", "in/out", "."])
def test_the_output_must_be_apart_from_the_input(job, source, tmp_path, output):
    assert refusal(ParameterError, job, output=tmp_path / output) == (
        f"output must be a folder apart from the input, {source}; "
        f"got output={str(tmp_path / output)!r}. Choose another folder."
    )


def test_a_packed_table_is_not_left_out_silently(job, source):
    (source / "more.csv.gz").touch()
    assert "more.csv.gz" in refusal(ParameterError, job)


def test_a_folder_without_parts_is_refused(job, source, tmp_path):
    shutil.rmtree(source)
    source.mkdir()
    (source / "README.md").touch()
    assert refusal(DataError, job) == (
        "The input must contain files that end in one of .parquet, .feather, .arrow, .csv, .npy; "
        f"{source} has none. Name the folder that contains them."
    )
    assert not (tmp_path / "out").exists()


def test_links_are_followed_and_those_that_lead_nowhere_are_refused(
    job, source, new_rows, tmp_path
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pq.write_table(table_of(new_rows[:5]), elsewhere / "b.parquet")
    (source / "year=2026").symlink_to(elsewhere)
    assert job().n_rows == 75
    assert (tmp_path / "out" / "year=2026" / "b.parquet").is_file()
    (elsewhere / "loop").symlink_to(source)
    assert "too many levels of symbolic links" in refusal(DataError, job)
    (elsewhere / "loop").unlink()
    (source / "year=2027").symlink_to(source / "nowhere")
    assert refusal(DataError, job).endswith("year=2027: no such file. Correct the path.")


def test_a_table_that_cannot_be_a_part_is_not_passed_over(job, source):
    (source / "x.h5ad").touch()
    assert refusal(ParameterError, job) == (
        "source must be a folder of files that end in one of .parquet, .feather, .arrow, .csv, "
        f".npy, or one such file; got source={str(source / 'x.h5ad')!r}. "
        "Convert the file, or use TSNE.place."
    )


@pytest.mark.parametrize(
    ("keep", "sentence"),
    [
        ("id", "keep must be a list of different column names; got keep='id'. "),
        (["id", "id"], "keep must be a list of different column names; got keep=['id', 'id']. "),
        (["x"], "keep must name other columns than x, y, the coordinates; got keep='x'. "),
        (["idd"], "got keep='idd'. Did you mean 'id'?"),
    ],
)
def test_columns_to_keep_are_checked(job, keep, sentence):
    assert sentence in refusal(ParameterError, job, keep=keep)


def test_a_part_without_a_column_of_the_model_is_refused(job, source):
    path = source / "year=2024" / "part-0.parquet"
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns("c"), path)
    assert refusal(DataError, job) == (
        f"Every part must have all columns of the model; {path} has no 'c'. "
        "Available: 'id', 'when', 'b', 'a'."
    )


@pytest.fixture
def damaged(new_rows):
    rows = new_rows.copy()
    for k, gap in enumerate(GAPS):
        rows[gap, k % 3] = np.nan if k % 2 else np.inf
    return rows


@pytest.mark.parametrize("extension", [".parquet", ".feather", ".csv"])
def test_complete_rows_keep_their_order_and_columns(
    model_file, damaged, expected, tmp_path, extension
):
    path = tmp_path / f"t{extension}"
    WRITE[extension](path, table_of(damaged).drop_columns("when"))
    done = place_files(model_file, path, tmp_path / "out", keep=["id"], missing="drop")
    assert (done.n_rows, done.n_dropped) == (65, 5)
    read = {".parquet": pd.read_parquet, ".csv": pd.read_csv}.get(extension, pd.read_feather)
    result = read(tmp_path / "out" / path.name)
    kept = np.delete(np.arange(70), GAPS)
    assert result["id"].tolist() == [f"r{i}" for i in kept]
    tolerance = 1e-2 if extension == ".csv" else 0  # text is read as float64
    np.testing.assert_allclose(result[["x", "y"]], expected[kept], atol=tolerance)


@pytest.mark.parametrize("extension", [".npy", ".parquet"])
def test_without_drop_a_missing_value_is_an_error(model_file, damaged, tmp_path, extension):
    path = tmp_path / f"x{extension}"
    if extension == ".npy":
        np.save(path, damaged)
    else:
        pq.write_table(table_of(damaged), path, row_group_size=2)
    settings = {"model": model_file, "source": path, "output": tmp_path / "out"}
    said = refusal(DataError, place_files, **settings)
    assert f"{path} has an infinite value in row 2 (counting from 0), column " in said
    assert said.endswith("or pass missing='drop' to leave out the rows.")
    assert refusal(ParameterError, place_files, **settings, missing="error") == (
        "missing must be 'refuse' or 'drop'; got missing='error'. "
        "Pass missing='drop' to drop rows with missing values."
    )
    done = "the treatment of missing values was refuse, is now drop. "
    assert done in refusal(OutputError, place_files, **settings, missing="drop")


def test_blocks_do_not_change_the_result(job, model_file, tmp_path, monkeypatch):
    job(keep=["id", "b"])
    monkeypatch.setattr(parts, "BLOCK_BYTES", 8 * 5 * 9)  # 9 rows of 5 columns
    job(keep=["id", "b"], output=tmp_path / "other")
    for name in SIZES:
        one, other = (
            pq.read_table(tmp_path / out / name, partitioning=None) for out in ("out", "other")
        )
        assert one.equals(other)


def test_a_file_that_changes_while_it_is_read_is_refused(job, source, monkeypatch):
    place = TSNE.place

    def place_and_write(model, X):
        os.utime(source / "year=2024" / "part-0.parquet")
        return place(model, X)

    monkeypatch.setattr(TSNE, "place", place_and_write)
    assert "part-0.parquet must not change while it is read; " in refusal(DataError, job)
