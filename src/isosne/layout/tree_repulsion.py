"""Repulsion by a Barnes-Hut tree: distant groups of points act as one; 1 to 3 dimensions.

Points are sorted along a Morton curve, on which each cell of a quadtree or octree is contiguous.
Nodes are stored in depth-first order with a link past their descendants, so that a traversal needs
no stack. All points of a leaf share one traversal: the nodes and points that act on them are listed
once, then summed for each point.

Unlike a mesh, the cost does not depend on the width of the map. Sorting and linking run on one
thread, everything else writes only its own rows, so results are bit-identical on any number of
threads.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel, parallel_kernel, prange, row_sum_kernel
from isosne._types import Array, Scalar
from isosne.layout.exact import Stateless
from isosne.layout.pair_terms import map_similarity

LEVELS = 20
"""Levels of the tree: 3 axes of 20 bits fit in an int64. Points closer than a millionth of the
map's width are not separated."""
LEAF_POINTS = 64
"""Largest number of points per leaf: no slower than 16 or 32, and less than half the error
(no record of the figures)."""
N_LISTS = 128
"""Number of interaction lists that the leaves are divided among (chosen). It is fixed, so that
results do not depend on the number of threads."""
LIST_LENGTH = 1024
"""Entries of an interaction list before it is summed: 16 kB, within the L1 cache (chosen)."""


class TreeRepulsion(Stateless):
    """Repulsion between all points of a map, computed with a tree.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    theta : float, default=0.5
        Accuracy, from 0 (exact) to 1 (coarse).

    Notes
    -----
    A node acts as a single mass if the diagonal of the bounding box of its points is less than
    theta times the distance from its center of mass to the bounding box of the leaf. Van der
    Maaten (2014) compares the diagonal of the cell with the distance to the point; his program
    compares half a side of the cell, so its theta = 0.5 is coarser than theta = 1 here.
    """

    def __init__(self, n_components: int, dof: Scalar = 1.0, theta: float = 0.5) -> None:
        self.n_components = n_components
        self.theta = theta
        self._dof = np.float32(dof)
        self._lists = np.empty((N_LISTS, 4, LIST_LENGTH), np.float32)
        self._reserve(0)

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32]) -> float:
        """Fill push (3, n) for the map Y (3, n), which has leading rows of zeros; return Z."""
        low, high = Y.min(axis=1).astype(np.float64), Y.max(axis=1).astype(np.float64)
        width = float((high - low).max())
        if not np.isfinite(width):  # a diverged map: `descend` detects it
            push[:] = np.nan
            return np.nan
        if Y.shape[1] != len(self._codes):
            self._reserve(Y.shape[1])
        fill_codes(Y, low, (2**LEVELS - 1) / width if width else 0.0, self._codes)
        order = np.argsort(self._codes, kind="stable")  # equal codes keep the order of points
        n_nodes, n_leaves = link(self._codes[order], self._links, self._leaves)
        links, nodes, leaves = self._links[:n_nodes], self._nodes[:n_nodes], self._leaves[:n_leaves]
        ordered = Y.take(order, axis=1)
        summarize(ordered, links, nodes)
        settings = np.float32(self.theta**2), self._dof
        push_leaves(ordered, (links, nodes), leaves, settings, self._lists, *self._found)
        push[:, order], self._sums[order] = self._found  # back to the original order
        return float(self._sums.sum())

    def _reserve(self, n_points: int) -> None:
        """Allocate the tree; inner nodes have at least two children, so 2n nodes suffice."""
        self._codes = np.empty(n_points, np.int64)
        self._links = np.empty((2 * n_points, 3), np.int32)
        self._nodes = np.empty((2 * n_points, 5), np.float32)
        self._leaves = np.empty(n_points, np.int32)
        self._found = np.empty((3, n_points), np.float32), np.empty(n_points)
        self._sums = np.empty(n_points)


