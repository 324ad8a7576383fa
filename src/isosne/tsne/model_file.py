"""Model files: a fitted estimator on disk, with all that `transform` and `place` need.

The joint probabilities are not stored: they are large, and are recomputed when needed.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._checks import is_number
from isosne._types import Array
from isosne.affinities.sparse import Sparse
from isosne.kernels.base import MetricKernel
from isosne.layout.force_methods import Mesh, Tree
from isosne.layout.objectives import as_objective
from isosne.layout.pull import Anchors
from isosne.layout.schedules import as_schedule
from isosne.layout.start import resolve_start
from isosne.sources.scaled import Scale
from isosne.tsne.landmarks import Landmarks
from isosne.tsne.plan import Plan, useful_threads
from isosne.tsne.serialization import (
    from_plain,
    kernel_arrays,
    plain_parameters,
    restore_kernel,
    to_plain,
)
from isosne.tsne.stored_values import (
    LARGEST_COUNT,
    check_anchors,
    check_array,
    check_map,
    check_parameters,
    check_plan,
    check_trace,
    check_value,
    is_count,
)
from isosne.tsne.table_file import restore_table, table_arrays, table_header

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
    plan.pop("spline_order", None)  # a choice of earlier versions
    parts = {k.removeprefix(KERNEL): v for k, v in arrays.items() if k.startswith(KERNEL)}
    kernel = restore_kernel(from_plain(header["kernel"], arrays), parts)
    if "dof" in parameters:
        parameters, plan = _upgraded(parameters, plan, kernel)
    if new := sorted(parameters.keys() - known):
        raise KeyError(new[0])
    chosen = {k: from_plain(v, arrays) for k, v in header.get("plan_parameters", {}).items()}
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
        "plan_": Plan(**plan, parameters=chosen or {**parameters, "kernel": kernel}),
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


def _upgraded(
    old: dict[str, Any], old_plan: dict[str, Any], kernel: MetricKernel
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the plan of a file written before parameters became objects.

    In such files, dof, neighbors, mesh_accuracy, theta and landmark_choice are parameters of the
    estimator.
    """
    parameters, plan = dict(old), dict(old_plan)
    dof, accuracy = parameters.pop("dof"), parameters.pop("mesh_accuracy")
    theta, neighbors = parameters.pop("theta"), parameters.pop("neighbors")
    choice = parameters.pop("landmark_choice")
    objective = as_objective(parameters["objective"])
    if dof != 1.0:
        parameters["objective"] = objective = type(objective)(**{**vars(objective), "dof": dof})
    if parameters["forces"] == "mesh":
        parameters["forces"] = Mesh(accuracy)
    elif parameters["forces"] == "tree":
        parameters["forces"] = Tree(theta)
    if parameters["affinities"] == "sparse":
        parameters["affinities"] = Sparse(neighbors)
    if parameters["landmarks"] is not None:
        parameters["landmarks"] = Landmarks(parameters["landmarks"], choice)
    is_mesh, is_tree = plan["forces"] == "mesh", plan["forces"] == "tree"
    # RANKED = 8 and COMPARED = 5 in kernels/costs.py when such files were written.
    n_listed, n_points = plan["n_neighbors"], plan["n_points"]
    start = resolve_start(parameters["start"], kernel.metric)
    n_partners = min(kernel.costs(*kernel.X_fit_.shape).n_partners, n_points - 1)
    plan |= {
        "n_partners": None if n_listed is None else n_partners,
        "start": start if isinstance(start, str) else "given coordinates",
        "accuracy": accuracy if is_mesh else None,
        "theta": theta if is_tree else None,
        "objective": type(objective).__name__,
        "n_iter": as_schedule(parameters["schedule"]).n_iter,
        "n_threads": useful_threads(n_points, plan["affinities"]),
    }
    return parameters, plan
