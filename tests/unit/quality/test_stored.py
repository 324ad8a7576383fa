"""Measures of maps whose points are not in memory."""

import dask.array as da
import numpy as np
import pytest

from isosne.errors import DataError
from isosne.quality import compare, report
from isosne.quality.inputs import draw_rows
from tests.conftest import refuses


@pytest.fixture(name="stored")
def fixture_stored(tmp_path):
    X = np.random.default_rng(0).normal(size=(600, 5)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    return X, tmp_path / "X.npy"


def test_sampled_rows_coordinates_and_labels_belong_together(stored):
    X, path = stored
    labels = np.arange(600)
    drawn, Y, named = draw_rows(path, X[:, :2], labels, n_points=100, random_state=0)
    assert len(set(named)) == 100
    np.testing.assert_array_equal(named, np.sort(named))
    np.testing.assert_array_equal(drawn, X[named])
    np.testing.assert_array_equal(Y, X[named, :2])


def test_a_report_of_few_rows_on_disk_is_that_of_all(stored):
    X, path = stored
    labels = np.arange(600) % 3
    expected = report(X, X[:, :2], labels, random_state=0).as_dict()
    assert report(path, X[:, :2], labels, random_state=0).as_dict() == expected
    chunks = da.from_array(X, chunks=(250, 5))
    assert report(chunks, X[:, :2], labels, random_state=0).as_dict() == expected


@pytest.mark.parametrize("n_given", [599, 601])
def test_coordinates_and_labels_must_be_as_many_as_rows(stored, n_given):
    X, path = stored
    Y = np.zeros((n_given, 2))
    sentence = (
        f"X and Y must have the same number of rows; got 600 rows in X and {n_given} in Y. "
        "Pass the data that Y was computed from, in the same order."
    )
    with refuses(DataError, sentence):
        report(path, Y)
    sentence = (
        f"labels must have one entry per point; got {n_given} labels for 600 points. "
        "Pass the labels in the order of the rows of Y."
    )
    with refuses(DataError, sentence):
        report(path, X[:, :2], np.zeros(n_given))


def test_other_measures_refuse_data_that_are_not_in_memory(stored):
    X, path = stored
    sentence = (
        f"X must be in memory; got {type(path).__name__}. Call "
        "isosne.quality.report, which samples rows, or pass a sample of your own."
    )
    with refuses(DataError, sentence):
        compare(path, X[:, :2]).auc()
