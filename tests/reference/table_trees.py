"""Slow twins of isolation trees over tables, and of Gower's distance.

A tree is a list of nodes in the order in which they are made: breadth first, left before right. A
split is (column, threshold, share, left child), a leaf is its number. All draws are hashes of 32
bits, of the seed of the tree, the number of the node and a counter.
"""

import math

WORD = 2**32


def scramble(number):
    """Hash of an integer of 32 bits: two rounds of xorshift and multiplication."""
    for _ in range(2):
        number = (number ^ (number >> 16)) * 0x45D9F3B % WORD
    return number ^ (number >> 16)


def draw(seed, node, counter):
    """Random integer of 32 bits; a node has 65537 counters before those of the next follow."""
    return scramble(seed ^ scramble((65537 * node + counter) % WORD))


def goes_left(value, is_category, threshold, share, key, seed, node):
    """Side of a row at a split; key: the hash of the row, for a value that is missing."""
    if math.isnan(value):
        return scramble(key ^ draw(seed, node, 0)) < share * WORD
    if is_category:
        return scramble(int(value) ^ int(threshold)) % 2 == 0
    return value <= threshold


def grow(rows, is_category, keys, seed, as_share=lambda share: share):
    """Grow a tree over rows until no column has two known values among those of a node.

    as_share: rounds a share as the trees store it.
    """
    waiting, nodes, n_leaves = [list(range(len(rows)))], [], 0
    n_made = 1
    for node, members in enumerate(waiting):  # the list grows while it is read
        split = _split([rows[m] for m in members], is_category, seed, node)
        if split is None:
            nodes.append(n_leaves)
            n_leaves += 1
            continue
        column, threshold = split
        known = [rows[m][column] for m in members if not math.isnan(rows[m][column])]
        n_left = sum(goes_left(v, is_category[column], threshold, 0, 0, seed, node) for v in known)
        share = as_share(n_left / len(known))
        sides = {True: [], False: []}
        for m in members:
            at = rows[m][column], is_category[column], threshold, share, keys[m], seed, node
            sides[goes_left(*at)].append(m)
        nodes.append((column, threshold, share, n_made))
        waiting += [sides[True], sides[False]]
        n_made += 2
    return nodes


def _split(rows, is_category, seed, node):
    """Column and threshold of a node; None if it is a leaf."""
    n_columns = len(is_category)
    values = [{row[c] for row in rows if not math.isnan(row[c])} for c in range(n_columns)]
    varying = [c for c in range(n_columns) if len(values[c]) > 1]
    if not varying:
        return None
    drawn = [draw(seed, node, 2 + k) % n_columns for k in range(n_columns)]
    drawn = [c for c in drawn if c in varying]
    column = drawn[0] if drawn else varying[draw(seed, node, 1) % len(varying)]
    found = values[column]
    if is_category[column]:
        for k in range(64):
            salt = float(draw(seed, node, 2 + 2**16 + k))
            if len({goes_left(v, True, salt, 0, 0, seed, node) for v in found}) == 2:
                return column, salt
        return None
    low, high = min(found), max(found)
    threshold = low + 2 * (draw(seed, node, 1) / WORD * (high / 2 - low / 2))
    return column, threshold if threshold < high else low


def leaf(nodes, row, is_category, key, seed):
    """Leaf of a row."""
    node = 0
    while isinstance(nodes[node], tuple):
        column, threshold, share, child = nodes[node]
        at = row[column], is_category[column], threshold, share, key, seed, node
        node = child + (not goes_left(*at))
    return nodes[node]


def gower(a, b, is_category, ranges):
    """Gower's distance of two rows, None for missing values: the mean over known columns."""
    parts = []
    for x, y, category, width in zip(a, b, is_category, ranges, strict=True):
        if x is None or y is None:
            continue
        parts.append(float(x != y) if category else abs(x - y) / width if width else 0.0)
    return sum(parts) / len(parts) if parts else 1.0
