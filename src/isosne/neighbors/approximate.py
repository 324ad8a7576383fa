"""Approximate nearest-neighbor search; time nearly proportional to n.

`ClusteredPoints` groups points by k-means. All points of a cluster are compared with the same few
thousand candidates, the points of the nearest clusters, in matrix products. Distances of the
candidates that are kept are recomputed exactly, so their values and order are correct, and a row in
which rounding leaves them undecided is compared again. A neighbor in a cluster that was not
searched is missed. Measurements: docs/decisions/0007.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._types import Array, Neighbors, Points
from isosne.neighbors.distances import BLOCK_ROWS, DenseEuclidean, exact_set, search_set
from isosne.neighbors.exact import (
    SPARE,
    keep_nearest,
    keep_others,
    nearest,
    recompute_kept,
    sort_kept,
)
from isosne.neighbors.metric import Metric, working_dtype

CLUSTER_SIZE = 96
"""Mean number of points per cluster (measured: docs/decisions/0007)."""
CANDIDATES = 150
"""Candidates per requested neighbor (measured: docs/decisions/0007)."""
QUERY_CANDIDATES = 75
"""Candidates per requested neighbor for new points. Half as many, for speed: about 95 % of the
neighbors are found (docs/decisions/0007 has recall 0.949 at 60)."""
MIN_CANDIDATES, MIN_QUERY_CANDIDATES = 4000, 2500
"""Smallest number of candidates, for small k: of fitted points (chosen; not measured) and of new
points (docs/decisions/0014)."""
TRAINING_ROUNDS, TRAINING_POINTS = 5, 20
"""Rounds of k-means, and sampled points per cluster on average (chosen; not measured)."""
Keep = Callable[[slice, Array, Array], None]
"""Takes the ranks, the nearest points and the distances of queries that are sorted by cluster."""


class ClusteredPoints:
    """Approximate search among dense points that are grouped into clusters.

    `order` holds the indices of the points sorted by cluster. Results do not depend on the number
    of threads: the k-means sample has a fixed seed, and blocks consist of whole clusters.
    """

    def __init__(self, X: Points, metric: Metric) -> None:
        self.metric = metric = metric.fitted(X)
        exact = exact_set(X, metric, precision=working_dtype(X))
        points, scale = exact.points, exact.scale
        del exact
        centers = _train(points, max(1, len(points) // CLUSTER_SIZE))
        self._centers = search_set(centers, Metric())
        labels = self._nearest_centers(points)
        self.order = np.argsort(labels, kind="stable").astype(np.int32)
        self._starts = np.r_[0, np.cumsum(np.bincount(labels, minlength=len(centers)))]
        points = points[self.order]  # the only reference, so that the unordered copy is freed
        self._search = DenseEuclidean(points, metric, scale)

    def neighbors(self, k: int) -> Neighbors:
        shape = self._search.n_points, k
        lists = Neighbors(np.empty(shape, np.int32), np.empty(shape, np.float32))

        def keep(ranks: slice, ids: Array, distances: Array) -> None:
            keep_others(lists, self.order[ranks], ids, distances)

        n_candidates = max(CANDIDATES * (k + 1), MIN_CANDIDATES)
        self._search_all(self._search.points, self._starts, k + 1, n_candidates, keep)
        return lists

    def nearest(self, X: Points, k: int) -> tuple[NDArray[np.int32], Array]:
        ids, distances = np.empty((X.shape[0], k), np.int32), np.empty((X.shape[0], k))
        queries = self._search.query(X, slice(0, X.shape[0])).points
        labels = self._nearest_centers(queries)
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(len(self._starts)))

        def keep(ranks: slice, found: Array, measured: Array) -> None:
            ids[order[ranks]], distances[order[ranks]] = found, measured

        n_candidates = max(QUERY_CANDIDATES * k, MIN_QUERY_CANDIDATES)
        self._search_all(queries[order], starts, k, n_candidates, keep)
        return ids, distances

    def _nearest_centers(self, points: Array) -> Array:
        return nearest(points, self._centers, 1)[0][:, 0]

    def _search_all(
        self, queries: Array, starts: Array, k: int, n_candidates: int, keep: Keep
    ) -> None:
        """Pass to `keep` the k nearest points of the queries, which are sorted by cluster.

        The queries of a cluster, from starts[c] to starts[c + 1], share the candidates.
        """
        # Four times the mean number, because cluster sizes vary (chosen; not measured).
        n_near = min(self._centers.n_points, 8 + 4 * n_candidates // CLUSTER_SIZE)
        centers = self._centers.points * self._centers.scale
        near = nearest(centers, self._centers, n_near)[0]

        def work(clusters: slice) -> None:
            for c in range(clusters.start, clusters.stop):
                ranks = slice(starts[c], starts[c + 1])
                if ranks.start < ranks.stop:
                    ids, keys = self._search_clusters(queries[ranks], near[c], k, n_candidates)
                    keep(ranks, ids, self.metric.distances(keys, self._search.scale))

        for_each_block(len(starts) - 1, 4, work)

    def _search_clusters(
        self, points: Array, near: Array, k: int, n_candidates: int
    ) -> tuple[Array, Array]:
        """Return indices and keys of the k nearest points from the given clusters."""
        search = self._search
        columns = gather_columns(near, self._starts, n_candidates)
        if len(columns) < k:  # most clusters are empty, as with many duplicates
            columns = np.arange(search.n_points)
        shape = len(points), min(k + SPARE, len(columns))
        ids, keys = np.full(shape, -1, np.int32), np.full(shape, np.inf)
        for start in range(0, len(points), BLOCK_ROWS):  # some clusters have thousands of points
            rows = slice(start, start + BLOCK_ROWS)
            query = search.ready(points[rows])
            for s in range(0, len(columns), search.tile):
                tile = columns[s : s + search.tile]
                keep_nearest(search.keys(query, tile), s, keys[rows], ids[rows])
            rounding = query.sq_norms, search.unit
            recompute_kept(points[rows], search.points, columns, rounding, k, keys[rows], ids[rows])
        ids = self.order[columns[ids]]
        sort_kept(keys, ids)
        return ids[:, :k], keys[:, :k]


def gather_columns(near: Array, starts: Array, n_candidates: int) -> Array:
    """Return the points of whole clusters, nearest first, until there are n_candidates."""
    n_points = np.cumsum(starts[near + 1] - starts[near])
    chosen = near[: np.searchsorted(n_points, n_candidates) + 1]
    return np.concatenate([np.arange(starts[c], starts[c + 1], dtype=np.int32) for c in chosen])


def _train(points: Array, n_clusters: int) -> Array:
    """Return cluster centers from a few rounds of k-means on a sample of the points."""
    rng = np.random.default_rng(0)  # fixed, so that the same points give the same neighbors
    n_sample = min(len(points), TRAINING_POINTS * n_clusters)
    sample = points[np.sort(rng.choice(len(points), n_sample, replace=False))]
    centers = sample[rng.choice(n_sample, n_clusters, replace=False)].astype(np.float64)
    for _ in range(TRAINING_ROUNDS):
        found = nearest(sample, search_set(centers.astype(points.dtype), Metric()), 1)
        labels = found[0][:, 0]
        sizes = np.bincount(labels, minlength=n_clusters)
        filled = sizes > 0  # an empty cluster keeps its center
        begins = (np.cumsum(sizes) - sizes)[filled]
        ordered = sample[np.argsort(labels, kind="stable")].astype(np.float64)
        centers[filled] = np.add.reduceat(ordered, begins, axis=0) / sizes[filled, None]
    return centers.astype(points.dtype)
