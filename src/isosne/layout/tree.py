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

from isosne._blocks import loop_over_blocks
from isosne._lanes import LANES, entries, load, loaded, minus, point, repeated, splat, total, totals
from isosne._numba import kernel, parallel_kernel, prange
from isosne._types import Array, Scalar
from isosne.layout.all_pairs import add_push, mass_sum
from isosne.layout.forces import Mass, Repulsion

LEVELS = 20
"""Levels of the tree: 3 axes of 20 bits fit in an int64. Points closer than a millionth of the
map's width are not separated."""
BLOCK = 16_384
"""Points per block of `morton_codes`, which take about a tenth of a millisecond (chosen)."""
LEAF_POINTS = 64
"""Largest number of points per leaf: no slower than 16 or 32, and less than half the error
(no record of the figures)."""
N_LISTS = 128
"""Number of interaction lists that the leaves are divided among (chosen). It is fixed, so that
results do not depend on the number of threads."""
LIST_LENGTH = 1024
"""Entries of an interaction list before it is summed: 16 kB, within the L1 cache (chosen)."""
Settings = tuple[tuple[Scalar, Scalar], tuple[Scalar, ...]]
"""Theta squared and dof; and as many zeros as the map has axes, as compiled code must know it."""


class TreeRepulsion(Repulsion):
    """Repulsion between all points of a map, computed with a tree.

    A node acts as a single mass if the diagonal of the bounding box of its points is less than
    theta times the distance from its center of mass to the bounding box of the leaf. Van der
    Maaten (2014) compares the diagonal of the cell with the distance to the point; his program
    compares half a side of the cell, so its theta = 0.5 is coarser than theta = 1 here.
    """

    def __init__(self, n_components: int, dof: Scalar = 1.0, theta: float = 0.5) -> None:
        self.n_components = n_components
        self.theta = theta
        self._dof = np.float32(dof)
        self._lists = np.zeros((N_LISTS, n_components + 1, LIST_LENGTH), np.float32)
        self._reserve(0)

    def push(self, Y: NDArray[np.float32], push: NDArray[np.float32], masses: Mass = ()) -> float:
        codes = morton_codes(Y, LEVELS)
        if codes is None:  # a diverged map: `descend` detects it
            push[:] = np.nan
            return np.nan
        if Y.shape[1] != len(self._sums):
            self._reserve(Y.shape[1])
        order = np.argsort(codes, kind="stable")  # equal codes keep the order of points
        n_nodes, n_leaves = link(codes[order], self._links, self._leaves)
        links, nodes, leaves = self._links[:n_nodes], self._nodes[:n_nodes], self._leaves[:n_leaves]
        own = masses[0] if masses else np.ones(len(order), np.float32)
        ordered = np.vstack([Y, own]).take(order, axis=1)
        summarize(ordered, links, nodes)
        settings = (np.float32(self.theta**2), self._dof), (np.float32(0),) * len(Y)
        push_leaves(ordered, (links, nodes), leaves, settings, self._lists, *self._found)
        push[:, order], self._sums[order] = self._found  # back to the original order
        return mass_sum(self._sums, masses)

    def _reserve(self, n_points: int) -> None:
        """Allocate the tree; inner nodes have at least two children, so 2n nodes suffice."""
        self._links = np.empty((2 * n_points, 3), np.int32)
        self._nodes = np.empty((2 * n_points, self.n_components + 2), np.float32)
        self._leaves = np.empty(n_points, np.int32)
        self._found = np.empty((self.n_components, n_points), np.float32), np.empty(n_points)
        self._sums = np.empty(n_points)


def morton_codes(Y: NDArray[np.float32], n_bits: int) -> NDArray[np.int64] | None:
    """Return the Morton codes of the points of a map (d, n); None if the map is not finite."""
    low, high = Y.min(axis=1).astype(np.float64), Y.max(axis=1).astype(np.float64)
    width = float((high - low).max())  # the same for all axes: cells are squares or cubes
    if not np.isfinite(width):
        return None
    codes = np.empty(Y.shape[1], np.int64)
    scale = (2**n_bits - 1) / width if width else 0.0
    columns = np.ascontiguousarray(Y)
    loop_over_blocks(len(codes), BLOCK, lambda block: fill_codes(block, columns, low, scale, codes))
    return codes


@kernel
def every_third(cell: int) -> int:
    """Return a number of up to 20 bits with two zero bits inserted before each bit."""
    cell = (cell | cell << 32) & 0x1F00000000FFFF
    cell = (cell | cell << 16) & 0x1F0000FF0000FF
    cell = (cell | cell << 8) & 0x100F00F00F00F00F
    cell = (cell | cell << 4) & 0x10C30C30C30C30C3
    return (cell | cell << 2) & 0x1249249249249249


@kernel
def fill_codes(block: slice, Y: Array, low: Array, scale: float, codes: Array) -> None:
    """Fill a block of the Morton codes (n,) of Y (d, n); scale is the number of cells per unit."""
    for i in range(block.start, block.stop):
        code = 0
        for c in range(Y.shape[0]):
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


@kernel
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


