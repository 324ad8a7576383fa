"""The plan of a fit: automatic choices, their reasons, and the memory they need.

`make_plan` turns the user's parameters into a `Plan`, which prints the choices and can be repeated:
``TSNE(**plan.parameters)``. Local scaling of the owner kernel is decided later, from its lists
(`kernels.owner`), and so is a tree in place of a mesh on a wide map (`layout.mesh`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sklearn.base import clone

from isosne._checks import check_number, is_one_of
from isosne._html import pairs_table
from isosne._machine import cpu_limit
from isosne._numba import most_threads
from isosne.affinities.sparse import Sparse, as_affinities
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.layout.anchors import Anchors
from isosne.layout.forces import Exact, Mesh, Method, Tree, as_method
from isosne.layout.mesh import THETA, widest_map
from isosne.layout.objectives import KL, Objective, as_objective
from isosne.layout.schedules import Schedule, as_schedule, lasting
from isosne.layout.start import resolve_start
from isosne.neighbors.search import usual_method
from isosne.tsne.memory import Costs, InputSize, memory_available, size

DENSE_LIMIT = 10_000
"""Largest number of points for dense affinities; above, n^2 pairs per step take too long on a few
cores (docs/decisions/0006)."""
EXACT_REPULSION_LIMIT = {1: 2_000, 2: 2_000, 3: 3_000}
"""Largest number of points, by map dimension, for exact repulsion; above, a mesh is faster, or in
3-D a tree (docs/decisions/0013; 1-D: no record of a measurement)."""
FEWEST_FOR_MESH = 100
"""Number of points below which a mesh is replaced by exact forces, which are faster: the noise of
the mesh, relative to the forces of so few points, makes maps worse or diverge (KL 0.40 instead of
0.19 at 60 points of a 4-D normal distribution, diverged below 30)."""
LONGEST_LIST = 400
"""Longest neighbor list; above, affinities are sampled if the kernel has cells. It corresponds to
50 points per cell (docs/decisions/0006 and 0008)."""
SHARE = 0.8
"""Fraction of the available memory that automatic choices may use (chosen; not measured)."""
MOST_COLUMNS = 30
"""Columns of a mixed table that a plan prints (chosen)."""
PREVIOUS = "previous map"
"""The start of a map that is aligned to another, as a plan names it."""


def schedule_of(schedule: Any, exaggeration: float | None) -> Schedule:
    """Return the schedule of a name or an object, with an exaggeration that lasts."""
    phases = as_schedule(schedule)
    if exaggeration is None:
        return phases
    check_number(exaggeration, "exaggeration", low=1, hint="1 changes nothing.")
    return lasting(phases, float(exaggeration))


def _possible_forms(
    kernel: MetricKernel, objective: Objective, costs: Costs
) -> tuple[tuple[str, ...], str]:
    """Return the possible forms of affinities, and why there are no others."""
    name, all_pairs = type(objective).__name__, not isinstance(objective, KL)
    if isinstance(kernel, PrecomputedKernel):
        is_dense = all_pairs or costs.given.n_entries is None
        return ("dense" if is_dense else "sparse",), "the affinities are precomputed"
    if costs.given.n_listed is not None:
        if all_pairs:
            rule = "be 'kl' for a sparse matrix of distances, which leaves most pairs out"
            raise ParameterError("objective", rule, name, "Pass a dense matrix of distances.")
        return ("sparse",), "the distances are those to neighbors"
    if costs.kernel.has_labels:
        if all_pairs:
            raise ParameterError("objective", "be 'kl' with label_weight", name, "Leave one out.")
        return ("sparse",), "labels have a share of the neighbor lists"
    if all_pairs:
        return ("dense",), f"{name} compares all pairs"
    if "sparse" not in costs.bytes:
        return ("dense",), "a user-defined kernel compares all pairs"
    return tuple(costs.bytes), "the kernel has no cells to draw from"


def _choose_affinities(
    wish: str | None, forces: Method | None, costs: Costs, allowed: tuple[tuple[str, ...], str]
) -> tuple[str, str]:
    """Return the form that the user wishes, or one of those that are allowed, and the reason."""
    forms, why = allowed
    if wish is not None and wish not in forms:
        rule = f"be {' or '.join(map(repr, forms))}, because {why}"
        raise ParameterError("affinities", rule, wish, "Leave it out.")
    if wish is not None or len(forms) == 1:
        return wish or forms[0], "" if wish else why
    n, needed, available = costs.given.n_points, costs.bytes, costs.available
    needs_lists = isinstance(forces, Mesh | Tree)
    if costs.kernel.needs_lists_only and needed["sparse"] <= available:
        return "sparse", "the kernel needs neighbor lists only"
    if n <= DENSE_LIMIT and needed["dense"] <= SHARE * available and not needs_lists:
        return "dense", f"all pairs take {size(needed['dense'])} and n is at most {DENSE_LIMIT:,}"
    reason = f"all pairs would take {size(needed['dense'])}"
    if n > DENSE_LIMIT:
        reason = f"all pairs take too long above {DENSE_LIMIT:,} points"
    elif needs_lists:
        reason = f"forces on a {costs.forces.name} need sparse or sampled affinities"
    has_long_lists = costs.kernel.n_relevant > LONGEST_LIST or needed["sparse"] > SHARE * available
    choice, why = "sparse", ""
    if "sampled" in forms and has_long_lists:
        choice = "sampled"
        why = f"; a point has {costs.kernel.n_relevant:,} similar points, too many to list"
    if needed[choice] > available:
        slow = "dense" if needs_lists or n > DENSE_LIMIT else None
        choice = min((form for form in forms if form != slow), key=needed.__getitem__)
        why = "; nothing takes less memory"
    return choice, reason + why


def choose_forces(method: Method | None, affinities: str, n: int, n_components: int) -> Method:
    """Return the method for the repulsive forces between n points."""
    if method is None:
        return Exact() if affinities == "dense" else _default_forces(n, n_components)
    if isinstance(method, Mesh) and affinities != "dense" and n < FEWEST_FOR_MESH:
        return Exact()
    if affinities == "dense" and not isinstance(method, Exact):
        raise ParameterError(
            "forces",
            f"be 'exact' with {keyword('affinities', 'dense')}",
            method,
            "Exact forces cost nothing more when all pairs are available. Choose "
            f"{keyword('forces', 'exact')}, or {keyword('affinities', 'sparse')}.",
        )
    return method


def _default_forces(n_points: int, n_components: int) -> Method:
    if n_points <= EXACT_REPULSION_LIMIT[n_components]:
        return Exact()
    return Tree(THETA[3]) if n_components == 3 else Mesh()


def _choose_search(wish: str | None, kernel: MetricKernel, given: InputSize) -> str | None:
    """Return the neighbor search for sparse affinities; None if they are precomputed."""
    if isinstance(kernel, PrecomputedKernel):
        return None
    if wish is not None:
        return wish
    return usual_method(given.n_points, kernel.metric, is_sparse=given.n_entries is not None)


POINTS_PER_THREAD = 500
"""Work per step and thread; with less, a further thread saves little (docs/decisions/0024)."""


@dataclass(frozen=True)
class Plan:
    """The plan of a fit: automatic choices, their reasons, and the memory they need.

    ``print(plan)`` shows it; ``TSNE(**plan.parameters)`` repeats the run.

    Attributes
    ----------
    n_points, n_components : int
        Number of points to map, and dimensions of the map.
    kernel : str
        The kernel, with psi and the number of partitionings as numbers.
    affinities : {"dense", "sparse", "sampled"}
        Pairs with a probability: all pairs, neighbors, or partners drawn at random.
    neighbors : {"exact", "approximate"} or None
        Neighbor search, if affinities are sparse.
    n_neighbors, n_partners : int or None
        Number of neighbors per point to find, and number with a probability.
    start : str
        Initial coordinates.
    forces : {"exact", "mesh", "tree"}
        Method for the repulsive forces; ``parameters["forces"]`` has its accuracy.
    n_iter : int
        Largest number of steps.
    n_threads : int
        Number of threads in step 3.
    bytes_needed : int or None
        Upper bound of the memory that `fit` adds to the memory in use when it starts; from 5,000
        points on at most 1.5 times the peak. Rows that it reads from a file are included; points in
        memory, libraries and compiled code are not.
    bytes_available : int or None
        Memory that may be added: the free memory, or the limit if it is lower. A model that was
        read from a file has None for both, and no reasons.
    cpus, memory_source : str
        The CPUs that may be used if the machine has more, such as "2 of 64 CPUs: quota", and what
        limits the memory: "container limit", "memory_limit" or "ISOSNE_MEMORY_LIMIT"; else empty.
    reasons : tuple of str
        Reasons for the choices.
    n_rows, n_pool : int or None
        Number of rows of the input and of the pool, if landmarks are mapped.
    columns : tuple of str
        Columns of a mixed table with their kinds; of other tables none.
    notes : tuple of str
        Sentences about columns that distort the map, or are left out; `fit` warns of them.
    alignment : str or None
        Rows that are held at their places on a previous map, and the strength of the pull.
    parameters : dict
        Parameters of a `TSNE` that repeats the run, with these choices made.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE
    >>> plan = TSNE().plan(load_iris().data)
    >>> plan.n_points, plan.affinities, plan.n_iter
    (150, 'sparse', 500)
    """

    n_points: int
    n_components: int
    kernel: str
    affinities: str
    neighbors: str | None
    n_neighbors: int | None
    n_partners: int | None
    start: str
    forces: str
    objective: str
    n_iter: int
    n_threads: int = field(compare=False)
    bytes_needed: int | None = field(compare=False)
    bytes_available: int | None = field(compare=False)
    reasons: tuple[str, ...] = field(default=(), compare=False)
    cpus: str = field(default="", compare=False)
    memory_source: str = field(default="", compare=False)
    n_rows: int | None = None
    n_pool: int | None = None
    alignment: str | None = None
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        points = f"{self.n_points:,} to {self.n_components} dimensions"
        if self.n_rows is not None:
            points += f"; landmarks of {self.n_rows:,} rows, from a pool of {self.n_pool:,}"
        affinities = self.affinities
        if self.neighbors is not None:
            affinities += f", {self.n_neighbors} {self.neighbors} neighbors per point"
            if self.n_partners != self.n_neighbors:
                affinities += f", {self.n_partners} of them with a probability"
        lines = [
            f"points      {points}",
            f"kernel      {self.kernel}",
            f"affinities  {affinities}",
            f"start       {self.start}",
            f"forces      {_describe_forces(self.parameters['forces'], self.n_components)}",
            f"objective   {self.objective}, {self._steps} steps",
            f"threads     {self.n_threads}" + (f" ({self.cpus})" if self.cpus else ""),
        ]
        if self.alignment is not None:
            lines.insert(4, f"alignment   {self.alignment}")
        if self.bytes_needed is not None and self.bytes_available is not None:
            needed, available = size(self.bytes_needed), size(self.bytes_available)
            why = f": {self.memory_source}" if self.memory_source else ""
            lines.append(f"memory      {needed} more than in use now; {available} available{why}")
        if self.columns:
            more = len(self.columns) - MOST_COLUMNS
            listed = "; ".join(self.columns[:MOST_COLUMNS])
            lines.append(f"columns     {listed}{f'; and {more:,} more' if more > 0 else ''}")
        lines += [f"reason      {reason}" for reason in self.reasons]
        return "\n".join([*lines, *(f"note        {note}" for note in self.notes)])

    @property
    def _steps(self) -> str:
        """Numbers of steps after which the run can end."""
        fewest = self.parameters["schedule"].fewest
        # With sampled affinities, steps become shorter until the last.
        has_end = self.affinities == "sampled" or fewest == self.n_iter
        return f"{self.n_iter:,}" if has_end else f"{fewest:,} to {self.n_iter:,}"

    def _repr_html_(self) -> str:
        lines = (line.partition(" ") for line in str(self).splitlines())
        return pairs_table((name, value.strip()) for name, _, value in lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the choices as plain values by name, without ``parameters``."""
        names = [field.name for field in fields(self) if field.name != "parameters"]
        return {name: getattr(self, name) for name in names}