@row_sum_kernel
def every_third(cell: int) -> int:
    """Return a number of up to 20 bits with two zero bits inserted before each bit."""
    cell = (cell | cell << 32) & 0x1F00000000FFFF
    cell = (cell | cell << 16) & 0x1F0000FF0000FF
    cell = (cell | cell << 8) & 0x100F00F00F00F00F
    cell = (cell | cell << 4) & 0x10C30C30C30C30C3
    return (cell | cell << 2) & 0x1249249249249249


@parallel_kernel
def fill_codes(Y: Array, low: Array, scale: float, codes: Array) -> None:
    """Fill codes (n,) with the Morton codes of Y (3, n); scale is the number of cells per unit."""
    for i in prange(Y.shape[1]):
        code = 0
        for c in range(3):
            cell = int((Y[c, i] - low[c]) * scale)
            code |= every_third(cell) << c
        codes[i] = code


@kernel
def link(codes: Array, links: Array, leaves: Array) -> tuple[int, int]:
    """Divide sorted codes (n,) into nodes; return the numbers of nodes and leaves. O(n).

    links (2n, 3): the node after all descendants, the first point, the point after the last.
    leaves (n,): indices of the leaf nodes. Both overwritten.
    """
    n_nodes = n_leaves = depth = 0
    path = np.empty(LEVELS + 1, np.int64)
    start, stop = 0, len(codes)
    while True:
        links[n_nodes, 1], links[n_nodes, 2] = start, stop
        if stop - start <= LEAF_POINTS:
            links[n_nodes, 0] = n_nodes + 1  # a leaf has no descendants to skip
            leaves[n_leaves] = n_nodes
            n_leaves += 1
            start = stop
        else:
            path[depth] = n_nodes
            depth += 1
        n_nodes += 1
        # Close all ancestors that end here; their link past the descendants is now known.
        while depth > 0 and links[path[depth - 1], 2] == start:
            depth -= 1
            links[path[depth], 0] = n_nodes
        if depth == 0:
            return n_nodes, n_leaves
        parent = path[depth - 1]
        stop = end_of_part(codes, links[parent, 1], start, links[parent, 2])


@row_sum_kernel
def end_of_part(codes: Array, first: int, start: int, stop: int) -> int:
    """Return the end of the child that begins at start, of a node that holds first to stop.

    Children differ in the highest group of three bits in which the codes of the node differ. Equal
    codes, at the last level, are divided into leaves.
    """
    unlike = codes[first] ^ codes[stop - 1]
    if unlike == 0:
        return min(start + LEAF_POINTS, stop)
    shift = 0
    while unlike >> (shift + 3) > 0:
        shift += 3
    beyond = ((codes[start] >> shift) + 1) << shift  # the smallest code after this child
    return start + int(np.searchsorted(codes[start:stop], beyond))


@row_sum_kernel
def interval(y: Array) -> tuple[Scalar, Scalar]:
    """Return the minimum and the maximum of y."""
    low = high = y[0]
    for value in y:
        low, high = min(low, value), max(high, value)
    return low, high


@parallel_kernel
def summarize(Y: Array, links: Array, nodes: Array) -> None:
    """Fill nodes (n_nodes, 5): center of mass, mass, squared diagonal of the bounding box.

    Y (3, n) is sorted. O(n) per level of the tree.
    """
    for node in prange(len(links)):
        start, stop = links[node, 1], links[node, 2]
        sq_diagonal = np.float32(0)
        for c in range(3):
            low, high = interval(Y[c, start:stop])
            total = 0.0  # float64: a node may hold all points
            for a in range(start, stop):
                total += np.float64(Y[c, a])
            nodes[node, c] = total / (stop - start)
            sq_diagonal += (high - low) * (high - low)
        nodes[node, 3], nodes[node, 4] = stop - start, sq_diagonal


