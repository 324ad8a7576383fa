"""Cost of a kernel for the plan: list lengths and memory, known before `fit`; limits of lists."""

import math
from typing import Any, NamedTuple

import numpy as np

from isosne._checks import is_one_of
from isosne.errors import ParameterError
from isosne.kernels.counts import count_dtype
from isosne.kernels.psi import resolve_psi
from isosne.kernels.voronoi import cell_dtype

RANKED = 8.0
"""Neighbors to rank, in units of n / psi, the mean cell size. With probability 1 - e^-8 one of them
is sampled; the measured error of a similarity is 2e-4 (docs/decisions/0006)."""
COMPARED = 5.0
"""Neighbors with a similarity, in units of n / psi. They hold about two thirds of a row's
similarity (measured: docs/decisions/0006)."""
MEMBER_BYTES = 34
"""Bytes per sampled point and partitioning: sample id 8, inverse of `unique` 8, member 4, and in
`VoronoiPartitions._memberships` order 8, partitioning 4, cell 2."""


class KernelCosts(NamedTuple):
    """List lengths and memory of a kernel for a number of points."""

    n_relevant: int
    """Neighbors per point that the similarity depends on; 0 if neighbor lists cannot be used."""
    n_partners: int
    """Neighbors per point that get a probability when affinities are sparse."""
    pair_bytes: int = 4
    """Bytes per pair when affinities are dense."""
    cell_bytes: int = 0
    """Bytes per point of the cells that partners are drawn from; 0 if there are no cells."""
    drawn_bytes: int = 0
    """Bytes of the samples drawn at fit, including the cells of the fitted points."""

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
    psis: tuple[int, ...], n_partitions: int, n_points: int, n_features: int
) -> KernelCosts:
    """Return the costs of an isolation kernel; n_partitions = 0 is the closed form."""
    # Per partitioning: the cell id, and an int32 entry in the list of the cell's members.
    cells = n_partitions * sum(np.dtype(cell_dtype(psi)).itemsize + 4 for psi in psis)
    n_sampled = sum(min(n_partitions * psi, n_points) for psi in psis)
    samples = MEMBER_BYTES * n_partitions * sum(psis)
    is_count = n_partitions > 0 and len(psis) == 1  # several scales are averaged in float32
    return KernelCosts(
        n_relevant=math.ceil(RANKED * n_points / min(psis)),
        n_partners=math.ceil(COMPARED * n_points / min(psis)),
        pair_bytes=np.dtype(count_dtype(n_partitions)).itemsize if is_count else 4,
        cell_bytes=cells,
        drawn_bytes=samples + 8 * n_sampled * n_features + n_points * cells,
    )