def make_plan(
    kernel: MetricKernel,
    given: InputSize,
    settings: Mapping[str, Any],
    anchors: Anchors | None = None,
) -> Plan:
    """Return the plan for an input of this size; raise an error if it does not fit in memory.

    kernel: unfitted. settings: the parameters of `TSNE`; ``Plan.parameters`` has them with the
    choices made. anchors: places of rows on a previous map.
    """
    n, n_components = given.n_points, settings["n_components"]
    wish, search = as_affinities(settings["affinities"])
    objective, forces = as_objective(settings["objective"]), as_method(settings["forces"])
    schedule = schedule_of(settings["schedule"], settings["exaggeration"])
    must_draw = wish in ("dense", "sampled")
    kernel = kernel.resolved(n, must_draw=must_draw, n_listed=given.n_listed)
    start = settings["start"]
    is_carried = anchors is not None and is_one_of(start, ("auto",))
    if not is_carried:
        has_points = not isinstance(kernel, PrecomputedKernel)
        metric = "euclidean" if given.note else kernel.metric  # a table has coordinates, too
        start = resolve_start(start, metric, has_points=has_points)
    search = _choose_search(search, kernel, given)
    costs = Costs(
        *(given, kernel, n_components, memory_available(settings["memory_limit"])),
        start=start if isinstance(start, str) else "",
        forces=forces or _default_forces(n, n_components),
        is_approximate=search == "approximate",
    )
    allowed = _possible_forms(kernel, objective, costs)
    affinities, reason = _choose_affinities(wish, forces, costs, allowed)
    costs.check(affinities, allowed[0], is_wish=wish is not None)
    method = choose_forces(forces, affinities, n, n_components)
    neighbors = search if affinities == "sparse" else None
    return Plan(
        n_points=n,
        n_components=n_components,
        kernel=str(with_seed(kernel, None)),
        affinities=affinities,
        neighbors=neighbors,
        n_neighbors=costs.kernel.n_relevant if neighbors else None,
        n_partners=costs.kernel.n_partners if neighbors else None,
        start=PREVIOUS if is_carried else start if isinstance(start, str) else "given coordinates",
        forces=method.name,
        objective=type(objective).__name__,
        n_iter=schedule.n_iter,
        n_threads=useful_threads(n),
        bytes_needed=costs.bytes[affinities],
        bytes_available=costs.available,
        reasons=tuple(part for part in (reason, given.note) if part),
        cpus=describe_cpus(),
        memory_source=costs.limit.reason,
        n_rows=given.n_rows,
        n_pool=given.n_pool,
        alignment=_describe_alignment(anchors, given.n_rows or n),
        columns=given.columns,
        notes=given.notes,
        parameters={
            **settings,
            "kernel": with_seed(kernel, getattr(settings["kernel"], "random_state", None)),
            "objective": objective,
            "schedule": schedule,
            "exaggeration": None,
            "start": start,
            "affinities": Sparse(neighbors=neighbors) if neighbors else affinities,
            "forces": method,
        },
    )


