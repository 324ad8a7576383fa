"""`isosne embed`: from a table to a map."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from isosne._progress import Progress
from isosne.cli import options as o
from isosne.cli.files import (
    PIPE,
    check_distinct,
    check_map_output,
    check_one_stdin,
    check_one_stdout,
    check_output,
)
from isosne.cli.maps import (
    describe_fit,
    describe_start,
    kept_obs,
    name_target,
    note_bare,
    read_map_file,
)
from isosne.cli.messages import exit_interrupted, print_json, say
from isosne.cli.models import find_structure, make_model, save_model, write_places
from isosne.cli.options import MapOptions, Resources, TableOptions, option
from isosne.cli.place import place_folder
from isosne.cli.progress import Steps, Watch, make_progress
from isosne.cli.tables import Opened, open_table
from isosne.errors import ParameterError, keyword

PLACING, WRITING = "placing", "writing"
"""What a run was doing after its fit: placing rows among its landmarks, or writing files."""
WHEN = {PLACING: "while placing rows", WRITING: "while writing files"}
OPTIONS, STATE, MODEL = "embed.json", "fit.isosne", "model.isosne"
"""Files in the folder _isosne of an output folder."""


def embed(
    source: o.Source,
    output: Annotated[str | None, o.output_option(o.MAP_OUTPUT)] = None,
    plan: Annotated[
        bool, option("Print which methods would be used, and the memory; embed nothing.", "--plan")
    ] = False,
    identifier: o.Id = None,
    label: o.Label = None,
    scale: o.Scaling = None,
    columns: o.Columns = None,
    exclude: o.Exclude = None,
    text_columns: o.TextColumns = None,
    missing: o.Missing = None,
    mixed: o.Mixed = None,
    categorical: o.Categorical = None,
    key: o.Key = None,
    kernel: o.Kernel = None,
    psi: o.Psi = None,
    cell_size: o.CellSize = None,
    perplexity: o.Perplexity = None,
    metric: o.Metric = None,
    random_state: o.Seed = 0,
    n_iter: o.NIter = None,
    align_to: Annotated[
        str | None,
        option(
            "Previous map: rows with the same identifier (--id) stay near their places on it.",
            metavar="MAP",
        ),
    ] = None,
    landmarks: Annotated[
        int | None,
        option(
            "Number of rows to embed; the other rows are placed on their map.",
            default="all rows",
            metavar="N",
        ),
    ] = None,
    clusters: o.Clusters = None,
    outliers: o.Outliers = False,
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    checkpoint: o.Checkpoint = None,
    model_output: o.SaveModel = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Embed a table with t-SNE: similar rows are close on the map.

    With --landmarks N, only N rows are embedded; the other rows are then placed on their map block
    by block, so the table need not fit in memory. After Ctrl-C the map so far is written; with
    --checkpoint the state is saved instead, and the same command resumes the run. If TABLE is a
    folder and the output has no extension, the output is a folder with one file per file of TABLE;
    such a run always resumes. --clusters adds the column cluster to the map, --outliers the column
    outlier_score. Without an output, --save-model writes the model alone, for isosne place.

    Example: isosne embed wine.csv --id id --label target --scale standard -o map.parquet
    """
    run = _Run(
        source,
        TableOptions(
            *(identifier, label, scale, columns, exclude, text_columns, missing, mixed),
            *(categorical, key),
        ),
        MapOptions(kernel, psi, cell_size, perplexity, metric, random_state, n_iter),
        landmarks,
        Resources(n_jobs, memory_limit),
        quiet,
    )
    if plan:
        opened, model = run.open(align_to)
        planned = model.plan(opened.table.rows)
        print_json(planned.as_dict()) if json else typer.echo(str(planned))
        return
    if output is None:
        run.save_only(model_output, checkpoint, align_to, force=force)
        return
    if _is_folder(source, output, landmarks):
        files = {"checkpoint": checkpoint, "model_output": model_output, "align_to": align_to}
        _refuse_for_folders(**files, clusters=clusters, outliers=outliers)
        run.into_folder(Path(output), as_json=json)
        return
    check_one_stdout(output, as_json=json)
    check_one_stdin(source=source, align_to=align_to)
    others = {"checkpoint": checkpoint, "model_output": model_output}
    check_map_output(output, {"source": source, "align_to": align_to}, others, force=force)
    for path, is_replaced in ((model_output, force), (checkpoint, True)):
        if path is not None:
            check_output(path, (), force=is_replaced)
    _check_structure(landmarks, clusters=clusters, outliers=outliers)
    opened, model = run.open(align_to)
    began = time.perf_counter()
    watch = run.fit(opened, model, checkpoint)
    about = {
        **describe_start("embed", source, opened.unscaled, run.table),
        "parameters": run.map.given() | _given(landmarks=landmarks, align_to=align_to),
        **describe_fit(model, time.perf_counter() - began),
    }
    result = _Result(output, opened, model, about, force)
    result.obs = kept_obs(output, source, opened.unscaled)
    if watch.is_interrupted:
        raise _interrupted(result, checkpoint, f"step {watch.n_iter}")
    points = model.kernel_.X_fit_
    structure = find_structure(model, model.kernel_, points, clusters, outliers, random_state)
    result.columns = structure.columns
    about |= structure.about
    if not quiet:
        for sentence in structure.sentences.values():
            say(sentence)
    try:
        if model_output is not None and checkpoint is None:
            save_model(model, run.table, model_output)
        if landmarks is None:
            result.write_fitted()
        else:
            result.write_placed(make_progress(quiet=quiet))
        if model_output is not None and checkpoint is not None:  # last, so that a run can resume
            save_model(model, run.table, model_output)
    except KeyboardInterrupt:
        has_places = result.doing == PLACING and not result.is_written()
        if output == PIPE or (checkpoint is None and not has_places):
            raise  # nothing more can be kept
        raise _interrupted(result, checkpoint, result.doing) from None
    result.report(quiet=quiet, as_json=json)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _check_structure(landmarks: int | None, **structure: Any) -> None:
    """Refuse columns for rows that are placed block by block: only landmarks have them."""
    for name, value in structure.items():
        if value and landmarks is not None:
            hint = "Only rows that are embedded have such a column."
            raise ParameterError(name, f"be used without {keyword('landmarks')}", hint=hint)


