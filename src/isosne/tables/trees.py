"""Isolation trees over tables of numbers and category codes, with missing values.

A node is split on a column drawn from those that vary among its rows: numbers at a value drawn
uniformly between minimum and maximum, categories into two random subsets. The side of a category is
a bit of a hash of its code, so that a category that is new has a side too. A row whose value is
missing goes left with the probability of the others, by a hash of the row, so that equal rows stay
together. Draws are hashes of the seed of the tree, the node and a counter; a forest over points
(`kernels.monte_carlo`) draws columns and thresholds from its generator.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._blocks import for_each_block
from isosne._checks import as_scales, check_count, check_number
from isosne._numba import kernel
from isosne._random import RandomState, as_generator
from isosne._types import Array
from isosne.errors import DataError
from isosne.tables.columns import RANGE, Column, encode_columns, read_columns

Tree = tuple[Array, Array, Array, Array]
"""Features, thresholds, shares and children of the nodes of a tree: a row of `Trees`."""
MULTIPLIER = 0x45D9F3B
"""Multiplier of the hash (Mueller); a product with a number below RANGE fits in int64."""
TRIES = 64
"""Subsets that are tried until both have a category of the node: one try in two succeeds."""
THRESHOLD, COLUMN, SUBSET = 1, 2, 2 + 2**16
"""First counters of the draws of a node; 0 is that of missing values."""
NO_DRAWS = np.full(2, -1.0)
"""In place of the uniform numbers of a split whose draws are hashes."""


class Trees(NamedTuple):
    """Isolation trees as arrays of shape (n_trees, n_nodes), and their seeds (n_trees,)."""

    features: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    shares: NDArray[np.float32]  # of the known values, those that go left
    children: NDArray[np.int32]  # the left child, which the right one follows; -1 - leaf at a leaf
    seeds: NDArray[np.int64]

    def tree(self, t: int) -> Tree:
        """Return the arrays of one tree."""
        return self.features[t], self.thresholds[t], self.shares[t], self.children[t]


def empty_trees(n_trees: int, n_leaves: int) -> Trees:
    """Return trees of one leaf each, with room for n_leaves."""
    shape = n_trees, 2 * n_leaves - 1
    return Trees(
        np.zeros(shape, np.int32),
        np.zeros(shape),
        np.zeros(shape, np.float32),
        np.full(shape, -1, np.int32),
        np.zeros(n_trees, np.int64),
    )


@kernel
def scramble(number: int) -> int:
    """Return a hash of an integer from 0 to RANGE - 1, in the same range."""
    number = ((number ^ (number >> 16)) * MULTIPLIER) % RANGE
    number = ((number ^ (number >> 16)) * MULTIPLIER) % RANGE
    return number ^ (number >> 16)


@kernel
def draw(seed: int, node: int, counter: int) -> int:
    """Return a random integer from 0 to RANGE - 1."""
    return scramble(seed ^ scramble((node * 65537 + counter) % RANGE))


@kernel
def is_below(value: float, is_category: bool, threshold: float) -> bool:
    """Return whether a known value goes left; threshold: of categories the salt of the hash."""
    if is_category:
        return scramble(int(value) ^ int(threshold)) % 2 == 0
    return value <= threshold


@kernel
def goes_left(
    value: float, is_category: bool, split: tuple[float, float], key: int, seed: int, node: int
) -> bool:
    """Return whether a row goes left at a split; key: a hash of the row, for missing values."""
    threshold, share = split
    if np.isnan(value):
        return scramble(key ^ draw(seed, node, 0)) < share * RANGE
    return is_below(value, is_category, threshold)


@kernel
def grow_tree(
    columns: Array, is_category: Array, keys: Array, seed: int, draws: Array, tree: Tree
) -> None:
    """Grow one tree over the rows of columns (d, psi); tree: as in `Trees`, overwritten.

    keys (psi,): a hash of each row. draws (psi - 1, 2): uniform numbers for the column and the
    threshold of each split; if there are none, hashes, which find a column faster.
    """
    features, thresholds, shares, children = tree
    psi = columns.shape[1]
    members = np.arange(psi)
    bounds = np.empty((2 * psi - 1, 2), np.int64)
    bounds[0] = (0, psi)
    n_nodes, n_leaves = 1, 0
    for node in range(2 * psi - 1):
        if node == n_nodes:
            break
        first, last = bounds[node]
        rows = members[first:last]
        own = draws[min(n_nodes // 2, psi - 2)] if len(draws) else NO_DRAWS
        f = draw_column(columns, rows, seed, node, own[0])
        threshold = np.nan
        if f >= 0:
            threshold = draw_threshold(columns[f], rows, is_category[f], seed, node, own[1])
        if np.isnan(threshold):
            children[node] = -1 - n_leaves
            n_leaves += 1
            continue
        features[node], thresholds[node] = f, threshold
        shares[node] = known_share(columns[f], rows, is_category[f], threshold)
        split = threshold, shares[node]
        middle = first
        for a in range(first, last):
            row = members[a]
            if goes_left(columns[f, row], is_category[f], split, keys[row], seed, node):
                members[a], members[middle] = members[middle], row
                middle += 1
        children[node] = n_nodes
        bounds[n_nodes] = (first, middle)
        bounds[n_nodes + 1] = (middle, last)
        n_nodes += 2


@kernel
def draw_column(columns: Array, rows: Array, seed: int, node: int, uniform: float) -> int:
    """Return a column that varies among the rows, or -1; uniform: -1 to draw by hashes."""
    n_columns = columns.shape[0]
    if len(rows) < 2:
        return -1
    # Draws with replacement fail rarely, unless most columns are constant.
    for k in range(n_columns if uniform < 0 else 0):
        f = draw(seed, node, COLUMN + k) % n_columns
        if varies(columns[f], rows):
            return int(f)
    n_varying = 0
    for f in range(n_columns):
        n_varying += varies(columns[f], rows)
    if n_varying == 0:
        return -1
    left = draw(seed, node, THRESHOLD) % n_varying if uniform < 0 else int(uniform * n_varying)
    f = -1
    while left >= 0:
        f += 1
        left -= varies(columns[f], rows)
    return f


@kernel
def varies(column: Array, rows: Array) -> bool:
    """Return whether the rows have two different known values."""
    known = np.nan
    for a in range(len(rows)):
        value = column[rows[a]]
        if np.isnan(known):
            known = value
        elif value != known and not np.isnan(value):
            return True
    return False


@kernel
def draw_threshold(
    column: Array, rows: Array, is_category: bool, seed: int, node: int, uniform: float
) -> float:
    """Return a value between the smallest and the largest, or of categories a salt that splits."""
    if is_category:
        for k in range(TRIES):
            salt = np.float64(draw(seed, node, SUBSET + k))
            if 0.0 < known_share(column, rows, is_category, salt) < 1.0:
                return salt
        return np.nan
    low, high = np.inf, -np.inf
    for a in range(len(rows)):
        value = column[rows[a]]
        if not np.isnan(value):
            low, high = min(low, value), max(high, value)
    part = draw(seed, node, THRESHOLD) / RANGE
    threshold = low + 2 * (part * (high / 2 - low / 2))  # halves: the difference may overflow
    if uniform >= 0:
        threshold = low + uniform * (high - low)
    return threshold if threshold < high else low  # the largest value must go right


@kernel
def known_share(column: Array, rows: Array, is_category: bool, threshold: float) -> float:
    """Return the share of the rows with a known value that go left."""
    n_known = n_left = 0
    for a in range(len(rows)):
        value = column[rows[a]]
        if not np.isnan(value):
            n_known += 1
            n_left += is_below(value, is_category, threshold)
    return n_left / n_known


@kernel
def find_leaves(
    X: Array, is_category: Array, keys: Array, seed: int, tree: Tree, leaves: Array
) -> None:
    """Fill leaves (n,) with the leaf of one tree that each row of X (n, d) is in. O(n depth)."""
    features, thresholds, shares, children = tree
    for i in range(X.shape[0]):
        node = 0
        while children[node] >= 0:
            f = features[node]
            split = thresholds[node], shares[node]
            is_left = goes_left(X[i, f], is_category[f], split, keys[i], seed, node)
            node = int(children[node]) + (not is_left)
        leaves[i] = -1 - children[node]


MANY_ROWS = 20_000
"""Number of rows above which "auto" grows half as many trees (docs/decisions/0019)."""
MOST_TREES = 100_000
"""Largest number of trees per leaf size (chosen)."""
KINDS = {kind: kind for kind in ("number", "boolean", "date", "ordered", "category", "identifier")}
KINDS["ordered"] = "ordered category"
"""Kinds of columns in words."""
ODD = 0x9E3779B97F4A7C15
"""Multiplier of the hash of rows: odd, with its bits spread evenly."""


class TableForest(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn rows of mixed columns into codes: the leaf of each row in many isolation trees.

    Two rows are similar if they share many leaves, so the distance of rows is the Hamming distance
    of their codes, ``metric="hamming"``. Columns may hold numbers, ordered and unordered
    categories, booleans, dates and missing values; they need no scaling and no metric.
    ``TSNE().fit(frame)`` uses a TableForest if the frame has columns that are not numbers, or
    missing values.

    Parameters
    ----------
    leaf_size : float or sequence of floats, default=(4, 16)
        Mean number of rows per leaf; half of the trees have each size if there are two. A tree has
        at least two leaves.
    n_trees : int or "auto", default="auto"
        Number of trees per leaf size. "auto": 200; 100 for more than 20,000 rows.
    categorical : list of str or int, or None, default=None
        Columns to treat as categories although they hold numbers or mostly distinct text.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples and splits.

    Attributes
    ----------
    columns_ : list of Column
        The columns, with their kinds.
    trees_ : list of Trees
        The trees, one item per leaf size.

    Notes
    -----
    A tree is grown over a random sample of n_samples / leaf_size rows until each is alone, as in
    the paper (App. B). Departures: splits of categories into random subsets, and missing values
    (docs/decisions/0019). Cost: O(n t log n) time; 10 bytes per row and tree for leaves of 4 rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from isosne import TableForest
    >>> table = pd.DataFrame({"size": [1.0, None, 9.0], "color": ["red", "red", "blue"]})
    >>> TableForest(leaf_size=2, n_trees=3, random_state=0).fit_transform(table).shape
    (3, 3)
    """

    def __init__(
        self,
        leaf_size: Any = (4, 16),
        *,
        n_trees: int | str = "auto",
        categorical: Collection[Any] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.leaf_size = leaf_size
        self.n_trees = n_trees
        self.categorical = categorical
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the trees over a data frame or array (n_samples, n_features); y is ignored."""
        self._grow(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Grow the trees and return the codes of the rows, as from `transform`."""
        return self._find(self._grow(X))

    def transform(self, X: Any) -> Array:
        """Return the leaf of each row in each tree (n, n_trees), as unsigned integers.

        X must have the columns of the fitted table. Categories may be new.
        """
        check_is_fitted(self)
        return self._find(encode_columns(X, self.columns_))

    def describe(self) -> str:
        """Return the columns by kind, and the number of missing values, in one line."""
        check_is_fitted(self)
        counts = Counter(column.kind for column in self.columns_)
        kinds = ", ".join(_count(counts[kind], KINDS[kind]) for kind in KINDS if counts[kind])
        left_out = " (left out)" if counts["identifier"] else ""
        missing = _count(sum(column.n_missing for column in self.columns_), "missing value")
        trees = f"rows compared by {self._n_features_out} isolation trees"
        return f"table with {kinds}{left_out}; {missing}; {trees}"

    def _n_trees(self, n_rows: int) -> int:
        if isinstance(self.n_trees, str) and self.n_trees == "auto":
            return 100 if n_rows > MANY_ROWS else 200
        return check_count(self.n_trees, "n_trees", low=1, high=MOST_TREES, hint="200 are usual.")

    def _grow(self, X: Any) -> NDArray[np.float64]:
        """Fit the estimator, and return the table as numbers."""
        columns, table = read_columns(X, self.categorical)
        n = len(table)
        if n < 2:
            raise DataError(f"X must have at least 2 row(s); got n_samples={n}. Pass more rows.")
        sizes = as_scales(self.leaf_size, "leaf_size")
        for size in sizes:
            check_number(size, "leaf_size", low=1, hint="4 to 16 rows are usual.")
        rng = as_generator(self.random_state)
        keys = row_keys(table)
        is_category = category_flags(columns)
        trees = [
            grow_trees(table, keys, is_category, (self._n_trees(n), max(2, round(n / size))), rng)
            for size in sizes
        ]
        self.columns_, self.trees_ = columns, trees
        validate_data(self, X, reset=True, skip_check_array=True)
        return table

    def _find(self, table: NDArray[np.float64]) -> Array:
        keys, is_category = row_keys(table), category_flags(self.columns_)
        trees = [(part, t) for part in self.trees_ for t in range(len(part.seeds))]
        n_leaves = max(part.children.shape[1] // 2 + 1 for part in self.trees_)
        codes = np.empty((len(trees), len(table)), np.min_scalar_type(n_leaves))

        def work(block: slice) -> None:
            for leaves, (part, t) in zip(codes[block], trees[block], strict=True):
                find_leaves(table, is_category, keys, part.seeds[t], part.tree(t), leaves)

        for_each_block(len(codes), 4, work)
        return np.ascontiguousarray(codes.T)

    @property
    def _n_features_out(self) -> int:
        return sum(len(part.seeds) for part in self.trees_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _count(n: int, noun: str) -> str:
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"


def grow_trees(
    table: Array, keys: Array, is_category: Array, shape: tuple[int, int], rng: np.random.Generator
) -> Trees:
    """Return isolation trees over samples of the rows; shape: number of trees, rows per sample."""
    n_trees, psi = shape
    samples = [np.sort(rng.choice(len(table), psi, replace=False)) for _ in range(n_trees)]
    trees = empty_trees(n_trees, psi)
    trees.seeds[:] = rng.integers(0, RANGE, n_trees)
    by_hash = np.empty((0, 2))

    def work(block: slice) -> None:
        for t in range(block.start, block.stop):
            rows = samples[t]
            columns = np.ascontiguousarray(table[rows].T)
            grow_tree(columns, is_category, keys[rows], trees.seeds[t], by_hash, trees.tree(t))

    for_each_block(n_trees, 4, work)
    return trees


def category_flags(columns: list[Column]) -> NDArray[np.bool_]:
    """Return whether each used column holds categories without an order."""
    return np.array([column.kind == "category" for column in columns if column.is_used])


def row_keys(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a hash of each row, from 0 to RANGE - 1; equal rows have equal hashes."""
    values = np.where(np.isnan(table), np.nan, table) + 0.0  # one NaN, and no negative zero
    keys = np.zeros(len(table), np.uint64)
    for column in np.ascontiguousarray(values.T).view(np.uint64):
        keys = (keys ^ column) * np.uint64(ODD)
        keys ^= keys >> np.uint64(29)
    return (keys >> np.uint64(32)).astype(np.int64)
