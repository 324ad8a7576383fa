"""Checkpoints: the state of a run on disk, from which an interrupted run resumes.

After an interruption steps 1 and 2 are repeated from the same random numbers, and step 3 resumes
from the last state on disk, so the map is bit-identical to that of an uninterrupted run.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._checks import check_count, is_number
from isosne._files import only_user
from isosne._random import RandomState
from isosne._types import Array
from isosne.errors import keyword
from isosne.kernels.base import MetricKernel
from isosne.layout.descent import Field, Progress
from isosne.layout.forces import as_method
from isosne.tsne.input import Input
from isosne.tsne.model_file import from_plain, to_plain
from isosne.tsne.plan import Plan
from isosne.tsne.series import as_alignment
from isosne.tsne.stored_values import (
    AFFINITIES,
    SEARCHES,
    check_force_state,
    check_map,
    check_progress,
    check_trace,
    check_value,
    is_count,
    make_generator,
)

KIND = "checkpoint"
FORCES = "forces."
"""Prefix of the arrays that hold the state of the forces."""
IRRELEVANT = ("callback", "verbose", "n_jobs", "memory_limit")
"""Parameters that do not affect the map; they may differ when a run resumes."""


class Saved(NamedTuple):
    """The content of a checkpoint."""

    progress: Progress
    trace: list[tuple[int, float, float]]
    gradient_norm: float
    forces: dict[str, Array]
    rng: dict[str, Any]
    route: dict[str, Any]
    seed: RandomState
    """Seed of the run, or its generator if there is no seed."""

    def generator(self) -> np.random.Generator:
        """Return the random generator in its state at the start of the run."""
        return make_generator(self.rng)


class Checkpoint:
    """The file that holds the state of a run.

    Parameters
    ----------
    path : path
        The file. If it exists, the run resumes from it.
    every : int
        Steps between two checkpoints.
    parameters : dict
        The estimator's parameters.
    fingerprint : str
        A hash of the input.
    shape : tuple of int
        Dimensions of the map, and number of points.
    """

    def __init__(
        self,
        path: str | Path,
        every: int,
        parameters: dict[str, Any],
        fingerprint: str,
        shape: tuple[int, int],
    ) -> None:
        self.path, self._shape = Path(path), shape
        self.every = check_count(
            every, "every", low=1, hint="Pass the number of steps between two checkpoints."
        )
        relevant = {name: part for name, part in parameters.items() if name not in IRRELEVANT}
        self._identity = {**_digested(relevant), "input": fingerprint}
        self._rng: dict[str, Any] = {}
        self._seed: RandomState = None
        self._route: dict[str, Any] = {}

    @contextmanager
    def opened(self) -> Iterator[Saved | None]:
        """Reserve the file for this run; give the last state, or None if there is no file.

        Raises an error if the file belongs to a different run, if another run uses it now, or if
        it cannot be written: a run should not fail at its first checkpoint.
        """
        with only_user(self.path):
            yield self._read()

    def _read(self) -> Saved | None:
        if not self.path.exists():
            return None
        header, arrays = read_archive(self.path, KIND)
        with reading_archive(self.path, KIND):
            self._check_identity(header["identity"])
            return self._restore(header, arrays)

    def _check_identity(self, saved: dict[str, Any]) -> None:
        for name in {**self._identity, **saved}:  # a parameter that is gone counts, too
            if name not in saved or saved[name] != self._identity.get(name):
                what = "the input" if name == "input" else f"parameter {keyword(name)}"
                raise RefusedError(
                    f"The checkpoint {self.path} belongs to a different run: {what} has changed. "
                    "Choose another file for this run; this one was not modified."
                )

    def _restore(self, header: dict[str, Any], arrays: dict[str, Array]) -> Saved:
        """Return the content of a file of this run, once all of it is checked."""
        Y, update, gains = (
            check_map(arrays[name], name, self._shape) for name in ("Y", "update", "gains")
        )
        progress = Progress(Y, update, gains, **header["progress"])
        check_progress(progress)
        check_trace(arrays["trace"], progress.iteration)
        trace = [(int(i), float(value), float(norm)) for i, value, norm in arrays["trace"]]
        norm, route = header["gradient_norm"], header["route"]
        check_value(norm, "gradient_norm", is_number(norm))
        check_value(route, "route", route["affinities"] in AFFINITIES)
        check_value(route, "route", route["neighbors"] in SEARCHES)
        reasons = route["reasons"]
        check_value(reasons, "reasons", all(isinstance(reason, str) for reason in reasons))
        as_method(route["forces"])
        forces = {k.removeprefix(FORCES): v for k, v in arrays.items() if k.startswith(FORCES)}
        check_force_state(forces, self._shape, has_order=route["affinities"] != "dense")
        rng = from_plain(header["rng"], arrays)
        seed = header["seed"]
        check_value(seed, "seed", seed is None or is_count(seed))
        generator = make_generator(rng)
        seed = generator if seed is None else seed
        return Saved(progress, trace, norm, forces, rng, route, seed)

    def remember(self, rng: np.random.Generator, seed: RandomState) -> None:
        """Store the initial state of the random generator, and its seed."""
        self._rng, self._seed = dict(rng.bit_generator.state), seed

    def follow(self, plan: Plan, saved: Saved | None) -> Plan:
        """Store the automatic choices, so that a resumed run does not depend on free memory.

        Return the plan with the reasons for the choices, which the first run had.
        """
        if saved:
            plan = replace(plan, reasons=tuple(saved.route["reasons"]))
        self._route = {"affinities": plan.affinities, "neighbors": plan.neighbors}
        self._route |= {"forces": plan.forces, "reasons": plan.reasons}
        return plan

    def write(
        self, progress: Progress, trace: list[tuple[int, float, float]], norm: float, forces: Field
    ) -> None:
        """Replace the file with the current state."""
        arrays: dict[str, Array] = {
            "Y": progress.Y,
            "update": progress.update,
            "gains": progress.gains,
            "trace": np.array(trace, np.float64).reshape(-1, 3),
            **{f"{FORCES}{name}": part for name, part in forces.state().items()},
        }
        numbers = {
            name: getattr(progress, name)
            for name in ("iteration", "phase", "done", "values", "rates")
        }
        header = {
            "identity": self._identity,
            "progress": numbers,
            "gradient_norm": norm,
            "rng": to_plain(self._rng, arrays),
            "seed": to_plain(self._seed, arrays),
            "route": self._route,
        }
        write_archive(self.path, KIND, header, arrays)


@contextmanager
def opened_checkpoint(
    path: str | Path | None, every: int, parameters: dict[str, Any], given: Input, n_components: int
) -> Iterator[tuple[Checkpoint | None, Saved | None]]:
    """Reserve the checkpoint of a run, if it has one; give it, and the state that it holds."""
    if path is None:
        yield None, None
        return
    shape = n_components, given.shape[0]
    file = Checkpoint(path, every, parameters, given.fingerprint(), shape)
    with file.opened() as saved:
        yield file, saved


def _digested(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as plain values, with arrays replaced by their hashes."""
    plain = {}
    for name, value in parameters.items():
        arrays: dict[str, Array] = {}
        plain[name] = to_plain(as_alignment(value) if name == "align_to" else value, arrays)
        contents = [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
        if isinstance(value, MetricKernel):
            contents.append(_draws(getattr(value, "random_state", None)))
        if any(contents):
            digests = [hashlib.sha256(content).hexdigest() for content in contents]
            plain[name] = [plain[name], *digests]
    return plain


def _draws(random_state: Any) -> bytes:
    """Return the state of a kernel's own random generator, as bytes; empty if it has none."""
    if isinstance(random_state, np.random.Generator):
        return repr(random_state.bit_generator.state).encode()
    if isinstance(random_state, np.random.RandomState):
        return repr(random_state.get_state(legacy=False)).encode()
    return b""
