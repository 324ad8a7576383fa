"""Every format gives the same rows as the array in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isosne.sources import blocks, open_rows
from tests.unit.sources.formats import DENSE

N, D = 40, 3


def table(dtype):
    return (np.random.default_rng(0).normal(size=(N, D)) * 40 + 120).astype(dtype)


@pytest.fixture(scope="module", params=DENSE, ids=str)
def dense(request, tmp_path_factory):
    X = table(np.float64)
    return X, open_rows(DENSE[request.param](tmp_path_factory.mktemp("rows"), X))


bound = st.one_of(st.none(), st.integers(-N - 3, N + 3))


@settings(deadline=None, max_examples=40)
@given(start=bound, stop=bound)
def test_any_slice_is_that_of_the_array(dense, start, stop):
    X, rows = dense
    found = rows.read(slice(start, stop))
    assert found.dtype == rows.dtype
    np.testing.assert_array_equal(found, X[start:stop])


@settings(deadline=None, max_examples=40)
@given(indices=st.lists(st.integers(0, N - 1), max_size=30))
def test_any_rows_in_any_order_are_those_of_the_array(dense, indices):
    X, rows = dense
    found = rows.take(indices)
    assert found.dtype == rows.dtype
    np.testing.assert_array_equal(found, X[np.array(indices, dtype=int)])


@pytest.mark.parametrize("n_bytes", [1, 100, 240, 10**6])
def test_blocks_cover_all_rows_in_order(dense, n_bytes):
    X, rows = dense
    parts = [rows.read(block) for block in blocks(rows, n_bytes)]
    np.testing.assert_array_equal(np.vstack(parts), X)
    assert all(part.nbytes <= max(n_bytes, rows.row_bytes) for part in parts)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.bool_, np.int64])
@pytest.mark.parametrize("make", DENSE.values(), ids=DENSE)
def test_types_are_kept(make, dtype, tmp_path):
    X = table(np.int64).astype(dtype)
    rows = open_rows(make(tmp_path, X))
    assert rows.shape == X.shape
    found = rows.read(slice(None))
    assert found.dtype == rows.dtype == X.dtype
    np.testing.assert_array_equal(found, X)
