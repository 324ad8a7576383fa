"""Convert parameters and fitted kernels to plain values and arrays for files, and back.

Points are stored unchanged. Random draws are stored instead of their seed, because another version
of NumPy may draw differently.
"""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isosne._checks import check_points, is_integer
from isosne._csr import csr_from_arrays
from isosne._types import Array, Points
from isosne.affinities.sparse import Sparse
from isosne.errors import DataError, show
from isosne.kernels.base import MetricKernel
from isosne.kernels.forest import TREES, ForestPartitions
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.owner import OwnerKernel
from isosne.kernels.ownership import split_scales
from isosne.kernels.registry import KERNELS
from isosne.kernels.voronoi import VoronoiPartitions
from isosne.layout.force_methods import Exact, Mesh, Tree
from isosne.layout.objectives import JSE, KL, NeRV
from isosne.layout.schedules import ChangeBelow, Phase, RateFalls, Schedule
from isosne.neighbors.metric import Metric
from isosne.tsne.alignment import Alignment, as_alignment
from isosne.tsne.landmarks import Landmarks
from isosne.tsne.stored_values import (
    check_array,
    check_kernel,
    check_pool,
    check_samples,
    check_subsets,
    check_trees,
)

CSR_PARTS = ("data", "indices", "indptr", "shape")
DRAWS = {"samples0", "order0"}
"""Arrays that are in a file if a kernel has drawn partitionings or subsets."""
KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(KL, NeRV, JSE, Schedule, Phase, RateFalls, ChangeBelow),
        *(Exact, Mesh, Tree, Sparse, Landmarks, Alignment),
        *(entry.kind for entry in KERNELS.values()),
    )
}
"""Classes of objects that a file may contain, by name."""


def to_plain(value: Any, arrays: dict[str, Array]) -> Any:
    """Return a value in a form that JSON supports; arrays are added to `arrays` by name."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None  # the state of a generator is not a parameter
    if isinstance(value, list | tuple):
        return [to_plain(part, arrays) for part in value]
    if isinstance(value, dict):
        return {"dict": {name: to_plain(part, arrays) for name, part in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype != object:
        name = f"value{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if type(value).__name__ in KINDS:
        parts = {name: to_plain(part, arrays) for name, part in _parts(value).items()}
        return {"kind": type(value).__name__, "parts": parts}
    raise DataError(
        f"Cannot write {show(value)} to a file: parameters must be numbers, text, arrays or "
        "objects of isosne. Pass one of these."
    )


def from_plain(value: Any, arrays: dict[str, Array]) -> Any:
    """Return the value that `to_plain` converted; sequences become tuples."""
    if isinstance(value, list):
        return tuple(from_plain(part, arrays) for part in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "dict" in value:
        return {name: from_plain(part, arrays) for name, part in value["dict"].items()}
    parts = {name: from_plain(part, arrays) for name, part in value["parts"].items()}
    return KINDS[value["kind"]](**parts)


def plain_parameters(parameters: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the parameters of an estimator in a form that JSON supports.

    A previous map is stored as coordinates.
    """
    whole = {**parameters, "align_to": as_alignment(parameters.get("align_to"))}
    return {name: to_plain(value, arrays) for name, value in whole.items()}


def _parts(value: Any) -> dict[str, Any]:
    if isinstance(value, Alignment):
        return value.as_arrays()
    if isinstance(value, MetricKernel):
        return dict(value.get_params(deep=False))
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return {}


