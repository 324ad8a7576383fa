"""Model files: a fitted estimator on disk, with all that `transform` and `place` need.

Points are stored unchanged, and random draws instead of their seed, because another version of
NumPy may draw differently. The joint probabilities are not stored: they are large, and are
recomputed when needed. Nothing that depends on the machine is stored, so equal models have equal
files. What compiled loops use as a size or an index is checked here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isosne._archive import read_archive, reading_archive, write_archive
from isosne._checks import check_for_metric, check_points, is_integer, is_number
from isosne._csr import csr_from_arrays
from isosne._types import Array, Points
from isosne.affinities.sparse import Sparse
from isosne.errors import DataError, show
from isosne.kernels.base import MetricKernel
from isosne.kernels.copies import as_weights
from isosne.kernels.hubs import Spreads
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.monte_carlo import ForestPartitions, VoronoiPartitions
from isosne.kernels.owner import OwnerKernel
from isosne.kernels.ownership import Subsets, split_scales, subset_shape
from isosne.kernels.registry import KERNELS
from isosne.kernels.views import Layout, ViewsKernel
from isosne.layout.anchors import Anchors
from isosne.layout.forces import Exact, Mesh, Tree
from isosne.layout.objectives import JSE, KL, NeRV, as_objective
from isosne.layout.schedules import LARGEST_SETTING, ChangeBelow, Phase, RateFalls, Schedule
from isosne.rows.scaled import Scale
from isosne.tables.columns import RANGE, Column
from isosne.tables.trees import KINDS as COLUMN_KINDS
from isosne.tables.trees import TableForest, Trees
from isosne.tsne.alignment import LARGEST_STRENGTH, Alignment, as_alignment, stored_parts
from isosne.tsne.input import Landmarks
from isosne.tsne.plan import Plan, schedule_of, useful_threads

KIND = "model"
FITTED = (
    *("embedding_", "trace_", "isolated_", "n_features_in_", "n_iter_", "kl_divergence_"),
    *("landmark_indices_", "far_", "alignment_", "input_scale_", "input_options_"),
)
IRRELEVANT = ("callback", "verbose", "n_jobs", "memory_limit")
"""Parameters that do not affect the map; files do not contain them."""
MACHINE = ("n_threads", "bytes_needed", "bytes_available", "reasons", "cpus", "memory_source")
"""Parts of a plan that depend on the machine."""
AFFINITIES = ("dense", "sparse", "sampled")
SEARCHES = (None, "exact", "approximate")
LARGEST_COUNT = 2**53
"""Largest number of steps; the trace holds it as float64."""
LARGEST_COORDINATE = 1e16
"""Largest coordinate of a map: one point of 100 million at the LARGEST_SPREAD of a descent."""
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
"""Smallest spread, which loops divide by."""
CSR_PARTS = ("data", "indices", "indptr")
KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(KL, NeRV, JSE, Schedule, Phase, RateFalls, ChangeBelow, Exact, Mesh, Tree, Sparse),
        *(Landmarks, Alignment, Anchors, Scale, Subsets, Spreads, Column, Trees, Layout),
        ViewsKernel,
        ForestPartitions,
        *(entry.kind for entry in KERNELS.values()),
    )
}
"""Classes of objects that a file may contain, by name."""


def write_model(path: str | Path, estimator: Any, seed: int) -> None:
    """Write a fitted estimator; seed is that of its sampled affinities."""
    plan = {name: part for name, part in vars(estimator.plan_).items() if name not in MACHINE}
    content = {
        "parameters": relevant(estimator.get_params(deep=False)),
        "kernel": estimator.kernel_,
        "state": _kernel_state(estimator.kernel_),
        "plan": plan | {"parameters": relevant(estimator.plan_.parameters)},
        "seed": seed,
        "fitted": {name: getattr(estimator, name) for name in FITTED if hasattr(estimator, name)},
    }
    if hasattr(estimator, "feature_names_in_"):
        content["names"] = estimator.feature_names_in_.astype(str)
    if hasattr(estimator, "table_"):
        content["table"] = {"columns": estimator.table_.columns_, "trees": estimator.table_.trees_}
    arrays: dict[str, Array] = {}
    header = {name: pack(part, arrays, name) for name, part in content.items()}
    write_archive(Path(path), KIND, header, arrays)


def read_model(path: str | Path, kind: type) -> tuple[Any, int]:
    """Return the estimator (of class `kind`) in a file, and the seed of its sampled affinities."""
    header, arrays = read_archive(Path(path), KIND)
    with reading_archive(Path(path), KIND):
        parts = ("parameters", "kernel", "state", "plan", "seed", "fitted")
        parameters, kernel, state, plan, seed, fitted = (unpack(header[k], arrays) for k in parts)
        fitted["kernel_"] = _restore_kernel(kernel, **state)
        if isinstance(kernel, ViewsKernel):
            fitted["layout_"] = kernel.layout
        n_threads = useful_threads(state["points"].shape[0])
        fitted["plan_"] = Plan(**plan, n_threads=n_threads, bytes_needed=None, bytes_available=None)
        if "names" in header:
            fitted["feature_names_in_"] = unpack(header["names"], arrays).astype(object)
        if "table" in header:
            fitted["table_"] = _restore_table(**unpack(header["table"], arrays))
        check_value(seed, "the seed", is_count(seed))
        _check_fitted(fitted)
        as_objective(parameters["objective"])
        schedule_of(parameters["schedule"], parameters["exaggeration"])
        estimator = kind(**parameters)
        vars(estimator).update(fitted)
    return estimator, seed


def relevant(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that affect the map; a previous map is given as coordinates."""
    kept = {name: value for name, value in parameters.items() if name not in IRRELEVANT}
    return kept | {"align_to": as_alignment(parameters.get("align_to"))}


