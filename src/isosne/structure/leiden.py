"""The Leiden algorithm: clusters of a weighted graph with high modularity.

After Traag, Waltman and van Eck, "From Louvain to Leiden" (2019). The graph is a symmetric matrix
of joint probabilities. With w_C, the probability of pairs within cluster C, and k_C, the sum of its
rows, the modularity is the sum over the clusters of w_C - resolution k_C^2 (for a sum of 1).

Departure from the publication: the refinement merges a node with the cluster of the largest gain,
where the publication draws the cluster at random. The order of the nodes is random in both.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel
from isosne._types import Array, SparseMatrix

MOST_ROUNDS = 20
"""Largest number of rounds, each of which starts from the clusters of the previous one. Rounds end
when the clusters do not change; 2 to 6 were needed on the sets of docs/structure.md."""
SMALLEST_GAIN = 1e-10
"""Smallest gain of a move, relative to the row sum of the node: above rounding errors, so that
moves cannot repeat forever."""


class Graph(NamedTuple):
    """A symmetric weighted graph as CSR, without loops; ``strengths`` (n,) count them, too."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64]
    strengths: NDArray[np.float64]


def as_graph(joint: SparseMatrix) -> Graph:
    """Return the joint probabilities as a graph."""
    n = len(joint.indptr) - 1
    graph = Graph(joint.indptr, joint.indices, joint.data.astype(np.float64), np.empty(n))
    sum_within(graph, np.zeros(n, np.int64), graph.strengths)  # all nodes in one cluster
    return graph


