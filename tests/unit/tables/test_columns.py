"""The kind of each column, whatever library holds the table; and what is refused."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from isosne.errors import DataError, ParameterError
from isosne.tables.columns import encode_columns, is_mixed, read_columns
from tests.conftest import refuses
from tests.unit.tables.tables import FRAMES, mixed_columns

KINDS = {
    "weight": "number",
    "count": "number",
    "color": "category",
    "size": "ordered",
    "is_new": "boolean",
    "seen": "date",
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param](mixed_columns())


def kinds(data, **more):
    return {column.name: column.kind for column in read_columns(data, **more)[0]}


def test_every_library_gives_the_same_kinds_and_numbers(frame):
    assert kinds(frame) == KINDS
    found = kinds(frame, categorical=["count", "size"])
    assert found == KINDS | {"count": "category", "size": "category"}
    columns = mixed_columns()
    found = [read_columns(as_frame(columns)) for as_frame in FRAMES.values()]
    for described, table in found[1:]:
        assert described == found[0][0]
        np.testing.assert_array_equal(table, found[0][1])
    assert np.isnan(found[0][1]).sum() == sum(c.n_missing for c in found[0][0]) > 30


def test_ordered_categories_are_positions_and_others_are_codes(frame):
    described, table = read_columns(frame)
    source = mixed_columns()
    for c, name in enumerate(KINDS):
        if name in ("size", "color"):
            listed = described[c].categories
            expected = [np.nan if v is None else listed.index(v) for v in source[name]]
            np.testing.assert_array_equal(table[:, c], expected)
    assert described[2].categories == ("blue", "green", "red")
    assert described[3].categories == ("small", "medium", "large")


TEXTS = {
    "numbers": (["1", "2.5", "", None, " 4 "], "number", [1, 2.5, np.nan, np.nan, 4]),
    "dates": (
        ["1970-01-01", "1970-01-02", None, "1970-01-01T00:00:30"],
        "date",
        [0, 86400, np.nan, 30],
    ),
    "words": (["b", "a", "", "b"], "category", [1, 0, np.nan, 1]),
    "words for moments": (["now", "today", "NaT"], "category", [1, 2, 0]),
    "booleans with gaps": ([True, None, False], "number", [1, np.nan, 0]),
    "nothing": ([None, None], "number", [np.nan, np.nan]),
}


@pytest.mark.parametrize("as_data", [lambda v: pd.DataFrame({"a": v}), lambda v: np.array([v]).T])
@pytest.mark.parametrize(("values", "kind", "expected"), TEXTS.values(), ids=TEXTS)
def test_objects_and_text_are_what_all_their_values_are(values, kind, expected, as_data):
    values = np.array(values, dtype=object)
    described, table = read_columns(as_data(values))
    assert described[0].kind == kind
    np.testing.assert_array_equal(table[:, 0], expected)


NOON = datetime.datetime(1970, 1, 1, 12)
TIMES = {
    "durations": (pl.DataFrame({"a": [datetime.timedelta(hours=12), None]}), 43200),
    "times of day": (pl.DataFrame({"a": [datetime.time(12), None]}), 43200),
    "time zones, pandas": (
        pd.DataFrame({"a": pd.to_datetime([NOON, None]).tz_localize("Etc/GMT-1")}),
        39600,
    ),
    "days, pandas": (pd.DataFrame({"a": [datetime.date(1970, 1, 2), None]}), 86400),
    "objects": (np.array([[pd.Timestamp(NOON)], [pd.NaT]], object), 43200),
    "nanoseconds": (pd.DataFrame({"a": pd.to_timedelta([1_000_560, None], unit="ns")}), 0.00100056),
    "text with a time zone": (pd.DataFrame({"a": ["1970-01-01T12:00:00+01:00", ""]}), 39600),
}


@pytest.mark.parametrize(("data", "seconds"), TIMES.values(), ids=TIMES)
def test_dates_times_of_day_and_durations_have_an_order(data, seconds):
    described, table = read_columns(data)
    assert described[0].kind == "date"
    np.testing.assert_array_equal(table[:, 0], [seconds, np.nan])


def test_text_with_mostly_distinct_values_is_an_identifier():
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(60)], "x": range(60)})
    described, table = read_columns(frame)
    assert [str(column) for column in described] == ["name identifier, left out", "x number"]
    assert table.shape == (60, 1)
    assert kinds(frame, categorical=["name"])["name"] == "category"
    few = frame.assign(name=[f"n{i % 30}" for i in range(60)])
    assert kinds(few)["name"] == "category"
    assert kinds(frame[:20])["name"] == "category"


def test_new_tables_may_have_another_order_of_columns(frame):
    columns, table = read_columns(frame)
    turned = FRAMES["pandas"](mixed_columns())[list(KINDS)[::-1]]
    np.testing.assert_array_equal(encode_columns(turned, columns), table)
    array = FRAMES["pandas"](mixed_columns()).to_numpy(object)
    np.testing.assert_array_equal(encode_columns(array, columns), table)


def test_new_categories_have_codes_of_their_own_and_new_ordered_ones_are_missing():
    frame = pd.DataFrame({"a": ["x", "y"], "b": pd.Categorical(["s", "m"], ["s", "m"], True)})
    columns, _ = read_columns(frame)
    new = pd.DataFrame({"a": ["z", "w", "z", "y"], "b": ["s", "l", None, "m"]})
    codes = encode_columns(new, columns)
    assert codes[0, 0] == codes[2, 0] != codes[1, 0]
    assert np.all((codes[:3, 0] >= 2) & (codes[:3, 0] < 2**32))
    assert codes[3, 0] == 1
    np.testing.assert_array_equal(codes[:, 1], [0, np.nan, np.nan, 1])


MIXED = {
    "text": (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), True),
    "gaps": (pd.DataFrame({"a": [1, np.nan]}), True),
    "nulls": (pa.table({"a": [1, None]}), True),
    "numbers": (pd.DataFrame({"a": [1, 2], "b": [True, False]}), False),
    "text numbers": (pd.DataFrame({"a": ["1", "2"]}), False),
    "categories that are numbers": (pd.DataFrame({"a": pd.Categorical([3, 4])}), True),
    "no rows": (pd.DataFrame({"a": []}), False),
    "an array": (np.array([[1, np.nan]]), False),
}


@pytest.mark.parametrize(("data", "expected"), MIXED.values(), ids=MIXED)
def test_frames_with_text_dates_or_gaps_are_mixed(data, expected):
    assert is_mixed(data) is expected


REFUSED = {
    "lists": pytest.param(
        pl.DataFrame({"a": [[1], [2]]}),
        "Column 'a' of X must hold numbers, text, categories, booleans or dates; got List(Int64). "
        "Leave it out, or turn it into several columns.",
    ),
    "infinite": pytest.param(
        pd.DataFrame({"a": [1.0, -np.inf], "b": ["x", "y"]}),
        "Column 'a' must hold finite numbers or missing values; it holds others. "
        "Convert the column, or declare it as categorical.",
    ),
    "sparse": (csr_array(np.eye(3)), "X must be dense; got a sparse matrix. Pass X.toarray()."),
    "identifiers alone": pytest.param(
        pd.DataFrame({"name": [f"n{i}" for i in range(30)]}),
        "X must have at least one column besides identifiers; found 0 feature(s) "
        "(shape=(30, 1)) while a minimum of 1 is required. Declare the columns to use as "
        "categorical.",
    ),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_columns_that_cannot_be_used_are_refused(data, sentence):
    with refuses(DataError, sentence):
        read_columns(data)


FITTED = read_columns(pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": ["2024-01-01"] * 2}))[0]
SAME = (
    "X must have the 3 columns of the fitted table: X has {} features, but TableForest is "
    "expecting 3 features as input, and {}. Pass a table with the same columns."
)
OTHER = {
    "too many": (
        pd.DataFrame({"a": [1], "b": ["x"], "c": ["2024-01-01"], "d": [0]}),
        SAME.format(4, "'d' is not one of them"),
    ),
    "an array": (np.array([[1, 2]]), SAME.format(2, "'a' is missing")),
    "text for dates": pytest.param(
        pd.DataFrame({"a": [1], "b": ["x"], "c": ["soon"]}),
        "Column 'c' must hold dates or missing values; it holds others. "
        "Convert the column, or declare it as categorical.",
    ),
}


@pytest.mark.parametrize(("data", "sentence"), OTHER.values(), ids=OTHER)
def test_new_tables_must_have_the_columns_and_kinds_of_the_fitted(data, sentence):
    with refuses(DataError, sentence):
        encode_columns(data, FITTED)


def test_declared_columns_must_be_a_list_of_columns():
    frame = pd.DataFrame({f"c{i}": [1, 2] for i in range(12)})
    sentence = "categorical must be a list of columns; got categorical={}. Pass {}."
    with refuses(ParameterError, sentence.format("'c1'", "categorical=['c1']")):
        read_columns(frame, "c1")
    for wrong in (3, {"c1": 1}, [["c1"]], np.array([["c1"]])):
        with refuses(ParameterError, sentence.format(repr(wrong), "their names")):
            read_columns(frame, wrong)
    with refuses(
        ParameterError,
        "categorical must name columns of the table; got categorical='d'. The table has 12 "
        "columns.",
    ):
        read_columns(frame, ["c1", "d"])
