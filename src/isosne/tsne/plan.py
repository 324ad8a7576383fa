"""Every "auto" of the estimator resolved in one place, with the reason and the bytes it takes."""

import math
import os
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psutil
from sklearn.base import clone

from isosne._types import Kernel
from isosne.errors import ParameterError
from isosne.layout.mesh import widest_map
from isosne.layout.objectives import Objective

DENSE_LIMIT = 10_000
"""Points beyond which all pairs take too long on a few cores, whatever memory there is."""
EXACT_REPULSION_LIMIT = {1: 2_000, 2: 3_000, 3: 15_000}
"""Points up to which the push of all pairs is as fast as a mesh, by dimensions of the map."""
EXACT_SEARCH_LIMIT = 20_000
"""Points up to which all distances are looked at for neighbors."""
LONGEST_LIST = 400
"""Neighbors of a point beyond which partners are drawn instead, if the kernel can."""
SHARE = 0.8
"""Share of the memory that "auto" uses."""
LIMIT_VARIABLE = "ISOSNE_MEMORY_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class Stored(NamedTuple):
    """What is not in memory before the run: rows that will be read."""

    n_rows: int | None = None
    """Rows of the input, if some of them are mapped as landmarks."""
    n_pool: int | None = None
    """Rows that are looked at then."""
    bytes_held: int = 0
    """Bytes that the rows read will take."""
    bytes_of_pool: int = 0
    """Bytes that they would take if some of them were mapped as landmarks."""


class Wishes(NamedTuple):
    """What a user may leave to the plan or decide: each "auto" or a name."""

    affinities: Any = "auto"
    forces: Any = "auto"
    neighbors: Any = "auto"
    memory_limit: Any = None
    mesh_accuracy: float = 0.01


CHOICES = {
    "affinities": ("auto", "dense", "sparse", "sampled"),
    "forces": ("auto", "exact", "mesh", "tree"),
    "neighbors": ("auto", "exact", "approximate"),
}


@dataclass(frozen=True)
class Plan:
    """What a fit will do. Prints as a short table."""

    n_points: int
    n_components: int
    kernel: str
    affinities: str
    n_neighbors: int | None
    neighbors: str | None
    forces: str
    widest: float | None
    bytes_needed: int
    bytes_available: int
    reasons: tuple[str, ...] = field(default=())
    n_rows: int | None = None
    n_pool: int | None = None

    def __str__(self) -> str:
        lists = f", {self.n_neighbors} {self.neighbors} neighbors a point" if self.neighbors else ""
        coarser = f"; a map wider than {self.widest:.0f} gets a coarser one" if self.widest else ""
        landmarks = (
            f"; landmarks of {self.n_rows:,} rows, of which the kernel sees {self.n_pool:,}"
            if self.n_rows
            else ""
        )
        lines = [
            f"points      {self.n_points:,} to {self.n_components} dimensions{landmarks}",
            f"kernel      {self.kernel}",
            f"affinities  {self.affinities}{lists}",
            f"forces      {self.forces}{coarser}",
            f"memory      {size(self.bytes_needed)} of {size(self.bytes_available)} available",
        ]
        return "\n".join([*lines, *(f"because     {reason}" for reason in self.reasons)])


class Costs:
    """Bytes that each form of the affinities takes at its peak, for a kernel and a shape."""

    def __init__(self, kernel: Kernel, n_points: int, n_features: int, held: int = 0) -> None:
        n = n_points
        self.n_neighbors = min(kernel.n_relevant(n), n - 1)
        partners = min(kernel.n_partners(n), n - 1)
        cells = kernel.cell_bytes(n)
        width = min(n_features, 10_000)
        copies = 8 * width  # points in the order of a search, and their products
        drawn = kernel.drawn_bytes(n, width)
        self.pair_bytes = kernel.pair_bytes(n)
        self.bytes = {
            "dense": n**2 * self.pair_bytes + n * (200 + 2 * copies) + drawn,
            "sparse": n * max(copies + 12 * self.n_neighbors, 32 * partners + 100),
        }
        if cells:
            # Cells, the members of each, and three sets of draws with their random numbers.
            self.bytes["sampled"] = n * (cells + copies + 2000)
        self.n_points, self.held = n, held
        self.bytes = {name: needed + held for name, needed in self.bytes.items()}

    def n_fitting(self, affinities: str, n_bytes: int) -> int:
        """Return how many points fit in so many bytes, besides what is held."""
        n, needed, left = self.n_points, self.bytes[affinities] - self.held, max(n_bytes, 0)
        if affinities != "dense":
            return int(n * left / needed)
        a, b = self.pair_bytes, needed / n - self.pair_bytes * n  # a n^2 + b n bytes
        return int(((b**2 + 4 * a * left) ** 0.5 - b) / (2 * a))


