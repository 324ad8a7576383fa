"""A fitted kernel as arrays, for files, and back.

Points are kept as they are. Random choices are kept too, not the seed that made them: another
version of NumPy may make others of it.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isosne._types import Array, Points
from isosne.distances import Metric
from isosne.kernels.forest import TREES, ForestPartitions
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.voronoi import VoronoiPartitions

CSR_PARTS = ("data", "indices", "indptr", "shape")


def kernel_arrays(kernel: Any) -> dict[str, Array]:
    """Return a fitted kernel's points and random choices."""
    arrays = _points_to_arrays("points", kernel.X_fit_)
    if not isinstance(kernel, IsolationKernel) or not kernel.partitions_:
        return arrays
    samples = [partitions.samples for partitions in kernel.partitions_]
    if kernel.pool_ is not kernel.X_fit_ and kernel.partition == "voronoi":
        sampled, places = np.unique(np.concatenate(samples, axis=None), return_inverse=True)
        arrays |= _points_to_arrays("pool", kernel.pool_[sampled])
        sizes = np.cumsum([part.size for part in samples])[:-1]
        parts = zip(np.split(places, sizes), samples, strict=True)
        samples = [part.reshape(sample.shape) for part, sample in parts]
    for s, partitions in enumerate(kernel.partitions_):
        arrays[f"samples{s}"] = samples[s]
        if isinstance(partitions, ForestPartitions):
            arrays |= {f"{name}{s}": part for name, part in partitions.trees().items()}
    return arrays


def restore_kernel(kernel: Any, arrays: dict[str, Array]) -> Any:
    """Return a kernel with its parameters fitted again from `kernel_arrays`."""
    points = _points_from_arrays("points", arrays)
    if not isinstance(kernel, IsolationKernel) or "samples0" not in arrays:
        return kernel.fit(points)
    has_pool = "pool" in arrays or "pool.data" in arrays
    pool = _points_from_arrays("pool", arrays) if has_pool else points
    n_scales = sum(name.startswith("samples") for name in arrays)
    return kernel.restore(
        points, pool, [_partitions(kernel, arrays, pool, s) for s in range(n_scales)]
    )


def _partitions(
    kernel: IsolationKernel, arrays: dict[str, Array], pool: Points, s: int
) -> VoronoiPartitions | ForestPartitions:
    samples = arrays[f"samples{s}"]
    if kernel.partition == "voronoi":
        return VoronoiPartitions(samples, pool, Metric(kernel.metric, kernel.p))
    trees = {name: arrays[f"{name}{s}"] for name in TREES}
    return ForestPartitions.from_trees(samples, trees, isinstance(pool, csr_array))


def _points_to_arrays(name: str, points: Points) -> dict[str, Array]:
    if isinstance(points, csr_array):
        return {f"{name}.{part}": np.asarray(getattr(points, part)) for part in CSR_PARTS}
    return {name: points}


def _points_from_arrays(name: str, arrays: dict[str, Array]) -> Points:
    if name in arrays:
        return arrays[name]
    data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in CSR_PARTS)
    return csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
