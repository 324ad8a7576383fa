"""Progress of a fit on standard error, and Ctrl-C."""

import signal
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from isosne import _progress
from isosne._progress import Progress
from isosne.cli.messages import say

VALUE_EVERY = 50
"""Steps between two values of the objective: those of the trace, which are computed anyway."""


def make_progress(*, quiet: bool) -> Progress:
    """Return silence if quiet, a bar on a terminal, lines otherwise."""
    return _progress.make_progress(say, quiet=quiet)


class Steps:
    """Shows the steps of a fit, and now and then the value of its objective."""

    def __init__(self, progress: Progress, model: Any, n_iter: int | None = None) -> None:
        from isosne.layout.schedules import as_schedule

        self.progress = progress
        self.n_iter = as_schedule(model.schedule).n_iter if n_iter is None else n_iter

    def begin(self, what: str, n_done: int = 0) -> None:
        """Start a fit, of which some steps may have been done before."""
        self.progress.begin(what, self.n_iter, first=n_done)

    def show(self, state: Any) -> None:
        """Show a step."""
        is_due = state.iteration % VALUE_EVERY == 0 or state.iteration == self.n_iter
        self.progress.advance(state.iteration, f"KL {state.value():.4f}" if is_due else None)


class Watch:
    """The callback of a fit: shows its steps, and handles Ctrl-C.

    From the first step on, Ctrl-C ends the fit after the current step, so that the result is
    usable. A second Ctrl-C, and one before the first step, ends it at once. Use it in ``with``,
    around the fit.

    Parameters
    ----------
    steps : Steps
        Shows the steps.
    model : TSNE
        The estimator; it gets this object as its callback.
    checkpoint : path or None, default=None
        File to name if the run resumes from it; None: resuming is not reported.
    """

    def __init__(self, steps: Steps, model: Any, checkpoint: Path | None = None) -> None:
        self.is_interrupted = False
        self.n_iter = 0
        self._steps, self._checkpoint = steps, checkpoint
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
        self._steps.progress.end()

    def _see(self, state: Any) -> bool:
        """Show a step; return whether to stop the fit."""
        if not self.n_iter:
            self._begin(state.iteration - 1)
        self.n_iter = state.iteration
        self._steps.show(state)
        return self.is_interrupted

    def _begin(self, n_done: int) -> None:
        if n_done and self._checkpoint is not None:
            say(f"Resuming from step {n_done:,} ({self._checkpoint})")
        self._steps.begin("step", n_done)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self.n_iter or self.is_interrupted:
            raise KeyboardInterrupt
        self.is_interrupted = True
