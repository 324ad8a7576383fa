"""Data sets as tables: which names are data sets, their labels, and rows with missing values."""

from pathlib import Path

import numpy as np
import pytest

from isosne.datasets.catalog import load_table
from isosne.errors import ParameterError
from isosne.rows.table_reader import names_data_set
from tests.conftest import refuses


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    folder = tmp_path / "sets"
    folder.mkdir()
    y = np.arange(178) % 3
    classes = np.array(["1", "2", "3"])
    np.savez(folder / "wine.npz", X=rng.normal(size=(178, 13)), y=y, classes=classes)
    monkeypatch.setenv("ISOSNE_DATA", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("source", "is_set"),
    [("wine", True), ("wien", True), ("wine.csv", False), ("./wine", False), ("-", False)],
)
def test_a_name_without_an_ending_is_that_of_a_set(source, is_set, data_folder):
    assert names_data_set(source) == is_set


def test_a_file_comes_before_a_set_of_the_same_name(data_folder):
    Path("wine").mkdir()
    assert not names_data_set("wine")


def test_a_set_brings_its_labels(data_folder):
    sentence = (
        "label must be left out for a data set, which has its own labels; got label='y'. "
        "Leave it out, or pass a file instead of 'wine'."
    )
    with refuses(ParameterError, sentence):
        load_table("wine", label="y")


def test_rows_of_a_known_set_can_be_dropped_with_their_labels(data_folder):
    with np.load(data_folder / "wine.npz") as archive:
        parts = dict(archive)
    parts["X"][[0, 5]] = np.nan
    np.savez(data_folder / "wine.npz", **parts)
    table = load_table("wine", missing="drop")
    assert table.rows.shape == (176, 13)
    assert table.ids[:5].tolist() == [1, 2, 3, 4, 6]
    assert table.labels[:5].tolist() == ["2", "3", "1", "2", "1"]
    assert len(table.notes) == 1
