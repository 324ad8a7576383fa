"""Cost of a kernel for the plan: list lengths and memory, known before `fit`; limits of lists."""

import math
from typing import Any, NamedTuple

import numpy as np

from isosne._checks import is_one_of
from isosne.errors import ParameterError
from isosne.kernels.psi import resolve_psi
from isosne.kernels.voronoi import cell_dtype
from isosne.neighbors.codes import count_dtype

RANKED = 8.0
"""Neighbors to rank, in units of n / psi, the mean cell size. With probability 1 - e^-8 one of them
is sampled; the measured error of a similarity is 2e-4 (docs/decisions/0006)."""
COMPARED = 5.0
"""Neighbors with a similarity, in units of n / psi. They hold about two thirds of a row's
similarity (measured: docs/decisions/0006)."""
SAMPLE_BYTES = 12
"""Bytes per sampled point and partitioning: index 8, member 4."""
TREE_BYTES = 52
"""Bytes per sampled point of an isolation tree: index 8; two nodes of 22 bytes."""


class KernelCosts(NamedTuple):
    """List lengths and memory of a kernel for a number of points."""

    n_relevant: int
    """Neighbors per point that the similarity depends on; 0 if neighbor lists cannot be used."""
    n_partners: int
    """Neighbors per point that get a probability when affinities are sparse."""
    n_placed: int | None = None
    """Neighbors that a new point is compared with; None means n_partners."""
    n_far: int = 0
    """Partners per point besides neighbors, at scales too broad for neighbor lists."""
    needs_lists_only: bool = False
    """Whether a similarity follows from neighbor lists, so that sparse affinities lose little."""
    pair_bytes: int = 4
    """Bytes per pair when affinities are dense."""
    n_scales: int = 1
    """Number of layers of similarity."""
    compares_squares: bool = False
    """Whether dense rows are computed from squared distances, in float64."""
    cell_bytes: int = 0
    """Bytes per point of its cells; 0 if there are no cells."""
    n_partitions: int = 0
    """Number of partitionings per scale; 0 if none are drawn."""
    psis: tuple[int, ...] = ()
    """Number of cells per partitioning at each scale, if there are cells or ranks."""
    has_trees: bool = False
    """Whether partitionings are trees, which do not store the sampled points."""

    @property
    def n_draws(self) -> int:
        """Number of points drawn, over all partitionings and scales."""
        return self.n_partitions * sum(self.psis)

    @property
    def drawn_bytes(self) -> int:
        """Bytes of the partitionings, besides the coordinates of the sampled points."""
        return (TREE_BYTES if self.has_trees else SAMPLE_BYTES) * self.n_draws

    def n_sampled(self, n_pool: int) -> int:
        """Return the expected number of distinct points that are stored, summed over the scales."""
        if self.has_trees or not self.n_partitions:
            return 0
        missed = [(1 - min(psi / n_pool, 1)) ** self.n_partitions for psi in self.psis]
        return round(n_pool * (len(self.psis) - sum(missed)))

    def within(self, n_listed: int) -> "KernelCosts":
        """Return the costs with lists of at most n_listed neighbors."""
        n_relevant, n_partners = min(self.n_relevant, n_listed), min(self.n_partners, n_listed)
        return self._replace(n_relevant=n_relevant, n_partners=n_partners)


def smallest_psi(n_points: int, n_listed: int) -> int:
    """Return the least psi whose cells hold few enough points for lists of n_listed neighbors."""
    return max(2, math.ceil(RANKED * n_points / n_listed))


def check_lists(psi: Any, n_partitions: Any, n_points: int, n_listed: int) -> None:
    """Raise an error if lists of n_listed neighbors are too short for an isolation kernel."""
    if not is_one_of(n_partitions, ("exact", "auto")):
        raise ParameterError(
            "n_partitions",
            "be 'exact' for a sparse matrix of distances, in which samples are out of reach",
            n_partitions,
            "Leave it out, or pass a dense matrix of distances.",
        )
    smallest = smallest_psi(n_points, n_listed)
    if smallest > n_points or min(resolve_psi(psi, n_points, smallest)) < smallest:
        raise ParameterError(
            "psi",
            f"be at least 8 n_samples / k ({smallest}), where k={n_listed} is the smallest number "
            "of distances per row of X",
            psi,
            "Raise psi, or store more distances: at least 8 in each row.",
        )


def isolation_costs(
    psis: tuple[int, ...], n_partitions: int, n_points: int, *, has_trees: bool = False
) -> KernelCosts:
    """Return the costs of an isolation kernel; n_partitions = 0 is the closed form."""
    is_count = n_partitions > 0 and len(psis) == 1  # several scales are averaged in float32
    return KernelCosts(
        n_relevant=math.ceil(RANKED * n_points / min(psis)),
        n_partners=math.ceil(COMPARED * n_points / min(psis)),
        pair_bytes=np.dtype(count_dtype(n_partitions)).itemsize if is_count else 4,
        n_scales=len(psis),
        cell_bytes=n_partitions * sum(np.dtype(cell_dtype(psi)).itemsize for psi in psis),
        n_partitions=n_partitions,
        psis=psis,
        has_trees=has_trees,
    )
