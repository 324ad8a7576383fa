import numpy as np
import pandas as pd

from isosne.tables.columns import read_columns
from isosne.tables.coordinates import MOST_CATEGORIES, table_coordinates


def coordinates(frame):
    return table_coordinates(*read_columns(frame))


def test_numbers_are_standardized_and_missing_values_are_at_the_mean():
    # Known values 1, 3, 5: mean 3, standard deviation sqrt(8 / 3).
    found = coordinates(pd.DataFrame({"a": [1.0, 3.0, np.nan, 5.0]}))
    expected = np.array([-2, 0, 0, 2]) / np.sqrt(8 / 3)
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-14)
    assert not found[:, 0].any()


def test_categories_become_standardized_indicators_of_the_most_frequent():
    texts = [f"c{i}" for i in range(MOST_CATEGORIES + 5)] * 4 + ["c3"] * 3
    found = coordinates(pd.DataFrame({"a": texts}))
    assert found.shape == (len(texts), 1 + MOST_CATEGORIES)
    np.testing.assert_allclose(found[:, 1:].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, 1:].std(axis=0), 1, rtol=1e-12)
    np.testing.assert_array_equal(found[:, 1] > 0, np.array(texts) == "c3")


def test_a_table_without_variation_has_a_zero_column_only():
    found = coordinates(pd.DataFrame({"a": ["x", "x", None], "b": [None, None, None]}))
    assert found.shape == (3, 1)
    assert not found.any()


def test_extreme_numbers_do_not_overflow():
    found = coordinates(pd.DataFrame({"a": [-1e300, 1e300, None], "b": [0.0, 1e-300, None]}))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.abs(found[:2, 1:]), 1, rtol=1e-12)
