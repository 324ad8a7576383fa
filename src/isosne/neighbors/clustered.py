"""Nearly all nearest neighbors of many points, in time that grows little faster than their number.

The points are sorted into clusters by k-means. All points of a cluster are compared with the same
few thousand candidates, those of the nearest clusters, in matrix products. What is found is
measured exactly, so its order and its distances are right; a neighbor in a cluster that was not
searched is missed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Neighbors, Points
from isosne.errors import ParameterError
from isosne.neighbors.distances import Metric, search_set
from isosne.neighbors.exact import (
    SPARE,
    keep_nearest,
    measure_kept,
    nearest,
    sort_kept,
    without_self,
)

CLUSTER_SIZE = 96
"""Points in a cluster, on average."""
CANDIDATES = 150
"""Candidates that a point is compared with, for each neighbor asked for."""
QUERY_CANDIDATES = 75
"""The same for points that are not of the set: five in a hundred neighbors are missed then."""
MIN_CANDIDATES = 4000
"""Candidates at the least, however few neighbors are asked for."""
TRAINING_ROUNDS = 5
TRAINING_POINTS = 20
"""Points that a cluster's center is learned from, on average."""


class ClusteredPoints:
    """Points in clusters, ready to be searched.

    Parameters
    ----------
    X : array of shape (n, n_features)
        The points.
    metric : Metric
        Euclidean or cosine.

    Attributes
    ----------
    order : array of int, shape (n,)
        The points cluster by cluster: near points follow each other.
    """

    def __init__(self, X: Points, metric: Metric) -> None:
        if isinstance(X, csr_array) or metric.name not in ("euclidean", "cosine"):
            raise ParameterError(
                "Approximate neighbors need dense points and metric 'euclidean' or 'cosine'; "
                f"got {'sparse' if isinstance(X, csr_array) else 'dense'} points and "
                f"metric={metric.name!r}. Choose exact ones."
            )
        self.metric = metric
        points = search_set(X, metric).points
        centers = _train(points, max(1, len(points) // CLUSTER_SIZE))
        self._centers = search_set(centers, Metric())
        labels = self._nearest_centers(points)
        self.order = np.argsort(labels, kind="stable").astype(np.int32)
        self._starts = np.r_[0, np.cumsum(np.bincount(labels, minlength=len(centers)))]
        self._search: Any = search_set(X, metric, self.order)  # DenseEuclidean

    def neighbors(self, k: int) -> Neighbors:
        """Return nearly all of the k nearest neighbors of each point."""
        n, starts = self._search.n_points, self._starts
        lists = Neighbors(np.empty((n, k), np.int32), np.empty((n, k), np.float32))
        n_candidates = enough(CANDIDATES * (k + 1))
        near = self._near_clusters(n_candidates)

        def work(clusters: slice) -> None:
            for c in range(clusters.start, clusters.stop):
                own = self.order[starts[c] : starts[c + 1]]
                points = self._search.points[starts[c] : starts[c + 1]]
                if len(own):
                    ids, keys = self._search_clusters(points, near[c], k + 1, n_candidates)
                    distances = self.metric.distances(keys, self._search.scale)
                    found = without_self(ids, distances, own)
                    lists.indices[own], lists.distances[own] = found

        for_each_block(len(starts) - 1, 4, work)
        return lists

    def nearest(self, X: Points, k: int) -> tuple[NDArray[np.int32], Array]:
        """Return ids and distances of nearly all of the k points nearest to each row of X."""
        n = X.shape[0]
        ids, distances = np.empty((n, k), np.int32), np.empty((n, k))
        queries = self._search.query(X, slice(0, n)).points
        labels = self._nearest_centers(queries)
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(len(self._starts)))
        n_candidates = enough(QUERY_CANDIDATES * k)
        near = self._near_clusters(n_candidates)

        def work(clusters: slice) -> None:
            for c in range(clusters.start, clusters.stop):
                rows = order[starts[c] : starts[c + 1]]
                if len(rows):
                    found = self._search_clusters(queries[rows], near[c], k, n_candidates)
                    ids[rows], keys = found
                    distances[rows] = self.metric.distances(keys, self._search.scale)

        for_each_block(len(starts) - 1, 4, work)
        return ids, distances

    def _nearest_centers(self, points: Array) -> Array:
        return nearest(points, self._centers, 1)[0][:, 0]

    def _near_clusters(self, n_candidates: int) -> Array:
        """Return the clusters nearest to each, as many as hold the candidates as a rule."""
        n_near = min(self._centers.n_points, 8 + 4 * n_candidates // CLUSTER_SIZE)
        centers = self._centers.points * self._centers.scale
        return nearest(centers, self._centers, n_near)[0]

    def _search_clusters(
        self, points: Array, near: Array, k: int, n_candidates: int
    ) -> tuple[Array, Array]:
        """Return ids and keys of the k nearest to each point, from the near clusters."""
        search = self._search
        columns = gather_columns(near, self._starts, n_candidates)
        if len(columns) < k:  # most clusters are empty, as with many copies
            columns = np.arange(search.n_points)
        query = search.ready(points)
        shape = len(points), min(k + SPARE, len(columns))
        ids, keys = np.full(shape, -1, np.int32), np.full(shape, np.inf)
        for s in range(0, len(columns), search.tile):
            keep_nearest(search.keys(query, columns[s : s + search.tile]), s, keys, ids)
        ids = columns[ids]
        measure_kept(points, search.points, keys, ids)
        ids = self.order[ids]
        sort_kept(keys, ids)
        return ids[:, :k], keys[:, :k]


@kernel
def gather_columns(near: Array, starts: Array, n_candidates: int) -> Array:
    """Return the points of whole clusters, the near ones first, until there are enough."""
    n_columns = n_clusters = 0
    for c in near:
        n_columns += starts[c + 1] - starts[c]
        n_clusters += 1
        if n_columns >= n_candidates:
            break
    columns = np.empty(n_columns, np.int32)
    e = 0
    for c in near[:n_clusters]:
        for column in range(starts[c], starts[c + 1]):
            columns[e] = column
            e += 1
    return columns


def enough(n_candidates: int) -> int:
    """Return with how many points each is compared, at least."""
    return max(n_candidates, MIN_CANDIDATES)


def _train(points: Array, n_clusters: int) -> Array:
    """Return centers of clusters: a few rounds of k-means on a sample of the points."""
    rng = np.random.default_rng(0)
    n_sample = min(len(points), TRAINING_POINTS * n_clusters)
    sample = points[np.sort(rng.choice(len(points), n_sample, replace=False))]
    centers = sample[rng.choice(n_sample, n_clusters, replace=False)].astype(np.float64)
    for _ in range(TRAINING_ROUNDS):
        found = nearest(sample, search_set(centers.astype(points.dtype), Metric()), 1)
        labels = found[0][:, 0]
        sizes = np.bincount(labels, minlength=n_clusters)
        filled = sizes > 0
        begins = (np.cumsum(sizes) - sizes)[filled]
        ordered = sample[np.argsort(labels, kind="stable")].astype(np.float64)
        centers[filled] = np.add.reduceat(ordered, begins, axis=0) / sizes[filled, None]
    return centers.astype(points.dtype)
