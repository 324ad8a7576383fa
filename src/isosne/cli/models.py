"""From options to an estimator; and model files, which also record how the table was read."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from isosne.cli.map_files import refuse_map
from isosne.cli.map_options import EmbeddingOptions, KernelOptions, LandmarkOptions
from isosne.cli.options import ResourceOptions, TableOptions, check_recorded
from isosne.errors import ParameterError, keyword

NEEDS = {
    "n_iter": ("schedule", ("annealed", "standard")),
    "neighbors": ("affinities", ("sparse",)),
    "mesh_accuracy": ("forces", ("mesh",)),
    "theta": ("forces", ("tree",)),
}
"""Options that have an effect only with certain values of another option."""
SCALE, TABLE = "scale.npy", "table.json"
"""Members of a model file that the command line adds to those of the model."""


def make_model(
    kernel: KernelOptions,
    embedding: EmbeddingOptions,
    resources: ResourceOptions,
    landmarks: LandmarkOptions = LandmarkOptions(),  # noqa: B008  an immutable value
) -> Any:
    """Return the estimator that the options describe."""
    from isosne import Landmarks

    if landmarks.landmarks is None and landmarks.landmark_choice is not None:
        raise ParameterError(
            "landmark_choice",
            f"be used together with {keyword('landmarks')}",
            landmarks.landmark_choice,
            f"Add for example {keyword('landmarks', 10000)}.",
        )
    parameters = {"kernel": make_kernel(kernel), "n_jobs": resources.n_jobs}
    if landmarks.landmarks is not None:
        choice = landmarks.landmark_choice or "uniform"
        parameters["landmarks"] = Landmarks(landmarks.landmarks, choice)
    return make_template(embedding, resources).set_params(**parameters)


def make_template(embedding: EmbeddingOptions, resources: ResourceOptions) -> Any:
    """Return an estimator with everything but a kernel of its own."""
    from isosne import TSNE, Mesh, Schedule, Sparse, Tree
    from isosne.layout.objectives import NAMES as OBJECTIVES

    given = {name: value for name, value in asdict(embedding).items() if value is not None}
    for name, (other, needed) in NEEDS.items():
        if given.get(name, "auto") != "auto" and given[other] not in needed:
            choices = " or ".join(keyword(other, value) for value in needed)
            raise ParameterError(
                name,
                f"be used together with {choices}",
                given[name],
                f"Add {keyword(other, needed[0])}, or leave out {keyword(name)}.",
            )
    given["objective"] = OBJECTIVES[embedding.objective](dof=given.pop("dof"))
    if "n_iter" in given:
        make = {"annealed": Schedule.annealed, "standard": Schedule.standard}[given["schedule"]]
        given["schedule"] = make(n_iter=given.pop("n_iter"))
    if "mesh_accuracy" in given:
        given["forces"] = Mesh(given.pop("mesh_accuracy"))
    if "theta" in given:
        given["forces"] = Tree(given.pop("theta"))
    neighbors = given.pop("neighbors", "auto")
    if embedding.affinities == "sparse":
        given["affinities"] = Sparse(neighbors)
    return TSNE(**given, memory_limit=resources.memory_limit)


def make_kernel(options: KernelOptions) -> Any:
    """Return the kernel; only its name if no parameter is given, so that its defaults apply."""
    from isosne.kernels.registry import NUMBERS, parse_numbers
    from isosne.kernels.registry import make_kernel as make

    given = kernel_parameters(options)
    for name in NUMBERS:
        if name in given:
            found = parse_numbers(name, given[name])
            given[name] = found[0] if len(found) == 1 else found
    return make(options.kernel_name, given) if given else options.kernel_name


def kernel_parameters(options: KernelOptions) -> dict[str, Any]:
    """Return the given parameters of the kernel, all of which it takes."""
    from isosne.kernels.registry import KERNELS

    given = {name: v for name, v in asdict(options).items() if name != "kernel" and v is not None}
    for name in given:
        if name not in KERNELS[options.kernel_name].options:
            owners = [kernel for kernel, entry in KERNELS.items() if name in entry.options]
            kernels = " or ".join(keyword("kernel", owner) for owner in owners)
            raise ParameterError(
                name,
                f"be left out with {keyword('kernel', options.kernel_name)}",
                given[name],
                f"It is a parameter of {kernels}.",
            )
    if "p" in given and given.get("metric") != "minkowski":
        raise ParameterError(
            "p",
            f"be used together with {keyword('metric', 'minkowski')}",
            given["p"],
            f"Add {keyword('metric', 'minkowski')}, or leave out {keyword('p')}.",
        )
    if str(given.get("n_partitions", "")).isdigit():
        given["n_partitions"] = int(given["n_partitions"])
    return given


class Reading(NamedTuple):
    """How a table was read: its options, and the scale of its columns if they were scaled."""

    options: dict[str, Any]
    scale: Any


def save_model(model: Any, options: TableOptions, path: Path) -> None:
    """Write a model and how its table was read."""
    model.input_options_ = options.given()
    model.save(path)


def load_model(path: Path) -> tuple[Any, Reading]:
    """Return the model of a file, and how its table was read; a missing file is wrong use."""
    from isosne import TSNE

    check_model(path)
    model = TSNE.load(path)
    if hasattr(model, "input_options_"):
        reading = Reading(model.input_options_, getattr(model, "input_scale_", None))
    else:
        reading = _load_earlier_reading(model, path)
    return model, Reading(check_recorded(reading.options, str(path)), reading.scale)


def check_model(path: Path, hint: str = "") -> None:
    """Raise an error if a model does not exist, or is a map; ``hint``: what to do with a map."""
    from isosne.files.table_reader import check_exists

    check_exists(path, "model_file")
    what = "a model that isosne embed --save-model wrote"
    refuse_map(path, "model_file", what, hint or "Pass the model of this map.")


def _load_earlier_reading(model: Any, path: Path) -> Reading:
    """Return what earlier versions appended to the file; models saved in Python have nothing."""
    import numpy as np

    from isosne._archive import read_member, reading_archive
    from isosne.sources.scaled import Scale
    from isosne.tsne.stored_values import check_array

    scale = read_member(path, "model", SCALE)
    if scale is not None:
        with reading_archive(path, "model"):
            check_array(scale, SCALE, np.float64, (2, model.n_features_in_))
        model.input_scale_ = Scale(*scale)
    return Reading(read_member(path, "model", TABLE) or {}, getattr(model, "input_scale_", None))
