"""A placer places any batch on the map of a file, in any process."""

import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import cloudpickle
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isosne import TSNE, Placer
from isosne.errors import DataError, ParameterError
from isosne.place import placer as placer_module
from tests.unit.place.conftest import FEW, NAMES, rows_of


def columns_of(rows, names=("c", "a", "b")):
    """The columns of rows by name, in another order than at fit, beside other columns."""
    found = {name: rows[:, NAMES.index(name)] for name in names}
    return {"id": np.array([f"r{i}" for i in range(len(rows))]), **found}


BATCHES = {
    "array": lambda rows: rows,
    "list": lambda rows: rows.astype(np.float64).tolist(),
    "dict of arrays": columns_of,
    "pandas": lambda rows: pd.DataFrame(columns_of(rows)),
    "polars": lambda rows: pl.DataFrame(columns_of(rows)),
    "Arrow table": lambda rows: pa.table(columns_of(rows)),
    "record batch": lambda rows: pa.RecordBatch.from_pydict(columns_of(rows)),
}


@pytest.mark.parametrize("kind", BATCHES)
def test_every_kind_of_batch_gives_the_same_places(model_file, new_rows, expected, kind):
    found = Placer(model_file)(BATCHES[kind](new_rows))
    if kind == "list":  # Python's numbers are float64
        np.testing.assert_allclose(found, expected, atol=1e-3)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_may_have_no_rows(model_file, kind):
    found = Placer(model_file)(BATCHES[kind](rows_of(0)))
    assert (found.shape, found.dtype) == ((0, 2), np.float32)


def test_a_pickled_placer_holds_the_path_and_not_the_model(model_file, new_rows):
    place = Placer(model_file, n_jobs=1)
    place(new_rows)
    content = pickle.dumps(place)
    assert len(content) < 1000
    again = pickle.loads(content)
    assert (again.path, again.sha256, again.n_jobs) == (model_file, place.sha256, 1)
    assert repr(again) == f"Placer({str(model_file)!r}, n_jobs=1)"
    assert repr(Placer(model_file)) == f"Placer({str(model_file)!r})"


def test_a_process_loads_a_model_once(model_file, new_rows, monkeypatch):
    loaded = []
    load = TSNE.load
    monkeypatch.setattr(TSNE, "load", lambda path: loaded.append(path) or load(path))
    placer_module._load.cache_clear()
    content = pickle.dumps(Placer(model_file))

    def work(k):
        return pickle.loads(content)(new_rows[k : k + 5]).tobytes()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(12)))
    assert loaded == [model_file]
    assert len(set(found)) == 12


@pytest.mark.slow
def test_processes_of_a_pool_place_batches(model_file, new_rows, expected):
    batches = [columns_of(new_rows[s : s + 20]) for s in range(0, len(new_rows), 20)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(Placer(model_file, n_jobs=1), batches))
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_the_recipe_for_spark_keeps_ids_and_order(model_file, new_rows, expected):
    """Spark passes an iterator of record batches, and the function with cloudpickle."""
    place = Placer(model_file, n_jobs=1)

    def place_batches(batches):
        for batch in batches:
            Y = place(batch)
            yield pa.RecordBatch.from_pydict({"id": batch["id"], "x": Y[:, 0], "y": Y[:, 1]})

    table = pa.table(columns_of(new_rows))
    again = cloudpickle.loads(cloudpickle.dumps(place_batches))
    found = pa.Table.from_batches(again(iter(table.to_batches(max_chunksize=17))))
    assert found["id"].to_pylist() == table["id"].to_pylist()
    np.testing.assert_array_equal(np.column_stack([found["x"], found["y"]]), expected)


def test_a_missing_column_is_named(model_file, new_rows):
    batch = columns_of(new_rows, names=("a", "b"))
    sentence = (
        r"^A batch must have all columns of the model; it has no 'c'\. "
        r"Its columns are 'id', 'a', 'b'\. Rename them, or add the missing ones\.$"
    )
    for kind in (dict, pd.DataFrame, pa.table, pa.RecordBatch.from_pydict):
        with pytest.raises(DataError, match=sentence):
            Placer(model_file)(kind(batch))


def test_a_path_is_no_batch(model_file):
    sentence = (
        r"^batch must be rows in memory: an array, a data frame, an Arrow table or a dict of "
        r"columns; got batch='x\.npy'\. "
        r"For files and Dask collections, use TSNE\.place or isosne\.place_files\.$"
    )
    with pytest.raises(ParameterError, match=sentence):
        Placer(model_file)("x.npy")


def test_a_model_that_was_replaced_is_refused(model_file, new_rows, tmp_path):
    path = tmp_path / "model.isosne"
    shutil.copy(model_file, path)
    place = Placer(path)
    TSNE(random_state=1, schedule=FEW).fit(rows_of(90)).save(path)
    with pytest.raises(DataError) as caught:
        place(new_rows)
    assert str(caught.value) == (
        f"The model {path} must be the file that the Placer was created with; its content has "
        "changed. Create the Placer again, or restore the file."
    )
