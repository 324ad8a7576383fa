"""From options to an estimator."""

from dataclasses import asdict
from typing import Any

import typer

from isosne.cli.options import KernelOptions, LandmarkOptions, MapOptions, ResourceOptions
from isosne.errors import ParameterError

PARAMETERS = {
    "isolation": ("psi", "n_partitions", "partition", "metric", "p"),
    "gaussian": ("perplexity", "metric", "p"),
    "adaptive": ("k", "metric", "p"),
    "knn": ("k", "metric", "p"),
}
"""Options that each kernel takes."""
NAMES = {
    "objective": ("kl", "nerv", "jse"),
    "schedule": ("standard", "paper", "opt_sne"),
    "start": ("auto", "pca", "spectral", "random"),
}
"""Options for which the library takes objects too."""
NUMBERS = ("psi", "perplexity", "k")
"""Options that are one number or several."""


def make_model(
    kernel: KernelOptions,
    drawing: MapOptions,
    resources: ResourceOptions,
    landmarks: LandmarkOptions = LandmarkOptions(),  # noqa: B008  an immutable value
) -> Any:
    """Return the estimator that the options describe."""
    from isosne import TSNE, Landmarks

    check_names(drawing)
    if landmarks.landmarks is None and landmarks.landmark_choice is not None:
        raise ParameterError(
            "--landmark-choice needs --landmarks; got none. Add --landmarks 10000, or leave the "
            "option out."
        )
    given = {name: value for name, value in asdict(resources).items() if value is not None}
    if landmarks.landmarks is not None:
        given["landmarks"] = Landmarks(landmarks.landmarks, landmarks.landmark_choice or "uniform")
    return TSNE(make_kernel(kernel), **map_parameters(drawing), **given)


def map_parameters(drawing: MapOptions) -> dict[str, Any]:
    """Return the parameters of the estimator that the options of a map describe."""
    from isosne import Mesh, Sparse, Tree
    from isosne.layout.objectives import NAMES as OBJECTIVES

    given = {name: value for name, value in asdict(drawing).items() if value is not None}
    given["objective"] = OBJECTIVES[given["objective"]](dof=given.pop("dof"))
    accuracy, theta = given.pop("mesh_accuracy"), given.pop("theta")
    neighbors = given.pop("neighbors")
    if given["forces"] == "mesh":
        given["forces"] = Mesh(accuracy)
    elif given["forces"] == "tree":
        given["forces"] = Tree(theta)
    if given["affinities"] == "sparse":
        given["affinities"] = Sparse(neighbors)
    return given


def check_names(drawing: MapOptions) -> None:
    """Refuse a name that stands for nothing, in the words of the command line."""
    for name, known in NAMES.items():
        came = getattr(drawing, name)
        if came not in known:
            raise ParameterError(
                f"{name} must be one of {', '.join(known)}; got {came!r}. "
                "Choose one of these names."
            )


def note_unused(plan: Any, drawing: MapOptions) -> None:
    """Say which wish has no part in a plan."""
    if drawing.neighbors != "auto" and plan.neighbors is None:
        typer.echo(
            f"isosne: note: --neighbors {drawing.neighbors} has no part in this: affinities are "
            f"{plan.affinities}, and only sparse ones look for neighbors.",
            err=True,
        )


def make_kernel(options: KernelOptions) -> Any:
    """Return the kernel: its name if nothing else was said, so that its own rules hold."""
    from isosne.kernels.registry import make_kernel as make

    given = kernel_parameters(options)
    for name in NUMBERS:
        if name in given:
            found = parse_numbers(name, given[name])
            given[name] = found[0] if len(found) == 1 else found
    return make(options.kernel, given) if given else options.kernel


def kernel_parameters(options: KernelOptions) -> dict[str, Any]:
    """Return the options that were given beside the kernel's name, as far as it takes them."""
    given = {name: v for name, v in asdict(options).items() if name != "kernel" and v is not None}
    taken = PARAMETERS.get(options.kernel)
    if taken is None:
        raise ParameterError(
            f"kernel must be one of {', '.join(PARAMETERS)}; got {options.kernel!r}. "
            "Choose one of these names."
        )
    for name in given:
        if name not in taken:
            owners = [kernel for kernel, names in PARAMETERS.items() if name in names]
            raise ParameterError(
                f"--{name.replace('_', '-')} belongs to the kernel {' or '.join(owners)}; got "
                f"--kernel {options.kernel}. Add --kernel {owners[0]}, or leave the option out."
            )
    metric = given.get("metric", "euclidean")
    if "p" in given and metric != "minkowski":
        raise ParameterError(
            f"--p belongs to the metric minkowski; got --metric {metric}. "
            "Add --metric minkowski, or leave the option out."
        )
    if str(given.get("n_partitions", "")).isdigit():
        given["n_partitions"] = int(given["n_partitions"])
    return given


def parse_numbers(name: str, text: str) -> list[Any]:
    """Return numbers with commas between, whole ones as integers; psi may be auto."""
    if name == "psi" and text == "auto":
        return [text]
    try:
        return [int(part) if _is_whole(part) else float(part) for part in text.split(",")]
    except ValueError:
        may_be = "auto, a number of cells, a share of the rows" if name == "psi" else "a number"
        raise ParameterError(
            f"{name} must be {may_be}, or several with commas between; got {text!r}. "
            f"Write for example --{name} 16 or --{name} 8,64."
        ) from None


def _is_whole(part: str) -> bool:
    return part.strip().lstrip("+-").isdigit()