def make_plan(
    kernel: Kernel,
    shape: tuple[int, int],
    n_components: int,
    objective: Objective,
    wishes: Wishes = Wishes(),  # noqa: B008  an immutable tuple
    stored: Stored = Stored(),  # noqa: B008
) -> Plan:
    """Choose the form of the affinities and forces for points of this shape, or refuse."""
    for name, allowed in CHOICES.items():
        wish = getattr(wishes, name)
        if not isinstance(wish, str) or wish not in allowed:
            raise ParameterError(
                f"{name} must be one of {', '.join(allowed)}; got {wish!r}. "
                "'auto' chooses by size and memory."
            )
    n = shape[0]
    available = memory_available(wishes.memory_limit)
    costs = Costs(kernel, *shape, stored.bytes_held)
    affinities, reason = _choose_affinities(costs, n, objective, wishes, available)
    if costs.bytes[affinities] > available:
        raise ParameterError(_refusal(affinities, costs, stored, objective, available))
    is_dense = affinities == "dense"
    forces = wishes.forces
    if forces == "auto":
        forces = "exact" if is_dense or n <= EXACT_REPULSION_LIMIT[n_components] else "mesh"
    if is_dense and forces != "exact":
        raise ParameterError(
            f"forces={forces!r} needs affinities 'sparse' or 'sampled'; got 'dense'. "
            "With all pairs at hand exact forces cost nothing more: choose forces='exact'."
        )
    neighbors = None
    if affinities == "sparse":
        neighbors = wishes.neighbors
        if neighbors == "auto":
            can = kernel.has_approximate_neighbors() and n > EXACT_SEARCH_LIMIT
            neighbors = "approximate" if can else "exact"
    return Plan(
        n_points=n,
        n_components=n_components,
        kernel=_named(kernel),
        affinities=affinities,
        n_neighbors=costs.n_neighbors if affinities == "sparse" else None,
        neighbors=neighbors,
        forces=forces,
        widest=widest_map(n_components, wishes.mesh_accuracy, n) if forces == "mesh" else None,
        bytes_needed=costs.bytes[affinities],
        bytes_available=available,
        reasons=(reason,) if reason else (),
        n_rows=stored.n_rows,
        n_pool=stored.n_pool,
    )


def _named(kernel: Kernel) -> str:
    """Return the kernel as it was asked for; its seed may have been drawn."""
    own: Any = clone(kernel)
    if "random_state" in own.get_params():
        own.set_params(random_state=None)
    return str(own)


