"""Models: made from options, kept in files with how their table was read, given new rows."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from isosne._progress import Progress
from isosne.cli.files import PIPE
from isosne.cli.maps import refuse_map
from isosne.cli.messages import note
from isosne.cli.options import MapOptions, Resources, TableOptions, check_recorded
from isosne.cli.tables import has_keys, open_unscaled
from isosne.errors import ParameterError, keyword

KERNEL_PARAMETERS = ("psi", "cell_size", "perplexity", "metric")
NAMED = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")
"""Endings of tables whose columns have names."""
BLOCK_ROWS, BLOCK_BYTES = 20_000, 64_000_000
"""Rows, and bytes of rows, that are read and placed together. Chosen, not measured: a block takes
a few seconds, so that progress is shown often enough."""


def make_model(options: MapOptions, resources: Resources, landmarks: int | None = None) -> Any:
    """Return the estimator that the options describe."""
    from isosne import Landmarks

    parameters: dict[str, Any] = {"kernel": make_kernel(options), "n_jobs": resources.n_jobs}
    if landmarks is not None:
        parameters["landmarks"] = Landmarks(landmarks)
    return make_template(options, resources).set_params(**parameters)


def make_template(options: MapOptions, resources: Resources) -> Any:
    """Return an estimator with everything but a kernel of its own."""
    from isosne import TSNE, Schedule

    n_iter = options.n_iter
    schedule: dict[str, Any] = (
        {} if n_iter is None else {"schedule": Schedule.annealed(n_iter=n_iter)}
    )
    return TSNE(**schedule, random_state=options.random_state, memory_limit=resources.memory_limit)


def make_kernel(options: MapOptions) -> Any:
    """Return the kernel; only its name if no parameter is given, so that its defaults apply."""
    from isosne.kernels.registry import NUMBERS, parse_numbers
    from isosne.kernels.registry import make_kernel as make

    given = kernel_parameters(options)
    for name in NUMBERS:
        if name in given:
            numbers = parse_numbers(name, given[name])
            given[name] = numbers[0] if len(numbers) == 1 else numbers
    return make(options.kernel_name, given) if given else options.kernel_name


def kernel_parameters(options: MapOptions) -> dict[str, Any]:
    """Return the given parameters of the kernel, all of which it takes."""
    from isosne.kernels.registry import KERNELS

    values = {name: getattr(options, name) for name in KERNEL_PARAMETERS}
    given = {name: value for name, value in values.items() if value is not None}
    for name, value in given.items():
        if name not in KERNELS[options.kernel_name].options:
            owners = [kernel for kernel, entry in KERNELS.items() if name in entry.options]
            kernels = " or ".join(keyword("kernel", owner) for owner in owners)
            rule = f"be left out with {keyword('kernel', options.kernel_name)}"
            raise ParameterError(name, rule, value, f"It is a parameter of {kernels}.")
    return given


@dataclass(frozen=True)
class Structure:
    """Columns about the points by name, what is recorded of them, and sentences about them."""

    columns: dict[str, Any]
    about: dict[str, Any]
    sentences: dict[str, str]


def find_structure(
    source: Any, kernel: Any, points: Any, clusters: float | None, outliers: bool, seed: Any
) -> Structure:
    """Return the clusters and the outlier scores of points, as chosen.

    source: the points, or a model fitted to them, which has their joint probabilities.
    """
    structure = Structure({}, {}, {})
    if clusters is not None:
        _add_clusters(source, kernel, clusters, seed, structure)
    if outliers:
        _add_outliers(kernel, points, seed, structure)
    return structure


def _add_clusters(
    source: Any, kernel: Any, resolution: float, seed: Any, structure: Structure
) -> None:
    from isosne.structure.clusters import LeidenClustering

    clusters = LeidenClustering(kernel, resolution=resolution, random_state=seed).fit(source)
    structure.columns["cluster"] = clusters.labels_
    structure.about["clusters"] = {
        "resolution": float(clusters.resolution),
        "n_clusters": clusters.n_clusters_,
        "modularity": clusters.modularity_,
        "stability": clusters.stability_,
        "cluster_stability": clusters.cluster_stability_.tolist(),
    }
    s = "" if clusters.n_clusters_ == 1 else "s"
    structure.sentences["clusters"] = (
        f"{clusters.n_clusters_:,} cluster{s} at resolution {clusters.resolution:g}. Runs with "
        f"different seeds agree to {clusters.stability_:.2f} (mean adjusted Rand index; 1 is "
        "complete agreement)."
    )


def _add_outliers(kernel: Any, points: Any, seed: Any, structure: Structure) -> None:
    from isosne.structure.outliers import IsolationOutliers

    outliers = IsolationOutliers(metric=kernel.metric, p=kernel.p, random_state=seed)
    scores = outliers.fit(points).score_samples(points)
    n_outliers = int((scores < outliers.offset_).sum())
    structure.columns["outlier_score"] = 1 - scores / scores.max()
    structure.about["outliers"] = {"psi": outliers.psi, "n_outliers": n_outliers}
    structure.sentences["outliers"] = (
        f"{n_outliers:,} of {len(scores):,} rows are likely outliers: their similarity to the data "
        "is less than a quarter of the median."
    )


def save_model(model: Any, options: TableOptions, path: Path) -> None:
    """Write a model and how its table was read."""
    model.input_options_ = options.given()
    model.save(path)


def load_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model of a file, and how its table was read; a missing file is wrong use."""
    from isosne import TSNE

    check_model(path)
    model = TSNE.load(path)
    return model, check_recorded(getattr(model, "input_options_", {}), str(path))


