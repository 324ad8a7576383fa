"""Step 1 of the paper: Voronoi partitionings, and the cell of every point in each (App. B).

A partitioning is a sample of psi points; a point's cell is that of the sampled point nearest to
it, the one with the lower index if two are equally near. No Voronoi diagram is built. Two ways to
find the cells give the same result; `VoronoiPartitions.cells` takes the cheaper one:

* *scan*: the keys to all sampled points at once, then the smallest within each sample;
* *walk*: sampled points in order of distance, until each sample has been met. It wins where the
  samples overlap much: a list of about (m / psi) ln t of the m sampled points settles everything.
"""

import math

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.neighbors.distances import (
    BLOCK_ROWS,
    Metric,
    SearchSet,
    rounding_bound,
    search_set,
    sq_distance,
)
from isosne.neighbors.exact import nearest

SCAN_COLUMNS = 16384
"""Most sampled points whose keys a scan holds at a time (unless one sample is larger)."""


def cell_dtype(n_cells: int) -> type[np.unsignedinteger]:
    """Return the smallest type that holds the ids of n_cells cells."""
    return np.uint8 if n_cells <= 2**8 else np.uint16 if n_cells <= 2**16 else np.uint32


class VoronoiPartitions:
    """The partitionings of one scale: t samples of psi of the fitted points.

    Parameters
    ----------
    samples : array of shape (n_partitions, psi)
        Ids of the sampled points in each partitioning, ascending.
    X : array or CSR
        The fitted points, or their distances; only what belongs to the sampled ones is kept.
    metric : Metric
        The distance that makes the cells.
    """

    def __init__(self, samples: NDArray[np.int64], X: Points, metric: Metric) -> None:
        self.samples = samples
        sampled, members = np.unique(samples, return_inverse=True)
        self._members = members.reshape(samples.shape).astype(np.int32)
        self._search = search_set(X, metric, sampled)

    @property
    def psi(self) -> int:
        """Number of cells in each partitioning."""
        return int(self.samples.shape[1])

    def cells(self, X: Points) -> Array:
        """Return the cell (n, n_partitions) of each point in each partitioning."""
        cells = np.empty((X.shape[0], len(self.samples)), cell_dtype(self.psi))
        n_listed = self._list_length()
        if self._walk_is_cheaper(n_listed):
            self._walk(X, np.arange(len(cells)), n_listed, cells)
        else:
            self._scan(X, cells)
        return cells

    def _list_length(self) -> int:
        """Length of list that leaves about one point in twenty to a second, longer walk."""
        n_partitions, psi = len(self.samples), self.psi
        n_sampled = self._search.n_points
        return min(n_sampled, math.ceil(n_sampled / psi * (math.log(n_partitions) + 3)))

    def _walk_is_cheaper(self, n_listed: int) -> bool:
        """Compare the nanoseconds that a point takes, as measured on two cores."""
        n_columns = int(self._search.points.shape[1])
        key = 0.013 * n_columns
        scan = 0.5 * self.samples.size + (key + 0.3) * self._group_columns()
        walk = (key + 1.3) * self._search.n_points + (90 + 0.35 * n_columns) * n_listed
        return walk < scan

    def _group_columns(self) -> int:
        return sum(len(np.unique(self._members[group])) for group in self._groups())

    def _groups(self) -> list[slice]:
        """Cut the partitionings into runs whose keys are held together."""
        n_partitions, psi = self.samples.shape
        fits = self._search.n_points <= SCAN_COLUMNS
        step = n_partitions if fits else max(1, SCAN_COLUMNS // psi)
        return [slice(s, min(s + step, n_partitions)) for s in range(0, n_partitions, step)]

    def _scan(self, X: Points, cells: Array) -> None:
        for group in self._groups():
            columns, members = np.unique(self._members[group], return_inverse=True)
            members = members.reshape(-1, self.psi).astype(np.int32)
            search = self._search.subset(columns)

            def work(
                rows: slice,
                search: SearchSet = search,
                members: Array = members,
                group: slice = group,
            ) -> None:
                query = search.query(X, rows)
                keys = search.keys(query, slice(0, search.n_points))
                points = query.points if search.unit else search.points
                found = np.empty((len(keys), len(members)), cells.dtype)
                nearest_members(
                    keys, members, (points, search.points), search.unit, query.sq_norms, found
                )
                cells[rows, group] = found

            for_each_block(len(cells), BLOCK_ROWS // 4, work)

    def _walk(self, X: Points, rows: Array, n_listed: int, cells: Array) -> None:
        """Settle the given rows; those that a list of this length leaves open go once more."""
        everyone = len(rows) == X.shape[0]
        ids, _ = nearest(X if everyone else X[rows], self._search, n_listed)
        indptr, partitions, own_cells = self._memberships()
        found = np.empty((len(rows), len(self.samples)), cells.dtype)
        is_open = np.zeros(len(rows), np.bool_)
        walk_lists(ids, (indptr, partitions, own_cells), found, is_open)
        cells[rows] = found
        if is_open.any():
            longer = min(4 * n_listed, self._search.n_points)
            self._walk(X, rows[is_open], longer, cells)

    def _memberships(self) -> tuple[Array, Array, Array]:
        """Return, for each sampled point, the partitionings it belongs to and its cell there."""
        psi = self.psi
        flat = self._members.ravel()
        order = np.argsort(flat, kind="stable")
        indptr = np.zeros(self._search.n_points + 1, np.int64)
        np.cumsum(np.bincount(flat), out=indptr[1:])
        return indptr, (order // psi).astype(np.int32), (order % psi).astype(cell_dtype(psi))


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

    Shapes: keys (n, m), members (t, psi) columns of keys, cells (n, t) overwritten. Members stand
    in the order of their ids, so the first of equals has the lowest. O(n t psi) time.
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
            if unit > 0.0 and not second - best > doubt:  # so put, it holds for what is no number
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
    """Fill cells[i, p] with the first point in the list of i that belongs to sample p.

    ids (n, k) sorted by distance; memberships as from `_memberships`. is_open[i] says that the
    list ended before every sample was met. About t ln t steps a point.
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
        is_open[i] = n_met < n_partitions
