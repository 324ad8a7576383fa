"""Checks of values from model files and checkpoints, before they serve as sizes or indices.

Every check raises a ValueError with a short reason; the reader of the file adds its name.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from isosne._checks import check_for_metric, check_points, is_integer, is_number
from isosne._types import Array, Points
from isosne.kernels.base import MetricKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.ownership import Subsets, subset_shape
from isosne.layout.descent import Anchors, Progress
from isosne.layout.forces import Mesh, Tree
from isosne.layout.mesh import CUTOFFS, MAX_NODES
from isosne.layout.objectives import as_objective
from isosne.layout.schedules import LARGEST_SETTING, as_schedule
from isosne.tables.columns import RANGE
from isosne.tables.trees import Trees
from isosne.tsne.series import LARGEST_STRENGTH

AFFINITIES = ("dense", "sparse", "sampled")
SEARCHES = (None, "exact", "approximate")
LARGEST_COUNT = 2**53
"""Largest number of steps; the trace holds it as float64."""
LARGEST_COORDINATE = 1e16
"""Largest coordinate of a map: one point of 100 million at the LARGEST_SPREAD of a descent."""
GENERATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}
"""Random generators of NumPy, by name."""


def check_array(
    array: Array,
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
) -> Array:
    """Return an array of this type and shape whose values are finite, from low to high.

    None in the shape allows any length.
    """
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        wanted = " x ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(
            f"{name} must be {np.dtype(dtype)} of shape {wanted}; "
            f"it is {array.dtype} of shape {array.shape}"
        )
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


def check_anchors(anchors: Anchors, shape: tuple[int, int]) -> None:
    """Raise an error if the anchors of an alignment do not fit a map of this shape (n, d)."""
    n_points, n_components = shape
    rows = check_array(anchors.rows, "rows", np.int64, (None,), low=0, high=n_points - 1)
    if np.any(np.diff(rows) <= 0):
        raise ValueError("rows must have ascending indices")
    check_map(anchors.places, "places", (len(rows), n_components))
    for name, low, high in (("strength", 0, LARGEST_STRENGTH), ("scale", 0, LARGEST_SETTING)):
        value = getattr(anchors, name)
        check_value(value, name, is_number(value) and low <= value <= high)


def check_value(value: Any, name: str, is_valid: bool) -> Any:
    """Return a value of the header if it is valid."""
    if not is_valid:
        raise ValueError(f"{name} cannot be {value!r}")
    return value


def is_count(value: Any, low: int = 0, high: float = math.inf) -> bool:
    """Return whether a value is an integer from low to high."""
    return is_integer(value) and low <= value <= high


def check_kernel(kernel: Any) -> None:
    """Raise an error if an object is no kernel, or has values that no kernel checks when fitted."""
    check_value(kernel, "the kernel", isinstance(kernel, MetricKernel))
    check_value(kernel.p, "p of the kernel", is_number(kernel.p))
    seed = getattr(kernel, "random_state", None)
    check_value(seed, "random_state of the kernel", seed is None or is_count(seed))


def check_pool(kernel: IsolationKernel, points: Points, pool: Points) -> Points:
    """Return the points that samples were drawn from, which must be like the fitted points."""
    if kernel.metric == "precomputed" or pool.shape[1] != points.shape[1]:
        raise ValueError("pool does not fit the points")
    pool = check_points(pool, name="pool")
    check_for_metric(pool, kernel.metric, name="pool")
    return pool


def check_subsets(order: Array, members: Array, psi: int, n_points: int) -> Subsets:
    """Return the subsets of one scale: a permutation of the points, and ascending members."""
    check_array(order, "order", np.int64, (n_points,), low=0, high=n_points - 1)
    if len(np.unique(order)) != n_points:
        raise ValueError("order must have every point once")
    check_array(members, "members", np.int64, subset_shape(psi, n_points), low=0, high=n_points - 1)
    if np.any(members[:, 1:] <= members[:, :-1]):
        raise ValueError("members must have ascending indices in every row")
    return Subsets(order, members)


def check_samples(samples: Array, name: str, n_partitions: int, n_pool: int | None) -> Array:
    """Return the samples (t, psi) of one scale: ascending indices of points.

    None if the pool is not stored: trees do not need it.
    """
    high = None if n_pool is None else n_pool - 1
    check_array(samples, name, np.int64, (n_partitions, None), low=0, high=high)
    if samples.shape[1] < 2 or np.any(samples[:, 1:] <= samples[:, :-1]):
        raise ValueError(f"{name} must have ascending indices in every row")
    return samples


def check_trees(trees: Trees, n_features: int, shape: tuple[int, int]) -> Trees:
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


def check_trace(trace: Array, n_iter: Any) -> Array:
    """Return the trace (k, 3): iterations, values of the objective, and gradient norms.

    The values may be NaN: earlier versions stored them so where the objective was undefined.
    """
    if trace.ndim != 2 or trace.shape[1] != 3:
        raise ValueError(f"trace must have three columns; its shape is {trace.shape}")
    check_array(trace[:, [0, 2]], "trace", np.float64, (None, 2), low=0)
    steps = trace[:, 0]
    if np.any(np.diff(steps) <= 0) or np.any(steps != np.floor(steps)):
        raise ValueError("trace must have ascending iterations")
    if len(steps) and steps[-1] > n_iter:
        raise ValueError("trace has later iterations than there were")
    return trace


def check_progress(progress: Progress) -> None:
    """Raise an error if a counter or a recorded value of a descent is not one."""
    for name in ("iteration", "phase", "done"):
        value = getattr(progress, name)
        check_value(value, name, is_count(value, 0, LARGEST_COUNT))
    for name in ("values", "rates"):
        found = getattr(progress, name)
        check_value(found, name, isinstance(found, list) and all(map(is_number, found)))


def check_force_state(
    state: Mapping[str, Array], shape: tuple[int, int], *, has_order: bool
) -> None:
    """Raise an error if the state of the forces does not fit a map of this shape (d, n)."""
    n_components, n_points = shape
    if has_order:
        order = check_array(state["order"], "order", np.int64, (n_points,), low=0)
        if not np.array_equal(np.sort(order), np.arange(n_points)):
            raise ValueError("order must have every point once")
    if "mesh_sides" in state:
        sides = check_array(state["mesh_sides"], "mesh_sides", np.int64, (n_components,), low=1)
        if math.prod(sides.tolist()) > MAX_NODES:
            raise ValueError("mesh_sides has more nodes than a mesh can have")
        scale = check_array(state["mesh_scale"], "mesh_scale", np.float64, (4,))
        spacing, _, cutoff, n_pairs = scale.tolist()
        check_value(spacing, "the spacing of the mesh", spacing > 0)
        check_value(cutoff, "the cutoff of the near field", cutoff in CUTOFFS)
        check_value(n_pairs, "the number of near pairs", n_pairs >= 0)


def make_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Return a random generator in a stored state; NumPy does not check positions in it."""
    name, within = state["bit_generator"], state["state"]
    check_value(name, "the random generator", name in GENERATORS)
    if name == "MT19937":
        check_value(within["pos"], "pos of the random generator", is_count(within["pos"], 0, 624))
    if name == "Philox":
        position = state["buffer_pos"]
        check_value(position, "buffer_pos of the random generator", is_count(position, 0, 4))
    bits = GENERATORS[name]()
    bits.state = dict(state)
    return np.random.Generator(bits)


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise an error if a parameter that `transform` and `continue_fit` use is not valid."""
    as_objective(parameters["objective"])
    as_schedule(parameters["schedule"])
    strength, n_jobs = parameters["exaggeration"], parameters["n_jobs"]
    is_valid = strength is None or (is_number(strength) and 1 <= strength <= LARGEST_SETTING)
    check_value(strength, "exaggeration", is_valid)
    check_value(n_jobs, "n_jobs", n_jobs is None or is_count(n_jobs, 1))
    check_value(parameters["verbose"], "verbose", isinstance(parameters["verbose"], bool | int))


def check_plan(plan: Mapping[str, Any], n_points: int) -> None:
    """Raise an error if a choice of a stored plan is not one that a plan can make."""
    longest = max(1, n_points - 1)

    def is_length(value: Any) -> bool:
        return is_count(value, 1, longest) if plan["neighbors"] else value is None

    rules: dict[str, Callable[[Any], bool]] = {
        "n_points": lambda value: is_count(value, n_points, n_points),
        "n_components": lambda value: is_count(value, 1, 3),
        "affinities": lambda value: value in AFFINITIES,
        "neighbors": lambda value: value in SEARCHES,
        "n_neighbors": is_length,
        "n_partners": is_length,
        "forces": lambda value: value in ("exact", "mesh", "tree"),
        "widest": lambda value: value is None or (is_number(value) and value > 0),
        **dict.fromkeys(("n_iter", "n_threads", "bytes_needed"), is_count),
        **dict.fromkeys(("kernel", "start", "objective"), lambda value: isinstance(value, str)),
        "alignment": lambda value: value is None or isinstance(value, str),
        "reasons": lambda value: all(isinstance(reason, str) for reason in value),
        "n_rows": lambda value: value is None or is_count(value, n_points),
        "n_pool": lambda value: value is None if plan["n_rows"] is None else is_count(value),
    }
    for name, is_valid in rules.items():
        check_value(plan.get(name), f"{name} of the plan", is_valid(plan.get(name)))
    for name, method in (("accuracy", Mesh), ("theta", Tree)):
        if plan.get(name) is not None:
            method(plan[name])  # checks it
