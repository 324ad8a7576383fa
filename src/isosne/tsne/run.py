"""A run of the optimization (step 3): forces, schedule, progress, trace, and what it tells."""

import logging
import time
import warnings
from collections.abc import Callable

from isosne._numba import threads
from isosne._progress import BAR_SECONDS, make_progress, print_line
from isosne.errors import DivergedError
from isosne.layout.anchors import Pull
from isosne.layout.descent import Progress, State, advance, descend
from isosne.layout.forces import Forces
from isosne.layout.schedules import Schedule
from isosne.tsne.checkpoint import Checkpoint, Saved

TRACE_EVERY = 50
"""Steps between recorded values of the objective, as in scikit-learn. Each costs about one step."""
logger = logging.getLogger("isosne")


class Run:
    """A run of the optimization, with what it has recorded."""

    def __init__(
        self,
        forces: Forces,
        schedule: Schedule,
        progress: Progress,
        n_threads: int,
        pull: Pull | None = None,
    ) -> None:
        self.forces, self.schedule, self.progress = forces, schedule, progress
        self.n_threads, self.pull = n_threads, pull
        self.gradient_norm = 0.0
        self.trace: list[tuple[int, float, float]] = []
        self.is_usable = True

    def descend(
        self,
        callback: Callable[[State], object] | None,
        checkpoint: Checkpoint | None,
        reporter: "Reporter",
    ) -> None:
        """Take the remaining steps; the callback returns True to stop."""
        if not getattr(advance, "signatures", True):  # no attribute if Numba is disabled
            reporter.say("Compiling (first run only); this takes a few seconds.")
        reporter.begin(self.progress, self.schedule)
        try:
            with threads(self.n_threads):
                for state in descend(self.forces, self.progress, self.schedule, self.pull):
                    self.gradient_norm = state.gradient_norm
                    is_traced = state.iteration % TRACE_EVERY == 0
                    if is_traced:
                        self.record(state.value)
                    reporter.step(state, self.trace[-1][1] if is_traced else None)
                    if checkpoint and state.iteration % checkpoint.every == 0:
                        self.save_state(checkpoint)
                    if callback is not None and callback(state):
                        break
        except DivergedError:
            self.is_usable = False
            raise
        except KeyboardInterrupt:
            warnings.warn(
                f"Interrupted at step {self.progress.iteration}; embedding_ holds the map so far. "
                "Call continue_fit for more steps.",
                RuntimeWarning,
                stacklevel=5,
            )
            raise
        finally:
            reporter.end(self.progress.iteration)
        if checkpoint:  # without a value of its last step, which a whole run would not have
            self.save_state(checkpoint)

    def record(self, value: Callable[[], float] | None = None) -> None:
        """Append the objective at the current step to the trace, unless it is already there."""
        iteration = self.progress.iteration
        if not self.trace or self.trace[-1][0] != iteration:
            objective = self.forces.value(self.progress.Y) if value is None else value()
            self.trace.append((iteration, objective, self.gradient_norm))

    def save_state(self, checkpoint: Checkpoint) -> None:
        """Write the current state to a checkpoint."""
        checkpoint.write(self.progress, self.trace, self.gradient_norm, self.forces)

    def restore(self, saved: Saved) -> None:
        """Restore the state of a checkpoint."""
        self.forces.restore(saved.forces)
        self.progress, self.trace = saved.progress, saved.trace
        self.gradient_norm = saved.gradient_norm

    def resumed(self, schedule: Schedule) -> "Run":
        """Return a run that continues from the current map with another schedule."""
        progress = Progress.at(self.progress.Y.copy(), self.progress.iteration)
        run = Run(self.forces, schedule, progress, self.n_threads, self.pull)
        run.trace, run.gradient_norm = list(self.trace), self.gradient_norm
        return run


class Reporter:
    """Tells how far a fit has come.

    Messages go to the logger "isosne"; with ``verbose`` also to standard error. Steps are shown
    there as a bar, or as lines if standard error is not a terminal.
    """

    def __init__(self, verbose: object) -> None:
        self._is_shown = bool(verbose)
        self._bar = make_progress(print_line, quiet=not verbose)

    def say(self, message: str) -> None:
        """Tell the user a line."""
        logger.info(message)
        if self._is_shown:
            print_line(message)

    def begin(self, progress: Progress, schedule: Schedule) -> None:
        """Start the steps that remain; rules that stop a phase may leave fewer."""
        self._began = self._next = time.perf_counter()
        self._first, self._n_phases = progress.iteration, len(schedule.phases)
        n_left = sum(phase.n_iter for phase in schedule.phases[progress.phase :]) - progress.done
        self._total = progress.iteration + n_left
        self._objective = ""
        self._bar.begin("step", self._total, first=self._first)

    def step(self, state: State, value: float | None) -> None:
        """Show a step, and the objective if it is known; most steps return at once."""
        now = time.perf_counter()
        if value is not None:
            self._objective = f"objective {value:.4f}"
            logger.info(
                f"step {state.iteration:5d}   {self._objective}   {now - self._began:.1f} s"
            )
        elif now < self._next and state.iteration < self._total:
            return
        self._next = now + BAR_SECONDS
        phase = f"phase {state.phase + 1} of {self._n_phases}" if self._n_phases > 1 else ""
        detail = ", ".join(part for part in (phase, self._objective) if part)
        self._bar.advance(state.iteration, detail)

    def end(self, iteration: int) -> None:
        """Close the bar, also if the run was interrupted, and tell the time of the steps."""
        self._bar.end()
        self.say(f"{iteration - self._first} steps in {time.perf_counter() - self._began:.1f} s")
