"""A run of the optimization (step 3): forces, schedule, progress, and trace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isosne._numba import threads
from isosne.errors import DivergedError
from isosne.layout.descent import Progress, State, advance, descend
from isosne.layout.pull import Pull
from isosne.layout.schedules import Schedule
from isosne.tsne.assembly import Forces
from isosne.tsne.checkpoint import Checkpoint, Saved
from isosne.tsne.new_points import MapPlacer
from isosne.tsne.progress import Reporter

TRACE_EVERY = 50
"""Steps between recorded values of the objective, as in scikit-learn. Each costs about one step."""


@dataclass
class Finished:
    """State of a fitted estimator: seed of sampled affinities, run, and placer.

    The run is None after loading from a file; the placer is None until it is first used.
    """

    seed: int
    run: "Run | None" = None
    placer: MapPlacer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"placer": None}  # cannot be pickled; it is made again when needed


class Run:
    """A run of the optimization.

    Parameters
    ----------
    forces : ExactForces, SplitForces or CustomForces
        The gradient and the value of the objective.
    schedule : Schedule
        Phases of the optimization.
    progress : Progress
        Coordinates, momentum and counters so far.
    n_threads : int
        Number of threads; the map does not depend on it.
    pull : Pull or None, default=None
        Pull toward the places of an alignment.
    """

    def __init__(
        self,
        forces: Forces,
        schedule: Schedule,
        progress: Progress,
        n_threads: int,
        pull: Pull | None = None,
    ) -> None:
        self.forces, self.pull = forces, pull
        self.n_threads = n_threads
        self.schedule = schedule
        self.progress = progress
        self.gradient_norm = 0.0
        self.trace: list[tuple[int, float, float]] = []
        self.is_usable = True

    def descend(
        self,
        callback: Callable[[State], object] | None,
        checkpoint: Checkpoint | None,
        reporter: Reporter,
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
        finally:
            reporter.end(self.progress.iteration)
        if checkpoint:  # without a value of its last step, which a whole run would not have
            self.save_state(checkpoint)

    def record(self, value: Callable[[], float] | None = None) -> None:
        """Append the objective at the current step to the trace, unless it is already there."""
        iteration = self.progress.iteration
        if not self.trace or self.trace[-1][0] != iteration:
            found = self.forces.value(self.progress.Y) if value is None else value()
            self.trace.append((iteration, found, self.gradient_norm))

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
