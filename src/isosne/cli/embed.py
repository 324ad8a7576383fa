"""`isosne embed`: from a table to a map."""

import time
from functools import partial
from typing import Any

import click

from isosne.cli import models
from isosne.cli import options as o
from isosne.cli.files import check_map_output, describe_start, read_map_file
from isosne.cli.messages import Watch, print_json, tell
from isosne.cli.options import Args, map_options, option, refuse
from isosne.cli.views import find_views, read_views
from isosne.errors import ParameterError, keyword


@o.command(
    o.SOURCE,
    o.map_output(),
    option(
        "--plan", "Print what would be done and how much memory it would need, without doing it."
    ),
    *(*o.TABLE, *o.MAP),
    option(
        "--align-to MAP",
        "Previous map; rows with the same identifier (--id) stay near their positions on it.",
    ),
    o.input_option(
        "--view NAME=COLUMN[,COLUMN...]",
        "View of the rows, such as genes=g_*: its name and its columns; * stands for any text. "
        "Repeat for each view. Rows are compared view by view, whatever the units of the views; "
        "a row without values in a view is compared by the others.",
        multiple=True,
        shown="all columns together",
    ),
    o.LABEL_WEIGHT,
    o.kernel_option(
        "--weight COLUMN",
        "owner: column with the number of rows that each row stands for; it is not a feature.",
        name="sample_weight",
        shown="1",
    ),
    option(
        "--landmarks N",
        "Number of rows to embed; the others are placed on their map.",
        shown="all rows",
    ),
    *(o.CLUSTERS, o.OUTLIERS, o.CHECKPOINT, o.SAVE_MODEL, *o.LAST),
)
def embed(args: Args) -> None:
    """Embed a table with t-SNE: similar rows are close on the map.

    With --landmarks N, only N rows are embedded; the others are then placed on their map block by
    block, so the table need not fit in memory. After Ctrl-C, the map so far is written; with
    --checkpoint, the state is saved instead, and the same command resumes the run. The columns
    cluster and outlier_score are added to the map by --clusters and --outliers. Without an output,
    only the model is written (--save-model).

    Example: isosne embed wine.csv --id id --label target --scale standard -o map.parquet
    """
    if not args.plan:
        check_map_output(args, "source", "align_to")
    if args.landmarks is not None:
        hint = "Only rows that are embedded have such a column."
        refuse(f"with {keyword('landmarks')}", hint, **args.pick("clusters", "outliers"))
    how, options = args.given(o.TABLE), map_options(args)
    views = find_views(args, how) if args.view else None
    unscaled, table, weights = models.open_weighted(args, how)
    points, columns = (table.rows, {}) if views is None else read_views(args, how, table, views)
    model = models.make_model(options, **args.pick("landmarks", "n_jobs", "memory_limit"))
    if args.label_weight is not None:
        options["label_weight"] = args.label_weight
        models.guide_by_labels(model, args.label_weight, table.labels)
    if args.align_to is not None:
        model.set_params(align_to=_make_alignment(args, unscaled))
    if args.plan:
        planned = model.plan(points)
        print_json(planned.as_dict()) if args.json else click.echo(str(planned))
        return
    began = time.perf_counter()
    with Watch(model, args.checkpoint) as watch:
        kept = {"checkpoint": args.checkpoint} if args.checkpoint else {}
        labels = table.labels if args.label_weight else None
        model.fit(points, labels, sample_weight=weights, **kept)
    if not watch.last_step:
        tell(f"The run in {args.checkpoint} is complete ({model.n_iter_:,} steps)")
    vars(model).update(columns)
    names = "landmarks", "align_to", "view", "sample_weight"
    used = {name: value for name, value in args.pick(*names).items() if o.is_given(value)}
    about = {
        **describe_start("embed", args.source, unscaled, how),
        "parameters": options | used,
        **models.describe_fit(model, time.perf_counter() - began),
    }
    if watch.is_interrupted:
        write = partial(_write_fitted, args, table, model, about, {})
        raise models.end_interrupted(args, about, watch.last_step, write)
    structure = models.find_structure(args, model, model.kernel_, model.kernel_.X_fit_)
    about |= structure.about
    for sentence in structure.sentences.values():
        tell(sentence)
    n_rows = len(model.embedding_)
    model.input_options_ = how
    if args.model_output is not None and not args.checkpoint:  # first: placing rows may take long
        model.save(args.model_output)
    if args.output is not None and args.landmarks is None:
        _write_fitted(args, table, model, about, structure.columns)
    elif args.output is not None:
        n_rows = models.write_places(args, model, unscaled.rows, table, about)
    if args.model_output is not None and args.checkpoint:  # last, so that the same command resumes
        model.save(args.model_output)
    models.conclude_fit(args, n_rows, about)


def _make_alignment(args: Args, table: Any) -> Any:
    import numpy as np

    from isosne import Alignment

    previous = read_map_file(args.align_to, "align_to")
    if not args.force:
        is_later = previous.has_ids and table.ids is not None
        previous.check_table(table.rows, is_later=is_later)
    if not previous.has_ids:
        return Alignment(previous.embedding)
    if table.ids is None and previous.ids.dtype.kind not in "iu":
        example = repr(str(previous.ids[0]))
        rule = f"name the column with the row identifiers of the previous map, such as {example}"
        raise ParameterError("id", rule, None, f"Add {keyword('id')} COLUMN.")
    ids = np.arange(table.rows.shape[0]) if table.ids is None else table.ids
    return Alignment(previous.embedding, ids=ids, previous_ids=previous.ids)


def _write_fitted(
    args: Args, table: Any, model: Any, about: dict[str, Any], columns: dict[str, Any]
) -> int:
    """Write the points that were embedded, all rows or landmarks with their own ids."""
    import numpy as np

    ids, labels, chosen = table.ids, table.labels, getattr(model, "landmark_indices_", None)
    if chosen is not None:
        ids = np.asarray(chosen) if ids is None else ids[chosen]
        labels = None if labels is None else labels[chosen]
    kept = {"labels": labels, "columns": columns, "force": args.force}
    return models.write_map(args.output, ids, model, about, **kept)
