"""Tables as coordinates and as points for Gower's distance."""

import numpy as np
import pandas as pd
import pytest

from isosne import quality
from isosne.neighbors import nearest_neighbors
from isosne.tables import gower_points
from isosne.tables.coordinates import MOST_CATEGORIES, table_coordinates
from tests.reference import table_trees as slow
from tests.unit.tables.tables import SIZES, N, as_pandas, mixed_columns


def test_numbers_are_standardized_and_missing_values_are_at_the_mean():
    # Known values 1, 3, 5: mean 3, standard deviation sqrt(8 / 3).
    found = table_coordinates(pd.DataFrame({"a": [1.0, 3.0, np.nan, 5.0]}))
    expected = np.array([-2, 0, 0, 2]) / np.sqrt(8 / 3)
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-14)
    assert not found[:, 0].any()
    nothing = table_coordinates(pd.DataFrame({"a": ["x", "x", None], "b": [None, None, None]}))
    np.testing.assert_array_equal(nothing, np.zeros((3, 1)))
    extreme = pd.DataFrame({"a": [-1e300, 1e300, None], "b": [0.0, 1e-300, None]})
    np.testing.assert_allclose(np.abs(table_coordinates(extreme)[:2, 1:]), 1, rtol=1e-12)


def test_categories_become_standardized_indicators_of_the_most_frequent():
    texts = [f"c{i}" for i in range(MOST_CATEGORIES + 5)] * 4 + ["c3"] * 3
    found = table_coordinates(pd.DataFrame({"a": texts}))
    assert found.shape == (len(texts), 1 + MOST_CATEGORIES)
    np.testing.assert_allclose(found[:, 1:].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, 1:].std(axis=0), 1, rtol=1e-12)
    np.testing.assert_array_equal(found[:, 1] > 0, np.array(texts) == "c3")


CATEGORY = [False, False, True, False, False, False]


def plain_rows():
    """The rows of the table as numbers and text, and the range of each column of numbers."""
    columns = mixed_columns()
    columns["size"] = [None if v is None else SIZES.index(v) for v in columns["size"]]
    columns["seen"] = [None if v is None else v.timestamp() for v in columns["seen"]]
    ranges = []
    for values, is_category in zip(columns.values(), CATEGORY, strict=True):
        known = [v for v in values if v is not None]
        ranges.append(None if is_category else max(known) - min(known))
    return list(zip(*columns.values(), strict=True)), ranges


def all_distances():
    rows, ranges = plain_rows()
    return np.array([[slow.gower(a, b, CATEGORY, ranges) for b in rows] for a in rows])


def test_neighbors_are_those_of_the_definition():
    points = gower_points(as_pandas(mixed_columns()))
    found = nearest_neighbors(points, N - 1, metric="gower")
    D = all_distances()
    np.testing.assert_allclose(found.distances, np.take_along_axis(D, found.indices, 1), 1e-6)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :-1], 1e-6)


def test_points_with_no_known_column_in_common_are_farthest():
    frame = pd.DataFrame({"a": [1.0, None, 2.0], "b": [None, "x", "y"]})
    found = nearest_neighbors(gower_points(frame), 2, metric="gower")
    # 0 and 1 share no known column; 0 and 2 differ by the range of a; 1 and 2 are categories.
    np.testing.assert_array_equal(found.distances, np.ones((3, 2)))


def test_points_do_not_depend_on_units_or_overflow():
    frame = pd.DataFrame({"a": [-1.5e308, 0.0, 1.5e308], "b": ["x", "y", "x"]})
    np.testing.assert_array_equal(gower_points(frame)[:, 0], [0, 0.5, 1])
    same = pd.DataFrame({"a": [3.0, 3.0, None], "b": [None, None, None]})
    np.testing.assert_array_equal(gower_points(same), [[0, -1], [0, -1], [-1, -1]])


def test_maps_of_frames_are_measured_by_gower():
    frame = as_pandas(mixed_columns())
    Y = np.random.default_rng(0).normal(size=(N, 2))
    by_gower = quality.compare(gower_points(frame), Y, metric="gower").auc()
    assert quality.compare(frame, Y).auc() == by_gower
    assert quality.report(frame, Y, np.arange(N) % 3).auc_rnx == by_gower
    D = all_distances()
    expected = quality.compare((D + D.T) / 2, Y, metric="precomputed").auc()
    assert by_gower == pytest.approx(expected, abs=0.01)  # ties, rounded apart
