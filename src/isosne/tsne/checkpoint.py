"""Checkpoints: the state of a run on disk, from which an interrupted run resumes.

After an interruption steps 1 and 2 are repeated from the same random numbers, and step 3 resumes
from the last state on disk, so the map is bit-identical to that of an uninterrupted run.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._checks import check_count, is_number
from isosne._files import only_user
from isosne._random import RandomState
from isosne._types import Array
from isosne.errors import ParameterError, keyword
from isosne.layout.descent import Progress
from isosne.layout.mesh import CUTOFFS, MAX_NODES
from isosne.tsne.input import Input
from isosne.tsne.model_file import (
    AFFINITIES,
    LARGEST_COUNT,
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

KIND = "checkpoint"
Trace = list[tuple[float, float, float]]
"""Iteration, objective and gradient norm."""


class RunState(NamedTuple):
    """The state of a run, and the choices that its repetition might make otherwise.

    ``affinities`` were chosen by the memory that was free.
    """

    progress: Progress
    trace: Trace
    gradient_norm: float
    forces: dict[str, Array]
    seed: RandomState
    affinities: str
    reasons: tuple[str, ...]


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

    def write(self, state: RunState) -> None:
        """Replace the file with the current state."""
        trace = np.array(state.trace, np.float64).reshape(-1, 3)
        content = state._asdict() | {"progress": vars(state.progress), "trace": trace}
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
    for name, value in relevant(parameters).items():
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
        check_map(state[name], name, shape)
    for name in ("iteration", "phase", "done"):
        check_value(state[name], name, is_count(state[name], 0, LARGEST_COUNT))
    for name in ("values", "rates"):
        state[name] = list(check_value(state[name], name, all(map(is_number, state[name]))))
    sharpness, affinities = state["sharpness"], content["affinities"]
    check_value(sharpness, "sharpness", is_number(sharpness) and sharpness >= 0)
    check_value(norm, "gradient_norm", is_number(norm))
    check_value(affinities, "affinities", affinities in AFFINITIES)
    check_value(seed, "seed", seed is None or is_count(seed))
    _check_forces(content["forces"], shape, has_order=affinities != "dense")
    trace: Trace = [tuple(row) for row in check_trace(content["trace"]).tolist()]
    reasons = tuple(map(str, content["reasons"]))
    return RunState(**content | {"progress": Progress(**state), "trace": trace, "reasons": reasons})


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
