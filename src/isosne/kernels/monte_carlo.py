"""The isolation kernel by sampling (Eq. 7): partitionings, cells, and counts of shared cells.

The cell of a point is its nearest point in a sample of psi points; ties go to the lower index. Two
algorithms give the same cells, and the cheaper one is used (docs/decisions/0002). A *scan* takes
the smallest key within each sample. A *walk* visits the sampled points in order of distance until
each sample was met: about (m / psi) ln t of the m sampled points, fewer where samples overlap.

Axis-parallel partitionings are isolation trees grown until each sampled point is alone (App. B), as
for tables (`tables.trees`). Duplicate sampled points share a leaf. The cells of spheres reach from
a sampled point to the nearest other one; a point beyond its nearest sphere is in no cell, psi.

Two points are compared by the number of partitionings in which their cells are equal.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.neighbors.distances import BLOCK_ROWS, exact_set, search_set
from isosne.neighbors.exact import nearest_in_blocks, rows_per_block
from isosne.neighbors.metric import Metric, SearchSet, working_dtype
from isosne.neighbors.pairs import (
    compare_cells,
    compare_partners,
    rounding_bound,
    sq_distance,
    unmatched,
)
from isosne.tables.trees import Trees, empty_trees, find_leaves, grow_tree

SCAN_ROWS, SCAN_COLUMNS = 64, 16384
"""Largest number of rows, and of sampled points, whose keys a scan holds at a time, unless one
sample is larger: 4 MB of float32 keys per thread (chosen; not measured)."""
BLOCK_VALUES = 2**20
"""Largest number of coordinates in a block of points, unless a single point has more (chosen)."""


def distinct(ids: Array, n: int) -> tuple[Array, NDArray[np.int32]]:
    """Return the distinct ids (below n) and the index of each id; faster than `np.unique`."""
    is_there = np.zeros(n, np.bool_)
    is_there[ids] = True
    ranks = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(is_there), ranks[ids]


class VoronoiPartitions:
    """The partitionings of one scale: samples (t, psi) of the points, ascending indices."""

    make_set: Callable[[Points, Metric, Array], SearchSet] = staticmethod(search_set)

    def __init__(self, samples: NDArray[np.int64], X: Points, metric: Metric) -> None:
        self.samples = samples
        # Samples overlap: distances are computed once per distinct sampled point.
        sampled, self._members = distinct(samples, X.shape[0])
        self._search = self.make_set(X, metric, sampled)

    def cells(self, X: Points) -> Array:
        """Return the cell (n, n_partitions) of each point in each partitioning."""
        n_partitions, psi = self.samples.shape
        cells = np.empty((X.shape[0], n_partitions), np.min_scalar_type(psi - 1))
        # A list of l of the m sampled points misses a sample with probability exp(-l psi / m), and
        # any of t samples with at most t exp(-l psi / m) = e^-3 = 0.05: the list is long enough for
        # about 19 of 20 points; the others walk again.
        n_sampled = self._search.n_points
        n_listed = min(n_sampled, math.ceil(n_sampled / psi * (math.log(n_partitions) + 3)))
        if self._walk_is_cheaper(n_listed):
            self._walk(X, np.arange(len(cells)), n_listed, cells)
        else:
            self._scan(X, cells)
        return cells

    def _walk_is_cheaper(self, n_listed: int) -> bool:
        """Compare estimated times per point, in nanoseconds on two cores (docs/decisions/0002)."""
        n_columns = int(self._search.points.shape[1])
        # Per key: 0.013 per column for the product, 0.3 to store it, 0.5 to scan it in a sample;
        # a walk offers it to a heap (1.3) and recomputes each listed point (90 + 0.35 per column).
        n_sampled, key = self._search.n_points, 0.013 * n_columns
        n_keys = n_sampled if n_sampled <= SCAN_COLUMNS else self.samples.size
        scan = 0.5 * self.samples.size + (key + 0.3) * n_keys
        walk = (key + 1.3) * n_sampled + (90 + 0.35 * n_columns) * n_listed
        return walk < scan

    def _scan(self, X: Points, cells: Array) -> None:
        """Find the cells of all points, in partitionings whose keys fit in SCAN_COLUMNS."""
        n_partitions, psi = self.samples.shape
        n_sampled = self._search.n_points
        step = n_partitions if n_sampled <= SCAN_COLUMNS else max(1, SCAN_COLUMNS // psi)
        for start in range(0, n_partitions, step):
            columns, members = distinct(self._members[start : start + step], n_sampled)
            is_all = len(columns) == n_sampled
            search = self._search if is_all else self._search.subset(columns)
            self._scan_samples(X, search, members, start, cells[:, start : start + step])

    def _scan_samples(
        self, X: Points, search: SearchSet, members: Array, start: int, cells: Array
    ) -> None:
        """Find the cells (n, t) in partitionings from `start` on, whose members are in a set."""

        def work(rows: slice) -> None:
            query = search.query(X, rows)
            keys = search.keys(query, slice(0, search.n_points))
            points = query.points if search.unit else search.points  # used if keys are rounded
            found = np.empty((len(keys), len(members)), cells.dtype)
            both = points, search.points
            nearest_members(keys, members, both, search.unit, query.sq_norms, found)
            self._settle(keys, members, start, found)
            cells[rows] = found

        for_each_block(len(cells), SCAN_ROWS, work)

    def _settle(self, keys: Array, members: Array, start: int, cells: Array) -> None:
        """Change the nearest members (n, t) of partitionings from `start` on into cells."""

    def _walk(self, X: Points, rows: Array, n_listed: int, cells: Array) -> None:
        """Find the cells of the given rows; repeat with longer lists where one was too short."""
        points = X if len(rows) == X.shape[0] else X[rows]
        memberships = self._memberships()
        is_open = np.zeros(len(rows), np.bool_)
        find = nearest_in_blocks(points, self._search, n_listed)

        def work(part: slice) -> None:
            ids, _ = find(part)
            found = np.empty((len(ids), len(self.samples)), cells.dtype)
            walk_lists(np.ascontiguousarray(ids), memberships, found, is_open[part])
            cells[rows[part]] = found

        for_each_block(len(rows), rows_per_block(self._search.tile), work)
        if is_open.any():
            # Four times the length fails with probability t e^-4(ln t + 3), about 1e-12 (t = 200).
            longer = min(4 * n_listed, self._search.n_points)
            self._walk(X, rows[is_open], longer, cells)

    def _memberships(self) -> tuple[Array, Array, Array]:
        """Return the partitionings that contain each sampled point, and its cell in them (CSR)."""
        psi, flat = self.samples.shape[1], self._members.ravel()
        order = np.argsort(flat, kind="stable")  # groups the entries by sampled point
        indptr = np.zeros(self._search.n_points + 1, np.int64)
        np.cumsum(np.bincount(flat), out=indptr[1:])
        cells = (order % psi).astype(np.min_scalar_type(psi - 1))
        return indptr, (order // psi).astype(np.int32), cells


class SpherePartitions(VoronoiPartitions):
    """Spheres around the sampled points, with the distance to the nearest other one as radius."""

    make_set = staticmethod(exact_set)

    def __init__(self, samples: NDArray[np.int64], X: Points, metric: Metric) -> None:
        super().__init__(samples, X, metric)
        self._radii = np.empty(samples.shape)
        for sample, members, radii in zip(samples, self._members, self._radii, strict=True):
            search = self._search.subset(members)
            keys = search.keys(search.query(X[sample], slice(None)), slice(None)).copy()
            np.fill_diagonal(keys, np.inf)  # the point itself
            radii[:] = keys.min(axis=1)

    def cells(self, X: Points) -> Array:
        """Return the sphere (n, n_partitions) of each point in each partitioning, or psi."""
        n_partitions, psi = self.samples.shape
        # Room for psi, and for psi + 1 where cells are compared (`unmatched`).
        cells = np.empty((X.shape[0], n_partitions), np.min_scalar_type(psi + 1))
        self._scan(X, cells)
        return cells

    def _settle(self, keys: Array, members: Array, start: int, cells: Array) -> None:
        each = np.arange(cells.shape[1])
        nearest = np.take_along_axis(keys, members[each, cells], axis=1)
        cells[nearest > self._radii[start + each, cells]] = self.samples.shape[1]


@kernel
def nearest_members(
    keys: Array,
    members: Array,
    points: tuple[Array, Array],
    unit: float,
    sq_norms: Array,
    cells: Array,
) -> None:
    """Fill cells[i, p] with the member c of sample p nearest to point i.

    Shapes: keys (n, m), members (t, psi) columns of keys, cells (n, t) overwritten. Members are
    sorted by index, so ties go to the lowest. O(n t psi) time.
    """
    X, Z = points
    for i in range(keys.shape[0]):
        for p in range(members.shape[0]):
            best = second = np.inf
            winner = 0
            for c in range(members.shape[1]):
                key = keys[i, members[p, c]]
                if key < second:
                    if key < best:
                        second = best
                        best = key
                        winner = c
                    else:
                        second = key
            doubt = 2.0 * rounding_bound(unit, sq_norms[i], best)
            # Keys within the rounding bound are compared in float64 (docs/decisions/0001). The
            # negated comparison is also true for NaN.
            if unit > 0.0 and not second - best > doubt:
                nearest_sq = np.inf
                for c in range(members.shape[1]):
                    column = members[p, c]
                    if not keys[i, column] - best > doubt:
                        sq_dist = sq_distance(X, i, Z, column)
                        if sq_dist < nearest_sq:
                            nearest_sq = sq_dist
                            winner = c
            cells[i, p] = winner


@kernel
def walk_lists(
    ids: Array, memberships: tuple[Array, Array, Array], cells: Array, is_open: Array
) -> None:
    """Fill cells[i, p] with the first point in the list of point i that belongs to sample p.

    ids (n, k) sorted by distance; memberships as from `_memberships`. is_open[i] is set where the
    list ended before every sample was found. About t ln t steps per point.
    """
    indptr, partitions, own_cells = memberships
    n_partitions = cells.shape[1]
    met = np.empty(n_partitions, np.bool_)
    for i in range(ids.shape[0]):
        met[:] = False
        n_met = 0
        for a in range(ids.shape[1]):
            z = ids[i, a]
            for e in range(indptr[z], indptr[z + 1]):
                p = partitions[e]
                if not met[p]:
                    met[p] = True
                    cells[i, p] = own_cells[e]
                    n_met += 1
            if n_met == n_partitions:
                break
        is_open[i] = n_met < n_partitions  # the caller repeats this point with a longer list


class ForestPartitions(NamedTuple):
    """The partitionings of one scale: t isolation trees, each over a row of samples (t, psi)."""

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


def count_shared(A: Array, columns: Array) -> Array:
    """Return the number of cells (n, m) that rows of A (n, t) share with columns (t, m)."""
    counts = np.zeros((len(A), columns.shape[1]), np.min_scalar_type(A.shape[1]))
    # 64 rows share each tile of columns.
    for_each_block(len(A), 64, lambda rows: compare_cells(A[rows], columns, counts[rows]))
    return counts


def count_with_partners(cells: Array, partners: Array, others: Array) -> Array:
    """Return the number of cells (n, k) that each row shares with its partners in `others`."""
    counts = np.empty(partners.shape, np.min_scalar_type(cells.shape[1]))

    def work(rows: slice) -> None:
        compare_partners(cells[rows], others, partners[rows], counts[rows])

    for_each_block(len(partners), 1024, work)
    return counts


def cell_masses(cells: Array, psi: int) -> NDArray[np.float64]:
    """Return the share (t, psi + 1) of the points with cells (n, t) in each cell; 0 in none."""
    masses = np.stack([np.bincount(found, minlength=psi + 1) for found in cells.T]) / len(cells)
    masses[:, psi] = 0
    return masses


def mean_masses(cells: Array, masses: Array) -> NDArray[np.float64]:
    """Return the mean mass of the cells (n, t) of each point."""
    means = np.zeros(len(cells))
    for found, mass in zip(cells.T, masses, strict=True):
        means += mass[found]
    return means / len(masses)


Partitions = VoronoiPartitions | ForestPartitions
AROUND_POINTS: dict[str, type[VoronoiPartitions]] = {
    "voronoi": VoronoiPartitions,
    "spheres": SpherePartitions,
}
"""Partitionings that follow from their samples, by name."""


def draw_partitions(
    points: Points, shape: tuple[int, int], metric: Metric, rng: np.random.Generator, partition: str
) -> Partitions:
    """Return partitionings over samples of the points; shape: n_partitions and psi."""
    samples = np.empty(shape, np.int64)
    for sample in samples:  # sorted, so that ties go to the lower index
        sample[:] = np.sort(rng.choice(points.shape[0], shape[1], replace=False, shuffle=False))
    if partition == "forest":
        return grow_forest(samples, points, rng)
    return AROUND_POINTS[partition](samples, points, metric)


class DrawnForm:
    """The share of partitionings with a shared cell (Eq. 7); cells describe the points."""

    def __init__(self, fitted: Points, partitions: list[Partitions]) -> None:
        self._fitted, self._partitions = fitted, partitions

    def describe(self, points: Points) -> list[Array]:
        return [partitions.cells(points) for partitions in self._partitions]

    def comparison(self, described: list[Array]) -> Callable[[list[Array]], NDArray[np.float32]]:
        columns = [np.ascontiguousarray(cells.T) for cells in self._unmatched(described)]
        return lambda others: self._shares(list(map(count_shared, others, columns)))

    def between(self, neighbors: Neighbors, partners: Array) -> NDArray[np.float32]:
        scales = self.describe(self._fitted)
        pairs = zip(scales, self._unmatched(scales), strict=True)
        return self._shares([count_with_partners(cells, partners, to) for cells, to in pairs])

    def toward(self, neighbors: Neighbors | None) -> NeighborSimilarity:
        fitted = self._unmatched(self.describe(self._fitted))

        def compare(points: Points, ids: Array, distances: Array) -> NDArray[np.float32]:
            scales = zip(self.describe(points), fitted, strict=True)
            return self._shares([count_with_partners(new, ids, cells) for new, cells in scales])

        return compare

    def _unmatched(self, described: list[Array]) -> list[Array]:
        psis = [partitions.samples.shape[1] for partitions in self._partitions]
        return list(map(unmatched, described, psis))

    def _shares(self, counts: list[Array]) -> NDArray[np.float32]:
        n_drawn = np.float32(len(self._partitions[0].samples))
        return np.divide(counts, n_drawn, dtype=np.float32)  # Eq. 7: 1 / t
