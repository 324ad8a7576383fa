import numpy as np
import pytest

from isosne.kernels.counts import CellIndex, count_with_partners, gather_shared
from isosne.neighbors.codes import compare_cells, count_dtype


def agreements(A, B):
    return (A[:, None] == B).sum(axis=2)


def draw_cells(n, n_partitions, n_cells, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, n_cells, (n, n_partitions)).astype(dtype)


@pytest.mark.parametrize(("n_cells", "dtype"), [(3, np.uint8), (40, np.uint8), (400, np.uint16)])
@pytest.mark.parametrize("n_partitions", [1, 17, 300])
def test_both_loops_count_the_columns_on_which_rows_agree(n_cells, dtype, n_partitions):
    A = draw_cells(9, n_partitions, n_cells, dtype)
    B = draw_cells(1100, n_partitions, n_cells, dtype, seed=1)  # more than one tile of columns
    B[:9] = A
    expected = agreements(A, B)
    compared = np.zeros(expected.shape, count_dtype(n_partitions))
    compare_cells(A, np.ascontiguousarray(B.T), compared)
    np.testing.assert_array_equal(compared, expected)

    starts = np.zeros((n_partitions, n_cells + 1), np.int64)
    sizes = [np.bincount(column, minlength=n_cells) for column in B.T]
    np.cumsum(sizes, axis=1, out=starts[:, 1:])
    order = np.argsort(B.T, axis=1, kind="stable").astype(np.int32)
    gathered = np.zeros(expected.shape, count_dtype(n_partitions))
    gather_shared(A, starts, order, gathered)
    np.testing.assert_array_equal(gathered, expected)


@pytest.mark.parametrize("n_cells", [2, 39, 41, 250])  # few cells compare, many gather
@pytest.mark.parametrize(("n", "m"), [(1, 1), (70, 130)])
def test_counts_are_right_whichever_loop_is_chosen(n_cells, n, m):
    A = draw_cells(n, 30, n_cells, np.uint8)
    B = draw_cells(m, 30, n_cells, np.uint8, seed=1)
    np.testing.assert_array_equal(CellIndex(B, n_cells).count(A), agreements(A, B))


@pytest.mark.parametrize(("n_partitions", "dtype"), [(255, np.uint8), (256, np.uint16)])
@pytest.mark.parametrize("n_cells", [2, 200])
def test_a_point_shares_all_cells_with_itself_and_the_type_holds_the_count(
    n_partitions, dtype, n_cells
):
    A = draw_cells(20, n_partitions, n_cells, np.uint8)
    counts = CellIndex(A, n_cells).count(A)
    assert counts.dtype == dtype
    assert np.all(np.diagonal(counts) == n_partitions)
    partners = np.tile(np.arange(20, dtype=np.int32), (20, 1))
    with_partners = count_with_partners(A, partners, A)
    assert with_partners.dtype == dtype
    np.testing.assert_array_equal(with_partners, counts)


def test_counts_beyond_two_bytes_take_four():
    assert count_dtype(2**16 - 1) == np.uint16
    assert count_dtype(2**16) == np.uint32


def test_partners_are_counted_in_the_order_given():
    cells = draw_cells(50, 40, 5, np.uint16)
    partners = np.random.default_rng(2).integers(0, 50, (50, 6)).astype(np.int32)
    expected = np.take_along_axis(agreements(cells, cells), partners, axis=1)
    np.testing.assert_array_equal(count_with_partners(cells, partners, cells), expected)


def test_partners_may_be_rows_of_another_set():
    A, B = draw_cells(30, 40, 5, np.uint8), draw_cells(50, 40, 5, np.uint8, seed=1)
    partners = np.random.default_rng(2).integers(0, 50, (30, 6)).astype(np.int32)
    expected = np.take_along_axis(agreements(A, B), partners, axis=1)
    np.testing.assert_array_equal(count_with_partners(A, partners, B), expected)
