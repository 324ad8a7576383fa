"""`isosne extend`: add new rows to the map of a model."""

import inspect
import time
import warnings
from typing import Annotated, Any

from isosne.cli import options as o
from isosne.cli.embed import say_fit
from isosne.cli.files import PIPE, check_map_output, check_one_stdin, check_one_stdout, check_output
from isosne.cli.maps import describe_fit, describe_start, read_map_file
from isosne.cli.messages import exit_interrupted, note, print_json, say
from isosne.cli.models import load_model, open_new_rows
from isosne.cli.options import Resources, TableOptions, option
from isosne.cli.progress import Steps, Watch, make_progress
from isosne.errors import DataError, FarRowsWarning, ParameterError, keyword

N_LISTED = 10
"""Largest number of far rows in a message. Chosen: they fit two lines of a terminal."""


def extend(
    model_file: o.ModelFile,
    source: o.Source,
    output: o.Output,
    map_file: Annotated[
        str | None,
        option(
            "Map of the model, whose identifiers and labels the new map keeps.",
            "--map",
            default="rows are counted from 0",
            metavar="MAP",
        ),
    ] = None,
    identifier: o.Id = None,
    label: o.Label = None,
    missing: o.Missing = None,
    key: o.Key = None,
    n_iter: o.NIter = None,
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    checkpoint: o.Checkpoint = None,
    model_output: o.SaveModel = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Add new rows to the map of a model; all rows may move.

    The new map has the rows of the model first. Its column far is 1 for new rows that are unlike
    all rows of the model, and 0 for others. Use isosne place to place rows on a map that does not
    change.

    Example: isosne extend model.isosne new.csv --map map.parquet -o all.parquet
    """
    from isosne._files import hash_file
    from isosne.rows import MapWriter

    check_one_stdout(output, as_json=json)
    inputs = {"source": source, "map_file": map_file}
    check_one_stdin(**inputs)
    others = {"checkpoint": checkpoint, "model_output": model_output}
    check_map_output(output, {"model_file": model_file, **inputs}, others, force=force)
    for path, is_replaced in ((model_output, force), (checkpoint, True)):
        if path is not None:
            check_output(path, (), force=is_replaced)
    model, known = load_model(model_file)
    _check_names_kept(map_file, known, output, quiet=quiet)
    model.set_params(n_jobs=n_jobs, memory_limit=memory_limit)
    n_before = len(model.embedding_)
    options = TableOptions(id=identifier, label=label, missing=missing, key=key)
    resources = Resources(n_jobs, memory_limit)
    new = open_new_rows(source, model, known, options, resources, quiet=quiet)
    ids, labels = _join_names(map_file, model, new.table, force=force, quiet=quiet)
    given = {"n_iter": n_iter, "checkpoint": checkpoint}
    settings = {name: value for name, value in given.items() if value is not None}
    steps = Steps(make_progress(quiet=quiet), model, n_iter or _default_steps(model))
    began = time.perf_counter()
    with Watch(steps, model, None if quiet else checkpoint) as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", FarRowsWarning)  # _say_far names the rows
        model.extend(new.rows, **settings)
    about = {
        **describe_start("extend", source, new.table, new.options),
        "model": {"file": str(model_file), "sha256": hash_file(model_file)},
        **describe_fit(model, time.perf_counter() - began),
        "n_far": len(model.far_),
    }
    if watch.is_interrupted and checkpoint is not None:
        raise exit_interrupted(
            f" at step {watch.n_iter}; the state is in {checkpoint}. "
            "Run the same command again to resume."
        )
    if watch.is_interrupted:
        about["stopped_at"] = f"step {watch.n_iter}"
    kept = {"labels": labels, "columns": {"far": _mark_far(model)}, "force": force}
    with MapWriter(output, ids, model.embedding_.shape[1], about, **kept) as writer:
        writer.write(model.embedding_)
    if watch.is_interrupted:
        target = "standard output" if output == PIPE else output
        raise exit_interrupted(
            f" at step {watch.n_iter}; wrote the map so far to {target}. "
            "Use --checkpoint FILE to make a run resumable."
        )
    if model_output is not None:
        model.save(model_output)
    _say_far(model, ids, n_before, output, quiet=quiet)
    if json:
        print_json({"output": output, "n_rows": writer.n_rows, **about})
    elif not quiet:
        say_fit(output, writer.n_rows, about, f"{about['seconds']:.1f} s")


def _check_names_kept(
    map_file: str | None, known: dict[str, Any], output: str, *, quiet: bool
) -> None:
    """Print a note if the identifiers and labels of the model's rows are lost."""
    lost = [f"--{name} {known[name]}" for name in ("id", "label") if name in known]
    if map_file is None and lost and not quiet:
        note(
            f"Without --map, {output} counts the rows from 0 and has no labels; the model was made "
            f"with {' '.join(lost)}. Pass --map MAP to keep them."
        )


def _default_steps(model: Any) -> int:
    """Return the number of steps that an extension takes if none is given."""
    return int(inspect.signature(model.extend).parameters["n_iter"].default)


def _join_names(
    map_file: str | None, model: Any, table: Any, *, force: bool, quiet: bool
) -> tuple[Any, Any]:
    """Return the identifiers and labels of all rows: those of the map, then those of the table."""
    import numpy as np

    from isosne._matching import check_ids
    from isosne.rows.columns import is_numbering

    if map_file is None:
        return None, None
    before, n_before = read_map_file(map_file, "map_file", quiet=quiet), len(model.embedding_)
    if len(before.ids) != n_before:
        raise DataError(
            f"The map must be that of the model; it has {len(before.ids):,} points, and the model "
            f"has {n_before:,}. Pass the map that was written with the model."
        )
    if not force and not np.allclose(before.embedding, model.embedding_, rtol=1e-4, atol=1e-4):
        raise DataError(
            f"The map must be that of the model; the points of {map_file} are at other places. "
            f"Pass the map that was written with the model, or {keyword('force', True)} to go on."
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

    from isosne.rows.columns import as_text

    if first.dtype.kind != second.dtype.kind:
        first, second = as_text(first), as_text(second)
    return np.concatenate([first, second])


def _mark_far(model: Any) -> Any:
    """Return 1 for each row that is far from all rows of the model before, and 0 for others."""
    import numpy as np

    marks = np.zeros(len(model.embedding_), np.int64)
    marks[model.far_] = 1
    return marks


def _say_far(model: Any, ids: Any, n_before: int, output: str, *, quiet: bool) -> None:
    """Say which new rows are far from all rows of the model: a warning if there are many."""
    from isosne.tsne.series import are_many_far, describe_far

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