def _choose_affinities(
    costs: Costs, n: int, objective: Objective, wishes: Wishes, available: int
) -> tuple[str, str]:
    """Return the form of the affinities, and why it was chosen if it was."""
    wish: str = wishes.affinities
    if objective.needs_all_pairs:
        if wish not in ("auto", "dense"):
            raise ParameterError(
                f"{objective} compares all pairs and needs affinities='dense'; got {wish!r}. "
                "Choose objective='kl', or dense affinities."
            )
        return "dense", "" if wish == "dense" else f"{objective} compares all pairs"
    if wish == "sampled" and "sampled" not in costs.bytes:
        raise ParameterError(
            "affinities='sampled' draws from the cells of an isolation kernel; got a kernel "
            "without cells. Pass IsolationKernel(n_partitions=200), or choose 'sparse'."
        )
    if wish != "auto":
        return wish, ""
    fits = {name: needed <= SHARE * available for name, needed in costs.bytes.items()}
    needs_lists = wishes.forces in ("mesh", "tree")
    if n <= DENSE_LIMIT and fits["dense"] and not needs_lists:
        needed = size(costs.bytes["dense"])
        return "dense", f"all pairs take {needed} and n is at most {DENSE_LIMIT:,}"
    reason = f"all pairs would take {size(costs.bytes['dense'])}"
    if n > DENSE_LIMIT:
        reason = f"all pairs take too long above {DENSE_LIMIT:,} points"
    elif needs_lists:
        reason = f"forces {wishes.forces!r} go with partners that are listed or drawn"
    if "sampled" in fits and (costs.n_neighbors > LONGEST_LIST or not fits["sparse"]):
        choice, why = "sampled", f"a point has {costs.n_neighbors} similar ones: too many to list"
    else:
        choice, why = "sparse", ""
    if costs.bytes[choice] > available:
        choice, why = _least(costs, n, needs_lists), "nothing takes less memory"
    return choice, f"{reason}; {why}" if why else reason


def _least(costs: Costs, n: int, needs_lists: bool) -> str:
    """Return the form that takes the least memory, of those that may be chosen by rule."""
    without = "dense" if needs_lists or n > DENSE_LIMIT else None
    return min((name for name in costs.bytes if name != without), key=costs.bytes.__getitem__)


def _refusal(
    affinities: str, costs: Costs, stored: Stored, objective: Objective, available: int
) -> str:
    """Return the sentence that names what would fit."""
    names = ["dense"] if objective.needs_all_pairs else list(costs.bytes)
    others = [
        f"affinities={name!r} ({size(costs.bytes[name])})"
        for name in names
        if costs.bytes[name] <= available
    ]
    hint = _fewer(affinities, costs, stored, available)
    hint = f"choose {' or '.join(others)}, or {hint}" if others else hint
    return (
        f"affinities={affinities!r} of {costs.n_points:,} points need "
        f"{size(costs.bytes[affinities])}, and {size(available)} are available. "
        f"{hint[0].upper()}{hint[1:]}."
    )


def _fewer(affinities: str, costs: Costs, stored: Stored, available: int) -> str:
    """Return the number of points that fit; if none do, the memory that is needed."""
    held = stored.bytes_of_pool or costs.held
    n_fitting = costs.n_fitting(affinities, available - held)
    if n_fitting < 2:
        needed = math.ceil(1.01 * costs.bytes[affinities])  # not less when it is rounded
        return f"raise memory_limit to {size(needed)} or more"
    if costs.held:
        return f"map at most {n_fitting:,} of the rows: landmarks={n_fitting}"
    return f"fit on at most {n_fitting:,} points"


def memory_available(limit: Any = None) -> int:
    """Return the bytes that may be used: what is free, or a limit given here or in the environment.

    A limit is a number of bytes or a string such as "1.5GB"; ISOSNE_MEMORY_LIMIT is read if it is
    None.
    """
    free = int(psutil.virtual_memory().available)
    source = "memory_limit"
    if limit is None and os.environ.get(LIMIT_VARIABLE):
        limit, source = os.environ[LIMIT_VARIABLE], LIMIT_VARIABLE
    return free if limit is None else min(free, _as_bytes(limit, source))


def _as_bytes(limit: Any, source: str) -> int:
    text = str(limit).strip().lower()
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\+?\d+)?)\s*([kmgt]?)i?b?", text)
    if isinstance(limit, bool) or match is None or float(match[1]) <= 0:
        raise ParameterError(
            f"{source} must be a number of bytes or a size such as '1.5GB'; got {limit!r}. "
            "Leave it out to use what is free."
        )
    return int(float(match[1]) * UNITS[match[2]])


def size(n_bytes: int) -> str:
    """Return bytes for a person to read."""
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"
