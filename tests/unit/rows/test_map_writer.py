"""Map files are complete or absent, and round-trip exactly."""

import json
import os
import re
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne.errors import DataError, IsosneWarning, OutputError, ParameterError
from isosne.rows import MapWriter, open_rows, read_map
from isosne.rows.map_writer import GROUP_ROWS
from tests.conftest import refuses

ENDINGS = ["parquet", "csv", "feather", "npy"]
READABLE = ENDINGS[:-1]
Y = np.random.default_rng(0).normal(size=(500, 2)).astype(np.float32) * 1e3
IDS = np.array([f"row, {i}" for i in range(500)])
PROVENANCE = {"version": "0.1.0", "seed": 0, "parameters": {"psi": np.int64(16), "name": "ü"}}


def write(path, ids=IDS, Y=Y, **options):
    with MapWriter(path, ids, Y.shape[1], PROVENANCE, **options) as writer:
        for start in range(0, len(Y), 123):
            writer.write(Y[start : start + 123])
    return path


def there(folder):
    return sorted(path.name for path in folder.iterdir())


def files_of(ending):
    """The files of a map: provenance of a CSV file is in a second one."""
    return ["map.csv", "map.csv.json"] if ending == "csv" else [f"map.{ending}"]


COLUMNS = {"cluster": np.arange(500) % 7, "score": np.linspace(0, 1, 500)}


@pytest.mark.parametrize(
    "labels", [np.arange(500) % 3, np.array(["a", "b"] * 250)], ids=["integers", "text"]
)
@pytest.mark.parametrize("ending", READABLE)
def test_a_map_comes_back_as_it_was(ending, labels, tmp_path):
    found = read_map(write(tmp_path / f"map.{ending}", labels=labels, columns=COLUMNS))
    np.testing.assert_array_equal(found.embedding, Y)
    assert found.embedding.dtype == np.float32
    np.testing.assert_array_equal(found.ids, IDS)
    np.testing.assert_array_equal(found.labels, labels)
    assert list(found.columns) == list(COLUMNS)
    for name, values in COLUMNS.items():
        np.testing.assert_array_equal(found.columns[name], values)
        assert found.columns[name].dtype.kind == values.dtype.kind
    stored = json.loads(json.dumps(PROVENANCE, default=int)) | {"columns": list(COLUMNS)}
    assert found.provenance == stored
    assert there(tmp_path) == files_of(ending)


@pytest.mark.parametrize("n_components", [1, 3])
@pytest.mark.parametrize("ending", READABLE)
def test_rows_without_ids_are_numbered(ending, n_components, tmp_path):
    coordinates = np.resize(Y, (300, n_components))
    found = read_map(write(tmp_path / f"map.{ending}", None, coordinates))
    np.testing.assert_array_equal(found.embedding, coordinates)
    np.testing.assert_array_equal(found.ids, np.arange(300))
    assert found.labels is None


def test_coordinates_alone_are_an_array(tmp_path):
    found = read_map(write(tmp_path / "map.npy", columns={"cluster": np.arange(500)}))
    np.testing.assert_array_equal(found.embedding, Y)
    assert not found.has_ids
    assert found.provenance == found.columns == {}


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "map.csv"
    writer = MapWriter(path, IDS, 2, PROVENANCE)
    writer.write(Y)
    path.write_text("precious")
    with pytest.raises(OutputError, match="the file already exists"):
        writer.close()
    assert path.read_text() == "precious"
    assert there(tmp_path) == ["map.csv"]


@pytest.mark.parametrize(
    ("ending", "error"),
    [*((ending, KeyboardInterrupt) for ending in ENDINGS), ("csv", RuntimeError)],
)
def test_an_error_or_interrupt_leaves_nothing(ending, error, tmp_path):
    def fail():
        with MapWriter(tmp_path / f"map.{ending}", IDS, 2, PROVENANCE) as writer:
            writer.write(Y[:300])
            assert len(there(tmp_path)) == len(files_of(ending))
            raise error

    with pytest.raises(error):
        fail()
    assert there(tmp_path) == []


def test_a_reader_that_has_gone_is_one_sentence(monkeypatch):
    def fail(content):
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=SimpleNamespace(write=fail)))
    writer = MapWriter("-", IDS, 2, PROVENANCE)
    reason = "Cannot write to standard output: the reader closed the pipe before the end. "
    with refuses(OutputError, f"{reason}Write to a file instead."):
        writer.write(Y)


def test_other_extensions_are_refused():
    rule, got = "path must be '-' or a file that ends in one of", "got path='map.xlsx'"
    known = ".parquet, .csv, .feather, .arrow, .npy"
    with refuses(ParameterError, f"{rule} {known}; {got}. Choose one of these extensions."):
        MapWriter("map.xlsx", IDS, 2, PROVENANCE)
    known = ".parquet, .csv, .tsv, .txt, .feather, .arrow, .npy, .npz, .h5ad"
    with refuses(ParameterError, f"{rule} {known}; {got}. Pass a map, or convert it."):
        read_map("map.xlsx")


