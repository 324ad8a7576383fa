"""`isosne extend`: add new rows to the map of a model."""

import time
import warnings
from functools import partial
from typing import Any

from isosne.cli import models
from isosne.cli import options as o
from isosne.cli.files import check_map_output, describe_start, read_map_file
from isosne.cli.messages import Watch, note, say
from isosne.cli.options import Args, option
from isosne.errors import DataError, FarRowsWarning, ParameterError, keyword


@o.command(
    *(o.MODEL_FILE, o.SOURCE, o.map_output(required=True)),
    option(
        "--map MAP",
        "Map of the model; the new map keeps its identifiers and labels.",
        name="map_file",
        shown="rows are counted from 0",
    ),
    *(*o.NEW_ROWS, o.N_ITER, o.CHECKPOINT, o.SAVE_MODEL, *o.LAST),
)
def extend(args: Args) -> None:
    """Add new rows to the map of a model; all rows may move.

    The new map lists the rows of the model first. Its column far is 1 for new rows that are unlike
    all rows of the model, and 0 for the others. To place rows without changing the map, use isosne
    place.

    Example: isosne extend model.isosne new.csv --map map.parquet -o all.parquet
    """
    import numpy as np

    from isosne.tsne.extension import are_many_far, describe_far

    check_map_output(args, "model_file", "source", "map_file")
    model, known = models.load_model(args.model_file)
    lost = [f"--{name} {known[name]}" for name in ("id", "label") if name in known]
    if args.map_file is None and lost:
        note(
            f"Without --map, {args.output} counts the rows from 0 and has no labels; the model was "
            f"made with {' '.join(lost)}. Pass --map MAP to keep them."
        )
    model.set_params(**args.pick("n_jobs", "memory_limit"))
    n_before = len(model.embedding_)
    rows, table, options = models.open_new_rows(args, model, known)
    ids, labels = _join_names(args.map_file, model, table, force=args.force)
    settings = {k: v for k, v in args.pick("n_iter", "checkpoint").items() if v is not None}
    began = time.perf_counter()
    with Watch(model, args.checkpoint) as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", FarRowsWarning)  # in the words of Python
        model.extend(rows, **settings)
    about = {
        **describe_start("extend", args.source, table, options),
        **models.describe_model(args.model_file),
        **models.describe_fit(model, time.perf_counter() - began),
        "n_far": len(model.far_),
    }
    far = np.zeros(len(model.embedding_), np.int64)
    far[model.far_] = 1
    kept = {"labels": labels, "columns": {"far": far}, "force": args.force}
    write = partial(models.write_map, args.output, ids, model, about, **kept)
    if watch.is_interrupted:
        raise models.end_interrupted(args, about, watch.last_step, write)
    n_rows = write()
    if args.model_output is not None:
        model.save(args.model_output)
    n_far, n_new = len(model.far_), n_rows - n_before
    if are_many_far(n_far, n_new, n_before):
        say(f"Warning: {describe_far(n_far, n_new)}. The column far marks them.")
    models.conclude_fit(args, n_rows, about)


def _join_names(map_file: str | None, model: Any, table: Any, *, force: bool) -> tuple[Any, Any]:
    """Return the identifiers and labels of all rows: those of the map, then those of the table."""
    import numpy as np

    from isosne._matching import check_ids
    from isosne.rows.columns import is_numbering

    if map_file is None:
        return None, None
    before, n_before = read_map_file(map_file, "map_file"), len(model.embedding_)
    if len(before.ids) != n_before:
        raise DataError(
            f"The map must be that of the model; it has {len(before.ids):,} points, and the model "
            f"has {n_before:,}. Pass the map that was written with the model."
        )
    known, own = model.embedding_, before.embedding
    is_alike = own.shape == known.shape and np.allclose(own, known, rtol=1e-4, atol=1e-4)
    if not force and not is_alike:
        raise DataError(
            f"The map must be that of the model; the points of {map_file} are at other places. "
            f"Pass the map that was written with the model, or {keyword('force', True)} to go on."
        )
    has_labels = before.labels is not None and table.labels is not None
    labels = _joined(before.labels, table.labels) if has_labels else None
    n_new = table.rows.shape[0]
    if table.ids is None and not is_numbering(before.ids):
        rule = "name the column with the row identifiers of the table, as the map has some"
        raise ParameterError("id", rule, None, f"Add {keyword('id')} COLUMN.")
    new = np.arange(n_before, n_before + n_new) if table.ids is None else table.ids
    return check_ids(_joined(before.ids, new), n_before + n_new, "id"), labels


def _joined(first: Any, second: Any) -> Any:
    """Return two columns as one, of text if their types differ."""
    import numpy as np

    from isosne.rows.columns import as_text

    if first.dtype.kind != second.dtype.kind:
        first, second = as_text(first), as_text(second)
    return np.concatenate([first, second])
