"""The scale of a model's input: rows that were scaled as they were read."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows
from tests.unit.tsne.conftest import make, other_run, saved

N = 90
WIDTHS = np.array([1.0, 1e3, 1e-3, 50.0])


@pytest.fixture(scope="module")
def rows():
    """Four columns in four units."""
    return np.random.default_rng(0).normal(size=(N, 4)) * WIDTHS + 7 * WIDTHS


def scaled(source, kind="minmax"):
    opened = open_rows(source)
    return ScaledRows(opened, Scale.of(kind, opened))


def test_a_scaled_model_is_that_of_rows_scaled_before(rows, tmp_path):
    before = (rows - rows.min(axis=0)) * (1 / np.ptp(rows, axis=0))
    model, plain = make().fit(scaled(rows)), make().fit(before)
    assert model.embedding_.tobytes() == plain.embedding_.tobytes()
    new = rows[:20] + 0.1 * WIDTHS
    expected = plain.transform((new - rows.min(axis=0)) * (1 / np.ptp(rows, axis=0)))
    loaded = saved(model, tmp_path)
    assert loaded.transform(new).tobytes() == expected.tobytes()
    assert not np.array_equal(plain.transform(new), expected)  # the scale matters
    few = make(landmarks=40).fit(scaled(rows, "standard"))
    np.testing.assert_array_equal(few.place(rows)[few.landmark_indices_], few.embedding_)


def test_rows_of_every_container_are_scaled(rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    frame = pd.DataFrame(rows, columns=list("abcd"))
    pl.DataFrame(frame).write_parquet(tmp_path / "rows.parquet")
    model = saved(make().fit(scaled(tmp_path / "rows.parquet")), tmp_path)
    assert model.feature_names_in_.tolist() == list("abcd")
    for source in (
        tmp_path / "rows.npy",
        tmp_path / "rows.parquet",
        da.from_array(rows, chunks=30),
        frame,
        csr_array(rows),
    ):
        assert model.place(source).tobytes() == model.embedding_.tobytes(), source
    assert model.transform(frame).tobytes() == model.embedding_.tobytes()
    assert model.transform(str(tmp_path / "rows.npy")).tobytes() == model.embedding_.tobytes()


def test_rows_that_are_scaled_already_are_not_scaled_again(rows, tmp_path):
    model = saved(make().fit(scaled(rows)), tmp_path)
    assert model.place(scaled(rows)).tobytes() == model.embedding_.tobytes()
    assert model.transform(scaled(rows)).tobytes() == model.embedding_.tobytes()


def test_a_checkpoint_knows_rows_of_another_scale(rows, tmp_path):
    path = tmp_path / "run.isosne"
    whole = make().fit(scaled(rows), checkpoint=path)
    assert make().fit(scaled(rows), checkpoint=path).embedding_.tobytes() == (
        whole.embedding_.tobytes()
    )
    with other_run(path, "the input"):
        make().fit(scaled(rows, "standard"), checkpoint=path)
