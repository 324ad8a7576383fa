"""Isolation trees over tables, compiled, against slow ones; and rows as leaves of them."""

import numpy as np
import pandas as pd
import pytest

from isosne import TableForest
from isosne.errors import ParameterError
from isosne.tables.trees import find_leaves, grow_trees, row_keys
from tests.conftest import refuses
from tests.reference import table_trees as slow
from tests.unit.tables.tables import N, as_pandas, mixed_columns

CATEGORY = np.array([False, True, False, True])


def make_table(n, seed=0, gaps=0.2):
    """Numbers with ties, few categories, numbers of both signs, and many categories."""
    rng = np.random.default_rng(seed)
    table = np.column_stack(
        [
            rng.integers(0, 5, n),
            rng.integers(0, 3, n),
            rng.normal(size=n) * 1e3,
            rng.integers(0, n, n),
        ]
    ).astype(np.float64)
    table[rng.random(table.shape) < gaps] = np.nan
    return table


def leaves_of(table, trees, t, is_category=CATEGORY):
    leaves = np.empty(len(table), np.int64)
    find_leaves(table, is_category, row_keys(table), trees.seeds[t], trees.tree(t), leaves)
    return leaves


def grow_all(table, is_category=CATEGORY, n_trees=3, seed=0):
    """Trees over all rows of a table."""
    rng = np.random.default_rng(seed)
    return grow_trees(table, row_keys(table), is_category, (n_trees, len(table)), rng)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("n", [2, 3, 40])
def test_trees_and_leaves_are_those_of_the_slow_twin(n, gaps):
    table = np.repeat(make_table(n, gaps=gaps), 1 + (n == 3), axis=0)  # some rows are equal
    keys = row_keys(table)
    trees = grow_all(table)
    new = make_table(30, seed=1, gaps=gaps)
    new[:5, 3] += 1000  # categories that are new
    new_keys = row_keys(new)
    for t in range(3):
        seed = int(trees.seeds[t])
        nodes = slow.grow(
            table.tolist(), CATEGORY, keys.tolist(), seed, lambda s: float(np.float32(s))
        )
        features, thresholds, shares, children = trees.tree(t)
        for node, expected in enumerate(nodes):
            if isinstance(expected, tuple):
                found = features[node], thresholds[node], shares[node], children[node]
                assert found == expected
            else:
                assert children[node] == -1 - expected
        for rows, their_keys in ((table, keys), (new, new_keys)):
            expected = [
                slow.leaf(nodes, row, CATEGORY, key, seed)
                for row, key in zip(rows.tolist(), their_keys.tolist(), strict=True)
            ]
            assert leaves_of(rows, trees, t).tolist() == expected


def test_huge_and_neighboring_numbers_are_separated():
    table = np.array([[-1.7e308], [np.nextafter(1.0, 2.0)], [1.7e308], [1.0]])
    trees = grow_all(table, np.array([False]), n_trees=20)
    assert np.isfinite(trees.thresholds).all()
    for t in range(20):
        assert sorted(leaves_of(table, trees, t, np.array([False]))) == [0, 1, 2, 3]


def test_missing_values_go_left_with_the_share_of_the_known_ones():
    """4000 rows whose only column is missing: keys differ by a second column, never split on.

    One node, share s: the number that goes left is binomial; 5 standard deviations are allowed.
    """
    n = 4000
    known = np.array([[0.0, 1.0]] * 3 + [[9.0, 1.0]])
    trees = grow_trees(known, row_keys(known), np.zeros(2, bool), (6, 4), np.random.default_rng(0))
    rows = np.column_stack([np.full(n, np.nan), np.arange(n)])
    for t in range(6):
        assert trees.shares[t, 0] == 0.75
        left = np.mean(leaves_of(rows, trees, t, np.zeros(2, bool)) == 0)
        assert abs(left - 0.75) < 5 * np.sqrt(0.75 * 0.25 / n)


def test_keys_tell_rows_apart_and_equal_rows_together():
    table = make_table(200)
    other_nan = table.copy()
    other_nan[np.isnan(table)] = -np.nan
    np.testing.assert_array_equal(row_keys(other_nan), row_keys(table))
    np.testing.assert_array_equal(row_keys(np.array([[-0.0]])), row_keys(np.array([[0.0]])))
    assert len(set(row_keys(table).tolist())) == len({str(row) for row in table.tolist()})


def forest(**more):
    return TableForest(**{"n_trees": 20, "random_state": 0} | more)


@pytest.fixture
def frame():
    return as_pandas(mixed_columns())


@pytest.mark.parametrize("n_threads", [1, 2])
def test_codes_do_not_depend_on_threads_or_on_the_rows_beside(frame, threads, n_threads):
    fitted = forest().fit(frame)
    codes = threads(n_threads, lambda: forest().fit_transform(frame))
    assert (codes.shape, codes.dtype) == ((N, 40), np.uint8)
    np.testing.assert_array_equal(codes, fitted.transform(frame))
    np.testing.assert_array_equal(codes[5:9], fitted.transform(frame[5:9]))


def test_leaves_hold_as_many_rows_as_asked(frame):
    codes = forest().fit_transform(frame[:2])  # a tree has at least two leaves
    assert (codes.shape, codes.max()) == ((2, 40), 1)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.choice(["x", "y", None], 400)})
    for size in (4, 16, 100):
        codes = forest(leaf_size=size).fit_transform(frame)
        assert all(len(np.unique(column)) <= round(400 / size) for column in codes.T)
        assert codes.max() < round(400 / size)


PARAMETERS = {
    "no trees": (
        {"n_trees": 0},
        "n_trees must be an integer from 1 to 100000; got n_trees=0. 200 are usual.",
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