def pack(value: Any, arrays: dict[str, Array], name: str) -> Any:
    """Return a value in a form that JSON supports; arrays are added to `arrays` by their name."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None  # the state of a generator is not a parameter
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[name] = value
        return {"array": name}
    if isinstance(value, csr_array):
        parts = {part: getattr(value, part) for part in CSR_PARTS}
        return {"csr": _pack_all(parts, arrays, name), "shape": value.shape}
    if KINDS.get(type(value).__name__) is type(value):
        return {"kind": type(value).__name__, "parts": _pack_all(_parts(value), arrays, name)}
    if isinstance(value, list | tuple):
        return [pack(part, arrays, f"{name}.{i}") for i, part in enumerate(value)]
    if isinstance(value, dict):
        return {"dict": _pack_all(value, arrays, name)}
    raise DataError(
        f"Cannot write {show(value)} to a file: parameters must be numbers, text, arrays or "
        "objects of isosne. Pass one of these."
    )


def _pack_all(parts: Mapping[str, Any], arrays: dict[str, Array], name: str) -> dict[str, Any]:
    return {key: pack(part, arrays, f"{name}.{key}") for key, part in parts.items()}


def _parts(value: Any) -> dict[str, Any]:
    """Return the arguments that make an equal object."""
    if isinstance(value, Alignment):
        return stored_parts(value)
    if isinstance(value, MetricKernel):
        return dict(value.get_params(deep=False))
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value._asdict())  # a named tuple


def unpack(value: Any, arrays: Mapping[str, Array]) -> Any:
    """Return the value that `pack` converted; sequences become tuples."""
    if isinstance(value, list):
        return tuple(unpack(part, arrays) for part in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "csr" in value:
        data, indices, indptr = (unpack(value["csr"][part], arrays) for part in CSR_PARTS)
        shape = check_value(value["shape"], "a shape", all(map(is_count, value["shape"])))
        return csr_from_arrays((data, indices, indptr), tuple(shape), "the matrix")
    inner = value["dict"] if "dict" in value else value["parts"]
    parts = {name: unpack(part, arrays) for name, part in inner.items()}
    return parts if "dict" in value else KINDS[value["kind"]](**parts)


def _kernel_state(kernel: MetricKernel) -> dict[str, Any]:
    """Return the points and random draws of a fitted kernel: the arguments of `_restore_kernel`."""
    if isinstance(kernel, ViewsKernel):
        return {"points": kernel.X_fit_, "views": [_owner_state(view) for view in kernel.views_]}
    if isinstance(kernel, OwnerKernel):
        return {"points": kernel.X_fit_} | _owner_state(kernel)
    if not isinstance(kernel, IsolationKernel) or not kernel.partitions_:
        return {"points": kernel.X_fit_}
    if kernel.partition == "forest":
        return {"points": kernel.X_fit_, "partitions": kernel.partitions_}
    samples, pool = [part.samples for part in kernel.partitions_], None
    if kernel.pool_ is not kernel.X_fit_:  # the sampled rows alone, which samples refer to then
        sampled = np.unique(np.concatenate(samples, axis=None))
        pool, samples = kernel.pool_[sampled], [np.searchsorted(sampled, s) for s in samples]
    return {"points": kernel.X_fit_, "partitions": samples, "pool": pool}


def _owner_state(kernel: OwnerKernel) -> dict[str, Any]:
    names = "subsets", "spreads", "labels", "weights"
    return {name: getattr(kernel, f"{name}_") for name in names}


def _restore_kernel(
    kernel: MetricKernel,
    points: Points,
    subsets: Sequence[Subsets] = (),
    spreads: Spreads | None = None,
    labels: Array | None = None,
    weights: Array | None = None,
    views: Sequence[dict[str, Any]] = (),
    partitions: Sequence[Any] = (),
    pool: Points | None = None,
) -> MetricKernel:
    """Return a fitted kernel, once its points and draws are checked."""
    check_value(kernel, "the kernel", isinstance(kernel, MetricKernel))
    points = check_points(points, name="points", min_rows=2)
    n_points, n_features = points.shape
    if isinstance(kernel, ViewsKernel):
        return _restore_views(kernel, points, views)
    kernel.check_parameters(n_points)
    if isinstance(kernel, OwnerKernel):
        n_listed = kernel.n_listed(points)
        psis = kernel.psis(n_points, n_listed)
        far = () if n_listed is not None else split_scales(psis, n_points).far
        for (order, members), psi in zip(subsets, far, strict=True):
            check_permutation(order, n_points)
            _check_ascending(members, "members", subset_shape(psi, n_points), n_points, 0)
        if spreads is not None:
            check_array(spreads.values, "spreads", np.float32, (n_points,), low=SMALLEST)
            check_value(spreads.n_ranked, "n_ranked", is_count(spreads.n_ranked))
            check_value(spreads.exponent, "exponent", is_number(spreads.exponent))
        if labels is not None:
            kind = np.float64 if labels.dtype.kind == "f" else np.int64
            check_value(labels.shape, "the shape of the labels", labels.shape == (n_points,))
            is_class = kind is np.float64 or bool(((labels >= -1) & (labels < n_points)).all())
            check_value(labels, "the labels", labels.dtype == kind and is_class)
        draws = {"psi_": psis, "subsets_": list(subsets), "spreads_": spreads, "labels_": labels}
        known = as_weights(weights, n_points)
        return kernel.restore(points, kernel.fit_metric(points), **draws, weights_=known)
    if not isinstance(kernel, IsolationKernel) or not partitions:
        n_missing = kernel.costs(n_points).n_draws
        check_value(n_missing, "the number of missing samples", n_missing == 0)
        return kernel.fit(points)
    metric, pool = kernel.fit_metric(points), points if pool is None else pool
    drawn: list[Any] = list(partitions)
    if kernel.partition == "forest":
        for part in partitions:
            n_trees, psi = _check_samples(part.samples, kernel.n_partitions, None).shape
            _check_trees(part.trees, n_features, (n_trees, 2 * psi - 1))
    else:
        if pool is not points:
            check_value(pool.shape, "the shape of the pool", pool.shape[1] == n_features)
            check_value(kernel.metric, "the metric of a pool", kernel.metric != "precomputed")
            pool = check_points(pool, name="pool")
            check_for_metric(pool, kernel.metric, name="pool")
        for part in partitions:
            _check_samples(part, kernel.n_partitions, pool.shape[0])
        drawn = [VoronoiPartitions(part, pool, metric) for part in partitions]
    psis = tuple(part.samples.shape[1] for part in drawn)
    return kernel.restore(points, metric, psi_=psis, partitions_=drawn, pool_=pool)


def _restore_table(columns: Sequence[Column], trees: Sequence[Trees]) -> TableForest:
    """Return a forest of a mixed table, once its columns and trees are checked."""
    for column in columns:
        check_value(column.kind, "the kind of a column", column.kind in COLUMN_KINDS)
        is_text = all(isinstance(category, str) for category in column.categories)
        check_value(column.categories, "categories", is_text)
    n_used = sum(column.is_used for column in columns)
    check_value(n_used, "the number of columns", n_used > 0 and len(trees) > 0)
    forest = TableForest()
    forest.columns_ = list(columns)
    forest.trees_ = [_check_trees(part, n_used, part.children.shape) for part in trees]
    forest.n_features_in_ = len(columns)
    if all(isinstance(column.name, str) for column in columns):
        forest.feature_names_in_ = np.array([column.name for column in columns], object)
    return forest


def _check_fitted(fitted: Mapping[str, Any]) -> None:
    """Raise an error if fitted attributes do not fit each other."""
    plan, kernel, table = fitted["plan_"], fitted["kernel_"], fitted.get("table_")
    n_points, n_features = kernel.X_fit_.shape
    _check_plan(plan, n_points)
    if plan.affinities == "sampled" and not getattr(kernel, "partitions_", ()):
        raise ValueError("affinities are sampled, and the kernel has no cells")
    if table is not None:
        check_value(n_features, "the number of trees", n_features == table._n_features_out)
        n_features = len(table.columns_)
    if "layout_" in fitted:
        n_features = sum(fitted["layout_"].widths)
    n_iter, value = fitted["n_iter_"], fitted["kl_divergence_"]
    check_value(n_iter, "n_iter_", is_count(n_iter, 0, LARGEST_COUNT))
    check_value(value, "kl_divergence_", is_number(value))
    check_value(fitted["n_features_in_"], "n_features_in_", fitted["n_features_in_"] == n_features)
    shape = n_points, plan.n_components
    check_map(fitted["embedding_"], "embedding_", shape)
    check_trace(fitted["trace_"])
    n_rows = plan.n_rows or n_points
    indices = {"isolated_": (None, n_points), "far_": (None, n_points)}
    for name, (length, n) in (indices | {"landmark_indices_": (n_points, n_rows)}).items():
        if name in fitted or name == "isolated_":  # which every fit sets
            check_array(fitted[name], name, np.int64, (length,), low=0, high=n - 1)
    if "alignment_" in fitted:
        _check_anchors(fitted["alignment_"], shape)
    if "feature_names_in_" in fitted:
        check_array(fitted["feature_names_in_"], "feature_names_in_", object, (n_features,))
    for part in fitted.get("input_scale_", ()):
        check_array(part, "input_scale_", np.float64, (n_features,))


def _check_plan(plan: Plan, n_points: int) -> None:
    """Raise an error if a choice of a stored plan is not one that a plan can make."""
    lengths = (plan.n_neighbors, plan.n_partners)
    if plan.neighbors is not None:
        are_lengths = all(is_count(length, 1, max(1, n_points - 1)) for length in lengths)
    else:
        are_lengths = lengths == (None, None)
    for name, is_valid in {
        "n_points": plan.n_points == n_points,
        "n_components": is_count(plan.n_components, 1, 3),
        "affinities": plan.affinities in AFFINITIES,
        "neighbors": plan.neighbors in SEARCHES,
        "n_neighbors": are_lengths,
        "n_rows": plan.n_rows is None or is_count(plan.n_rows, n_points),
        "columns": all(isinstance(text, str) for text in plan.columns),
        "notes": all(isinstance(text, str) for text in plan.notes),
    }.items():
        check_value(getattr(plan, name), f"{name} of the plan", is_valid)
    kinds = {"forces": Exact | Mesh | Tree, "schedule": Schedule, "objective": KL | NeRV | JSE}
    for name, kind in kinds.items():
        value = plan.parameters[name]
        check_value(value, f"{name} of the plan", isinstance(value, kind))


def _check_anchors(anchors: Anchors, shape: tuple[int, int]) -> None:
    n_points, n_components = shape
    _check_ascending(anchors.rows, "rows", (None,), n_points)
    check_map(anchors.places, "places", (len(anchors.rows), n_components))
    for name, high in (("strength", LARGEST_STRENGTH), ("scale", LARGEST_SETTING)):
        value = getattr(anchors, name)
        check_value(value, name, is_number(value) and 0 <= value <= high)


def _restore_views(
    kernel: ViewsKernel, points: Points, states: Sequence[dict[str, Any]]
) -> MetricKernel:
    """Return a fitted kernel of several views, once the layout and each view are checked."""
    layout = check_value(kernel.layout, "the layout", isinstance(kernel.layout, Layout))
    kernel.layout = layout = Layout(*map(tuple, layout))
    n_columns = sum(check_value(width, "a width", is_count(width, 1)) for width in layout.widths)
    fits = n_columns + len(layout.widths) == points.shape[1]
    check_value(layout, "the layout", fits and all(0 < s < np.inf for s in layout.scales))
    kernel.check_parameters(points.shape[0])
    views, members = [], []
    for own, (part, rows), state in zip(
        kernel.own_kernels(), kernel.parts(points), states, strict=True
    ):
        views.append(_restore_kernel(own, part, **state))
        members.append(rows)
    return kernel.restore(points, None, views_=views, members_=members)


def _check_ascending(
    indices: Array, name: str, shape: tuple[int | None, ...], n: int | None, least: int = 1
) -> Array:
    """Return indices below n (None: any) of this shape that ascend by `least` in every row."""
    check_array(indices, name, np.int64, shape, low=0, high=None if n is None else n - 1)
    if np.any(indices[..., 1:] < indices[..., :-1] + least):
        raise ValueError(f"{name} must have ascending indices in every row")
    return indices


def _check_samples(samples: Array, n_partitions: Any, n_points: int | None) -> Array:
    """Return the samples (t, psi) of one scale."""
    check_value(samples.shape, "the shape of samples", samples.shape[-1] > 1)
    return _check_ascending(samples, "samples", (n_partitions, None), n_points)


def _check_trees(trees: Trees, n_features: int, shape: tuple[int, ...]) -> Trees:
    """Return trees of this shape (n_trees, n_nodes) whose paths from the root end at a leaf."""
    n_trees, n_nodes = shape
    check_array(trees.features, "features", np.int32, shape, low=0, high=n_features - 1)
    check_array(trees.thresholds, "thresholds", np.float64, shape)
    check_array(trees.shares, "shares", np.float32, shape, low=0, high=1)
    check_array(trees.seeds, "seeds", np.int64, (n_trees,), low=0, high=RANGE - 1)
    # The right child follows the left one, which is therefore never the last node.
    low, high = -(n_nodes // 2) - 1, n_nodes - 2
    check_array(trees.children, "children", np.int32, shape, low=low, high=high)
    if np.any((trees.children >= 0) & (trees.children <= np.arange(n_nodes))):
        raise ValueError("children must come after their node")
    return trees


def check_array(
    array: Array,
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
) -> Array:
    """Return an array of this type and shape (None: any length) of finite values in a range."""
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        raise ValueError(f"{name} cannot be {array.dtype} of shape {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are not finite")
    for bound, is_beyond in ((low, np.less), (high, np.greater)):
        if bound is not None and array.size and is_beyond(array, bound).any():
            raise ValueError(f"{name} has values beyond {bound:g}")
    return array


def check_map(Y: Array, name: str, shape: tuple[int, int]) -> Array:
    """Return the coordinates or the last update of a map of this shape."""
    low, high = -LARGEST_COORDINATE, LARGEST_COORDINATE
    return check_array(Y, name, np.float32, shape, low=low, high=high)


def check_trace(trace: Array) -> Array:
    """Return a trace if it has steps, values (maybe NaN) and norms."""
    check_array(trace[:, [0, -1]], "trace", np.float64, (None, 2), low=0)
    check_value(trace.shape, "the shape of the trace", trace.shape[1] == 3)
    return trace


def check_permutation(order: Array, n_points: int) -> None:
    """Raise an error unless an array has every point once."""
    check_array(order, "order", np.int64, (n_points,), low=0)
    if not np.array_equal(np.sort(order), np.arange(n_points)):
        raise ValueError("order must have every point once")


def check_value(value: Any, name: str, is_valid: bool) -> Any:
    """Return a value of the header if it is valid."""
    if not is_valid:
        raise ValueError(f"{name} cannot be {value!r}")
    return value


def is_count(value: Any, low: int = 0, high: float = float("inf")) -> bool:
    """Return whether a value is an integer from low to high."""
    return is_integer(value) and low <= value <= high
