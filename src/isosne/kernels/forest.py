"""Axis-parallel partitionings: isolation trees grown until each sampled point is alone (App. B).

A node is split on an attribute drawn from those that vary among its points, at a value drawn
uniformly between their minimum and maximum. Duplicate sampled points share a leaf. The trees are
those of tables (`tables.trees`), without categories and missing values.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from isosne._blocks import for_each_block
from isosne._types import Array, Points
from isosne.neighbors.distances import BLOCK_ROWS
from isosne.neighbors.metric import working_dtype
from isosne.tables.trees import Trees, empty_trees, find_leaves, grow_tree

BLOCK_VALUES = 2**20
"""Largest number of coordinates in a block of points, unless a single point has more (chosen)."""


class ForestPartitions(NamedTuple):
    """The partitionings of one scale: t isolation trees over samples of psi points.

    samples (n_partitions, psi): indices of the sampled points.
    """

    samples: NDArray[np.int64]
    trees: Trees

    def cells(self, X: Points) -> Array:
        """Return the leaf (n, n_partitions) of each point in each tree."""
        n, n_features = X.shape
        cells = np.empty((n, len(self.samples)), np.min_scalar_type(self.samples.shape[1] - 1))
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
    keys = np.zeros(psi, np.int64)

    def work(block: slice) -> None:
        for p in range(block.start, block.stop):
            sample: Any = X[samples[p]].astype(np.float64)
            features = np.arange(X.shape[1])
            if isinstance(sample, csr_array):  # columns without entries do not vary
                features = np.unique(sample.indices)
                sample = csc_array(sample)[:, features].toarray()
            columns, is_category = np.ascontiguousarray(sample.T), np.zeros(len(features), np.bool_)
            grow_tree(columns, is_category, keys, trees.seeds[p], draws[p], trees.tree(p))
            trees.features[p] = features[trees.features[p]] if len(features) else 0

    for_each_block(n_partitions, 8, work)
    return ForestPartitions(samples, trees)
