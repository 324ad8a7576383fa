"""Models: made from options, fitted, kept in files with how their table was read, given rows."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from isosne.cli.files import PIPE
from isosne.cli.messages import conclude, exit_interrupted, make_progress, note
from isosne.cli.options import NEW_ROWS, Args, check_recorded, refuse
from isosne.cli.tables import Options, has_keys, open_table, open_unscaled
from isosne.errors import ParameterError, keyword

KERNEL_PARAMETERS = ("psi", "cell_size", "perplexity", "metric")
NAMED = (".parquet", ".feather", ".arrow")  # tables with names of columns, besides text
BLOCK_ROWS, BLOCK_BYTES = 20_000, 64_000_000
"""Rows, and bytes of rows, that are placed together: a few seconds' work. Chosen, not measured."""


def make_model(options: Options, **settings: Any) -> Any:
    """Return the estimator that the options describe, with settings that are not None."""
    return make_template(options, **settings).set_params(kernel=make_kernel(options))


def make_template(options: Options, **settings: Any) -> Any:
    """Return an estimator with everything but a kernel of its own."""
    from isosne import TSNE, Schedule

    if "n_iter" in options:
        settings["schedule"] = Schedule.annealed(n_iter=options["n_iter"])
    given = {name: value for name, value in settings.items() if value is not None}
    return TSNE(random_state=options["random_state"], **given)


def make_kernel(options: Options) -> Any:
    """Return the kernel; only its name if no parameter is given, so that its defaults apply."""
    from isosne.kernels.registry import NUMBERS, parse_numbers
    from isosne.kernels.registry import make_kernel as make

    given = kernel_parameters(options)
    for name in NUMBERS.keys() & given:
        numbers = parse_numbers(name, given[name])
        given[name] = numbers[0] if len(numbers) == 1 else numbers
    return make(options["kernel"], given) if given else options["kernel"]


def guide_by_labels(model: Any, weight: float, labels: Any) -> None:
    """Let labels guide a map: set the weight of its kernel, which must be the owner kernel."""
    from isosne import OwnerKernel

    if labels is None:
        rule = "name the column with the labels that guide the map"
        raise ParameterError("label", rule, None, f"Add {keyword('label')} COLUMN.")
    kernel = OwnerKernel() if model.kernel == "owner" else model.kernel
    if not isinstance(kernel, OwnerKernel):
        hint = f"It is a parameter of {keyword('kernel', 'owner')}."
        refuse("with this kernel", hint, label_weight=weight)
    model.set_params(kernel=kernel.set_params(label_weight=weight))


def open_weighted(args: Args, how: Options) -> tuple[Any, Any, Any]:
    """Open a table as `open_table` does; return it, and the weights of its rows or None.

    Their column is recorded as excluded, so that it is no feature of later commands either.
    """
    name = args.sample_weight
    if name is None:
        return *open_table(args.source, how, args.memory_limit), None
    if "columns" not in how:
        how["exclude"] = [*how.get("exclude", ()), name]
    try:
        unscaled, table = open_table(args.source, how, args.memory_limit)
    except ParameterError as error:
        if error.parameter != "exclude" or error.value != [name]:
            raise
        raise ParameterError("sample_weight", error.rule, name, error.hint) from None
    if name not in unscaled.rows.side:
        rule = "name a column of the table that is not a feature"
        raise ParameterError("sample_weight", rule, name, "Name another column.")
    decimal, values = how.get("decimal", "."), unscaled.rows.side[name]()  # integers or text
    return unscaled, table, [str(value).replace(decimal, ".") for value in values]


def kernel_parameters(options: Options) -> dict[str, Any]:
    """Return the given parameters of the kernel, all of which it takes."""
    from isosne.kernels.registry import KERNELS

    given = {name: value for name, value in options.items() if name in KERNEL_PARAMETERS}
    for name, value in given.items():
        if name not in KERNELS[options["kernel"]].options:
            owners = [kernel for kernel, entry in KERNELS.items() if name in entry.options]
            kernels = " or ".join(keyword("kernel", owner) for owner in owners)
            when = f"with {keyword('kernel', options['kernel'])}"
            refuse(when, f"It is a parameter of {kernels}.", **{name: value})
    return given


def describe_fit(model: Any, seconds: float) -> dict[str, Any]:
    """Return the plan of a finished fit, and its results."""
    about = {
        "plan": model.plan_.as_dict(),
        "n_iter": int(model.n_iter_),
        "kl_divergence": float(model.kl_divergence_),
        "n_isolated": len(model.isolated_),
        "seconds": round(seconds, 3),
    }
    if hasattr(model, "alignment_"):
        anchors = model.alignment_
        about["alignment"] = {
            "n_matched": len(anchors.rows),
            "strength": float(anchors.strength),
            "scale": float(anchors.scale),
            "mean_displacement": float(model.displacement_.mean()),
        }
    return about


def describe_model(path: Path) -> dict[str, Any]:
    """Return which model new rows were given to."""
    from isosne._files import hash_file

    return {"model": {"file": str(path), "sha256": hash_file(path)}}


def write_map(output: str, ids: Any, model: Any, about: dict[str, Any], **kept: Any) -> int:
    """Write the points that a model has fitted; return their number."""
    from isosne.rows import MapWriter

    with MapWriter(output, ids, model.n_components, about, **kept) as writer:
        writer.write(model.embedding_)
    return int(writer.n_rows)


