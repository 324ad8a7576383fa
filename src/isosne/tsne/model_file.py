"""Models on disk: one file with what a map, and places on it, are made of.

The joint probabilities are not kept: they take most of the memory, and a few seconds to make again.
"""

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from isosne._archive import read_archive, write_archive
from isosne._types import Array
from isosne.errors import DataError
from isosne.tsne.plan import Plan
from isosne.tsne.serialization import from_plain, kernel_arrays, restore_kernel, to_plain

KIND = "model"
KERNEL = "kernel."
FITTED = ("embedding_", "trace_", "isolated_", "landmark_indices_", "feature_names_in_")
NUMBERS = ("n_features_in_", "n_iter_", "kl_divergence_")


class Model(NamedTuple):
    """What a file holds: parameters, and what a fit has made of them."""

    parameters: dict[str, Any]
    attributes: dict[str, Any]
    start_of_draws: int


def write_model(path: str | Path, estimator: Any, start_of_draws: int) -> None:
    """Write a fitted estimator; start_of_draws is the seed of its drawn partners."""
    arrays: dict[str, Array] = {}
    parameters = {k: v for k, v in estimator.get_params(deep=False).items() if k != "callback"}
    header = {
        "parameters": {name: to_plain(value, arrays) for name, value in parameters.items()},
        "kernel": to_plain(estimator.kernel_, arrays),
        "plan": asdict(estimator.plan_),
        "numbers": {name: getattr(estimator, name) for name in NUMBERS},
        "start_of_draws": start_of_draws,
    }
    fitted = {name: getattr(estimator, name) for name in FITTED if hasattr(estimator, name)}
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = fitted["feature_names_in_"].astype(str)
    kernel = {f"{KERNEL}{name}": part for name, part in kernel_arrays(estimator.kernel_).items()}
    write_archive(Path(path), KIND, header, {**arrays, **fitted, **kernel})


def read_model(path: str | Path, known: Collection[str]) -> Model:
    """Read what `write_model` has written; known: names of parameters of the estimator."""
    header, arrays = read_archive(Path(path), KIND)
    try:
        parameters = {k: from_plain(v, arrays) for k, v in header["parameters"].items()}
        if new := sorted(parameters.keys() - known):
            raise KeyError(new[0])
        parts = {k.removeprefix(KERNEL): v for k, v in arrays.items() if k.startswith(KERNEL)}
        kernel = restore_kernel(from_plain(header["kernel"], arrays), parts)
        plan = Plan(**{**header["plan"], "reasons": tuple(header["plan"]["reasons"])})
        fitted = {name: arrays[name] for name in FITTED if name in arrays}
        numbers = {name: header["numbers"][name] for name in NUMBERS}
        start_of_draws = header["start_of_draws"]
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{path} must hold a model that this isosne knows; it was written by isosne "
            f"{header['version']}, and {error} is missing or new. Read it with that version."
        ) from error
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = fitted["feature_names_in_"].astype(object)
    attributes = {"kernel_": kernel, "plan_": plan, **fitted, **numbers}
    return Model(parameters, attributes, int(start_of_draws))
