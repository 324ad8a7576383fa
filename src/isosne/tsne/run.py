"""A run of the optimization (step 3): forces, schedule, progress, trace, and what it tells."""

import logging
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from isosne._checks import check_number
from isosne._numba import threads
from isosne._progress import BAR_SECONDS, make_progress, print_line
from isosne._types import DenseMatrix, Joint, SparseMatrix
from isosne.errors import DivergedError
from isosne.layout.anchors import Pull, make_pull
from isosne.layout.attraction import Attraction, DrawnAttraction, ListedAttraction, SplitForces
from isosne.layout.descent import Progress, State, advance, descend
from isosne.layout.exact import CustomForces, ExactForces, ExactRepulsion
from isosne.layout.forces import Forces, Mesh, Method, Repulsion, Tree
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.objectives import JSE, KL, NeRV, Objective, as_objective, dof_of
from isosne.layout.schedules import Schedule, as_schedule, lasting
from isosne.layout.tree import TreeRepulsion
from isosne.tsne.checkpoint import Checkpoint, Saved
from isosne.tsne.plan import useful_threads

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


def schedule_of(schedule: Any, exaggeration: float | None) -> Schedule:
    """Return the schedule of a name or an object, with an exaggeration that lasts."""
    phases = as_schedule(schedule)
    if exaggeration is None:
        return phases
    check_number(exaggeration, "exaggeration", low=1, hint="1 changes nothing.")
    return lasting(phases, float(exaggeration))


def make_forces(joint: Joint, method: Method, n_components: int, objective: Objective) -> Forces:
    """Return the forces on the points of a map: attraction by `joint`, repulsion by `method`."""
    dof = dof_of(objective)
    if isinstance(joint, DenseMatrix):
        if isinstance(objective, KL | NeRV | JSE):
            return ExactForces(joint, objective, dof)
        return CustomForces(joint, objective)
    attraction: Attraction = (
        ListedAttraction(joint, dof)
        if isinstance(joint, SparseMatrix)
        else DrawnAttraction(joint, dof)
    )
    repulsion: Repulsion = ExactRepulsion(dof)
    if isinstance(method, Mesh):
        repulsion = MeshRepulsion(n_components, dof, method.accuracy)
    elif isinstance(method, Tree):
        repulsion = TreeRepulsion(n_components, dof, method.theta)
    return SplitForces(attraction, repulsion, dof)


def revived_run(model: Any) -> Run:
    """Return the run of a model from a file, whose affinities were computed again."""
    plan, n, objective = model.plan_, len(model.embedding_), as_objective(model.objective)
    forces = make_forces(model.affinities_, plan.parameters["forces"], plan.n_components, objective)
    progress = Progress.at(np.ascontiguousarray(model.embedding_.T), model.n_iter_)
    pull = make_pull(getattr(model, "alignment_", None), n)
    schedule = schedule_of(model.schedule, model.exaggeration)
    run = Run(forces, schedule, progress, useful_threads(n, plan.forces), pull)
    run.trace = [(int(i), float(value), float(norm)) for i, value, norm in model.trace_]
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
