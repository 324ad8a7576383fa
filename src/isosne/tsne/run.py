"""A run of the optimization (step 3): forces, progress, trace, and what it tells."""

import logging
import time
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isosne._numba import threads
from isosne._progress import make_progress, print_line
from isosne._types import Array, DenseMatrix, Joint, SparseMatrix
from isosne.errors import DivergedError
from isosne.kernels.base import MetricKernel
from isosne.layout.anchors import Anchors, make_pull
from isosne.layout.attraction import Attraction, DrawnAttraction, ListedAttraction, SplitForces
from isosne.layout.descent import Progress, State, advance, descend
from isosne.layout.exact import CustomForces, ExactForces, ExactRepulsion
from isosne.layout.forces import Forces, Mesh, Method, Repulsion, Tree
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.objectives import JSE, KL, NeRV, Objective, dof_of
from isosne.layout.schedules import Schedule
from isosne.layout.tree import TreeRepulsion
from isosne.tsne.checkpoint import Checkpoint, RunState, Trace
from isosne.tsne.plan import Plan, useful_threads

TRACE_EVERY = 50
"""Steps between recorded values of the objective, as in scikit-learn. Each costs about one step."""
logger = logging.getLogger("isosne")


@dataclass
class Run:
    """What steps 1 and 2 of a fit have made, and the state of step 3."""

    plan: Plan
    kernel: MetricKernel
    joint: Joint
    isolated: NDArray[np.int64]
    landmarks: Array | None
    """Row indices of the mapped points, if they are landmarks."""
    anchors: Anchors | None
    far: NDArray[np.int64] | None
    """Indices of far rows, if a map is extended."""
    draws: int
    """Seed of sampled affinities."""
    progress: Progress
    trace: Trace = field(default_factory=list)
    gradient_norm: float = 0.0
    is_usable: bool = True

    def __post_init__(self) -> None:
        plan, chosen = self.plan, self.plan.parameters
        self.schedule: Schedule = chosen["schedule"]
        self.forces = make_forces(
            self.joint, chosen["forces"], plan.n_components, chosen["objective"]
        )

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
        pull = make_pull(self.anchors, self.plan.n_points)
        try:
            with threads(useful_threads(self.plan.n_points, self.plan.forces)):
                for state in descend(self.forces, self.progress, self.schedule, pull):
                    self.gradient_norm = state.gradient_norm
                    is_traced = state.iteration % TRACE_EVERY == 0
                    if is_traced:
                        self.record(state.value)
                    reporter.step(state, self.trace[-1][1] if is_traced else None)
                    if checkpoint and state.iteration % checkpoint.every == 0:
                        checkpoint.write(self.state())
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
            checkpoint.write(self.state())

    def record(self, value: Callable[[], float] | None = None) -> None:
        """Append the objective at the current step to the trace, unless it is already there."""
        iteration = self.progress.iteration
        if not self.trace or self.trace[-1][0] != iteration:
            objective = self.forces.value(self.progress.Y) if value is None else value()
            self.trace.append((iteration, objective, self.gradient_norm))

    def state(self) -> RunState:
        """Return what a checkpoint holds."""
        forces, seed = self.forces.state(), self.plan.parameters["random_state"]
        choices = self.plan.affinities, self.plan.reasons
        return RunState(self.progress, self.trace, self.gradient_norm, forces, seed, *choices)

    def restore(self, saved: RunState) -> None:
        """Restore the state of a checkpoint."""
        self.forces.restore(saved.forces)
        self.progress, self.trace = saved.progress, saved.trace
        self.gradient_norm = saved.gradient_norm

    def resumed(self, schedule: Schedule) -> Self:
        """Return a run that continues from the current map with another schedule."""
        run = copy(self)
        run.schedule, run.trace = schedule, list(self.trace)
        run.progress = Progress.at(self.progress.Y.copy(), self.progress.iteration)
        return run


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
        self._began, self._first = time.perf_counter(), progress.iteration
        self._n_phases, self._objective = len(schedule.phases), ""
        n_left = sum(phase.n_iter for phase in schedule.phases[progress.phase :]) - progress.done
        self._bar.begin("step", self._first + n_left, first=self._first)

    def step(self, state: State, value: float | None) -> None:
        """Show a step, and the objective if it is known."""
        if value is not None:
            self._objective = f"objective {value:.4f}"
            seconds = time.perf_counter() - self._began
            logger.info(f"step {state.iteration:5d}   {self._objective}   {seconds:.1f} s")
        phase = f"phase {state.phase + 1} of {self._n_phases}" if self._n_phases > 1 else ""
        detail = ", ".join(part for part in (phase, self._objective) if part)
        self._bar.advance(state.iteration, detail)

    def end(self, iteration: int) -> None:
        """Close the bar, also if the run was interrupted, and tell the time of the steps."""
        self._bar.end()
        self.say(f"{iteration - self._first} steps in {time.perf_counter() - self._began:.1f} s")
