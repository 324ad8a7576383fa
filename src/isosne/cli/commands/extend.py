"""`isosne extend`: add new rows to the map of a model."""

import inspect
import time
import warnings
from typing import Annotated, Any

from isosne.cli.alignment import describe_alignment, say_displacement
from isosne.cli.keeping import KeepOptions, check_kept
from isosne.cli.map_files import read_map_file
from isosne.cli.messages import exit_interrupted, note, say
from isosne.cli.models import load_model
from isosne.cli.new_rows import open_new_rows
from isosne.cli.options import (
    EMBEDDING,
    DefaultsFrom,
    MessageOptions,
    ModelFile,
    Output,
    ResourceOptions,
    Source,
    TableOptions,
    option,
)
from isosne.cli.outputs import (
    STDOUT,
    check_map_output,
    check_one_stdout,
    list_files,
    note_bare,
    print_json,
)
from isosne.cli.paths import check_distinct
from isosne.cli.progress import Steps, Watch, make_progress
from isosne.cli.provenance import describe_fit, describe_start
from isosne.cli.tables import check_one_stdin
from isosne.errors import DataError, FarRowsWarning, ParameterError, keyword

N_LISTED = 10
"""Largest number of far rows in a message. Chosen: they fit two lines of a terminal."""


def extend(
    model_file: ModelFile,
    source: Source,
    output: Output,
    table_options: Annotated[TableOptions, DefaultsFrom("model")],
    resources: ResourceOptions,
    keep: KeepOptions,
    messages: MessageOptions,
    map_file: Annotated[
        str | None,
        option(
            "Map of the model, whose identifiers and labels the new map keeps.",
            "--map",
            default="rows are counted from 0",
            metavar="MAP",
        ),
    ] = None,
    n_iter: Annotated[
        int | None,
        option("Number of optimization steps.", panel=EMBEDDING, default="250", metavar="N"),
    ] = None,
    strength: Annotated[
        float | None,
        option(
            "Strength of the pull that keeps fitted rows near their places.",
            panel=EMBEDDING,
            default="30",
            metavar="X",
        ),
    ] = None,
) -> None:
    """Add new rows to the map of a model; all rows may move.

    The new map has the rows of the model first. Its column far is 1 for new rows that are unlike
    all rows of the model, and 0 for others. Use isosne transform to place rows on a map that does
    not change.

    Example: isosne extend model.isosne new.csv --map map.parquet -o all.parquet
    """
    from isosne._files import hash_file
    from isosne.files import MapWriter

    check_one_stdout(output, as_json=messages.json)
    inputs = {"source": source, "map_file": map_file}
    others = {"checkpoint": keep.checkpoint, "save_model": keep.save_model}
    for file in list_files(output):
        check_distinct({"model_file": model_file, **inputs}, {"output": file, **others})
    check_map_output(output, force=keep.force)
    check_kept(keep)
    check_one_stdin(**inputs)
    model, reading = load_model(model_file)
    model.set_params(n_jobs=resources.n_jobs, memory_limit=resources.memory_limit)
    n_before = len(model.embedding_)
    new = open_new_rows(source, model, reading, table_options, resources, quiet=messages.quiet)
    ids, labels = _join_names(map_file, n_before, new.table)
    given = {"n_iter": n_iter, "strength": strength}
    settings = {name: value for name, value in given.items() if value is not None}
    progress, objective = make_progress(quiet=messages.quiet), model.plan_.objective.lower()
    steps = Steps(progress, model, objective, n_iter or _default_steps(model))
    began = time.perf_counter()
    with (
        Watch(steps, model, None if messages.quiet else keep.checkpoint) as watch,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", FarRowsWarning)  # _say_far names the rows
        model.extend(new.unscaled.rows, **settings, **keep.state)
    about = {
        **describe_start("extend", source, new.table, new.options),
        "model": {"file": str(model_file), "sha256": hash_file(model_file)},
        **describe_fit(model, time.perf_counter() - began),
        **describe_alignment(model),
        "n_far": len(model.far_),
    }
    if watch.is_interrupted and keep.checkpoint is not None:
        raise exit_interrupted(
            f" at step {watch.n_iter}; the state is in {keep.checkpoint}. "
            "Run the same command again to resume."
        )
    if watch.is_interrupted:
        about["stopped_at"] = f"step {watch.n_iter}"
    kept = {"labels": labels, "columns": {"far": _mark_far(model)}, "force": keep.force}
    with MapWriter(output, ids, model.embedding_.shape[1], about, **kept) as writer:
        writer.write(model.embedding_)
    if watch.is_interrupted:
        target = "standard output" if output == STDOUT else output
        raise exit_interrupted(
            f" at step {watch.n_iter}; wrote the map so far to {target}. "
            "Use --checkpoint FILE to make a run resumable."
        )
    if keep.save_model is not None:
        model.save(keep.save_model)
    _say_far(model, ids, n_before, output, quiet=messages.quiet)
    _report(output, writer.n_rows, about, steps, messages)


def _default_steps(model: Any) -> int:
    """Return the number of steps that an extension takes if none is given."""
    return int(inspect.signature(model.extend).parameters["n_iter"].default)


def _join_names(map_file: str | None, n_before: int, table: Any) -> tuple[Any, Any]:
    """Return the identifiers and labels of all rows: those of the map, then those of the table."""
    import numpy as np

    from isosne._matching import check_ids
    from isosne.files.maps import is_numbering

    if map_file is None:
        return None, None
    before = read_map_file(map_file, "map_file")
    if len(before.ids) != n_before:
        raise DataError(
            f"The map must be that of the model; it has {len(before.ids):,} points, and the model "
            f"has {n_before:,}. Pass the map that was written with the model."
        )
    labels = None
    if before.labels is not None and table.labels is not None:
        labels = _joined(before.labels, table.labels)
    n_new = table.rows.shape[0]
    if table.ids is None and not is_numbering(before.ids):
        raise ParameterError(
            "id",
            "name the column with the row identifiers of the table, as the map has some",
            None,
            f"Add {keyword('id')} COLUMN.",
        )
    new = np.arange(n_before, n_before + n_new) if table.ids is None else table.ids
    return check_ids(_joined(before.ids, new), n_before + n_new, "id"), labels


def _joined(first: Any, second: Any) -> Any:
    import numpy as np

    if first.dtype.kind != second.dtype.kind:
        first, second = first.astype(str), second.astype(str)
    return np.concatenate([first, second])


def _mark_far(model: Any) -> Any:
    """Return 1 for each row that is far from all rows of the model before, and 0 for others."""
    import numpy as np

    marks = np.zeros(len(model.embedding_), np.int64)
    marks[model.far_] = 1
    return marks


def _say_far(model: Any, ids: Any, n_before: int, output: str, *, quiet: bool) -> None:
    """Say which new rows are far from all rows of the model: a warning if there are many."""
    from isosne.tsne.growth import are_many_far, describe_far

    far, n_new = model.far_, len(model.embedding_) - n_before
    if len(far) == 0:
        return
    names = far if ids is None else ids[far]
    end = ", ..." if len(far) > N_LISTED else "."
    listed = ", ".join(map(str, names[:N_LISTED].tolist()))
    sentence = f"{describe_far(len(far), n_new)}: {listed}{end}"
    if not output.lower().endswith(".npy"):  # which has coordinates only
        sentence += " The column far marks them."
    if are_many_far(len(far), n_new, n_before):
        say(f"Warning: {sentence}")
    elif not quiet:
        note(sentence)


def _report(
    output: str, n_rows: int, about: dict[str, Any], steps: Steps, messages: MessageOptions
) -> None:
    """Print what was written, as an object or as lines."""
    if messages.json:
        print_json({"output": output, "n_rows": n_rows, **about})
    elif not messages.quiet:
        target = "the map to standard output" if output == STDOUT else output
        value = steps.describe(about["kl_divergence"])
        say(
            f"Wrote {target}: {n_rows:,} rows, {about['n_iter']:,} steps, {value}, "
            f"{about['seconds']:.1f} s"
        )
        say(say_displacement(about))
        note_bare(output)
