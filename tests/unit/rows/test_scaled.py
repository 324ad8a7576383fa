"""Columns that are scaled as rows are read."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.errors import DataError, ParameterError
from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows
from tests.conftest import refuses
from tests.unit.rows.formats import write_npy

X = np.random.default_rng(0).normal(1e6, 3, (500, 4))  # a mean that costs a naive sum its digits
X[:, 3] = 5


def scaled(kind, source):
    rows = open_rows(source)
    return ScaledRows(rows, Scale.of(kind, rows))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("minmax", (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)),
        ("standard", (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)),
    ],
)
def test_columns_have_one_scale_and_a_constant_one_is_zero(kind, expected, tmp_path, monkeypatch):
    # Blocks of 100 rows; a default argument, so set where it is used.
    monkeypatch.setattr("isosne.rows.rows.blocks.__defaults__", (100 * X[0].nbytes,))
    rows = scaled(kind, write_npy(tmp_path, X))
    # The moments of blocks differ from those of the whole in the last digits of 1e6.
    np.testing.assert_allclose(rows.read(slice(None)), expected, atol=1e-8)
    np.testing.assert_array_equal(rows.take([7, 3]), rows.read(slice(None))[[7, 3]])
    assert not rows.read(slice(None))[:, 3].any()


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.uint8, np.float32), (np.float32, np.float32), (np.int32, np.float64), (float, np.float64)],
)
def test_values_of_narrow_types_are_single_precision(dtype, expected):
    rows = scaled("minmax", np.arange(12).reshape(4, 3).astype(dtype))
    assert rows.dtype == rows.read(slice(None)).dtype == expected


def test_the_fingerprint_depends_on_the_scale(tmp_path):
    path = write_npy(tmp_path, X)
    found = {scaled(kind, path).fingerprint() for kind in ("minmax", "standard", "minmax")}
    assert len(found) == 2
    assert open_rows(path).fingerprint() not in found


def test_other_scales_sparse_rows_and_other_columns_are_refused():
    rule = "scale must be 'none', 'minmax' or 'standard'; got scale='robust'. "
    with refuses(ParameterError, f"{rule}The paper scales with 'minmax'."):
        Scale.of("robust", open_rows(X))
    rule = "scale must be 'none' for sparse data; got scale='minmax'. "
    with refuses(ParameterError, f"{rule}Scale the data beforehand, or leave them as they are."):
        Scale.of("minmax", open_rows(csr_array(X)))
    rule = "columns must select the 4 columns that the scale was computed from; X has 3. "
    with refuses(ParameterError, f"{rule}Pass a table with the same columns."):
        ScaledRows(open_rows(X[:, :3]), Scale.of("minmax", open_rows(X)))


@pytest.mark.parametrize("kind", ["minmax", "standard"])
@pytest.mark.parametrize("factor", [1e-320, 1e-200, 1e200, 1.7e308])
def test_a_column_that_no_number_can_scale_is_refused(kind, factor):
    """Squares under- or overflow; the column would be zero, or NaN."""
    values = X[:, :3] / 1e6
    values[:, 1] = factor * np.linspace(-1, 1, len(X))
    sentence = (
        "Values of a column must differ by 1e-150 to 1e150 to be scaled; "
        f"column 1 of X has values from {-factor:g} to {factor:g}. "
        "Multiply the column by a constant, or leave it out."
    )
    with refuses(DataError, sentence):
        Scale.of(kind, open_rows(values))


def test_values_that_overflow_when_they_are_scaled_are_infinite_without_a_warning():
    scale = Scale(np.array([-1e308, 0]), np.array([1e9, 1e9]))
    assert np.isposinf(scale.apply(np.full((1, 2), 1e308))).all()
