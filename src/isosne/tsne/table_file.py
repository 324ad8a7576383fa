"""The forest of a table in a model file: columns as plain values, trees as arrays."""

from typing import Any

import numpy as np

from isosne._types import Array
from isosne.tables.columns import Column
from isosne.tables.forest import KINDS, TableForest, Trees
from isosne.tables.trees import RANGE
from isosne.tsne.stored_values import check_array, check_value, is_count


def table_header(forest: TableForest) -> dict[str, Any]:
    """Return the columns of a forest in a form that JSON supports."""
    return {"columns": [list(column) for column in forest.columns_], "scales": len(forest.trees_)}


def table_arrays(forest: TableForest) -> dict[str, Array]:
    """Return the trees of a forest, by name."""
    return {
        f"{name}{s}": part
        for s, trees in enumerate(forest.trees_)
        for name, part in trees._asdict().items()
    }


def restore_table(header: dict[str, Any], arrays: dict[str, Array]) -> TableForest:
    """Return the forest that the header and the arrays of a file define, once they are checked."""
    columns = [Column(*_plain(column)) for column in header["columns"]]
    for column in columns:
        check_value(column.kind, "the kind of a column", column.kind in KINDS)
        check_value(column.categories, "categories", all(isinstance(c, str) for c in column[2]))
    n_used = sum(column.is_used for column in columns)
    check_value(n_used, "the number of columns", n_used > 0)
    scales = check_value(header["scales"], "the number of scales", is_count(header["scales"], 1))
    forest = TableForest()
    forest.columns_ = columns
    forest.trees_ = [
        _check_trees(Trees(*(arrays[f"{name}{s}"] for name in Trees._fields)), n_used)
        for s in range(scales)
    ]
    forest.n_features_in_ = len(columns)
    if all(isinstance(column.name, str) for column in columns):
        forest.feature_names_in_ = np.array([column.name for column in columns], object)
    return forest


def _plain(column: Any) -> tuple[Any, str, tuple[str, ...], int]:
    name, kind, categories, n_missing = column
    return name, kind, tuple(categories), n_missing


def _check_trees(trees: Trees, n_columns: int) -> Trees:
    """Return trees in which every path from the root ends at a leaf."""
    n_trees, n_nodes = trees.children.shape
    shape = n_trees, n_nodes
    check_array(trees.features, "features", np.int32, shape, low=0, high=n_columns - 1)
    check_array(trees.thresholds, "thresholds", np.float64, shape)
    check_array(trees.shares, "shares", np.float32, shape, low=0, high=1)
    check_array(trees.seeds, "seeds", np.int64, (n_trees,), low=0, high=RANGE - 1)
    # The right child follows the left one, which is therefore never the last node.
    low, high = -(n_nodes // 2) - 1, n_nodes - 2
    check_array(trees.children, "children", np.int32, shape, low=low, high=high)
    is_split = trees.children >= 0
    if np.any(is_split & (trees.children <= np.arange(n_nodes))):
        raise ValueError("children must come after their node")
    return trees
