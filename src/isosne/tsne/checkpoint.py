"""Checkpoints: the state of a run on disk, from which an interrupted run resumes.

After an interruption steps 1 and 2 are repeated from the same random numbers, and step 3 resumes
from the last state on disk, so the map is bit-identical to that of an uninterrupted run.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
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
from isosne.layout.descent import Progress
from isosne.layout.forces import Forces, as_method
from isosne.layout.mesh import CUTOFFS, MAX_NODES
from isosne.tsne.input import Input
from isosne.tsne.model_file import (
    AFFINITIES,
    LARGEST_COUNT,
    SEARCHES,
    check_array,
    check_map,
    check_permutation,
    check_trace,
    check_value,
    is_count,
    pack,
    relevant,
    unpack,
)
from isosne.tsne.plan import Plan

KIND = "checkpoint"
POSITIONS = {"PCG64": 0, "PCG64DXSM": 0, "MT19937": 624, "Philox": 4, "SFC64": 0}
"""Random generators of NumPy, and the last position in their state, which NumPy does not check."""


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
    """The file that holds the state of a run, written every so many steps.

    ``identity``: the parameters of the run and a hash of its input, by which the file is known.
    """

    def __init__(self, path: Path, every: int, identity: dict[str, Any]) -> None:
        hint = "Pass the number of steps between two checkpoints."
        self.path, self._identity = path, identity
        self.every = check_count(every, "every", low=1, hint=hint)
        self._rng: dict[str, Any] = {}
        self._seed: RandomState = None
        self._route: dict[str, Any] = {}

    def read(self, shape: tuple[int, int]) -> Saved | None:
        """Return the last state of a map (d, n), or None if there is no file.

        Raises an error if the file belongs to a different run.
        """
        if not self.path.exists():
            return None
        header, arrays = read_archive(self.path, KIND)
        with reading_archive(self.path, KIND):
            self._check_identity(header["identity"])
            return _restore({k: unpack(header[k], arrays) for k in Saved._fields}, shape)

    def _check_identity(self, saved: dict[str, Any]) -> None:
        for name in {**self._identity, **saved}:  # a parameter that is gone counts, too
            if name not in saved or saved[name] != self._identity.get(name):
                what = "the input" if name == "input" else f"parameter {keyword(name)}"
                raise RefusedError(
                    f"The checkpoint {self.path} belongs to a different run: {what} has changed. "
                    "Choose another file for this run; this one was not modified."
                )

    def remember(self, rng: np.random.Generator, seed: RandomState) -> None:
        """Store the initial state of the random generator, and its seed."""
        self._rng, self._seed = dict(rng.bit_generator.state), seed

    def follow(self, plan: Plan, saved: Saved | None) -> Plan:
        """Store the automatic choices, so that a resumed run does not depend on free memory.

        Return the plan with the reasons for the choices, which the first run had.
        """
        if saved:
            plan = replace(plan, reasons=tuple(saved.route["reasons"]))
        names = ("affinities", "neighbors", "forces", "reasons")
        self._route = {name: getattr(plan, name) for name in names}
        return plan

    def write(
        self, progress: Progress, trace: list[tuple[int, float, float]], norm: float, forces: Forces
    ) -> None:
        """Replace the file with the current state."""
        steps = np.array(trace, np.float64).reshape(-1, 3)
        state = (vars(progress), steps, norm, forces.state(), self._rng, self._route, self._seed)
        arrays: dict[str, Array] = {}
        content = zip(Saved._fields, state, strict=True)
        header = {name: pack(part, arrays, name) for name, part in content}
        write_archive(self.path, KIND, header | {"identity": self._identity}, arrays)


@contextmanager
def opened_checkpoint(
    path: str | Path | None, every: int, parameters: dict[str, Any], given: Input, n_components: int
) -> Iterator[tuple[Checkpoint | None, Saved | None]]:
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
    """Return parameters as plain values, with hashes of their arrays and generators."""
    identity = {}
    for name, value in relevant(parameters).items():
        arrays: dict[str, Array] = {}
        plain = pack(value, arrays, name)
        contents = [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
        own = getattr(value, "random_state", None)  # of a kernel
        if isinstance(own, np.random.Generator):
            contents.append(repr(own.bit_generator.state).encode())
        if isinstance(own, np.random.RandomState):
            contents.append(repr(own.get_state(legacy=False)).encode())
        identity[name] = [plain, *(hashlib.sha256(content).hexdigest() for content in contents)]
    return identity


def _restore(content: dict[str, Any], shape: tuple[int, int]) -> Saved:
    """Return the content of a file of this run, once all of it is checked."""
    state = content["progress"]
    for name in ("Y", "update", "gains"):
        check_map(state[name], name, shape)
    for name in ("iteration", "phase", "done"):
        check_value(state[name], name, is_count(state[name], 0, LARGEST_COUNT))
    for name in ("values", "rates"):
        state[name] = list(check_value(state[name], name, all(map(is_number, state[name]))))
    sharpness = state["sharpness"]
    check_value(sharpness, "sharpness", is_number(sharpness) and sharpness >= 0)
    norm, route, seed = content["gradient_norm"], content["route"], content["seed"]
    check_trace(content["trace"], state["iteration"])
    check_value(norm, "gradient_norm", is_number(norm))
    is_known = route["affinities"] in AFFINITIES and route["neighbors"] in SEARCHES
    is_text = all(isinstance(reason, str) for reason in route["reasons"])
    check_value(route, "route", is_known and is_text)
    as_method(route["forces"])
    check_value(seed, "seed", seed is None or is_count(seed))
    _check_forces(content["forces"], shape, has_order=route["affinities"] != "dense")
    trace = [(int(i), float(value), float(norm)) for i, value, norm in content["trace"]]
    generator = make_generator(content["rng"])
    seed = generator if seed is None else seed
    return Saved(Progress(**state), trace, norm, content["forces"], content["rng"], route, seed)


def _check_forces(state: Mapping[str, Array], shape: tuple[int, int], *, has_order: bool) -> None:
    """Raise an error if the state of the forces does not fit a map of this shape (d, n)."""
    n_components, n_points = shape
    if has_order:
        check_permutation(state["order"], n_points)
    if "mesh_sides" in state:
        sides = check_array(state["mesh_sides"], "mesh_sides", np.int64, (n_components,), low=1)
        if math.prod(sides.tolist()) > MAX_NODES:
            raise ValueError("mesh_sides has more nodes than a mesh can have")
        scale = check_array(state["mesh_scale"], "mesh_scale", np.float64, (4,))
        spacing, _, cutoff, n_pairs = scale.tolist()
        check_value(spacing, "the spacing of the mesh", spacing > 0)
        check_value(cutoff, "the cutoff of the near field", cutoff in CUTOFFS)
        check_value(n_pairs, "the number of near pairs", n_pairs >= 0)


def make_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Return a random generator in a stored state."""
    name = check_value(state["bit_generator"], "generator", state["bit_generator"] in POSITIONS)
    position = state["state"].get("pos", state.get("buffer_pos", 0))
    check_value(position, "pos of the random generator", is_count(position, 0, POSITIONS[name]))
    bits = getattr(np.random, name)()
    bits.state = dict(state)
    return np.random.Generator(bits)
