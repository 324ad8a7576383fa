"""The estimator that turns rows of tables into leaves of trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isosne import TableForest
from isosne.errors import DataError, ParameterError
from tests.conftest import refuses
from tests.unit.tables.tables import FRAMES, N, as_pandas, mixed_columns


def forest(**more):
    return TableForest(**{"n_trees": 20, "random_state": 0} | more)


@pytest.fixture
def frame():
    return as_pandas(mixed_columns())


def test_codes_are_the_same_for_every_library():
    first, *others = (forest().fit_transform(make(mixed_columns())) for make in FRAMES.values())
    assert first.shape == (N, 40)
    assert first.dtype == np.uint8
    for codes in others:
        np.testing.assert_array_equal(codes, first)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_codes_do_not_depend_on_threads_or_on_the_rows_beside(frame, threads, n_threads):
    fitted = forest().fit(frame)
    codes = threads(n_threads, lambda: forest().fit_transform(frame))
    np.testing.assert_array_equal(codes, fitted.transform(frame))
    np.testing.assert_array_equal(codes[5:9], fitted.transform(frame[5:9]))


def test_leaves_hold_as_many_rows_as_asked():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(["x", "y", None], 400)})
    for size in (4, 16, 100):
        codes = forest(leaf_size=size).fit_transform(frame)
        assert all(len(np.unique(column)) <= round(400 / size) for column in codes.T)
        assert codes.max() < round(400 / size)


def test_similar_rows_share_more_leaves(frame):
    codes = forest(n_trees=200).fit_transform(frame)
    shared = np.mean(codes[:, None] == codes[None], axis=2)
    group = np.arange(N) % 3
    same = np.equal.outer(group, group)
    np.fill_diagonal(same, False)
    assert shared[same].mean() > 1.5 * shared[~same & ~np.eye(N, dtype=bool)].mean()
    np.testing.assert_array_equal(np.diag(shared), 1)


def test_names_of_categories_and_the_order_of_rows_change_nothing_but_the_draws():
    """The share of leaves of two rows is an expectation: other names give the same within noise.

    600 trees: the standard error of a share is at most 0.02; five of the difference are allowed.
    """
    rng = np.random.default_rng(0)
    values = rng.choice(["a", "b", "c", "d"], 30)
    frame = pd.DataFrame({"x": rng.normal(size=30), "c": values})
    renamed = frame.assign(c=[{"a": "q", "b": "zz", "c": "", "d": "m"}[v] or "é" for v in values])
    shares = []
    for table in (frame, renamed):
        codes = forest(leaf_size=4, n_trees=600).fit_transform(table)
        shares.append(np.mean(codes[:, None] == codes[None], axis=2))
    assert np.abs(shares[0] - shares[1]).max() < 5 * 0.02 * np.sqrt(2)


def test_columns_and_trees_in_one_line(frame):
    frame["name"] = [f"row {i}" for i in range(N)]
    assert forest().fit(frame).describe() == (
        "table with 2 numbers, 1 boolean, 1 date, 1 ordered category, 1 category, 1 identifier "
        "(left out); "
        "42 missing values; rows compared by 40 isolation trees"
    )


def test_the_number_of_trees_follows_the_number_of_rows():
    assert TableForest()._n_trees(20_000) == 200
    assert TableForest()._n_trees(20_001) == 100


def test_names_of_the_codes_and_output_as_a_frame(frame):
    fitted = forest(n_trees=2).set_output(transform="pandas").fit(frame)
    codes = fitted.transform(frame)
    assert list(codes.columns) == [f"tableforest{i}" for i in range(4)]
    assert list(fitted.feature_names_in_) == list(frame.columns)


def test_a_clone_has_the_parameters_alone(frame):
    fitted = forest(categorical=["count"], leaf_size=(3, 9)).fit(frame)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert vars(copy) == copy.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(frame)


PARAMETERS = {
    "no trees": (
        {"n_trees": 0},
        "n_trees must be an integer from 1 up; got n_trees=0. 200 are usual.",
    ),
    "few": (
        {"n_trees": "few"},
        "n_trees must be an integer from 1 up; got n_trees='few'. 200 are usual.",
    ),
    "small leaves": (
        {"leaf_size": 0.5},
        "leaf_size must be a number from 1 up; got leaf_size=0.5. 4 to 16 rows are usual.",
    ),
    "no number": (
        {"leaf_size": (4, "all")},
        "leaf_size must be a number from 1 up; got leaf_size='all'. 4 to 16 rows are usual.",
    ),
    "no leaves": (
        {"leaf_size": ()},
        "leaf_size must have at least one value; got leaf_size=(). Pass one value.",
    ),
}


@pytest.mark.parametrize(("settings", "sentence"), PARAMETERS.values(), ids=PARAMETERS)
def test_parameters_outside_their_rule_are_refused(frame, settings, sentence):
    with refuses(ParameterError, sentence):
        forest(**settings).fit(frame)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_small_tables_have_trees_of_two_leaves(frame, n):
    codes = forest().fit_transform(frame[:n])
    assert codes.shape == (n, 40)
    assert codes.max() == 1


def test_one_row_is_refused(frame):
    with refuses(DataError, "X must have at least 2 row(s); got n_samples=1. Pass more rows."):
        forest().fit(frame[:1])
