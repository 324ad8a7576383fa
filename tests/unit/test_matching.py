"""Rows matched by their identifiers."""

import numpy as np
import pandas as pd
import pytest

from isosne._matching import check_ids, match_ids
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses


def matched(ids, others):
    a, b = check_ids(ids, len(ids), "ids"), check_ids(others, len(others), "others")
    rows, found = match_ids(a, b)
    return list(zip(rows.tolist(), found.tolist(), strict=True))


@pytest.mark.parametrize(
    ("ids", "others"),
    [
        ([7, 3, 9], [9, 1, 7, 2]),
        (["g", "c", "i"], ["i", "a", "g", "b"]),
        ([7, 3, 9], ["9", "1", "7", "2"]),
        (pd.Index(["g", "c", "i"]), np.array(["i", "a", "g", "b"], object)),
        (
            np.array(["2026-01-07", "2026-01-03", "2026-01-09"], "M8[D]"),
            ["2026-01-09", "2026-01-01", "2026-01-07", "2026-01-02"],
        ),
    ],
    ids=["numbers", "text", "mixed", "pandas", "dates"],
)
def test_rows_with_the_same_identifier_are_found_in_order(ids, others):
    assert matched(ids, others) == [(0, 2), (2, 0)]


def test_nothing_in_common_is_an_empty_match():
    assert matched([1, 2], [3, 4]) == []


def test_identifiers_must_be_unique_and_one_for_each_row():
    sentence = (
        "ids must be unique; 2 of 4 are repeated, such as 'a'. Pass a different identifier for "
        "each row."
    )
    with refuses(DataError, sentence):
        check_ids(["a", "b", "a", "a"], 4, "ids")
    sentence = (
        "ids must have one identifier for each of 3 rows; got shape (2,). Pass the identifiers of "
        "all rows, in their order."
    )
    with refuses(ParameterError, sentence):
        check_ids([1, 2], 3, "ids")
