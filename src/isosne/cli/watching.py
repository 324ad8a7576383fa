"""A fit that is watched: progress after every step, and Ctrl-C as a wish to stop after a step."""

import signal
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import typer

from isosne.cli.progress import Progress

NOTE_EVERY = 50
"""Steps between two values of the objective; each costs as much as a step."""


class Steps:
    """Shows the steps of a fit, and now and then its phase and objective."""

    def __init__(self, progress: Progress, model: Any) -> None:
        from isosne.layout.schedules import as_schedule

        self._progress = progress
        self._schedule = as_schedule(model.schedule)
        self._objective = "KL" if model.objective == "kl" else model.objective

    def begin(self, what: str, n_taken: int = 0) -> None:
        """Start a fit, of which some steps may have been taken before."""
        self._progress.begin(what, self._schedule.n_iter, first=n_taken)

    def show(self, state: Any) -> None:
        """Show a step."""
        note = ""
        if state.iteration % NOTE_EVERY == 0:
            phase = f"phase {state.phase + 1} of {len(self._schedule.phases)}"
            note = f"{phase}   {self._objective} {state.value():.4f}"
        self._progress.advance(state.iteration, note)

    def is_last(self, state: Any) -> bool:
        """Return whether a step is the last of the schedule."""
        return bool(state.iteration == self._schedule.n_iter)


class Watch:
    """The callback of a fit.

    From the first step on, Ctrl-C ends the fit after the step that is being taken, so that what is
    kept is whole; a second Ctrl-C, and one before the first step, ends it at once. Use it in
    ``with``, around the fit.

    Parameters
    ----------
    progress : Progress
        What shows the steps.
    model : TSNE
        The estimator that is to be watched; it gets this as its callback.
    checkpoint : path or None, default=None
        Where the state is kept, to be named if the run goes on from it; None: nothing is said.
    """

    def __init__(self, progress: Progress, model: Any, checkpoint: Path | None = None) -> None:
        self.is_stopped = False
        self.n_iter = 0
        self._progress, self._checkpoint = progress, checkpoint
        self._steps = Steps(progress, model)
        model.set_params(callback=self._see)

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._progress.end()

    def _see(self, state: Any) -> bool:
        """Show a step; return whether the fit is to end."""
        if not self.n_iter:
            self._begin(state.iteration - 1)
        self.n_iter = state.iteration
        self._steps.show(state)
        return self.is_stopped

    def _begin(self, n_taken: int) -> None:
        if n_taken and self._checkpoint is not None:
            typer.echo(f"Going on from step {n_taken:,} of {self._checkpoint}.", err=True)
        self._steps.begin("step", n_taken)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self.n_iter or self.is_stopped:
            raise KeyboardInterrupt
        self.is_stopped = True
