"""`isosne embed`: from a table to a map."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from isosne.cli.errors import STOPPED
from isosne.cli.models import make_model, note_unused
from isosne.cli.options import (
    Force,
    KernelOptions,
    LandmarkOptions,
    MapOptions,
    Output,
    ResourceOptions,
    Source,
    TableOptions,
    TalkOptions,
)
from isosne.cli.outputs import STDOUT, check_one_stdout, check_output, note_bare, print_json
from isosne.cli.placing import write_places
from isosne.cli.progress import Progress, make_progress
from isosne.cli.provenance import describe_fit, describe_options, describe_start
from isosne.cli.tables import note_spread, open_table
from isosne.cli.watching import Watch
from isosne.errors import ParameterError

PLACING = "the placing of rows"
"""Where a run stands that has mapped its landmarks."""


@dataclass(frozen=True)
class KeepOptions:
    """What is kept beside the map."""

    TITLE: ClassVar = "What is kept"

    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the state here; if it exists, go on from it."),
    ] = None
    every: Annotated[
        int | None,
        typer.Option(metavar="N", help="Steps between two states of the checkpoint. Without: 50."),
    ] = None
    save_model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the model too, for isosne transform."),
    ] = None
    force: Force = False

    @property
    def state(self) -> dict[str, Any]:
        """What the fit is to know of the checkpoint."""
        said = {"checkpoint": self.checkpoint, "every": self.every}
        return {name: value for name, value in said.items() if value is not None}


def embed(
    source: Source,
    output: Output,
    table_options: TableOptions,
    kernel: KernelOptions,
    drawing: MapOptions,
    landmarks: LandmarkOptions,
    resources: ResourceOptions,
    keep: KeepOptions,
    talk: TalkOptions,
    landmarks_only: Annotated[
        bool, typer.Option("--landmarks-only", help="Write the landmarks, not all rows.")
    ] = False,
) -> None:
    """Map a table: rows that are alike come to lie near each other.

    With --landmarks some rows are mapped, and all are placed on their map block by block; files
    larger than memory are never held whole. Ctrl-C keeps the map so far or, with --checkpoint, the
    state; the same command then goes on.

    Example: isosne embed wine.csv --label cultivar --id bottle --psi 16 -o map.parquet
    """
    from isosne.files.sinks import SINKS

    check_one_stdout(output, as_json=talk.json)
    check_output(output, (*SINKS, STDOUT), force=keep.force)
    _check_kept(keep)
    if landmarks_only and landmarks.landmarks is None:
        raise ParameterError("--landmarks-only needs --landmarks; got none. Add --landmarks 10000.")
    table = open_table(source, table_options, resources, quiet=talk.quiet)
    model = make_model(kernel, drawing, resources, landmarks)
    if not talk.quiet:
        note_spread(table)
        plan = model.plan(table.rows)
        typer.echo(str(plan), err=True)
        note_unused(plan, drawing)
    progress = make_progress(quiet=talk.quiet)
    began = time.perf_counter()
    with Watch(progress, model, None if talk.quiet else keep.checkpoint) as watch:
        model.fit(table.rows, **keep.state)
    if not watch.n_iter and not talk.quiet:
        typer.echo(f"All {model.n_iter_:,} steps are in {keep.checkpoint} already.", err=True)
    about = {
        **describe_start("embed", source, table, table_options),
        "parameters": describe_options(kernel, drawing, landmarks),
        **describe_fit(model, time.perf_counter() - began),
    }
    result = _Result(output, table, model, about, keep.force)
    if watch.is_stopped:
        _keep_unfinished(result, keep.checkpoint, f"step {watch.n_iter}")
    if keep.checkpoint is None:  # otherwise the model comes last: the same command goes on
        _save(result, table_options, keep.save_model)
    if landmarks.landmarks is None or landmarks_only:
        result.write_fitted()
    else:
        try:
            result.write_placed(progress)
        except KeyboardInterrupt:
            if output == STDOUT:  # what is out cannot be taken back
                raise
            _keep_unfinished(result, keep.checkpoint, PLACING)
    if keep.checkpoint is not None:
        _save(result, table_options, keep.save_model)
    _tell(result, talk)


def _check_kept(keep: KeepOptions) -> None:
    if keep.save_model is not None:
        check_output(keep.save_model, (), force=keep.force)
    if keep.checkpoint is not None:
        check_output(keep.checkpoint, (), force=True)
    elif keep.every is not None:
        raise ParameterError(
            "--every needs --checkpoint; got none. Add --checkpoint FILE, or leave the option out."
        )


class _Result:
    """A fitted model on its way to the output."""

    def __init__(
        self, output: str, table: Any, model: Any, about: dict[str, Any], force: bool
    ) -> None:
        self.output, self.table, self.model = output, table, model
        self.about, self.force = about, force
        self.n_rows = 0
        self.placing_seconds: float | None = None

    @property
    def place(self) -> str:
        """Where the map is, in words."""
        return "on standard output" if self.output == STDOUT else f"in {self.output}"

    def write_fitted(self) -> None:
        """Write the points that were mapped: all rows, or landmarks under their own ids."""
        import numpy as np

        chosen = getattr(self.model, "landmark_indices_", None)
        ids, labels = self.table.ids, self.table.labels
        if chosen is not None:
            ids = np.asarray(chosen) if ids is None else ids[chosen]
            labels = None if labels is None else labels[chosen]
        with self._writer(ids, labels) as writer:
            writer.write(self.model.embedding_)
        self.n_rows = writer.n_rows

    def write_placed(self, progress: Progress) -> None:
        """Place every row on the map of the landmarks, and write the blocks as they come."""
        began = time.perf_counter()
        writer = self._writer(self.table.ids, self.table.labels)
        self.n_rows = write_places(self.model, self.table.rows, writer, progress)
        self.placing_seconds = round(time.perf_counter() - began, 3)

    def _writer(self, ids: Any, labels: Any) -> Any:
        from isosne.files import MapWriter

        n_components = self.model.n_components
        return MapWriter(
            self.output, ids, n_components, self.about, labels=labels, force=self.force
        )


def _save(result: _Result, options: TableOptions, path: Path | None) -> None:
    """Write the model, if it is wanted, with the way its table was read."""
    if path is not None:
        from isosne.cli.model_files import save_model

        save_model(result.model, result.table.rows, options, path)


def _keep_unfinished(result: _Result, checkpoint: Path | None, where: str) -> None:
    """Keep what there is of a run that was stopped, say where it is, and exit."""
    said = f"isosne: Stopped from the keyboard at {where}; "
    if checkpoint is not None:
        said += f"the state is in {checkpoint}. Give the same command again to go on from it."
    else:
        result.about["stopped_at"] = where
        result.write_fitted()
        kept = f"{result.n_rows:,} landmarks only are" if where == PLACING else "map so far is"
        said += f"the {kept} {result.place}. With --checkpoint a run can go on."
    typer.echo(said, err=True)
    raise typer.Exit(STOPPED)


def _tell(result: _Result, talk: TalkOptions) -> None:
    about, seconds = result.about, result.placing_seconds
    if talk.json:
        whole = {"output": result.output, "n_rows": result.n_rows, **about}
        print_json(whole if seconds is None else {**whole, "placing_seconds": seconds})
    elif not talk.quiet:
        took = f"{about['seconds']:.1f} s"
        if seconds is not None:
            n_landmarks = len(result.model.embedding_)
            took += f" to map {n_landmarks:,} landmarks, {seconds:.1f} s to place all rows"
        typer.echo(
            f"The map of {result.n_rows:,} rows is {result.place}: {about['n_iter']} steps, "
            f"objective {about['kl_divergence']:.4f}, {took}.",
            err=True,
        )
        note_bare(result.output)
