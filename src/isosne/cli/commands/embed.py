"""`isosne embed`: from a table to a map."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from isosne._progress import Progress
from isosne.cli.alignment import (
    AlignmentOptions,
    describe_alignment,
    make_alignment,
    say_displacement,
)
from isosne.cli.column_notes import note_columns
from isosne.cli.folder_embedding import FolderRun, refuse_for_folders
from isosne.cli.keeping import KeepOptions, check_kept
from isosne.cli.map_files import refuse_map_as_table
from isosne.cli.map_options import EmbeddingOptions, KernelOptions, LandmarkOptions
from isosne.cli.messages import exit_interrupted, say
from isosne.cli.models import make_model, save_model
from isosne.cli.options import (
    LANDMARKS,
    MessageOptions,
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
    kept_obs,
    list_files,
    note_bare,
    print_json,
    write_places,
)
from isosne.cli.paths import check_distinct
from isosne.cli.progress import Steps, Watch, make_progress
from isosne.cli.provenance import describe_fit, describe_options, describe_start
from isosne.cli.structure import StructureOptions, find_structure
from isosne.cli.tables import check_one_stdin, open_unscaled, scaled, suggesting_mixed
from isosne.errors import ParameterError, keyword

PLACING, WRITING = "placing", "writing"
"""What a run was doing after its fit: placing rows among its landmarks, or writing files."""
WHEN = {PLACING: "while placing rows", WRITING: "while writing files"}


@suggesting_mixed()
def embed(
    source: Source,
    output: Output,
    table_options: TableOptions,
    kernel: KernelOptions,
    embedding: EmbeddingOptions,
    alignment: AlignmentOptions,
    structure: StructureOptions,
    landmarks: LandmarkOptions,
    resources: ResourceOptions,
    keep: KeepOptions,
    messages: MessageOptions,
    landmarks_only: Annotated[
        bool,
        option(
            "Write only the landmarks, do not place other rows.",
            "--landmarks-only",
            panel=LANDMARKS,
        ),
    ] = False,
) -> None:
    """Embed a table with t-SNE: similar rows are close on the map.

    With --landmarks N, only N rows are embedded; the other rows are then placed on their map block
    by block, so the table need not fit in memory. After Ctrl-C the map so far is written; with
    --checkpoint the state is saved instead, and the same command resumes the run. If TABLE is a
    folder and the output has no extension, the output is a folder with one file per file of TABLE;
    such a run always resumes.

    Example: isosne embed wine.csv --label target --id id -o map.parquet
    """
    if FolderRun.is_wanted(source, output, landmarks) and not landmarks_only:
        refuse_for_folders(checkpoint=keep.checkpoint, save_model=keep.save_model, every=keep.every)
        options = table_options, kernel, embedding, landmarks, resources, messages
        FolderRun(Path(source), Path(output), *options).run()
        return
    check_one_stdout(output, as_json=messages.json)
    others = {"checkpoint": keep.checkpoint, "save_model": keep.save_model}
    read = {"source": source, "align_to": alignment.align_to}
    for file in list_files(output):
        check_distinct(read, {"output": file, **others})
    check_one_stdin(**read)
    check_map_output(output, force=keep.force)
    check_kept(keep)
    if landmarks_only and landmarks.landmarks is None:
        raise ParameterError(
            "landmarks_only",
            f"be used together with {keyword('landmarks')}",
            True,
            f"Add for example {keyword('landmarks', 10000)}.",
        )
    _check_structure(structure, landmarks, landmarks_only=landmarks_only)
    refuse_map_as_table(source, table_options)
    unscaled = open_unscaled(source, table_options, resources, quiet=messages.quiet)
    table = scaled(unscaled, table_options)
    model = make_model(kernel, embedding, resources, landmarks)
    model.set_params(align_to=make_alignment(alignment, table, quiet=messages.quiet))
    if not messages.quiet:
        note_columns(unscaled, table, table_options)
        say(str(model.plan(table.rows)))
    progress = make_progress(quiet=messages.quiet)
    steps = Steps(progress, model, embedding.objective)
    began = time.perf_counter()
    with Watch(steps, model, None if messages.quiet else keep.checkpoint) as watch:
        model.fit(table.rows, **keep.state)
    if not watch.n_iter and not messages.quiet:
        say(f"The run in {keep.checkpoint} is complete ({model.n_iter_:,} steps)")
    about = {
        **describe_start("embed", source, table, table_options),
        "parameters": describe_options(kernel, embedding, landmarks, alignment),
        **describe_fit(model, time.perf_counter() - began),
        **describe_alignment(model),
    }
    result = _Result(output, table, model, about, keep.force)
    result.obs = kept_obs(output, source, unscaled)
    if watch.is_interrupted:
        raise _interrupted(result, keep.checkpoint, f"step {watch.n_iter}")
    kernel_ = model.kernel_
    found = find_structure(model, kernel_, kernel_.X_fit_, structure, embedding.random_state)
    result.columns = found.columns
    about |= found.about
    if not messages.quiet:
        for sentence in found.sentences.values():
            say(sentence)
    try:
        if keep.checkpoint is None:  # else the model comes last, so that a run can resume
            _save(result, table_options, keep.save_model)
        if landmarks.landmarks is None or landmarks_only:
            result.write_fitted()
        else:
            result.write_placed(unscaled.rows, progress)
        if keep.checkpoint is not None:
            _save(result, table_options, keep.save_model)
    except KeyboardInterrupt:
        has_places = result.doing == PLACING and not result.is_written()
        if output == STDOUT or (keep.checkpoint is None and not has_places):
            raise  # nothing more can be kept
        raise _interrupted(result, keep.checkpoint, result.doing) from None
    _report(result, messages, steps)


def _check_structure(
    options: StructureOptions, landmarks: LandmarkOptions, *, landmarks_only: bool
) -> None:
    """Refuse columns for rows that are placed block by block: only landmarks have them."""
    options.check()
    for name in ("clusters", "outliers"):
        is_placing = landmarks.landmarks is not None and not landmarks_only
        if getattr(options, name) and is_placing:
            rule = f"be used without {keyword('landmarks')}, or with {keyword('landmarks_only')}"
            hint = "Only rows that are embedded have such a column."
            raise ParameterError(name, rule, hint=hint)


class _Result:
    """A fitted model on its way to the output."""

    def __init__(
        self, output: str, table: Any, model: Any, about: dict[str, Any], force: bool
    ) -> None:
        self.output, self.table, self.model = output, table, model
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
        ids, labels = self.table.ids, self.table.labels
        if chosen is not None:
            ids = np.asarray(chosen) if ids is None else ids[chosen]
            labels = None if labels is None else labels[chosen]
            self.obs = None if self.obs is None else self.obs.iloc[chosen]
        with self._writer(ids, labels, self.columns) as writer:
            writer.write(self.model.embedding_)
        self.n_rows = writer.n_rows

    def write_placed(self, rows: Any, progress: Progress) -> None:
        """Place every row, unscaled, on the map of the landmarks; write blocks as they come."""
        began = time.perf_counter()
        writer = self._writer(self.table.ids, self.table.labels)
        self.doing = PLACING
        self.n_rows = write_places(self.model, rows, writer, progress)
        self.doing = WRITING
        self.placing_seconds = round(time.perf_counter() - began, 3)

    def is_written(self) -> bool:
        """Return whether the map is in its file."""
        from isosne._files import completed_files

        return Path(self.output) in completed_files()

    def _writer(self, ids: Any, labels: Any, columns: dict[str, Any] | None = None) -> Any:
        from isosne.files import MapWriter

        about, kept = self.about, {"labels": labels, "columns": columns, "obs": self.obs}
        return MapWriter(self.output, ids, self.model.n_components, about, **kept, force=self.force)


def _save(result: _Result, options: TableOptions, path: Path | None) -> None:
    """Write the model, if that is wanted, and how its table was read."""
    if path is not None:
        save_model(result.model, options, path)


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
    target = "standard output" if result.output == STDOUT else result.output
    return exit_interrupted(
        f" {when}; wrote {kept} to {target}. Use --checkpoint FILE to make a run resumable."
    )


def _report(result: _Result, messages: MessageOptions, steps: Steps) -> None:
    """Print what was written, as an object or as a line."""
    about, seconds = result.about, result.placing_seconds
    if messages.json:
        whole = {"output": result.output, "n_rows": result.n_rows, **about}
        print_json(whole if seconds is None else {**whole, "placing_seconds": seconds})
    elif not messages.quiet:
        target = "the map to standard output" if result.output == STDOUT else result.output
        value = steps.describe(about["kl_divergence"])
        took = f"{about['seconds']:.1f} s"
        if seconds is not None:
            n_landmarks = len(result.model.embedding_)
            took += f" for {n_landmarks:,} landmarks, {seconds:.1f} s to place all rows"
        say(f"Wrote {target}: {result.n_rows:,} rows, {about['n_iter']:,} steps, {value}, {took}")
        if found := say_displacement(about):
            say(found)
        note_bare(result.output)
