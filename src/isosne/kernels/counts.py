"""How often two points share a cell, as a small integer: one byte a pair (Eq. 7 times t).

Two loops give the same counts; `count_shared_cells` takes the one with less to do. *Compare* looks
at every pair in every partitioning, many pairs in one instruction. *Gather* visits only the pairs
that do share a cell, one at a time; their number is known exactly before it starts.
"""

import numpy as np

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array

COMPARE_COLUMNS = 1024
COMPARE_COST = 1 / 40
"""Time to compare one pair once, relative to visiting a pair that shares a cell."""


def count_dtype(n_partitions: int) -> type[np.unsignedinteger]:
    """Return the smallest type that holds a count of up to n_partitions."""
    return np.uint8 if n_partitions < 2**8 else np.uint16 if n_partitions < 2**16 else np.uint32


def count_shared_cells(A: Array, B: Array, n_cells: int) -> Array:
    """Return the number of columns on which each row of A agrees with each row of B.

    A (n, t) and B (m, t) hold cell ids below n_cells; the result (n, m) is in bytes for t < 256.
    """
    n_partitions = A.shape[1]
    counts = np.zeros((len(A), len(B)), count_dtype(n_partitions))
    sizes_a, sizes_b = cell_sizes(A, n_cells), cell_sizes(B, n_cells)
    n_shared = float(np.einsum("pc,pc->", sizes_a, sizes_b, dtype=np.float64))
    if n_shared < COMPARE_COST * len(A) * len(B) * n_partitions:
        starts = np.zeros((n_partitions, n_cells + 1), np.int64)
        np.cumsum(sizes_b, axis=1, out=starts[:, 1:])
        order = np.argsort(B.T, axis=1, kind="stable").astype(np.int32)
        for_each_block(len(A), 64, lambda rows: gather_shared(A[rows], starts, order, counts[rows]))
    else:
        columns = np.ascontiguousarray(B.T)
        for_each_block(len(A), 64, lambda rows: compare_cells(A[rows], columns, counts[rows]))
    return counts


def count_with_partners(cells: Array, partners: Array) -> Array:
    """Return the number of shared cells (n, k) of each row with the rows named as its partners."""
    counts = np.empty(partners.shape, count_dtype(cells.shape[1]))
    for_each_block(
        len(partners),
        1024,
        lambda rows: compare_partners(cells[rows], cells, partners[rows], counts[rows]),
    )
    return counts


def cell_sizes(cells: Array, n_cells: int) -> Array:
    """Return the number of points (t, n_cells) in each cell of each partitioning."""
    return np.stack([np.bincount(column, minlength=n_cells) for column in cells.T])


@kernel
def compare_cells(A: Array, B_columns: Array, counts: Array) -> None:
    """Count agreements of rows of A (n, t) with columns of B_columns (t, m). O(n m t).

    A tile of columns stays in cache while all rows pass over it.
    """
    n_partitions, m = B_columns.shape
    for start in range(0, m, COMPARE_COLUMNS):
        stop = min(start + COMPARE_COLUMNS, m)
        for i in range(A.shape[0]):
            row = counts[i, start:stop]
            for p in range(n_partitions):
                cell = A[i, p]
                column = B_columns[p, start:stop]
                for j in range(len(row)):
                    row[j] += np.uint8(column[j] == cell)  # a byte: the loop vectorizes


@kernel
def gather_shared(A: Array, starts: Array, order: Array, counts: Array) -> None:
    """Add one for each point in the cells of each row of A. O(number of shared cells).

    order[p] lists the points of B cell by cell; starts[p, c] is where cell c begins.
    """
    for i in range(A.shape[0]):
        for p in range(A.shape[1]):
            cell = A[i, p]
            for e in range(starts[p, cell], starts[p, cell + 1]):
                counts[i, order[p, e]] += np.uint8(1)


@kernel
def compare_partners(A: Array, B: Array, partners: Array, counts: Array) -> None:
    """Count the columns on which row i of A agrees with rows partners[i] of B. O(n k t)."""
    for i in range(A.shape[0]):
        for q in range(partners.shape[1]):
            other = B[partners[i, q]]
            total = 0
            for p in range(A.shape[1]):
                total += A[i, p] == other[p]
            counts[i, q] = total
