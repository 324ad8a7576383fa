"""Partitionings of the isolation distributional kernel: spheres around sampled points.

After Ting, Xu, Washio and Zhou, "Isolation distributional kernel" (KDD 2020). Each sampled point
has a sphere that reaches to the nearest other point of its sample. A point belongs to the sphere of
the nearest sampled point, if it lies within it.
"""

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._numba import kernel
from isosne._types import Array, Points
from isosne.kernels.voronoi import distinct
from isosne.neighbors.distances import exact_set
from isosne.neighbors.metric import Metric

BLOCK_ROWS = 256
"""Points that are compared with all sampled points at a time (chosen)."""
OUTSIDE = -1
"""In place of a sphere: the point lies in none."""


class Spheres:
    """The spheres of t samples of psi points.

    Parameters
    ----------
    samples : array of int, shape (n_partitions, psi)
        Indices of the sampled points, ascending, so that ties go to the lower index.
    X : array or CSR
        The fitted points, or their distances; only the sampled ones are stored.
    metric : Metric
        The distance.
    """

    def __init__(self, samples: NDArray[np.int64], X: Points, metric: Metric) -> None:
        sampled, self._members = distinct(samples, X.shape[0])
        self._search = exact_set(X, metric, sampled)
        self._radii = np.empty(samples.shape)
        for sample, members, radii in zip(samples, self._members, self._radii, strict=True):
            search = self._search.subset(members)
            keys = search.keys(search.query(X[sample], slice(None)), slice(None)).copy()
            np.fill_diagonal(keys, np.inf)  # the point itself
            radii[:] = keys.min(axis=1)

    def find(self, X: Points) -> NDArray[np.signedinteger]:
        """Return the sphere (n, n_partitions) of each point in each partitioning, or OUTSIDE."""
        n_partitions, psi = self._members.shape
        dtype = np.int16 if psi < 2**15 else np.int32
        spheres = np.empty((X.shape[0], n_partitions), dtype)

        def work(rows: slice) -> None:
            search = self._search
            keys = search.keys(search.query(X, rows), slice(0, search.n_points))
            nearest_spheres(keys, self._members, self._radii, spheres[rows])

        for_each_block(len(spheres), BLOCK_ROWS, work)
        return spheres


@kernel
def nearest_spheres(keys: Array, members: Array, radii: Array, spheres: Array) -> None:
    """Fill spheres[i, p] with the member c of sample p nearest to point i, or OUTSIDE.

    Shapes: keys (n, m), members (t, psi) columns of keys, radii (t, psi), spheres (n, t),
    overwritten. O(n t psi) time.
    """
    for i in range(keys.shape[0]):
        for p in range(members.shape[0]):
            nearest, best = 0, keys[i, members[p, 0]]
            for c in range(1, members.shape[1]):
                key = keys[i, members[p, c]]
                if key < best:
                    nearest, best = c, key
            spheres[i, p] = nearest if best <= radii[p, nearest] else OUTSIDE


@kernel
def mean_masses(spheres: Array, masses: Array, means: Array) -> None:
    """Fill means (n,) with the mean of masses (t, psi) over the spheres (n, t) of each point."""
    n_partitions = spheres.shape[1]
    for i in range(spheres.shape[0]):
        total = 0.0
        for p in range(n_partitions):
            if spheres[i, p] != OUTSIDE:
                total += masses[p, spheres[i, p]]
        means[i] = total / n_partitions