def check_model(path: Path, hint: str = "") -> None:
    """Raise an error if a model does not exist, or is a map; ``hint``: what to do with a map."""
    from isosne.rows.table_reader import check_exists

    check_exists(path, "model_file")
    what = "a model that isosne embed --save-model wrote"
    refuse_map(path, "model_file", what, hint or "Pass the model of this map.")


class NewRows(NamedTuple):
    """New rows for a model, not scaled; and the table with their ids and labels."""

    rows: Any
    table: Any
    options: TableOptions


def open_new_rows(
    source: str,
    model: Any,
    known: dict[str, Any],
    options: TableOptions,
    resources: Resources,
    *,
    quiet: bool,
) -> NewRows:
    """Open a table as that of a model was read, and print the notes on it.

    ``known`` is how the table of the model was read. The model scales the rows itself.
    """
    from isosne.rows.table_reader import with_roles

    options = _as_at_fit(options, known, model, source)
    try:
        opened = open_unscaled(source, options, resources, quiet=quiet)
    except ParameterError as error:
        if error.parameter != "columns":
            raise
        value: Any = error.value  # a list of one column
        rule = f"have the column {value[0]!r}, which the model was fitted on"
        raise ParameterError("source", rule, source, error.hint) from None
    roles = {
        role: known[role]
        for role in ("id", "label")
        if role in known and getattr(options, role) is None
    }
    table = with_roles(opened, **roles)
    if not quiet:
        for sentence in table.notes[len(opened.notes) :]:
            note(sentence)
    roles = {role: name for role, name in roles.items() if name in table.rows.side}
    return NewRows(opened.rows, table, replace(options, **roles))


def _as_at_fit(
    options: TableOptions, known: dict[str, Any], model: Any, source: str
) -> TableOptions:
    """Return options that read a table like that of the model, as far as possible.

    Columns are found by their names at fit, so none need be excluded; ids and labels come later.
    """
    kept: dict[str, Any] = {
        name: known[name] for name in ("missing", "key", "mixed", "categorical") if name in known
    }
    if not has_keys(source):
        kept.pop("key", None)
    names = getattr(model, "feature_names_in_", None)
    if names is not None and _has_names(source):
        kept["columns"] = [str(name) for name in names]
    return replace(options, **{k: v for k, v in kept.items() if k not in options.given()})


def _has_names(source: str) -> bool:
    from isosne.rows.arrays import is_zarr

    path = Path(source)
    is_folder = path.is_dir() and path.suffix.lower() != ".zarr" and not is_zarr(path)
    return source == PIPE or path.suffix.lower() in NAMED or is_folder


def write_places(model: Any, rows: Any, writer: Any, progress: Progress) -> int:
    """Place all rows on the map of a model, in order; return their number.

    The rows are not scaled: the model does that. Only one block of them is in memory at a time.
    """
    from isosne.rows import blocks

    read = getattr(rows, "read_frame", rows.read)  # of mixed columns, the table itself
    progress.begin("placing row", rows.shape[0])
    try:
        with writer:
            for part in blocks(rows, min(BLOCK_BYTES, BLOCK_ROWS * rows.row_bytes)):
                writer.write(model.place(read(part)))
                progress.advance(writer.n_rows, "")
    finally:
        progress.end()
    return int(writer.n_rows)
