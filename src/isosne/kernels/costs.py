"""Cost of a kernel for the plan: list lengths and memory, known before `fit`."""

import math
from typing import NamedTuple

import numpy as np

from isosne.kernels.counts import count_dtype
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
