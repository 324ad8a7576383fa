"""Every format gives the same rows as the array in memory."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from isosne.rows import blocks, open_rows
from tests.unit.rows.formats import DENSE, SPARSE, TEXT, as_table

N, D = 150, 3  # more rows than lie between two known positions of a text table


def table(dtype):
    return (np.random.default_rng(0).normal(size=(N, D)) * 40 + 120).astype(dtype)


@pytest.fixture(scope="module", params=[*DENSE, *TEXT], ids=str)
def dense(request, tmp_path_factory):
    X = table(np.float64)
    make = (DENSE | TEXT)[request.param]
    return X, open_rows(make(tmp_path_factory.mktemp("rows"), X))


@pytest.fixture(scope="module", params=SPARSE, ids=str)
def sparse(request, tmp_path_factory):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((N, 12)) < 0.2, rng.normal(size=(N, 12)), 0)
    X[5] = 0
    return X, open_rows(SPARSE[request.param](tmp_path_factory.mktemp("rows"), X))


bound = st.one_of(st.none(), st.integers(-N - 3, N + 3))


@settings(deadline=None, max_examples=10)
@given(start=bound, stop=bound)
def test_any_slice_is_that_of_the_array(dense, start, stop):
    X, rows = dense
    found = rows.read(slice(start, stop))
    assert found.dtype == rows.dtype
    np.testing.assert_array_equal(found, X[start:stop])


@settings(deadline=None, max_examples=10)
@given(indices=st.lists(st.integers(0, N - 1), max_size=30))
def test_any_rows_in_any_order_are_those_of_the_array(dense, indices):
    X, rows = dense
    found = rows.take(indices)
    assert found.dtype == rows.dtype
    np.testing.assert_array_equal(found, X[np.array(indices, dtype=int)])


@pytest.mark.parametrize(("n_bytes", "n_rows"), [(1, 1), (100, 4), (240, 10), (10**6, N)])
def test_a_block_has_the_size_that_is_asked_for_and_one_row_at_least(n_bytes, n_rows):
    X = table(np.float64)
    rows = open_rows(X)
    parts = [rows.read(block) for block in blocks(rows, n_bytes)]
    np.testing.assert_array_equal(np.vstack(parts), X)
    assert len(parts[0]) == n_rows
    assert all(part.nbytes <= max(n_bytes, rows.row_bytes) for part in parts)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.bool_, np.int64])
@pytest.mark.parametrize("make", DENSE.values(), ids=DENSE)
def test_types_are_kept(make, dtype, tmp_path):
    X = table(np.int64)[:30].astype(dtype)
    rows = open_rows(make(tmp_path, X))
    assert rows.shape == X.shape
    found = rows.read(slice(None))
    assert found.dtype == rows.dtype == X.dtype
    np.testing.assert_array_equal(found, X)


@settings(deadline=None, max_examples=20)
@given(start=bound, stop=bound)
def test_any_slice_of_sparse_rows_is_that_of_the_array(sparse, start, stop):
    X, rows = sparse
    found = rows.read(slice(start, stop))
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), X[start:stop])


@settings(deadline=None, max_examples=20)
@given(indices=st.lists(st.integers(0, N - 1), max_size=30))
def test_any_sparse_rows_are_those_of_the_array(sparse, indices):
    X, rows = sparse
    np.testing.assert_array_equal(rows.take(indices).toarray(), X[np.array(indices, dtype=int)])


def test_blocks_of_sparse_rows_are_sized_by_what_is_stored(sparse):
    X, rows = sparse
    parts = [rows.read(block).toarray() for block in blocks(rows, 400)]
    assert 5 < len(parts) < N / 2
    np.testing.assert_array_equal(np.vstack(parts), X)


def test_duplicate_and_unsorted_entries_are_put_in_order_without_touching_the_source():
    X = csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    rows = open_rows(X)
    np.testing.assert_array_equal(rows.read(slice(None)).toarray(), [[2, 0, 5]])
    np.testing.assert_array_equal(X.indices, [2, 0, 2])


def test_columns_of_several_types_get_their_common_one(tmp_path):
    columns = {
        "flag": [True, False],
        "byte": pa.array([7, 8], pa.uint8()),
        "price": pa.array([Decimal("1.25"), Decimal("-3.50")], pa.decimal128(9, 2)),
        "half": pa.array(np.array([0.5, 2], np.float16)),
    }
    pq.write_table(pa.table(columns), tmp_path / "mixed.parquet")
    rows = open_rows(tmp_path / "mixed.parquet")
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows.read(slice(None)), [[1, 7, 1.25, 0.5], [0, 8, -3.5, 2]])


@pytest.mark.parametrize("dtype", [">f4", ">i2"])
def test_bytes_of_either_order_are_read(dtype, tmp_path):
    X = table(np.float64).astype(dtype)
    np.save(tmp_path / "big.npy", X)
    rows = open_rows(tmp_path / "big.npy")
    assert rows.dtype.isnative
    np.testing.assert_array_equal(rows.take([3, 1]), X[[3, 1]])
    np.testing.assert_array_equal(rows.read(slice(2, 9)), X[2:9])


def test_a_source_that_is_open_is_passed_through():
    rows = open_rows(table(np.float32))
    assert open_rows(rows) is rows


def test_files_in_subfolders_are_read_in_the_order_of_their_numbers(tmp_path):
    """A partitioned data set, as Spark writes it; folders may end in .parquet."""
    X = table(np.float64)
    names = ("day=9/part-1.parquet", "day=10/all.parquet/part-0.parquet", "day=10/b.parquet")
    for k, name in enumerate((*names, "_temporary/c.parquet", "day=9/.d.parquet")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(as_table(X[50 * k : 50 * k + 50] if k < 3 else X), path)
    np.testing.assert_array_equal(open_rows(tmp_path).read(slice(None)), X)
