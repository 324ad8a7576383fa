"""Axis-parallel partitionings: isolation trees grown until each sampled point is alone (App. B).

A node is split on an attribute drawn from those that vary among its points, at a value drawn
uniformly between their minimum and maximum. Duplicate sampled points share a leaf. Trees are grown
from the stored entries only, so wide sparse data are never converted to dense arrays as a whole.
Points descend as rows of a table do (`tables.trees`); growth differs, because trees over tables
draw by hashes, which here would be other cells.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.codes import cell_dtype
from isosne.neighbors.distances import BLOCK_ROWS
from isosne.neighbors.metric import working_dtype
from isosne.tables.trees import Trees, empty_trees, find_leaves

BLOCK_VALUES = 2**20
"""Largest number of coordinates in a block of points, unless a single point has more (chosen)."""


class ForestPartitions(NamedTuple):
    """The partitionings of one scale: t isolation trees over samples of psi points.

    samples (n_partitions, psi): indices of the sampled points.
    """

    samples: NDArray[np.int64]
    trees: Trees

    @property
    def psi(self) -> int:
        """Largest number of cells per partitioning."""
        return int(self.samples.shape[1])

    def cells(self, X: Points) -> Array:
        """Return the leaf (n, n_partitions) of each point in each tree."""
        n, n_features = X.shape
        cells = np.empty((n, len(self.samples)), cell_dtype(self.psi))
        n_rows = max(1, min(BLOCK_ROWS, BLOCK_VALUES // n_features))
        is_category, keys = np.zeros(n_features, np.bool_), np.zeros(n_rows, np.int64)

        def work(rows: slice) -> None:
            block: Any = X[rows].astype(working_dtype(X))
            points = block.toarray() if isinstance(block, csr_array) else block
            for p, seed in enumerate(self.trees.seeds):
                tree = self.trees.tree(p)
                find_leaves(points, is_category, keys, seed, tree, cells[rows, p])

        for_each_block(n, n_rows, work)
        return cells


def grow_forest(
    samples: NDArray[np.int64], X: Points, rng: np.random.Generator
) -> ForestPartitions:
    """Return isolation trees over samples (n_partitions, psi) of the points."""
    n_partitions, psi = samples.shape
    draws = rng.random((n_partitions, psi - 1, 2))  # a binary tree with psi leaves: psi - 1 splits
    trees = empty_trees(n_partitions, psi)

    def work(block: slice) -> None:
        for p in range(block.start, block.stop):
            # By column, because a split examines one attribute of all points of a node.
            columns = csc_array(X[samples[p]].astype(np.float64))
            columns.sort_indices()
            grow_tree(
                np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr)),
                columns.indices.astype(np.int64),
                columns.data,
                draws[p],
                trees.tree(p),
            )

    for_each_block(n_partitions, 8, work)
    return ForestPartitions(samples, trees)


@kernel
def grow_tree(columns: Array, rows: Array, values: Array, draws: Array, tree: Any) -> None:
    """Grow one tree over len(draws) + 1 points, given by their stored entries sorted by column.

    draws: two uniform numbers per split. tree: as in `Trees`, overwritten, as are the entries. A
    split takes time linear in the entries of its node, which stay contiguous.
    """
    features, thresholds, _, children = tree
    psi = len(draws) + 1
    members = np.arange(psi)
    goes_left = np.empty(psi, np.bool_)
    # Per node: begin and end of its part of `members`, begin and end of its entries.
    segments = np.empty((2 * psi - 1, 4), np.int64)
    segments[0] = (0, psi, 0, len(columns))
    n_nodes, n_leaves, n_splits = 1, 0, 0
    for node in range(2 * psi - 1):
        if node == n_nodes:
            break
        first, last, start, stop = segments[node]
        begin, end, threshold = choose_split(
            columns[start:stop], values[start:stop], last - first, draws[min(n_splits, psi - 2)]
        )
        if begin == end:
            children[node] = -1 - n_leaves
            n_leaves += 1
            continue
        # The columns of a node stay sorted, because both partitions below are stable.
        goes_left[members[first:last]] = threshold >= 0.0  # entries that are not stored are zero
        for e in range(start + begin, start + end):
            goes_left[rows[e]] = values[e] <= threshold
        features[node] = columns[start + begin]
        thresholds[node] = threshold
        children[node] = n_nodes
        entry_left = goes_left[rows[start:stop]]
        member_left = goes_left[members[first:last]]
        for part in (columns, rows):
            part[start:stop] = left_then_right(part[start:stop], entry_left)
        values[start:stop] = left_then_right(values[start:stop], entry_left)
        members[first:last] = left_then_right(members[first:last], member_left)
        middle, cut = first + member_left.sum(), start + entry_left.sum()
        # Children are appended, so nodes are processed in breadth-first order.
        segments[n_nodes] = (first, middle, start, cut)
        segments[n_nodes + 1] = (middle, last, cut, stop)
        n_nodes += 2
        n_splits += 1


@kernel
def left_then_right(items: Array, is_left: Array) -> Array:
    """Return the items that go left, then the others; a stable partition."""
    return np.concatenate((items[is_left], items[~is_left]))


@kernel
def choose_split(
    columns: Array, values: Array, n_members: int, draw: Array
) -> tuple[int, int, float]:
    """Return begin and end of the drawn column's entries, and the threshold.

    An empty range if no column varies.
    """
    n_varying = 0
    end = 0
    while end < len(columns) and n_members > 1:
        end, low, high = column_range(columns, values, end, n_members)
        n_varying += low < high
    if n_varying == 0:
        return 0, 0, 0.0
    choice = int(draw[0] * n_varying)  # uniform among the columns that vary in this node
    begin = end = 0
    low = high = 0.0
    while choice >= 0:
        begin = end
        end, low, high = column_range(columns, values, begin, n_members)
        choice -= low < high
    threshold = low + draw[1] * (high - low)
    if not threshold < high:  # rounded up; the largest value must go right
        threshold = low
    return begin, end, threshold


@kernel
def column_range(
    columns: Array, values: Array, begin: int, n_members: int
) -> tuple[int, float, float]:
    """Return the end of one column's entries, and the smallest and largest value of the column."""
    low = high = values[begin]
    end = begin
    while end < len(columns) and columns[end] == columns[begin]:
        low = min(low, values[end])
        high = max(high, values[end])
        end += 1
    if end - begin < n_members:  # some members have a zero, which is not stored
        low, high = min(low, 0.0), max(high, 0.0)
    return end, low, high