@row_sum_kernel
def gap(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """Return the distance of x to an interval; zero inside."""
    return max(low - x, x - high, np.float32(0))


@row_sum_kernel
def push_within(Y: Array, leaf: tuple[int, int], dof: Scalar, push: Array, sums: Array) -> None:
    """Fill push and sums with the interactions among the points of a leaf."""
    start, stop = leaf
    for a in range(start, stop):
        zero = np.float32(0)
        q0 = q1 = q2 = total = zero
        for b in range(start, stop):
            d0, d1, d2 = Y[0, a] - Y[0, b], Y[1, a] - Y[1, b], Y[2, a] - Y[2, b]
            w, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            q = w * u
            total += zero if a == b else w  # no branch, so that the loop vectorizes
            q0 += q * d0
            q1 += q * d1
            q2 += q * d2
        push[0, a], push[1, a], push[2, a] = q0, q1, q2
        sums[a] = total


@row_sum_kernel
def push_by_list(
    listed: Array,
    size: int,
    Y: Array,
    leaf: tuple[int, int],
    dof: Scalar,
    push: Array,
    sums: Array,
) -> None:
    """Add the interactions of a leaf's points with the first `size` entries of a list.

    listed (4, length): coordinates and masses.
    """
    start, stop = leaf
    for a in range(start, stop):
        q0 = q1 = q2 = total = np.float32(0)
        for e in range(size):
            d0, d1, d2 = Y[0, a] - listed[0, e], Y[1, a] - listed[1, e], Y[2, a] - listed[2, e]
            w, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            w = w * listed[3, e]
            q = w * u
            total += w
            q0 += q * d0
            q1 += q * d1
            q2 += q * d2
        push[0, a] += q0
        push[1, a] += q1
        push[2, a] += q2
        sums[a] += np.float64(total)


@parallel_kernel
def push_leaves(
    Y: Array,
    tree: tuple[Array, Array],
    leaves: Array,
    settings: tuple[Scalar, Scalar],
    lists: Array,
    push: Array,
    sums: Array,
) -> None:
    """Fill push (3, n) and sums (n,) of the sorted points Y (3, n), leaf by leaf.

    tree: links and nodes; settings: theta squared, dof; lists (n_lists, 4, length): scratch.
    """
    for t in prange(len(lists)):
        for e in range(t, len(leaves), len(lists)):  # interleaved, to balance dense regions
            push_leaf(Y, tree, leaves[e], settings, lists[t], push, sums)


@row_sum_kernel
def push_leaf(
    Y: Array,
    tree: tuple[Array, Array],
    own: int,
    settings: tuple[Scalar, Scalar],
    listed: Array,
    push: Array,
    sums: Array,
) -> None:
    """Fill push and sums of one leaf: traverse the tree, list nodes and points, then sum."""
    links, nodes = tree
    sq_theta, dof = settings
    start, stop = leaf = links[own, 1], links[own, 2]
    low_0, high_0 = interval(Y[0, start:stop])
    low_1, high_1 = interval(Y[1, start:stop])
    low_2, high_2 = interval(Y[2, start:stop])
    push_within(Y, leaf, dof, push, sums)
    size = node = 0
    while node < len(links):
        if size > listed.shape[1] - LEAF_POINTS:  # another leaf might not fit
            push_by_list(listed, size, Y, leaf, dof, push, sums)
            size = 0
        after, first, last = links[node, 0], links[node, 1], links[node, 2]
        g0 = gap(nodes[node, 0], low_0, high_0)
        g1 = gap(nodes[node, 1], low_1, high_1)
        g2 = gap(nodes[node, 2], low_2, high_2)
        is_far = nodes[node, 4] < sq_theta * (g0 * g0 + g1 * g1 + g2 * g2)
        if first <= start < last:  # an ancestor, or the leaf itself, which is summed already
            node += 1
        elif is_far or nodes[node, 4] == 0:  # duplicates act as one mass at any distance
            for c in range(4):
                listed[c, size] = nodes[node, c]
            size += 1
            node = after
        else:
            node += 1
            if node == after:
                for a in range(first, last):
                    for c in range(3):
                        listed[c, size] = Y[c, a]
                    listed[3, size] = np.float32(1)
                    size += 1
    push_by_list(listed, size, Y, leaf, dof, push, sums)