def kernel_arrays(kernel: MetricKernel) -> dict[str, Array]:
    """Return the points and random draws of a fitted kernel."""
    arrays = _points_to_arrays("points", kernel.X_fit_)
    if isinstance(kernel, OwnerKernel):
        for s, subsets in enumerate(kernel.subsets_):
            arrays |= {f"order{s}": subsets.order, f"members{s}": subsets.members}
    if not isinstance(kernel, IsolationKernel | OwnerKernel) or not kernel.partitions_:
        return arrays
    samples = [partitions.samples for partitions in kernel.partitions_]
    pool = getattr(kernel, "pool_", kernel.X_fit_)
    if pool is not kernel.X_fit_ and kernel.partition == "voronoi":
        sampled, positions = np.unique(np.concatenate(samples, axis=None), return_inverse=True)
        arrays |= _points_to_arrays("pool", pool[sampled])
        sizes = np.cumsum([part.size for part in samples])[:-1]
        parts = zip(np.split(positions, sizes), samples, strict=True)
        samples = [part.reshape(sample.shape) for part, sample in parts]
    for s, partitions in enumerate(kernel.partitions_):
        arrays[f"samples{s}"] = samples[s]
        if isinstance(partitions, ForestPartitions):
            arrays |= {f"{name}{s}": part for name, part in partitions.trees().items()}
    return arrays


def restore_kernel(kernel: MetricKernel, arrays: dict[str, Array]) -> MetricKernel:
    """Return a kernel fitted from the arrays of `kernel_arrays`."""
    check_kernel(kernel)
    points = _points_from_arrays("points", arrays)
    if not isinstance(kernel, IsolationKernel | OwnerKernel) or not DRAWS & arrays.keys():
        return kernel.fit(points)
    kernel._check_parameters(points.shape[0])
    points = check_points(points, name="points", min_rows=2)
    if isinstance(kernel, OwnerKernel):
        return _restore_owner(kernel, points, arrays)
    pool = points
    if "pool" in arrays or "pool.data" in arrays:
        pool = check_pool(kernel, points, _points_from_arrays("pool", arrays))
    n_scales = sum(name.startswith("samples") for name in arrays)
    metric = kernel._fit_metric(points)
    return kernel._restore(
        points, pool, [_partitions(kernel, arrays, pool, metric, s) for s in range(n_scales)]
    )


def _restore_owner(kernel: OwnerKernel, points: Points, arrays: dict[str, Array]) -> OwnerKernel:
    """Return an owner kernel with the partitionings or subsets of a file."""
    n, metric = points.shape[0], kernel._fit_metric(points)
    psis = kernel._cells(n, kernel._n_listed(points))
    drawn = [f"samples{s}" for s in range(len(psis))] if "samples0" in arrays else []
    far = split_scales(psis, n).far if "order0" in arrays else ()
    return kernel._restore(
        points,
        metric,
        psi_=psis,
        partitions_=[_partitions(kernel, arrays, points, metric, s) for s in range(len(drawn))],
        subsets_=[
            check_subsets(arrays[f"order{s}"], arrays[f"members{s}"], psi, n)
            for s, psi in enumerate(far)
        ],
    )


def _partitions(
    kernel: IsolationKernel | OwnerKernel,
    arrays: dict[str, Array],
    pool: Points,
    metric: Metric,
    s: int,
) -> VoronoiPartitions | ForestPartitions:
    samples, n_partitions = arrays[f"samples{s}"], len(arrays["samples0"])
    if is_integer(kernel.n_partitions):
        n_partitions = int(kernel.n_partitions)
    is_voronoi = kernel.partition == "voronoi"
    # Trees replace the points that they were grown from, but the owner of a leaf is such a point.
    n_pool = pool.shape[0] if is_voronoi or isinstance(kernel, OwnerKernel) else None
    check_samples(samples, f"samples{s}", n_partitions, n_pool)
    if is_voronoi:
        return VoronoiPartitions(samples, pool, metric)
    trees = check_trees({name: arrays[f"{name}{s}"] for name in TREES}, samples, pool.shape[1])
    return ForestPartitions.from_trees(samples, trees, isinstance(pool, csr_array))


def _points_to_arrays(name: str, points: Points) -> dict[str, Array]:
    if isinstance(points, csr_array):
        return {f"{name}.{part}": np.asarray(getattr(points, part)) for part in CSR_PARTS}
    return {name: points}


def _points_from_arrays(name: str, arrays: dict[str, Array]) -> Points:
    if name in arrays:
        return arrays[name]
    data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in CSR_PARTS)
    check_array(shape, f"{name}.shape", np.int64, (2,), low=0)
    return csr_from_arrays((data, indices, indptr), tuple(shape.tolist()), name)
