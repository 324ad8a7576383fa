"""`isosne embed`: from a table to a map."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from isosne.cli import models
from isosne.cli import options as o
from isosne.cli.files import PIPE, check_map_output, describe_start, read_map_file
from isosne.cli.messages import Watch, exit_interrupted, print_json, tell
from isosne.cli.options import Args, MapOptions, TableOptions, option, refuse
from isosne.cli.place import place_folder
from isosne.cli.tables import open_table
from isosne.errors import ParameterError, keyword

OPTIONS, STATE, MODEL = "embed.json", "fit.isosne", "model.isosne"
"""Files in the folder _isosne of an output folder."""
SETTINGS = ("landmarks", "n_jobs", "memory_limit")


@o.command(
    o.SOURCE,
    o.map_output(),
    option("--plan", "Print which methods would be used, and the memory; embed nothing."),
    *(*o.TABLE, *o.MAP),
    option(
        "--align-to MAP",
        "Previous map: rows with the same identifier (--id) stay near their places on it.",
    ),
    option(
        "--landmarks N",
        "Number of rows to embed; the other rows are placed on their map.",
        shown="all rows",
    ),
    *(o.CLUSTERS, o.OUTLIERS, o.CHECKPOINT, o.SAVE_MODEL, *o.LAST),
)
def embed(args: Args) -> None:
    """Embed a table with t-SNE: similar rows are close on the map.

    With --landmarks N, only N rows are embedded; the other rows are then placed on their map block
    by block, so the table need not fit in memory. After Ctrl-C the map so far is written; with
    --checkpoint the state is saved instead, and the same command resumes the run. If TABLE is a
    folder and the output has no extension, the output is a folder with one file per file of TABLE;
    such a run always resumes. --clusters adds the column cluster to the map, --outliers the column
    outlier_score. Without an output, --save-model writes the model alone, for isosne place.

    Example: isosne embed wine.csv --id id --label target --scale standard -o map.parquet
    """
    from isosne._files import completed_files

    table_options, options = TableOptions.of(args), MapOptions.of(args)
    structured = args.pick("clusters", "outliers")
    if _writes_folder(args):
        hint = "The folder keeps the state of the run and the model."
        others = args.pick("checkpoint", "model_output", "align_to") | structured
        refuse(f"if {keyword('output')} is a folder", hint, **others)
        _embed_folder(args, table_options, options)
        return
    if not args.plan:
        _check_any(args.output, args.model_output)
        check_map_output(args, "source", "align_to")
    if args.landmarks is not None:
        hint = "Only rows that are embedded have such a column."
        refuse(f"with {keyword('landmarks')}", hint, **structured)
    unscaled, table = open_table(args.source, table_options, args.memory_limit)
    model = models.make_model(options, **args.pick(*SETTINGS))
    if args.align_to is not None:
        model.set_params(align_to=_make_alignment(args.align_to, table))
    if args.plan:
        planned = model.plan(table.rows)
        print_json(planned.as_dict()) if args.json else click.echo(str(planned))
        return
    began = time.perf_counter()
    watch = _fit(model, table.rows, args.checkpoint)
    used = {k: v for k, v in args.pick("landmarks", "align_to").items() if v is not None}
    about = {
        **describe_start("embed", args.source, unscaled, table_options),
        "parameters": options.given() | used,
        **models.describe_fit(model, time.perf_counter() - began),
    }
    result = _Result(args, unscaled, table, model, about)
    if watch.is_interrupted:
        raise models.end_interrupted(args, about, watch.last_step, result.write_fitted)
    structure = models.find_structure(
        model, model.kernel_, model.kernel_.X_fit_, **structured, seed=args.random_state
    )
    about |= structure.about
    for sentence in structure.sentences.values():
        tell(sentence)
    model_output, is_resumable = args.model_output, args.checkpoint is not None
    try:
        if model_output is not None and not is_resumable:
            models.save_model(model, table_options, model_output)
        if args.output is not None:
            result.write(structure.columns)
        if model_output is not None and is_resumable:  # last, so that the run can resume
            models.save_model(model, table_options, model_output)
    except KeyboardInterrupt:
        if not is_resumable:
            raise
        is_there = Path(args.output or "") in completed_files() and not args.force
        how = " with --force" if is_there else ""
        raise models.exit_resumable("", args.checkpoint, how) from None
    if args.json:
        print_json({"output": args.output, "n_rows": result.n_rows, **about})
    elif args.output is not None:
        models.tell_fit(args.output, result.n_rows, about, result.took())
    else:
        tell(f"Wrote {model_output}: the model of {len(model.embedding_):,} rows")


def _check_any(output: str | None, model_output: Path | None) -> None:
    """Refuse a run that writes nothing."""
    if output is None and model_output is None:
        rule = f"be given, unless {keyword('plan')} or {keyword('model_output')} is used"
        hint = f"Add for example {keyword('output')} map.parquet."
        raise ParameterError("output", rule, hint=hint)


def _writes_folder(args: Args) -> bool:
    """Return whether files of a folder are to be placed one by one."""
    if args.plan or args.landmarks is None or args.output in (None, PIPE):
        return False
    return not Path(args.output).suffix and Path(args.source).is_dir()


def _make_alignment(path: str, table: Any) -> Any:
    """Return the alignment of a table's rows with a previous map."""
    import numpy as np

    from isosne import Alignment

    previous = read_map_file(path, "align_to")
    if not previous.has_ids:
        return Alignment(previous.embedding)
    if table.ids is None and previous.ids.dtype.kind not in "iu":
        example = repr(str(previous.ids[0]))
        rule = f"name the column with the row identifiers of the previous map, such as {example}"
        raise ParameterError("id", rule, None, f"Add {keyword('id')} COLUMN.")
    ids = np.arange(table.rows.shape[0]) if table.ids is None else table.ids
    return Alignment(previous.embedding, ids=ids, previous_ids=previous.ids)


