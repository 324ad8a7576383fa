"""Gower's distance: tables as points, and neighbors among them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from isosne import OwnerKernel, quality
from isosne.errors import DataError, ParameterError
from isosne.neighbors import nearest_neighbors
from isosne.tables import gower_points
from tests.conftest import make, refuses
from tests.reference import table_trees as slow
from tests.unit.tables.tables import FRAMES, SIZES, N, as_pandas, mixed_columns

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


@pytest.mark.parametrize("as_frame", FRAMES.values(), ids=FRAMES)
def test_neighbors_are_those_of_the_definition(as_frame):
    points = gower_points(as_frame(mixed_columns()))
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


def test_declared_columns_are_categories():
    frame = pd.DataFrame({"a": [1, 2, 9], "b": ["x", "y", "x"]})
    assert gower_points(frame, ["a"])[:, 0].tolist() == [2, 3, 4]


def test_other_points_are_refused():
    sentence = (
        "metric='gower' needs points of a table: values from 0 to 1, categories from 2 up, -1 if "
        "missing; got other values in X. Pass isosne.tables.gower_points(X)."
    )
    with refuses(DataError, sentence):
        nearest_neighbors(np.array([[0.5], [1.5], [1.0]]), 1, metric="gower")
    with refuses(
        DataError,
        "metric='gower' needs a dense array; got a sparse matrix in X. "
        "Pass X.toarray(), or choose metric='manhattan'.",
    ):
        nearest_neighbors(csr_array(np.eye(4)), 1, metric="gower")
    with refuses(
        ParameterError,
        "metric must be one of 'euclidean', 'cosine', 'mahalanobis', 'hamming' for the approximate "
        "neighbor search; got metric='gower'. Choose the exact search.",
    ):
        nearest_neighbors(np.eye(4), 1, metric="gower", method="approximate")


def test_kernels_compare_tables_by_gower():
    points = gower_points(as_pandas(mixed_columns()))
    model = make(OwnerKernel(metric="gower")).fit(points)
    assert model.embedding_.shape == (N, 2)
    assert "spectral" in str(model.plan_)


def test_maps_of_frames_are_measured_by_gower():
    frame = as_pandas(mixed_columns())
    Y = np.random.default_rng(0).normal(size=(N, 2))
    D = all_distances()
    expected = quality.auc_rnx((D + D.T) / 2, Y, metric="precomputed")
    points = gower_points(frame)
    assert quality.auc_rnx(frame, Y) == quality.auc_rnx(points, Y, metric="gower")
    assert quality.auc_rnx(frame, Y) == pytest.approx(expected, abs=0.01)  # ties, rounded apart
    labels = np.arange(N) % 3
    assert quality.report(frame, Y, labels).auc_rnx == quality.auc_rnx(frame, Y)
    agreement = quality.trust(frame, Y, 5).agreement
    np.testing.assert_array_equal(agreement, quality.trust(points, Y, 5, metric="gower").agreement)
