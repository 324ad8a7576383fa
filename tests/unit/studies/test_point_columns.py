"""Columns in the form that a browser gets."""

import numpy as np
import pandas as pd
import pytest

from isosne.errors import ParameterError
from isosne.studies.point_columns import as_column, as_columns
from tests.conftest import refuses

DAYS = np.array(["2020-01-02", "2020-01-01"], "datetime64[D]")


@pytest.mark.parametrize(
    ("values", "data", "words"),
    [
        ([0.5, np.nan], [0.5, np.nan], None),
        (np.array([1, 2], np.float32), [1.0, 2.0], None),
        (np.array([3, -1], np.int64), [3, -1], None),
        (np.array([3, 1], np.uint8), [3, 1], None),
        ([2**40, 1], [1, 0], ["1", "1099511627776"]),
        ([True, False], [1, 0], ["False", "True"]),
        (["b", "a"], [1, 0], ["a", "b"]),
        (np.array(["b", None], object), [1, 0], ["", "b"]),
        (DAYS, [1, 0], ["2020-01-01", "2020-01-02"]),
        (pd.Categorical(["b", "a"]), [1, 0], ["a", "b"]),
    ],
    ids=["float", "float32", "int", "byte", "large", "bool", "text", "None", "date", "category"],
)
def test_numbers_stay_and_all_else_is_text(values, data, words):
    column = as_column("c", values, 2)
    np.testing.assert_array_equal(column.data, data)
    assert column.data.dtype == (np.float64 if np.array(data).dtype.kind == "f" else np.int32)
    assert column.words == words


def test_nothing_is_no_columns():
    assert as_columns(None, 3) == []
    assert as_columns({}, 3) == []


def test_the_kind_of_container_is_checked():
    with refuses(
        ParameterError,
        "columns must be a mapping from names to arrays or a data frame, not list. "
        "Pass, for example, {'age': ages}.",
    ):
        as_columns([[1, 2, 3]], 3)


def test_what_was_passed_is_left_alone():
    ages = np.array([1.0, np.inf])
    as_columns({"age": ages}, 2)[0].data[0] = 9
    assert ages.tolist() == [1.0, np.inf]
