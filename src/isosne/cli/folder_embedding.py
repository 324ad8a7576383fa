"""Embed the landmarks of a folder of files, and place all rows in one output file per input file.

The folder ``_isosne`` of the output holds the options of the run, the checkpoint of the fit while
it lasts, and then the model. After an interruption, the same command resumes the fit, or places the
files that are missing.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from isosne.cli.column_notes import note_columns
from isosne.cli.map_options import EmbeddingOptions, KernelOptions, LandmarkOptions
from isosne.cli.messages import exit_interrupted, say
from isosne.cli.models import make_model, save_model
from isosne.cli.options import MessageOptions, ResourceOptions, TableOptions
from isosne.cli.outputs import STDOUT
from isosne.cli.placing import report_placed, run_placing
from isosne.cli.progress import Steps, Watch, make_progress
from isosne.cli.tables import open_unscaled, scaled
from isosne.errors import ParameterError, keyword

OPTIONS, STATE, MODEL = "embed.json", "fit.isosne", "model.isosne"
"""Files in the folder _isosne."""


class FolderRun(NamedTuple):
    """What `isosne embed` was asked for."""

    source: Path
    output: Path
    table: TableOptions
    kernel: KernelOptions
    embedding: EmbeddingOptions
    landmarks: LandmarkOptions
    resources: ResourceOptions
    messages: MessageOptions

    @classmethod
    def is_wanted(cls, source: str, output: str, landmarks: LandmarkOptions) -> bool:
        """Return whether a folder is to be placed: both names are folders, or could be."""
        is_folder = output != STDOUT and not Path(output).suffix and Path(source).is_dir()
        return landmarks.landmarks is not None and is_folder

    def run(self) -> None:
        """Fit the landmarks unless that is done, and place the rows that are not."""
        from isosne.jobs.job_folder import FOLDER, begin

        options = self._options()
        begin(self.output, OPTIONS, options, {name: keyword(name) for name in options})
        inside = self.output / FOLDER
        if not (inside / MODEL).exists():
            self._fit(inside)
        (inside / STATE).unlink(missing_ok=True)
        columns = [name for name in (self.table.id, self.table.label) if name is not None]
        settings = {
            "keep": list(dict.fromkeys(columns)),
            "missing": self.table.missing or "refuse",
            "n_jobs": self.resources.n_jobs,
        }
        model = inside / MODEL
        done = run_placing(model, self.source, self.output, settings, self.messages)
        report_placed(done, self.messages, {"model": str(model)})

    def _options(self) -> dict[str, Any]:
        """Return the options that determine the result."""
        groups = (self.table, self.kernel, self.embedding, self.landmarks)
        return {name: value for group in groups for name, value in asdict(group).items()}

    def _fit(self, inside: Path) -> None:
        """Fit the landmarks with a checkpoint, and write the model."""
        quiet, state = self.messages.quiet, inside / STATE
        unscaled = open_unscaled(str(self.source), self.table, self.resources, quiet=quiet)
        table = scaled(unscaled, self.table)
        model = make_model(self.kernel, self.embedding, self.resources, self.landmarks)
        if not quiet:
            note_columns(unscaled, table, self.table)
            say(str(model.plan(table.rows)))
        steps = Steps(make_progress(quiet=quiet), model, self.embedding.objective)
        with Watch(steps, model, None if quiet else state) as watch:
            model.fit(table.rows, checkpoint=state)
        if watch.is_interrupted:
            raise exit_interrupted(
                f" at step {watch.n_iter}. Run the same command again to resume."
            )
        save_model(model, self.table, inside / MODEL)


def refuse_for_folders(**options: Any) -> None:
    """Raise an error if an option is given that belongs to an output in one file."""
    for name, value in options.items():
        if value:
            raise ParameterError(
                name,
                f"be left out if {keyword('output')} is a folder",
                str(value) if isinstance(value, Path) else value,
                "The folder keeps the state of the run and the model.",
            )