def _is_folder(source: str, output: str, landmarks: int | None) -> bool:
    """Return whether files of a folder are to be placed one by one."""
    is_folder = output != PIPE and not Path(output).suffix and Path(source).is_dir()
    return landmarks is not None and is_folder


def _refuse_for_folders(**options: Any) -> None:
    """Raise an error if an option is given that belongs to an output in one file."""
    for name, value in options.items():
        if value:
            raise ParameterError(
                name,
                f"be left out if {keyword('output')} is a folder",
                str(value) if isinstance(value, Path) else value,
                "The folder keeps the state of the run and the model.",
            )


class _Run(NamedTuple):
    """What is embedded, and how."""

    source: str
    table: TableOptions
    map: MapOptions
    landmarks: int | None
    resources: Resources
    quiet: bool

    def open(self, align_to: str | None = None) -> tuple[Opened, Any]:
        """Return the table and the estimator."""
        opened = open_table(self.source, self.table, self.resources, quiet=self.quiet)
        model = make_model(self.map, self.resources, self.landmarks)
        if align_to is not None:
            model.set_params(align_to=_make_alignment(align_to, opened.table, quiet=self.quiet))
        return opened, model

    def fit(self, opened: Opened, model: Any, checkpoint: Path | None) -> Watch:
        """Fit the estimator, and show its plan and its steps."""
        if not self.quiet:
            say(str(model.plan(opened.table.rows)))
        steps = Steps(make_progress(quiet=self.quiet), model)
        state = {} if checkpoint is None else {"checkpoint": checkpoint}
        with Watch(steps, model, None if self.quiet else checkpoint) as watch:
            model.fit(opened.table.rows, **state)
        if not watch.n_iter and not self.quiet:
            say(f"The run in {checkpoint} is complete ({model.n_iter_:,} steps)")
        return watch

    def save_only(
        self, path: Path | None, checkpoint: Path | None, align_to: str | None, *, force: bool
    ) -> None:
        """Fit the estimator, and write the model alone."""
        if path is None:
            rule = f"be given, unless {keyword('plan')} or {keyword('model_output')} is used"
            hint = f"Add for example {keyword('output')} map.parquet."
            raise ParameterError("output", rule, hint=hint)
        outputs = {"model_output": path, "checkpoint": checkpoint}
        check_distinct({"source": self.source, "align_to": align_to}, outputs)
        check_output(path, (), force=force)
        opened, model = self.open(align_to)
        watch = self.fit(opened, model, checkpoint)
        if watch.is_interrupted:
            raise exit_interrupted(f" at step {watch.n_iter}; no model was written.")
        save_model(model, self.table, path)
        if not self.quiet:
            say(f"Wrote {path}: the model of {len(model.embedding_):,} rows")

    def into_folder(self, output: Path, *, as_json: bool) -> None:
        """Fit the landmarks of a folder of files unless that is done, and place all rows.

        The folder ``_isosne`` of the output holds the options of the run, the checkpoint of the
        fit while it lasts, and then the model. After an interruption, the same command resumes the
        fit, or places the files that are missing.
        """
        from isosne.place.job import FOLDER, begin

        options = asdict(self.table) | asdict(self.map) | {"landmarks": self.landmarks}
        begin(output, OPTIONS, options, {name: keyword(name) for name in options})
        model_file, state = output / FOLDER / MODEL, output / FOLDER / STATE
        if not model_file.exists():
            opened, model = self.open()
            watch = self.fit(opened, model, state)
            if watch.is_interrupted:
                sentence = f" at step {watch.n_iter}. Run the same command again to resume."
                raise exit_interrupted(sentence)
            save_model(model, self.table, model_file)
        state.unlink(missing_ok=True)
        columns = [name for name in (self.table.id, self.table.label) if name is not None]
        settings = {
            "keep": list(dict.fromkeys(columns)),
            "missing": self.table.missing or "refuse",
            "n_jobs": self.resources.n_jobs,
        }
        place_folder(
            model_file, Path(self.source), output, settings, quiet=self.quiet, as_json=as_json
        )


