"""A run of the optimization (step 3): forces, progress, trace, checkpoint, and what it tells.

If a run is interrupted, steps 1 and 2 are repeated from the same random numbers, and step 3 resumes
from the last state on disk, so the map is bit-identical to that of an uninterrupted run.
"""

import hashlib
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._checks import check_count, is_number
from isosne._files import only_user
from isosne._numba import threads
from isosne._progress import make_progress, print_line
from isosne._random import RandomState
from isosne._types import Array, DenseMatrix, Joint, SparseMatrix
from isosne.errors import DivergedError, ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.layout.all_pairs import CustomForces, ExactForces, ExactRepulsion
from isosne.layout.anchors import Anchors, make_pull
from isosne.layout.attraction import Attraction, DrawnAttraction, ListedAttraction, SplitForces
from isosne.layout.descent import Progress, State, descend
from isosne.layout.forces import Forces, Mesh, Method, Repulsion, Tree
from isosne.layout.mesh import CUTOFFS, MAX_NODES, MeshRepulsion
from isosne.layout.objectives import JSE, KL, NeRV, Objective, dof_of
from isosne.layout.schedules import Schedule
from isosne.layout.tree import TreeRepulsion
from isosne.tsne import model_file
from isosne.tsne.input import Input
from isosne.tsne.model_file import check_array, check_value, is_count, pack, unpack
from isosne.tsne.plan import Plan, useful_threads

TRACE_EVERY = 50
"""Steps between recorded values of the objective, as in scikit-learn. Each costs about one step."""
logger = logging.getLogger("isosne")
KIND = "checkpoint"
Trace = list[tuple[float, float, float]]
"""Iteration, objective and gradient norm."""


class RunState(NamedTuple):
    """The content of a checkpoint: the state of a run, and choices that it might make otherwise.

    ``affinities`` were chosen by the memory that was free.
    """

    progress: Progress
    gradient_norm: float
    forces: dict[str, Array]
    trace: Trace
    seed: RandomState
    affinities: str
    reasons: tuple[str, ...]


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
        checkpoint: "Checkpoint | None",
        reporter: "Reporter",
    ) -> None:
        """Take the remaining steps; the callback returns True to stop."""
        reporter.begin(self.progress, self.schedule)
        pull = make_pull(self.anchors, self.plan.n_points)
        try:
            with threads(useful_threads(self.plan.n_points)):
                for state in descend(self.forces, self.progress, self.schedule, pull):
                    self.gradient_norm = state.gradient_norm
                    is_traced = state.iteration % TRACE_EVERY == 0
                    if is_traced:
                        self.record(state.value)
                    reporter.step(state, self.trace[-1][1] if is_traced else None)
                    if checkpoint and state.iteration % checkpoint.every == 0:
                        checkpoint.write(self)
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
            checkpoint.write(self)

    def record(self, value: Callable[[], float] | None = None) -> None:
        """Append the objective at the current step to the trace, unless it is already there."""
        iteration = self.progress.iteration
        if not self.trace or self.trace[-1][0] != iteration:
            objective = self.forces.value(self.progress.Y) if value is None else value()
            self.trace.append((iteration, objective, self.gradient_norm))

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


class Checkpoint:
    """The file that holds the state of a run, written every so many steps.

    ``identity``: the parameters of the run and a hash of its input, by which the file is known.
    """

    def __init__(self, path: Path, every: int, identity: dict[str, Any]) -> None:
        hint = "Pass the number of steps between two checkpoints."
        self.path, self._identity = path, identity
        self.every = check_count(every, "every", low=1, hint=hint)

    def read(self, shape: tuple[int, int]) -> RunState | None:
        """Return the last state of a map (d, n), or None if there is no file."""
        if not self.path.exists():
            return None
        header, arrays = read_archive(self.path, KIND)
        with reading_archive(self.path, KIND):
            saved = header["identity"]
            for name in {**self._identity, **saved}:  # a parameter that is gone counts, too
                if name not in saved or saved[name] != self._identity.get(name):
                    what = "the input" if name == "input" else f"parameter {keyword(name)}"
                    raise RefusedError(
                        f"The checkpoint {self.path} belongs to a different run: {what} has "
                        "changed. Choose another file for this run; this one was not modified."
                    )
            return _restore({k: unpack(header[k], arrays) for k in RunState._fields}, shape)

    def write(self, run: Run) -> None:
        """Replace the file with the current state of a run."""
        seed, trace = run.plan.parameters["random_state"], np.array(run.trace, np.float64)
        choices = seed, run.plan.affinities, run.plan.reasons
        state = vars(run.progress), run.gradient_norm, run.forces.state(), trace.reshape(-1, 3)
        content = dict(zip(RunState._fields, (*state, *choices), strict=True))
        arrays: dict[str, Array] = {}
        header = {name: pack(part, arrays, name) for name, part in content.items()}
        write_archive(self.path, KIND, header | {"identity": self._identity}, arrays)


