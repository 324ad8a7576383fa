"""Model files: a fitted estimator on disk, with all that `transform` and `place` need.

Points are stored unchanged, and random draws instead of their seed, because another version of
NumPy may draw differently. The joint probabilities are not stored: they are large, and are
recomputed when needed.
"""

from collections.abc import Collection
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._checks import check_points, is_integer, is_number
from isosne._csr import csr_from_arrays
from isosne._types import Array, Points
from isosne.affinities.sparse import Sparse
from isosne.errors import DataError, show
from isosne.kernels.base import MetricKernel
from isosne.kernels.forest import ForestPartitions
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.monte_carlo import VoronoiPartitions
from isosne.kernels.owner import OwnerKernel
from isosne.kernels.ownership import split_scales
from isosne.kernels.registry import KERNELS
from isosne.layout.descent import Anchors
from isosne.layout.forces import Exact, Mesh, Tree
from isosne.layout.objectives import JSE, KL, NeRV
from isosne.layout.schedules import ChangeBelow, Phase, RateFalls, Schedule
from isosne.neighbors.metric import Metric
from isosne.rows.scaled import Scale
from isosne.tables.columns import Column
from isosne.tables.trees import KINDS as COLUMN_KINDS
from isosne.tables.trees import TableForest, Trees
from isosne.tsne.input import Landmarks
from isosne.tsne.plan import Plan
from isosne.tsne.series import Alignment, as_alignment
from isosne.tsne.stored_values import (
    LARGEST_COUNT,
    check_anchors,
    check_array,
    check_kernel,
    check_map,
    check_parameters,
    check_plan,
    check_pool,
    check_samples,
    check_subsets,
    check_trace,
    check_trees,
    check_value,
    is_count,
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
    if not isinstance(kernel, IsolationKernel) or not kernel.partitions_:
        return arrays
    samples = [partitions.samples for partitions in kernel.partitions_]
    pool = kernel.pool_
    if pool is not kernel.X_fit_ and kernel.partition == "voronoi":
        sampled, positions = np.unique(np.concatenate(samples, axis=None), return_inverse=True)
        arrays |= _points_to_arrays("pool", pool[sampled])
        sizes = np.cumsum([part.size for part in samples])[:-1]
        parts = zip(np.split(positions, sizes), samples, strict=True)
        samples = [part.reshape(sample.shape) for part, sample in parts]
    for s, partitions in enumerate(kernel.partitions_):
        arrays[f"samples{s}"] = samples[s]
        if isinstance(partitions, ForestPartitions):
            arrays |= {f"{name}{s}": part for name, part in partitions.trees._asdict().items()}
    return arrays


def restore_kernel(kernel: MetricKernel, arrays: dict[str, Array]) -> MetricKernel:
    """Return a kernel fitted from the arrays of `kernel_arrays`."""
    check_kernel(kernel)
    points = check_points(_points_from_arrays("points", arrays), name="points", min_rows=2)
    kernel.check_parameters(points.shape[0])
    if not DRAWS & arrays.keys():
        costs = kernel.costs(*points.shape)
        n_missing = costs.n_draws + costs.n_far
        check_value(n_missing, "the number of missing samples", n_missing == 0)
        return kernel.fit(points)
    if not isinstance(kernel, IsolationKernel | OwnerKernel):
        raise ValueError("samples of a kernel that draws none")
    if isinstance(kernel, OwnerKernel):
        return _restore_owner(kernel, points, arrays)
    pool = points
    if "pool" in arrays or "pool.data" in arrays:
        pool = check_pool(kernel, points, _points_from_arrays("pool", arrays))
    n_scales = sum(name.startswith("samples") for name in arrays)
    metric = kernel.fit_metric(points)
    partitions = [_partitions(kernel, arrays, pool, metric, s) for s in range(n_scales)]
    psis = tuple(part.psi for part in partitions)
    return kernel.restore(points, metric, psi_=psis, partitions_=partitions, pool_=pool)


def _restore_owner(kernel: OwnerKernel, points: Points, arrays: dict[str, Array]) -> OwnerKernel:
    """Return an owner kernel with the subsets of a file."""
    n, metric = points.shape[0], kernel.fit_metric(points)
    psis = kernel.psis(n, kernel.n_listed(points))
    far = split_scales(psis, n).far if "order0" in arrays else ()
    return kernel.restore(
        points,
        metric,
        psi_=psis,
        subsets_=[
            check_subsets(arrays[f"order{s}"], arrays[f"members{s}"], psi, n)
            for s, psi in enumerate(far)
        ],
    )


def _partitions(
    kernel: IsolationKernel,
    arrays: dict[str, Array],
    pool: Points,
    metric: Metric,
    s: int,
) -> VoronoiPartitions | ForestPartitions:
    samples, n_partitions = arrays[f"samples{s}"], len(arrays["samples0"])
    if is_integer(kernel.n_partitions):
        n_partitions = int(kernel.n_partitions)
    is_voronoi = kernel.partition == "voronoi"
    n_pool = pool.shape[0] if is_voronoi else None  # trees replace the points they were grown from
    check_samples(samples, f"samples{s}", n_partitions, n_pool)
    if is_voronoi:
        return VoronoiPartitions(samples, pool, metric)
    shape = len(samples), 2 * samples.shape[1] - 1
    return ForestPartitions(samples, check_trees(_stored_trees(arrays, s), pool.shape[1], shape))


def _stored_trees(arrays: dict[str, Array], s: int) -> Trees:
    return Trees(*(arrays[f"{name}{s}"] for name in Trees._fields))


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


def table_header(forest: TableForest) -> dict[str, Any]:
    """Return the columns of a forest in a form that JSON supports."""
    return {"columns": [list(column) for column in forest.columns_], "scales": len(forest.trees_)}


def table_arrays(forest: TableForest) -> dict[str, Array]:
    """Return the trees of a forest, by name."""
    return {
        f"{name}{s}": part
        for s, trees in enumerate(forest.trees_)
        for name, part in trees._asdict().items()
    }


def restore_table(header: dict[str, Any], arrays: dict[str, Array]) -> TableForest:
    """Return the forest that the header and the arrays of a file define, once they are checked."""
    columns = [Column(*_plain(column)) for column in header["columns"]]
    for column in columns:
        check_value(column.kind, "the kind of a column", column.kind in COLUMN_KINDS)
        check_value(column.categories, "categories", all(isinstance(c, str) for c in column[2]))
    n_used = sum(column.is_used for column in columns)
    check_value(n_used, "the number of columns", n_used > 0)
    scales = check_value(header["scales"], "the number of scales", is_count(header["scales"], 1))
    forest = TableForest()
    forest.columns_ = columns
    stored = [_stored_trees(arrays, s) for s in range(scales)]
    forest.trees_ = [check_trees(trees, n_used, trees.children.shape) for trees in stored]
    forest.n_features_in_ = len(columns)
    if all(isinstance(column.name, str) for column in columns):
        forest.feature_names_in_ = np.array([column.name for column in columns], object)
    return forest


def _plain(column: Any) -> tuple[Any, str, tuple[str, ...], int]:
    name, kind, categories, n_missing = column
    return name, kind, tuple(categories), n_missing


KIND = "model"
KERNEL, TABLE = "kernel.", "table."
"""Prefixes of the arrays of the kernel, and of the trees of a table."""
SCALE = "input_scale"
ALIGNMENT = "alignment."
"""Prefix of the arrays of an alignment."""
FITTED = ("embedding_", "trace_", "isolated_", "landmark_indices_", "feature_names_in_", "far_")
NUMBERS = ("n_features_in_", "n_iter_", "kl_divergence_")
UNSAVED = ("callback",)
"""Parameters that cannot be stored in a file."""
MOMENTARY = "bytes_available"
"""The part of a plan that depends on other programs: without it, equal fits have equal files."""


class FittedEstimator(Protocol):
    """Attributes of a fitted estimator that are stored."""

    kernel_: MetricKernel
    plan_: Plan

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        ...


class Model(NamedTuple):
    """The content of a file: parameters, fitted attributes, and the seed of sampled affinities."""

    parameters: dict[str, Any]
    attributes: dict[str, Any]
    seed: int


def write_model(path: str | Path, estimator: FittedEstimator, seed: int) -> None:
    """Write a fitted estimator; seed is that of its sampled affinities."""
    arrays: dict[str, Array] = {}
    header = {
        "parameters": _plain_parameters(estimator.get_params(deep=False), arrays),
        "kernel": to_plain(estimator.kernel_, arrays),
        "plan": {k: v for k, v in estimator.plan_.as_dict().items() if k != MOMENTARY},
        "plan_parameters": _plain_parameters(estimator.plan_.parameters, arrays),
        "numbers": {name: getattr(estimator, name) for name in NUMBERS},
        "start_of_draws": seed,
    }
    table: dict[str, Array] = {}
    if hasattr(estimator, "table_"):
        header["table"] = table_header(estimator.table_)
        table = {f"{TABLE}{name}": part for name, part in table_arrays(estimator.table_).items()}
    if hasattr(estimator, "input_options_"):
        header["input_options"] = estimator.input_options_
    fitted = {name: getattr(estimator, name) for name in FITTED if hasattr(estimator, name)}
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = fitted["feature_names_in_"].astype(str)
    if hasattr(estimator, "input_scale_"):
        fitted[SCALE] = np.array(estimator.input_scale_)
    if (anchors := getattr(estimator, "alignment_", None)) is not None:
        fitted |= {f"{ALIGNMENT}rows": anchors.rows, f"{ALIGNMENT}places": anchors.places}
        header["alignment"] = {"strength": anchors.strength, "scale": anchors.scale}
    kernel = {f"{KERNEL}{name}": part for name, part in kernel_arrays(estimator.kernel_).items()}
    write_archive(Path(path), KIND, header, {**arrays, **fitted, **kernel, **table})


def _plain_parameters(parameters: Any, arrays: dict[str, Array]) -> dict[str, Any]:
    return plain_parameters({k: v for k, v in parameters.items() if k not in UNSAVED}, arrays)


def read_model(path: str | Path, known: Collection[str]) -> Model:
    """Read a file of `write_model`; known: names of the estimator's parameters."""
    header, arrays = read_archive(Path(path), KIND)
    with reading_archive(Path(path), KIND):
        try:
            model = _restore(header, arrays, known)
        except (KeyError, TypeError) as error:
            raise RefusedError(
                f"{path} holds a model that this version of isosne cannot read: it was written by "
                f"isosne {header['version']}, and {error} is missing or unknown. Use that version."
            ) from error
        _check_model(model)
    return model


def _restore(header: dict[str, Any], arrays: dict[str, Array], known: Collection[str]) -> Model:
    parameters = {k: from_plain(v, arrays) for k, v in header["parameters"].items()}
    plan = {**header["plan"], "reasons": tuple(header["plan"]["reasons"]), MOMENTARY: None}
    parts = {k.removeprefix(KERNEL): v for k, v in arrays.items() if k.startswith(KERNEL)}
    kernel = restore_kernel(from_plain(header["kernel"], arrays), parts)
    if new := sorted(parameters.keys() - known):
        raise KeyError(new[0])
    chosen = {k: from_plain(v, arrays) for k, v in header["plan_parameters"].items()}
    fitted: dict[str, Any] = {name: arrays[name] for name in FITTED if name in arrays}
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = fitted["feature_names_in_"].astype(object)
    if SCALE in arrays:
        scale = check_array(arrays[SCALE], SCALE, np.float64, (2, None))
        fitted["input_scale_"] = Scale(*scale)
    if "table" in header:
        trees = {k.removeprefix(TABLE): v for k, v in arrays.items() if k.startswith(TABLE)}
        fitted["table_"] = restore_table(header["table"], trees)
    if "alignment" in header:
        rows, places = arrays[f"{ALIGNMENT}rows"], arrays[f"{ALIGNMENT}places"]
        fitted["alignment_"] = Anchors(rows, places, **header["alignment"])
    if "input_options" in header:
        fitted["input_options_"] = header["input_options"]
    attributes = {
        "kernel_": kernel,
        "plan_": Plan(**plan, parameters=chosen),
        **fitted,
        **{name: header["numbers"][name] for name in NUMBERS},
    }
    return Model(parameters, attributes, header["start_of_draws"])


def _check_model(model: Model) -> None:
    """Raise an error if fitted attributes do not fit each other."""
    fitted, plan = model.attributes, model.attributes["plan_"].as_dict()
    n_points, n_features = fitted["kernel_"].X_fit_.shape
    check_plan(plan, n_points)
    if plan["affinities"] == "sampled" and not getattr(fitted["kernel_"], "partitions_", ()):
        raise ValueError("affinities are sampled, and the kernel has no cells")
    n_iter, n_columns = fitted["n_iter_"], fitted["n_features_in_"]
    if "table_" in fitted:
        n_codes, n_features = fitted["table_"]._n_features_out, len(fitted["table_"].columns_)
        check_value(n_codes, "the number of trees", n_codes == fitted["kernel_"].X_fit_.shape[1])
    check_value(n_iter, "n_iter_", is_count(n_iter, 0, LARGEST_COUNT))
    check_value(n_columns, "n_features_in_", n_columns == n_features)
    check_value(fitted["kl_divergence_"], "kl_divergence_", is_number(fitted["kl_divergence_"]))
    check_value(model.seed, "start_of_draws", is_count(model.seed))
    shape = n_points, plan["n_components"]
    check_map(fitted["embedding_"], "embedding_", shape)
    check_trace(fitted["trace_"], n_iter)
    check_array(fitted["isolated_"], "isolated_", np.int64, (None,), low=0, high=n_points - 1)
    if "landmark_indices_" in fitted:
        n_rows = plan["n_rows"] or n_points
        indices = fitted["landmark_indices_"]
        check_array(indices, "landmark_indices_", np.int64, (n_points,), low=0, high=n_rows - 1)
    if "far_" in fitted:
        check_array(fitted["far_"], "far_", np.int64, (None,), low=0, high=n_points - 1)
    if "alignment_" in fitted:
        check_anchors(fitted["alignment_"], shape)
    if "feature_names_in_" in fitted:
        check_array(fitted["feature_names_in_"], "feature_names_in_", object, (n_features,))
    for part in fitted.get("input_scale_", ()):
        check_array(part, SCALE, np.float64, (n_features,))
    check_parameters(model.parameters)
