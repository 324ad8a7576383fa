"""What a kernel costs, for the plan: list lengths and bytes, before anything is fitted."""

import math
from typing import NamedTuple

import numpy as np

from isosne.kernels.counts import count_dtype
from isosne.kernels.voronoi import cell_dtype

RANKED = 8.0
"""Neighbors to rank per point of the mean cell: what is left out is e^-8 (decision 0006)."""
COMPARED = 5.0
"""Neighbors that get a similarity per point of the mean cell; they hold two thirds of it (0006)."""
MEMBER_BYTES = 34
"""Bytes per sampled point and partitioning: its id, its cell, and both indexed the other way."""


class KernelCosts(NamedTuple):
    """List lengths and bytes that a kernel needs for a number of points."""

    n_relevant: int
    """Neighbors that the similarity of a point depends on; 0: lists of neighbors cannot be used."""
    n_partners: int
    """Neighbors of a point that get a probability where only neighbors do."""
    pair_bytes: int = 4
    """Bytes per pair when all pairs are held."""
    cell_bytes: int = 0
    """Bytes per point of the cells that partners are drawn from; 0: there are no cells."""
    drawn_bytes: int = 0
    """Bytes of everything drawn at fit, with the cells of the fitted points."""


def isolation_costs(
    psis: tuple[int, ...], n_partitions: int, n_points: int, n_features: int
) -> KernelCosts:
    """Return the costs of an isolation kernel; n_partitions = 0 stands for the closed form."""
    cells = n_partitions * sum(np.dtype(cell_dtype(psi)).itemsize + 4 for psi in psis)
    n_sampled = sum(min(n_partitions * psi, n_points) for psi in psis)
    samples = MEMBER_BYTES * n_partitions * sum(psis)
    is_count = n_partitions > 0 and len(psis) == 1
    return KernelCosts(
        n_relevant=math.ceil(RANKED * n_points / min(psis)),
        n_partners=math.ceil(COMPARED * n_points / min(psis)),
        pair_bytes=np.dtype(count_dtype(n_partitions)).itemsize if is_count else 4,
        cell_bytes=cells,
        drawn_bytes=samples + 8 * n_sampled * n_features + n_points * cells,
    )
