"""Measures of maps whose points are not in memory."""

import dask.array as da
import numpy as np
import pytest

from isosne.errors import DataError
from isosne.quality import compare, inputs, report


@pytest.fixture(name="stored")
def fixture_stored(tmp_path):
    X = np.random.default_rng(0).normal(size=(600, 5)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    return X, tmp_path / "X.npy"


def test_sampled_rows_coordinates_and_labels_belong_together(stored, monkeypatch):
    X, path = stored
    monkeypatch.setattr(inputs, "STORED_POINTS", 100)
    drawn, Y, named = inputs.draw_rows(path, X[:, :2], np.arange(600), 0)
    assert len(set(named)) == 100
    np.testing.assert_array_equal(named, np.sort(named))
    np.testing.assert_array_equal(drawn, X[named])
    np.testing.assert_array_equal(Y, X[named, :2])


def test_a_report_of_few_rows_on_disk_is_that_of_all(stored):
    X, path = stored
    labels = np.arange(600) % 3
    expected = report(X, X[:, :2], labels, random_state=0).as_dict()
    for rows in (path, da.from_array(X, chunks=(250, 5))):
        assert report(rows, X[:, :2], labels, random_state=0).as_dict() == expected


def test_coordinates_and_labels_must_be_as_many_as_rows(stored):
    X, path = stored
    with pytest.raises(DataError, match="same number of rows; got 600 rows in X and 599 in Y"):
        report(path, X[:599, :2])
    with pytest.raises(DataError, match=r"one entry per point; got shape \(601,\) for 600 points"):
        report(path, X[:, :2], np.zeros(601))


def test_a_comparison_refuses_data_that_are_not_in_memory(stored):
    X, path = stored
    sentence = "X must be in memory; got .*Path. Call isosne.quality.report, which samples rows, or"
    with pytest.raises(DataError, match=sentence):
        compare(path, X[:, :2])