def _fit(model: Any, rows: Any, checkpoint: Path | None) -> Watch:
    """Fit the estimator, and show its plan and its steps."""
    tell(str(model.plan(rows)))
    state = {} if checkpoint is None else {"checkpoint": checkpoint}
    with Watch(model, checkpoint) as watch:
        model.fit(rows, **state)
    if not watch.last_step:
        tell(f"The run in {checkpoint} is complete ({model.n_iter_:,} steps)")
    return watch


@dataclass
class _Result:
    """A fitted model on its way to the output."""

    args: Args
    unscaled: Any
    table: Any
    model: Any
    about: dict[str, Any]
    n_rows: int = 0

    def write(self, columns: dict[str, Any]) -> None:
        """Write all rows: with landmarks, place every row on their map, unscaled, in blocks."""
        from isosne.rows import MapWriter

        if self.args.landmarks is None:
            self.write_fitted(columns)
            return
        began, table = time.perf_counter(), self.table
        target = self.args.output, table.ids, self.model.n_components, self.about
        writer = MapWriter(*target, labels=table.labels, force=self.args.force)
        self.n_rows = models.write_places(self.model, self.unscaled.rows, writer)
        self.about["placing_seconds"] = round(time.perf_counter() - began, 3)

    def write_fitted(self, columns: dict[str, Any] | None = None) -> None:
        """Write the points that were embedded: all rows, or landmarks with their own ids."""
        import numpy as np

        chosen = getattr(self.model, "landmark_indices_", None)
        ids, labels = self.table.ids, self.table.labels
        if chosen is not None:
            ids = np.asarray(chosen) if ids is None else ids[chosen]
            labels = None if labels is None else labels[chosen]
        kept = {"labels": labels, "columns": columns, "force": self.args.force}
        self.n_rows = models.write_map(self.args.output, ids, self.model, self.about, **kept)

    def took(self) -> str:
        """Return the seconds of the fit, and of placing the rows."""
        took, seconds = f"{self.about['seconds']:.1f} s", self.about.get("placing_seconds")
        if seconds is None:
            return took
        n_landmarks = len(self.model.embedding_)
        return f"{took} for {n_landmarks:,} landmarks, {seconds:.1f} s to place all rows"


def _embed_folder(args: Args, table: TableOptions, options: MapOptions) -> None:
    """Fit the landmarks of a folder of files unless that is done, and place all rows.

    The folder ``_isosne`` of the output holds the options of the run, the checkpoint of the fit
    while it lasts, and then the model. After an interruption, the same command resumes the fit, or
    places the files that are missing.
    """
    from isosne.place.job import FOLDER, begin

    output = Path(args.output)
    about = asdict(table) | asdict(options) | args.pick("landmarks")
    begin(output, OPTIONS, about, {name: keyword(name) for name in about})
    model_file, state = output / FOLDER / MODEL, output / FOLDER / STATE
    if not model_file.exists():
        _, opened = open_table(args.source, table, args.memory_limit)
        model = models.make_model(options, **args.pick(*SETTINGS))
        watch = _fit(model, opened.rows, state)
        if watch.is_interrupted:
            again = "Run the same command again to resume."
            raise exit_interrupted(f" at step {watch.last_step}. {again}")
        models.save_model(model, table, model_file)
    state.unlink(missing_ok=True)
    keep = list(dict.fromkeys(name for name in (table.id, table.label) if name is not None))
    place_folder(args, model_file, keep)