def describe_cpus() -> str:
    """Return how many CPUs may be used and why no more, if the machine has more."""
    limit = cpu_limit()
    return f"{limit.value} of {os.cpu_count()} CPUs: {limit.reason}" if limit.reason else ""


def _describe_alignment(anchors: Anchors | None, n_rows: int) -> str | None:
    if anchors is None:
        return None
    matched = f"{len(anchors.rows):,} of {n_rows:,} rows have a place on the previous map"
    scale = "" if anchors.scale == 1 else f", scaled by {anchors.scale:.3g}"
    return f"{matched}{scale}; strength {anchors.strength:g}"


def _describe_forces(method: Method, n_components: int) -> str:
    if isinstance(method, Mesh):
        widest = widest_map(n_components, method.accuracy)
        return f"mesh, accuracy {method.accuracy:g}; a tree if the map is wider than {widest:,.0f}"
    return f"tree, theta {method.theta:g}" if isinstance(method, Tree) else method.name


def with_seed(kernel: MetricKernel, seed: Any) -> MetricKernel:
    """Return an unfitted copy of a kernel, with this seed if it draws."""
    own: MetricKernel = clone(kernel)
    if "random_state" in own.get_params():
        own.set_params(random_state=seed)
    return own


def useful_threads(n_points: int) -> int:
    """Return the number of threads that step 3 of a map of n points can use."""
    return min(most_threads(), max(1, n_points // POINTS_PER_THREAD))