def _make_alignment(path: str, table: Any, *, quiet: bool) -> Any:
    """Return the alignment of a table's rows with a previous map."""
    import numpy as np

    from isosne import Alignment

    previous = read_map_file(path, "align_to", quiet=quiet)
    if not previous.has_ids:
        return Alignment(previous.embedding)
    if table.ids is None and previous.ids.dtype.kind not in "iu":
        raise ParameterError(
            "id",
            "name the column with the row identifiers of the previous map, such as "
            f"{str(previous.ids[0])!r}",
            None,
            f"Add {keyword('id')} COLUMN.",
        )
    ids = np.arange(table.rows.shape[0]) if table.ids is None else table.ids
    return Alignment(previous.embedding, ids=ids, previous_ids=previous.ids)


class _Result:
    """A fitted model on its way to the output."""

    def __init__(
        self, output: str, opened: Opened, model: Any, about: dict[str, Any], force: bool
    ) -> None:
        self.output, self.opened, self.model = output, opened, model
        self.about, self.force = about, force
        self.obs: Any = None
        self.columns: dict[str, Any] = {}
        self.n_rows = 0
        self.doing = WRITING
        self.placing_seconds: float | None = None

    def write_fitted(self) -> None:
        """Write the points that were embedded: all rows, or landmarks with their own ids."""
        import numpy as np

        chosen = getattr(self.model, "landmark_indices_", None)
        ids, labels = self.opened.table.ids, self.opened.table.labels
        if chosen is not None:
            ids = np.asarray(chosen) if ids is None else ids[chosen]
            labels = None if labels is None else labels[chosen]
            self.obs = None if self.obs is None else self.obs.iloc[chosen]
        with self._writer(ids, labels, self.columns) as writer:
            writer.write(self.model.embedding_)
        self.n_rows = writer.n_rows

    def write_placed(self, progress: Progress) -> None:
        """Place every row, unscaled, on the map of the landmarks; write blocks as they come."""
        began = time.perf_counter()
        table = self.opened.table
        self.doing = PLACING
        writer = self._writer(table.ids, table.labels)
        self.n_rows = write_places(self.model, self.opened.unscaled.rows, writer, progress)
        self.doing = WRITING
        self.placing_seconds = round(time.perf_counter() - began, 3)

    def is_written(self) -> bool:
        """Return whether the map is in its file."""
        from isosne._files import completed_files

        return Path(self.output) in completed_files()

    def _writer(self, ids: Any, labels: Any, columns: dict[str, Any] | None = None) -> Any:
        from isosne.rows import MapWriter

        kept = {"labels": labels, "columns": columns, "obs": self.obs, "force": self.force}
        return MapWriter(self.output, ids, self.model.n_components, self.about, **kept)

    def report(self, *, quiet: bool, as_json: bool) -> None:
        """Print what was written, as an object or as a line."""
        about, seconds = self.about, self.placing_seconds
        if as_json:
            whole = {"output": self.output, "n_rows": self.n_rows, **about}
            print_json(whole if seconds is None else {**whole, "placing_seconds": seconds})
        elif not quiet:
            took = f"{about['seconds']:.1f} s"
            if seconds is not None:
                n_landmarks = len(self.model.embedding_)
                took += f" for {n_landmarks:,} landmarks, {seconds:.1f} s to place all rows"
            say_fit(self.output, self.n_rows, about, took)


def say_fit(output: str, n_rows: int, about: dict[str, Any], took: str) -> None:
    """Print what a fit has written."""
    say(
        f"Wrote {name_target(output)}: {n_rows:,} rows, {about['n_iter']:,} steps, "
        f"KL {about['kl_divergence']:.4f}, {took}"
    )
    if alignment := about.get("alignment"):
        say(
            f"{alignment['n_matched']:,} rows had a place on the previous map; their mean distance "
            f"from it is {100 * alignment['mean_displacement']:.1f} % of the radius of the map."
        )
    note_bare(output)


def _interrupted(result: _Result, checkpoint: Path | None, where: str) -> typer.Exit:
    """Keep the results of an interrupted run, say where they are, and return the exit."""
    when = WHEN.get(where, f"at {where}")
    if checkpoint is not None:
        written, again = "", ""
        if result.is_written():
            written = f" {result.output} is complete."
            again = "" if result.force else " with --force"
        return exit_interrupted(
            f" {when}; the state is in {checkpoint}.{written} "
            f"Run the same command again{again} to resume."
        )
    result.about["stopped_at"] = where
    result.write_fitted()
    kept = f"the {result.n_rows:,} landmarks" if where == PLACING else "the map so far"
    target = "standard output" if result.output == PIPE else result.output
    return exit_interrupted(
        f" {when}; wrote {kept} to {target}. Use --checkpoint FILE to make a run resumable."
    )