def leiden(graph: Graph, resolution: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the cluster of each node, numbered from the largest cluster on."""
    resolution /= math.fsum(graph.strengths)  # weights need not have the sum 1
    labels = np.arange(len(graph.strengths))
    for _ in range(MOST_ROUNDS):
        improved = _improve(graph, resolution, labels, rng)
        if np.array_equal(improved, labels):
            break
        labels = improved
    return number_by_size(labels)


def modularity(graph: Graph, resolution: float, labels: Array) -> float:
    """Return the modularity of a clustering."""
    within = np.empty(len(labels))
    sum_within(graph, labels, within)
    total = math.fsum(graph.strengths)
    expected = math.fsum((np.bincount(labels, graph.strengths) / total) ** 2)
    return math.fsum(within) / total - resolution * expected


def number_by_size(labels: Array) -> NDArray[np.int64]:
    """Return labels numbered from the largest cluster on; ties go to the first member."""
    _, first, of_node, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    numbers = np.empty(len(first), np.int64)
    numbers[np.lexsort((first, -sizes))] = np.arange(len(first))
    return numbers[of_node]


def _improve(
    graph: Graph, resolution: float, labels: Array, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return better clusters: move nodes, refine, aggregate, and repeat on the aggregate graph."""
    of_point = np.arange(len(labels))  # the node of the present graph that a point belongs to
    labels = _compact(labels)
    while True:
        n = len(graph.strengths)
        move_nodes(graph, resolution, rng.permutation(n), labels)
        parts = np.arange(n)
        refine(graph, resolution, rng.permutation(n), labels, parts)
        parts = _compact(parts)
        if parts.max() + 1 == n:  # nothing to aggregate
            return _compact(labels[of_point])
        of_part = np.empty(parts.max() + 1, np.int64)
        of_part[parts] = labels  # all members of a part have the same cluster
        graph, labels, of_point = _aggregate(graph, parts), _compact(of_part), parts[of_point]


def _compact(labels: Array) -> NDArray[np.int64]:
    """Return labels numbered from 0 on, in the order of the first members."""
    _, first, of_node = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[of_node]


def _aggregate(graph: Graph, parts: Array) -> Graph:
    """Return the graph whose nodes are the parts of a graph."""
    n_parts = int(parts.max()) + 1
    members = np.argsort(parts, kind="stable")
    first = np.searchsorted(parts[members], np.arange(n_parts + 1))
    strengths = np.bincount(parts, graph.strengths).astype(np.float64, copy=False)
    links = (
        np.zeros(n_parts + 1, np.int64),
        np.empty_like(graph.indices),
        np.empty(len(graph.weights)),
    )
    fill_links(graph, parts, (members, first), links)
    n_links = links[0][-1]
    return Graph(links[0], links[1][:n_links].copy(), links[2][:n_links].copy(), strengths)


@kernel
def sum_within(graph: Graph, labels: Array, within: Array) -> None:
    """Fill within (n,) with the weight from each node to the others of its cluster."""
    indptr, indices, weights, _ = graph
    for i in range(len(labels)):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if labels[indices[e]] == labels[i]:
                total += weights[e]
        within[i] = total


@kernel
def move_nodes(graph: Graph, resolution: float, order: Array, labels: Array) -> None:
    """Move nodes to the cluster with the largest gain until no move has a gain.

    labels (n,), below n, is overwritten. A node whose neighbors moved is examined again. Each
    examination takes time proportional to the number of neighbors.
    """
    indptr, indices, weights, strengths = graph
    n = len(labels)
    totals, sizes = np.zeros(n), np.zeros(n, np.int64)
    for i in range(n):
        totals[labels[i]] += strengths[i]
        sizes[labels[i]] += 1
    empty = np.empty(n + 1, np.int64)  # a stack of numbers without members
    n_empty = 0
    for c in range(n - 1, -1, -1):
        if sizes[c] == 0:
            empty[n_empty] = c
            n_empty += 1
    toward, met = np.zeros(n), np.empty(n, np.int64)
    queue, is_queued = order.copy(), np.ones(n, np.bool_)
    first, n_queued = 0, n
    while n_queued > 0:
        i = queue[first]
        first = (first + 1) % n
        n_queued -= 1
        is_queued[i] = False
        n_met = 0
        for e in range(indptr[i], indptr[i + 1]):
            c = labels[indices[e]]
            if toward[c] == 0.0:
                met[n_met] = c
                n_met += 1
            toward[c] += weights[e]
        old = labels[i]
        sizes[old] -= 1
        totals[old] = totals[old] - strengths[i] if sizes[old] > 0 else 0.0
        if sizes[old] == 0:
            empty[n_empty] = old
            n_empty += 1
        new = old
        best = toward[old] - resolution * strengths[i] * totals[old]
        least = SMALLEST_GAIN * strengths[i]
        if sizes[old] > 0 and best < -least:
            new, best = empty[n_empty - 1], 0.0
        for q in range(n_met):
            c = met[q]
            gain = toward[c] - resolution * strengths[i] * totals[c]
            if gain > best + least:
                new, best = c, gain
            toward[c] = 0.0
        labels[i] = new
        if sizes[new] == 0:
            n_empty -= 1  # the top of the stack: `old`, or the number taken from it
        sizes[new] += 1
        totals[new] += strengths[i]
        if new != old:
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if labels[j] != new and not is_queued[j]:
                    queue[(first + n_queued) % n] = j
                    n_queued += 1
                    is_queued[j] = True


@kernel
def refine(graph: Graph, resolution: float, order: Array, labels: Array, parts: Array) -> None:
    """Divide each cluster into well connected parts.

    parts (n,), at first the index of each node, is overwritten. A node that is alone in its part
    joins the part of its cluster with the largest gain, if both are well connected to the rest of
    the cluster: their weight toward it is at least the expected one.
    """
    indptr, indices, weights, strengths = graph
    n = len(labels)
    of_cluster = np.zeros(n)
    totals, sizes = strengths.copy(), np.ones(n, np.int64)
    outward = np.zeros(n)  # weight from a part to the rest of its cluster
    sum_within(graph, labels, outward)
    within = outward.copy()
    for i in range(n):
        of_cluster[labels[i]] += strengths[i]
    toward, met = np.zeros(n), np.empty(n, np.int64)
    for i in order:
        total = of_cluster[labels[i]]
        own = strengths[i]
        if sizes[parts[i]] > 1 or within[i] < resolution * own * (total - own):
            continue
        n_met = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if labels[j] == labels[i]:
                c = parts[j]
                if toward[c] == 0.0:
                    met[n_met] = c
                    n_met += 1
                toward[c] += weights[e]
        new, best, gained = i, SMALLEST_GAIN * own, 0.0
        for q in range(n_met):
            c = met[q]
            gain = toward[c] - resolution * own * totals[c]
            is_connected = outward[c] >= resolution * totals[c] * (total - totals[c])
            if is_connected and gain > best:
                new, best, gained = c, gain, toward[c]
            toward[c] = 0.0
        if new != i:
            sizes[new] += 1
            sizes[parts[i]] -= 1
            totals[new] += own
            outward[new] += within[i] - 2.0 * gained
            parts[i] = new


@kernel
def fill_links(
    graph: Graph, parts: Array, grouped: tuple[Array, Array], links: tuple[Array, Array, Array]
) -> None:
    """Fill the CSR arrays (indptr, indices, weights) of the links between parts.

    grouped: the nodes of all parts, and the index of the first of each part.
    """
    indptr, indices, weights, _ = graph
    members, first = grouped
    starts, neighbors, sums = links
    n_parts = len(starts) - 1
    slot = np.full(n_parts, -1)
    stop = 0
    for a in range(n_parts):
        for m in range(first[a], first[a + 1]):
            i = members[m]
            for e in range(indptr[i], indptr[i + 1]):
                b = parts[indices[e]]
                if b == a:
                    continue
                if slot[b] < starts[a]:
                    slot[b] = stop
                    neighbors[stop] = b
                    sums[stop] = 0.0
                    stop += 1
                sums[slot[b]] += weights[e]
        starts[a + 1] = stop