def end_interrupted(
    args: Args, about: dict[str, Any], step: int, write: Callable[[], Any]
) -> click.exceptions.Exit:
    """Keep the state or the map of an interrupted fit, say where it is, and return the exit."""
    if args.checkpoint is not None:
        kept = f"the state is in {args.checkpoint}. Run the same command again to resume."
    elif args.output is None:
        kept = "no model was written."
    else:
        about["stopped_at"] = f"step {step}"
        write()
        target = "standard output" if args.output == PIPE else args.output
        again = "Use --checkpoint FILE to make a run resumable."
        kept = f"wrote the map so far to {target}. {again}"
    return exit_interrupted(f" at step {step}; {kept}")


def conclude_fit(args: Args, n_rows: int, about: dict[str, Any]) -> None:
    """Print what a fit has written."""
    target = "the map to standard output" if args.output == PIPE else args.output
    sentence = (
        f"Wrote {target or args.model_output}: {n_rows:,} rows, {about['n_iter']:,} steps, "
        f"KL {about['kl_divergence']:.4f}, {about['seconds']:.1f} s"
    )
    if alignment := about.get("alignment"):
        sentence += (
            f"\n{alignment['n_matched']:,} rows had a place on the previous map; their mean "
            f"distance from it is {100 * alignment['mean_displacement']:.1f} % of the radius of "
            "the map."
        )
    conclude({"output": args.output, "n_rows": n_rows, **about}, sentence, as_json=args.json)


class Structure(NamedTuple):
    """Columns about the points by name, what is recorded of them, and sentences about them."""

    columns: dict[str, Any]
    about: dict[str, Any]
    sentences: dict[str, str]


def find_structure(args: Args, source: Any, kernel: Any, points: Any) -> Structure:
    """Return the clusters and the outlier scores of points, as chosen.

    source: the points, or a model fitted to them, which has their joint probabilities.
    """
    structure, seed = Structure({}, {}, {}), args.random_state
    if args.clusters is not None:
        from isosne import LeidenClustering

        clusters = LeidenClustering(kernel, resolution=args.clusters, random_state=seed).fit(source)
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
    if args.outliers:
        from isosne import IsolationOutliers

        outliers = IsolationOutliers(metric=kernel.metric, p=kernel.p, random_state=seed)
        scores = outliers.fit(points).score_samples(points)
        n_outliers = int((scores < outliers.offset_).sum())
        structure.columns["outlier_score"] = 1 - scores / scores.max()
        structure.about["outliers"] = {"psi": outliers.psi, "n_outliers": n_outliers}
        structure.sentences["outliers"] = (
            f"{n_outliers:,} of {len(scores):,} rows are likely outliers: their similarity to the "
            "data is less than a quarter of the median."
        )
    return structure


def load_model(path: Path) -> tuple[Any, Options]:
    """Return the model of a file, and how its table was read; a missing file is wrong use."""
    from isosne import TSNE
    from isosne.rows.table_reader import check_exists

    check_exists(path, "model_file")
    model = TSNE.load(path)
    return model, check_recorded(getattr(model, "input_options_", {}), str(path))


def open_new_rows(args: Args, model: Any, known: Options) -> tuple[Any, Any, Options]:
    """Open a table as that of a model was read (``known``), and print the notes on it.

    Returns the rows, which the model scales itself, the table with their ids and labels, if it has
    some, and how it was read. Columns are found by their names at fit, so none need be excluded.
    """
    from isosne.rows.table_reader import with_roles

    given = args.given(NEW_ROWS)
    kept = (
        "missing",
        "mixed",
        "categorical",
        "decimal",
        *(("key",) if has_keys(args.source) else ()),
    )
    options = {name: known[name] for name in kept if name in known} | given
    names = getattr(model, "feature_names_in_", None)
    if names is not None and _has_names(args.source):
        options["columns"] = [str(name) for name in names]
    try:
        opened = open_unscaled(args.source, options, args.memory_limit)
    except ParameterError as error:
        if error.parameter != "columns":
            raise
        value: Any = error.value  # a list of one column
        rule = f"have the column {value[0]!r}, which the model was fitted on"
        raise ParameterError("source", rule, args.source, error.hint) from None
    roles = {role: known[role] for role in ("id", "label") if role in known and role not in given}
    table = with_roles(opened, **roles)
    note(*table.notes)
    found = {role: name for role, name in roles.items() if name in table.rows.side}
    return opened.rows, table, options | found


def _has_names(source: str) -> bool:
    from isosne._files import is_there
    from isosne.rows.arrays import is_zarr
    from isosne.rows.text import is_text_file

    path = Path(source)
    if is_text_file(path):
        return True
    is_folder = (
        is_there(path) and path.is_dir() and path.suffix.lower() != ".zarr" and not is_zarr(path)
    )
    return source == PIPE or path.suffix.lower() in NAMED or is_folder


def write_places(args: Args, model: Any, rows: Any, table: Any, about: dict[str, Any]) -> int:
    """Place rows on the map of a model, which scales them, by blocks; return their number."""
    from isosne.rows import MapWriter, blocks

    kept = {"labels": table.labels, "force": args.force}
    read = getattr(rows, "read_frame", rows.read)  # of mixed columns, the table itself
    if hasattr(model, "layout_"):  # rows may lack views
        read = partial(rows.read, allow_missing=True)
    progress = make_progress()
    progress.begin("placing row", rows.shape[0])
    try:
        with MapWriter(args.output, table.ids, model.n_components, about, **kept) as writer:
            for part in blocks(rows, min(BLOCK_BYTES, BLOCK_ROWS * rows.row_bytes)):
                writer.write(model.place(read(part)))
                progress.advance(writer.n_rows, "")
    finally:
        progress.end()
    return int(writer.n_rows)
