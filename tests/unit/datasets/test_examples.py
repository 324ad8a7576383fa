"""Examples of scikit-learn by name."""

from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from isosne.datasets import load, names
from isosne.datasets.examples import load_table
from isosne.errors import ParameterError
from isosne.rows.table_reader import names_data_set
from tests.conftest import refuses


@pytest.mark.parametrize("name", names())
def test_an_example_is_the_set_of_scikit_learn(name):
    found, expected = load(name), getattr(sklearn.datasets, f"load_{name}")()
    assert found.name == name
    np.testing.assert_array_equal(found.X, expected.data)
    np.testing.assert_array_equal(found.y, expected.target)
    assert found.classes.tolist() == [str(one) for one in expected.target_names]
    assert found.features == tuple(expected.feature_names)


@pytest.mark.parametrize("name", ["qqqq", [3]])
def test_an_unknown_name_is_refused(name):
    rule = f"name must be one of breast_cancer, digits, iris, wine; got name={name!r}. "
    with refuses(
        ParameterError, f"{rule}Choose one of these names; other data are read from files."
    ):
        load(name)


@pytest.mark.parametrize(
    ("source", "is_set"),
    [("wine", True), ("wien", True), ("wine.csv", False), ("./wine", False), ("-", False)],
)
def test_a_name_without_an_ending_is_that_of_a_set_unless_a_file_is_there(
    source, is_set, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert names_data_set(source) == is_set
    Path("wine").mkdir()
    assert not names_data_set("wine")


def test_a_set_brings_its_labels():
    table = load_table("digits")
    assert table.labels[:4].tolist() == ["0", "1", "2", "3"]
    assert table.names[:2] == ("pixel_0_0", "pixel_0_1")
    rule = "label must be left out for a data set, which has its own labels; got label='y'. "
    with refuses(ParameterError, f"{rule}Leave it out, or pass a file instead of 'wine'."):
        load_table("wine", label="y")
