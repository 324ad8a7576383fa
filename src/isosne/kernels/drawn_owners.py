"""The owner kernel by sampling: how often a fitted point owns the cell of a point."""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.kernels.monte_carlo import Partitions


def owner_frequencies(
    partitions: list[Partitions], fitted: Points, points: Points
) -> NDArray[np.float32]:
    """Return the fraction (n_scales, n, n_samples) of cells of a point that a fitted point owns."""
    n, n_fitted = points.shape[0], fitted.shape[0]
    layers = np.zeros((len(partitions), n, n_fitted), np.float32)
    for layer, part in zip(layers, partitions, strict=True):
        owners = cell_owners(part, fitted)
        cells = part.cells(points)
        for t, column in enumerate(cells.T):
            layer[np.arange(n), owners[t, column]] += np.float32(1)
        layer /= np.float32(len(owners))
    return layers


def cell_owners(partitions: Partitions, fitted: Points) -> Array:
    """Return the owner (t, psi) of each cell: its sampled point, the lowest of several."""
    owners = partitions.samples.copy()
    sampled, members = np.unique(partitions.samples, return_inverse=True)
    cells = partitions.cells(fitted[sampled])
    for t, row in enumerate(members.reshape(owners.shape)):
        # Backwards, so that the lowest index is written last.
        owners[t, cells[row[::-1], t]] = partitions.samples[t, ::-1]
    return owners