def test_coordinates_that_are_not_finite_are_refused(tmp_path):
    sentence = (
        "Coordinates must be finite; rows 0 to 1 have NaN or infinite values. "
        "Check the points of these rows."
    )
    with refuses(DataError, sentence), MapWriter(tmp_path / "map.csv", None, 2, {}) as writer:
        writer.write([[0, 0], [np.nan, 0]])
    assert there(tmp_path) == []


# --- CSV for other programs


def test_pandas_reads_a_map_without_options(tmp_path):
    labels = np.array(["a", "b"] * 250)
    frame = pd.read_csv(write(tmp_path / "map.csv", labels=labels, columns=COLUMNS))
    assert list(frame) == ["id", "label", "x", "y", "cluster", "score"]
    assert frame["id"].tolist() == IDS.tolist()
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(np.float32), Y)
    np.testing.assert_allclose(frame["score"], COLUMNS["score"], rtol=1e-12)  # pandas rounds


ODD = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "\uff1dx", "'", "''", "'=x", "'x", "-5", "+.5e3", ""]
MARKED = [f"'{text}" for text in ODD[:11]] + ODD[11:]


def test_texts_that_look_like_formulas_are_marked_and_restored(tmp_path):
    texts = np.array(ODD)
    path = tmp_path / "map.csv"
    with MapWriter(path, texts, 2, {}, labels=texts[::-1]) as writer:
        writer.write(Y[: len(texts)])
    frame = pd.read_csv(path, keep_default_na=False)
    assert frame["id"].tolist() == MARKED
    assert frame["label"].tolist() == MARKED[::-1]
    found = read_map(path)
    assert found.ids.tolist() == ODD
    assert found.labels.tolist() == ODD[::-1]


@pytest.mark.parametrize("change", ["map", "provenance"])
def test_provenance_of_another_map_is_not_used(change, tmp_path):
    path = write(tmp_path / "map.csv")
    if change == "map":
        path.write_text("id,x,y\na,1,2\n")
    else:
        other = json.loads((tmp_path / "map.csv.json").read_text()) | {"sha256": "0"}
        (tmp_path / "map.csv.json").write_text(json.dumps(other))
    sentence = (
        f"{path}.json does not describe {path}, which has changed since isosne wrote it. "
        "How the map was made is not known."
    )
    with pytest.warns(IsosneWarning, match=rf"\A{re.escape(sentence)}\Z"):
        assert read_map(path).provenance == {}


def test_provenance_of_an_earlier_map_is_replaced_and_a_file_of_the_user_is_not(tmp_path):
    path = write(tmp_path / "map.csv")
    path.unlink()
    write(path)
    assert read_map(path).provenance["seed"] == 0
    path.unlink()
    (tmp_path / "map.csv.json").write_text('{"mine": 1}')
    sentence = (
        f"Cannot write {path}.json: the file already exists. "
        "Choose another name, or pass force=True to replace it."
    )
    with refuses(OutputError, sentence):
        write(path)
    assert there(tmp_path) == ["map.csv.json"]
    write(path, force=True)
    assert there(tmp_path) == files_of("csv")


def test_a_column_that_became_text_is_refused(tmp_path):
    path = write(tmp_path / "map.parquet", columns=COLUMNS)
    table = pq.read_table(path)
    place = table.column_names.index("cluster")
    pq.write_table(table.set_column(place, "cluster", pa.array(["p"] * 500)), path)
    rule = f"The column 'cluster' of the map {path} must hold numbers; got text. "
    with refuses(DataError, f"{rule}Compute the map again, or remove the column."):
        read_map(path)


def test_a_map_knows_the_table_that_it_was_made_from(tmp_path):
    rows, copy = open_rows(np.arange(6.0).reshape(3, 2)), open_rows(np.ones((3, 2)))
    made_of = {"shape": list(rows.shape), "fingerprint": rows.fingerprint()}
    with MapWriter(tmp_path / "map.parquet", None, 2, {"input": made_of}) as writer:
        writer.write(Y[:3])
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


def test_a_map_of_a_later_version_is_refused(tmp_path):
    path = tmp_path / "map.parquet"
    pq.write_table(pa.table({"x": [1.0]}, metadata={"isosne": '{"format": 2}'}), path)
    sentence = (
        f"{path} uses map format 2; this version of isosne reads formats up to 1. Update isosne."
    )
    with refuses(DataError, sentence):
        read_map(path)


def traced_peak(path, block, n_blocks):
    tracemalloc.start()
    try:
        with MapWriter(path, None, 2, PROVENANCE) as writer:
            for _ in range(n_blocks):
                writer.write(block)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_writing_holds_blocks_and_not_the_map(ending, tmp_path):
    # 4.8 MB of coordinates; for CSV, which tracing slows down, 0.4 MB in smaller blocks.
    n_rows, n_blocks, limit = (200, 250, 300_000) if ending == "csv" else (2_000, 300, 1_200_000)
    block = np.ones((n_rows, 2), np.float32)
    traced_peak(tmp_path / f"warm.{ending}", block, 1)
    peak = traced_peak(tmp_path / f"map.{ending}", block, n_blocks)
    if ending != "csv":
        limit += GROUP_ROWS * 16
    assert peak < limit
