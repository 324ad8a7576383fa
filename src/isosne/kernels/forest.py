"""Axis-parallel partitionings: isolation trees grown until each sampled point is alone (App. B).

A node is split on an attribute drawn from those that vary among its points, at a value drawn
uniformly between their minimum and maximum. Duplicate sampled points share a leaf. Trees are grown
from the stored entries only, so wide sparse data are never converted to dense arrays.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.codes import cell_dtype
from isosne.neighbors.distances import BLOCK_ROWS
from isosne.neighbors.metric import working_dtype

LEAF = -1
"""Value of `children` at a leaf."""
TREES = ("features", "thresholds", "children", "leaf_cells")
"""Arrays that define the trees, as stored in a model file."""


class ForestPartitions:
    """The partitionings of one scale: t isolation trees over samples of psi points.

    samples (n_partitions, psi): indices of the sampled points of X.
    """

    def __init__(self, samples: NDArray[np.int64], X: Points, rng: np.random.Generator) -> None:
        n_partitions, psi = samples.shape
        self.samples = samples
        self._sparse = isinstance(X, csr_array)
        # A binary tree with psi leaves has psi - 1 splits and 2 psi - 1 nodes.
        draws = rng.random((n_partitions, psi - 1, 2))
        shape = (n_partitions, 2 * psi - 1)
        self._features = np.zeros(shape, np.int64)
        self._thresholds = np.zeros(shape)
        self._children = np.full(shape, LEAF, np.int32)
        self._leaf_cells = np.zeros(shape, cell_dtype(psi))

        def work(trees: slice) -> None:
            for p in range(trees.start, trees.stop):
                # By column, because a split examines one attribute of all points of a node.
                columns = csc_array(X[samples[p]].astype(np.float64))
                columns.sort_indices()
                grow_tree(
                    np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr)),
                    columns.indices.astype(np.int64),
                    columns.data,
                    draws[p],
                    (
                        self._features[p],
                        self._thresholds[p],
                        self._children[p],
                        self._leaf_cells[p],
                    ),
                )

        for_each_block(n_partitions, 8, work)

    def trees(self) -> dict[str, Array]:
        """Return the arrays that define the trees, to store them in a file."""
        return {name: getattr(self, f"_{name}") for name in TREES}

    @classmethod
    def from_trees(
        cls, samples: NDArray[np.int64], trees: Mapping[str, Array], is_sparse: bool
    ) -> Self:
        """Return the partitionings defined by stored trees."""
        self = cls.__new__(cls)
        self.samples, self._sparse = samples, is_sparse
        for name in TREES:
            setattr(self, f"_{name}", trees[name])
        return self

    @property
    def psi(self) -> int:
        """Largest number of cells per partitioning."""
        return int(self.samples.shape[1])

    def cells(self, X: Points) -> Array:
        """Return the leaf (n, n_partitions) of each point in each tree."""
        cells = np.empty((X.shape[0], len(self.samples)), self._leaf_cells.dtype)
        trees = (self._features, self._thresholds, self._children, self._leaf_cells)

        def work(rows: slice) -> None:
            block: Any = X[rows].astype(working_dtype(X))
            if self._sparse:
                block = csr_array(block)
                find_leaves_csr((block.indptr, block.indices, block.data), trees, cells[rows])
            else:
                # Dense trees also accept sparse points, such as CSR queries to a dense fit.
                block = block.toarray() if isinstance(block, csr_array) else block
                find_leaves(np.ascontiguousarray(block), trees, cells[rows])

        for_each_block(len(cells), BLOCK_ROWS, work)
        return cells


@kernel
def grow_tree(
    columns: Array, rows: Array, values: Array, draws: Array, tree: tuple[Array, ...]
) -> None:
    """Grow one tree over len(draws) + 1 points, given by their stored entries sorted by column.

    draws (psi - 1, 2) in [0, 1) select attribute and value of each split; tree holds features,
    thresholds, children (left; the right child follows it) and cells, overwritten, as are the
    entries. A split takes time linear in the entries of its node, which stay contiguous.
    """
    features, thresholds, children, leaf_cells = tree
    psi = len(draws) + 1
    members = np.arange(psi)
    goes_left = np.empty(psi, np.bool_)
    # Per node: begin and end of its part of `members`, begin and end of its entries.
    segments = np.empty((2 * psi - 1, 4), np.int64)
    segments[0] = (0, psi, 0, len(columns))
    n_nodes, n_cells, n_splits = 1, 0, 0
    for node in range(2 * psi - 1):
        if node == n_nodes:
            break
        first, last, start, stop = segments[node]
        begin, end, threshold = choose_split(
            columns[start:stop], values[start:stop], last - first, draws[min(n_splits, psi - 2)]
        )
        if begin == end:
            leaf_cells[node] = n_cells
            n_cells += 1
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


@kernel
def find_leaves(X: Array, trees: tuple[Array, ...], cells: Array) -> None:
    """Fill cells[i, p] with the leaf of tree p that contains X[i]. O(n t depth)."""
    features, thresholds, children, leaf_cells = trees
    for i in range(X.shape[0]):
        for p in range(children.shape[0]):
            node = 0
            while children[p, node] != LEAF:
                goes_right = X[i, features[p, node]] > thresholds[p, node]
                node = children[p, node] + goes_right
            cells[i, p] = leaf_cells[p, node]


@kernel
def find_leaves_csr(X: tuple[Array, Array, Array], trees: tuple[Array, ...], cells: Array) -> None:
    """Fill cells[i, p] like `find_leaves`, for CSR rows with sorted indices."""
    indptr, indices, data = X
    features, thresholds, children, leaf_cells = trees
    for i in range(cells.shape[0]):
        row, row_data = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for p in range(children.shape[0]):
            node = 0
            while children[p, node] != LEAF:
                e = np.searchsorted(row, features[p, node])  # entries that are not stored are 0
                value = 0.0
                if e < len(row) and row[e] == features[p, node]:
                    value = np.float64(row_data[e])
                node = children[p, node] + (value > thresholds[p, node])
            cells[i, p] = leaf_cells[p, node]
