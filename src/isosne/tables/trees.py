"""Isolation trees over tables of numbers and category codes, with missing values; compiled.

A node is split on a column drawn from those that vary among its rows. Numbers are split at a value
drawn uniformly between minimum and maximum. Categories are split into two random subsets: the side
of a category is a bit of a hash of its code, so that a category that is new has a side too. A row
whose value is missing goes left with the probability of the rows whose value is known; the draw is
a hash of the row, so that equal rows stay together. All draws are hashes of the seed of the tree,
the node and a counter.
"""

import numpy as np

from isosne._numba import kernel
from isosne._types import Array

Tree = tuple[Array, Array, Array, Array]
"""Features, thresholds, shares and children of the nodes of a tree."""
RANGE = 2**32
"""Hashes are integers from 0 to RANGE - 1."""
MULTIPLIER = 0x45D9F3B
"""Multiplier of the hash (Mueller); a product with a number below RANGE fits in int64."""
TRIES = 64
"""Subsets that are tried until both have a category of the node: one try in two succeeds."""
THRESHOLD, COLUMN, SUBSET = 1, 2, 2 + 2**16
"""First counters of the draws of a node; 0 is that of missing values."""


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
def is_drawn_left(row_key: int, seed: int, node: int, share: float) -> bool:
    """Return whether a row whose value is missing goes left, with a probability of `share`."""
    return scramble(row_key ^ draw(seed, node, 0)) < share * RANGE


@kernel
def grow_table_tree(columns: Array, is_category: Array, keys: Array, seed: int, tree: Tree) -> None:
    """Grow one tree over the rows of columns (d, psi).

    keys (psi,): a hash of each row. tree: features, thresholds, shares and children (2 psi - 1
    nodes), overwritten; children is the left child, which the right one follows, or -1 - leaf.
    O(psi depth) time, unless most columns are constant in most nodes.
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
        f = draw_column(columns, rows, seed, node)
        threshold = np.nan
        if f >= 0:
            threshold = draw_threshold(columns[f], rows, is_category[f], seed, node)
        if np.isnan(threshold):
            children[node] = -1 - n_leaves
            n_leaves += 1
            continue
        features[node], thresholds[node] = f, threshold
        shares[node] = known_share(columns[f], rows, is_category[f], threshold)
        middle = first
        for a in range(first, last):
            row = members[a]
            value = columns[f, row]
            if np.isnan(value):
                is_left = is_drawn_left(keys[row], seed, node, shares[node])
            else:
                is_left = is_below(value, is_category[f], threshold)
            if is_left:
                members[a], members[middle] = members[middle], row
                middle += 1
        children[node] = n_nodes
        bounds[n_nodes] = (first, middle)
        bounds[n_nodes + 1] = (middle, last)
        n_nodes += 2


@kernel
def draw_column(columns: Array, rows: Array, seed: int, node: int) -> int:
    """Return a column that varies among the rows, uniformly drawn; -1 if none does."""
    n_columns = columns.shape[0]
    if len(rows) < 2:
        return -1
    for k in range(n_columns):  # draws with replacement: fails rarely unless most are constant
        f = draw(seed, node, COLUMN + k) % n_columns
        if varies(columns[f], rows):
            return int(f)
    n_varying = 0
    for f in range(n_columns):
        n_varying += varies(columns[f], rows)
    if n_varying == 0:
        return -1
    left = draw(seed, node, THRESHOLD) % n_varying
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
        if np.isnan(value):
            continue
        if np.isnan(known):
            known = value
        elif value != known:
            return True
    return False


@kernel
def draw_threshold(column: Array, rows: Array, is_category: bool, seed: int, node: int) -> float:
    """Return a value between the smallest and the largest, or the salt of a hash of categories.

    NaN if none of TRIES salts gave each side a category.
    """
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
def find_table_leaves(
    X: Array, is_category: Array, keys: Array, seed: int, tree: Tree, leaves: Array
) -> None:
    """Fill leaves (n,) with the leaf of one tree that each row of X (n, d) is in. O(n depth)."""
    features, thresholds, shares, children = tree
    for i in range(X.shape[0]):
        node = 0
        while children[node] >= 0:
            f = features[node]
            value = X[i, f]
            if np.isnan(value):
                is_left = is_drawn_left(keys[i], seed, node, shares[node])
            else:
                is_left = is_below(value, is_category[f], thresholds[node])
            node = int(children[node]) + (not is_left)
        leaves[i] = -1 - children[node]