@parallel_kernel
def summarize(Y: Array, links: Array, nodes: Array) -> None:
    """Fill nodes (n_nodes, d + 2): center of mass, mass, squared diagonal of the bounding box.

    Y (d + 1, n), coordinates and masses, is sorted. O(n) per level of the tree.
    """
    for node in prange(len(links)):
        start, stop = links[node, 1], links[node, 2]
        sq_diagonal = np.float32(0)
        mass = 0.0  # float64: a node may hold all points
        for a in range(start, stop):
            mass += np.float64(Y[-1, a])
        for c in range(Y.shape[0] - 1):
            y = Y[c, start:stop]
            width = y.max() - y.min()
            total = 0.0
            for a in range(start, stop):
                total += np.float64(Y[c, a]) * np.float64(Y[-1, a])
            nodes[node, c] = total / mass
            sq_diagonal += width * width
        nodes[node, -2], nodes[node, -1] = mass, sq_diagonal


@kernel
def list_points(listed: Array, size: int, Y: Array, first: int, last: int) -> int:
    """Append points of Y (d + 1, n) with their masses to a list; return its new size."""
    for a in range(first, last):
        for c in range(Y.shape[0]):
            listed[c, size] = Y[c, a]
        size += 1
    return size


@kernel
def push_by_list(
    listed: Array,
    size: int,
    Y: Array,
    points: tuple[int, int],
    settings: Settings,
    push: Array,
    sums: Array,
) -> None:
    """Add the interactions of a run of points with the first `size` entries of a list."""
    (_, dof), zeros = settings
    axes, masses = entries(listed, zeros), listed[-1]
    for e in range(size, size + -size % LANES):  # the rest of the last vector
        masses[e] = np.float32(0)
    for a in range(points[0], points[1]):
        x = repeated(point(entries(Y, zeros), a))
        weights, pushes = splat(0), repeated(zeros)
        for e in range(0, size, LANES):
            d = minus(x, loaded(axes, e))
            weights, pushes = add_push((weights, pushes), d, dof, load(masses, e))
        found = totals(pushes)
        for c in range(len(zeros)):
            push[c, a] += found[c]
        sums[a] += np.float64(total(weights))


@kernel
def push_within(
    listed: Array, Y: Array, leaf: tuple[int, int], settings: Settings, push: Array, sums: Array
) -> None:
    """Fill push and sums with the interactions among the points of a leaf."""
    start, stop = leaf
    size = list_points(listed, 0, Y, start, stop)
    for a in range(start, stop):
        push[:, a] = np.float32(0)
        sums[a] = 0.0
        listed[-1, a - start] = np.float32(0)  # a point does not act on itself
        push_by_list(listed, size, Y, (a, a + 1), settings, push, sums)
        listed[-1, a - start] = Y[-1, a]


@parallel_kernel
def push_leaves(
    Y: Array,
    tree: tuple[Array, Array],
    leaves: Array,
    settings: Settings,
    lists: Array,
    push: Array,
    sums: Array,
) -> None:
    """Fill push (d, n) and sums (n,) of the sorted points Y (d + 1, n), leaf by leaf.

    tree: links and nodes; lists (n_lists, d + 1, length): scratch, coordinates and masses.
    """
    numbers, zeros = settings  # a parallel loop takes no nested tuple
    for t in prange(len(lists)):
        for e in range(t, len(leaves), len(lists)):  # interleaved, to balance dense regions
            push_leaf(Y, tree, leaves[e], (numbers, zeros), lists[t], push, sums)


@kernel
def push_leaf(
    Y: Array,
    tree: tuple[Array, Array],
    own: int,
    settings: Settings,
    listed: Array,
    push: Array,
    sums: Array,
) -> None:
    """Fill push and sums of one leaf: traverse the tree, list nodes and points, then sum."""
    links, nodes = tree
    sq_theta = settings[0][0]
    start, stop = leaf = links[own, 1], links[own, 2]
    box = np.empty((Y.shape[0] - 1, 2), np.float32)
    for c in range(len(box)):
        box[c, 0], box[c, 1] = Y[c, start:stop].min(), Y[c, start:stop].max()
    push_within(listed, Y, leaf, settings, push, sums)
    size = node = 0
    while node < len(links):
        if size > listed.shape[1] - LEAF_POINTS:  # another leaf might not fit
            push_by_list(listed, size, Y, leaf, settings, push, sums)
            size = 0
        after, first, last = links[node, 0], links[node, 1], links[node, 2]
        sq_gap = np.float32(0)
        for c in range(len(box)):
            x = nodes[node, c]
            apart = max(box[c, 0] - x, x - box[c, 1], np.float32(0))  # zero inside of the box
            sq_gap += apart * apart
        if first <= start < last:  # an ancestor, or the leaf itself, which is summed already
            node += 1
        elif nodes[node, -1] < sq_theta * sq_gap or nodes[node, -1] == 0:
            # Far away; or duplicates, which act as one mass at any distance.
            for c in range(listed.shape[0]):
                listed[c, size] = nodes[node, c]
            size += 1
            node = after
        else:
            node += 1
            if node == after:
                size = list_points(listed, size, Y, first, last)
    push_by_list(listed, size, Y, leaf, settings, push, sums)