@contextmanager
def opened_checkpoint(
    path: str | Path | None, every: int, parameters: dict[str, Any], given: Input, n_components: int
) -> Iterator[tuple[Checkpoint | None, RunState | None]]:
    """Reserve the checkpoint of a run, if it has one; give it, and the state that it holds.

    Raises an error if another run uses the file, or if it cannot be written: a run should not fail
    at its first checkpoint.
    """
    if path is None:
        yield None, None
        return
    identity = _identify(parameters) | {"input": given.fingerprint()}
    file = Checkpoint(Path(path), every, identity)
    with only_user(file.path):
        yield file, file.read((n_components, given.shape[0]))


def _identify(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as plain values, with hashes of their arrays."""
    identity = {}
    for name, value in model_file.relevant(parameters).items():
        seed = getattr(value, "random_state", value)  # of a kernel
        if isinstance(seed, np.random.Generator | np.random.RandomState):
            rule = "be an integer or None for a run with a checkpoint"
            raise ParameterError("random_state", rule, hint="Pass a seed instead of a generator.")
        arrays: dict[str, Array] = {}
        plain = pack(value, arrays, name)
        hashes = (hashlib.sha256(np.ascontiguousarray(a).tobytes()) for a in arrays.values())
        identity[name] = [plain, *(digest.hexdigest() for digest in hashes)]
    return identity


def _restore(content: dict[str, Any], shape: tuple[int, int]) -> RunState:
    """Return the content of a file of this run, once all of it is checked."""
    state, norm, seed = content["progress"], content["gradient_norm"], content["seed"]
    for name in ("Y", "update", "gains"):
        model_file.check_map(state[name], name, shape)
    for name in ("iteration", "phase", "done"):
        check_value(state[name], name, is_count(state[name], 0, model_file.LARGEST_COUNT))
    for name in ("values", "rates"):
        state[name] = list(check_value(state[name], name, all(map(is_number, state[name]))))
    sharpness, affinities = state["sharpness"], content["affinities"]
    check_value(sharpness, "sharpness", is_number(sharpness) and sharpness >= 0)
    check_value(norm, "gradient_norm", is_number(norm))
    check_value(affinities, "affinities", affinities in model_file.AFFINITIES)
    check_value(seed, "seed", seed is None or is_count(seed))
    _check_forces(content["forces"], shape, has_order=affinities != "dense")
    trace: Trace = [tuple(row) for row in model_file.check_trace(content["trace"]).tolist()]
    reasons = tuple(map(str, content["reasons"]))
    return RunState(**content | {"progress": Progress(**state), "trace": trace, "reasons": reasons})


def _check_forces(state: Mapping[str, Array], shape: tuple[int, int], *, has_order: bool) -> None:
    """Raise an error if the state of the forces does not fit a map of this shape (d, n)."""
    n_components, n_points = shape
    if has_order:
        model_file.check_permutation(state["order"], n_points)
    if "mesh_sides" in state:
        sides = check_array(state["mesh_sides"], "mesh_sides", np.int64, (n_components,), low=1)
        if math.prod(sides.tolist()) > MAX_NODES:
            raise ValueError("mesh_sides has more nodes than a mesh can have")
        scale = check_array(state["mesh_scale"], "mesh_scale", np.float64, (4,))
        spacing, _, cutoff, n_pairs = scale.tolist()
        check_value(spacing, "the spacing of the mesh", spacing > 0)
        check_value(cutoff, "the cutoff of the near field", cutoff in CUTOFFS)
        check_value(n_pairs, "the number of near pairs", n_pairs >= 0)


def check_reporting(callback: object, verbose: object) -> None:
    """Raise an error if a parameter of `TSNE` by which a run reports is invalid."""
    if callback is not None and not callable(callback):
        hint = "Pass a function of one argument, the State after a step."
        raise ParameterError("callback", "be callable, or None", callback, hint)
    if not isinstance(verbose, bool | np.bool_ | int | np.integer):
        hint = "True writes progress to standard error."
        raise ParameterError("verbose", "be True or False", verbose, hint)


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
