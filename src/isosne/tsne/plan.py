"""The plan of a fit: all automatic choices, their reasons, and the memory they need.

`make_plan` turns a `Request`, the user's parameters, into a `Plan`, which prints the choices and
can be repeated: ``TSNE(**plan.parameters)``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from sklearn.base import clone

from isosne._html import pairs_table
from isosne._numba import n_threads
from isosne.affinities.sparse import Sparse
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.layout.anchors import Anchors
from isosne.layout.forces import Exact, Mesh, Method, Tree
from isosne.layout.mesh import THETA, widest_map
from isosne.layout.objectives import Objective, needs_all_pairs
from isosne.layout.schedules import Schedule
from isosne.layout.start import resolve_start
from isosne.neighbors.search import has_approximate_search
from isosne.tsne.memory import Costs, InputSize, memory_available, out_of_memory, size

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
EXACT_SEARCH_LIMIT = 10_000
"""Largest number of points for the exact neighbor search (docs/decisions/0007)."""
LONGEST_LIST = 400
"""Longest neighbor list; above, affinities are sampled if the kernel has cells. It corresponds to
50 points per cell (docs/decisions/0006 and 0008)."""
SHARE = 0.8
"""Fraction of the available memory that automatic choices may use (chosen; not measured)."""


class Request(NamedTuple):
    """The user's parameters; None leaves a choice to the plan."""

    kernel: MetricKernel
    """The unfitted kernel, with its seed."""
    n_components: int
    objective: Objective
    schedule: Schedule
    start: Any
    affinities: str | None = None
    neighbors: str | None = None
    forces: Method | None = None
    memory_limit: int | str | None = None
    n_listed: int | None = None
    """Distances per row of a sparse matrix of distances; None for other input."""
    note: str = ""
    """What the plan says about the input."""
    has_coordinates: bool = False
    """Whether the input has coordinates beside the codes that the kernel compares."""
    anchors: Anchors | None = None
    """Places of rows on a previous map."""


def memory_costs(request: Request, kernel: MetricKernel, given: InputSize) -> Costs:
    """Return the memory that a request needs, and the list lengths of its resolved kernel."""
    n = given.n_points
    costs, start = kernel.costs(n), chosen_start(request, kernel)
    return Costs(
        given,
        costs if request.n_listed is None else costs.within(request.n_listed),
        start if isinstance(start, str) else "",
        request.n_components,
        request.forces or _default_forces(n, request.n_components),
        choose_search(request, "sparse", kernel, given) == "approximate",
        n_threads(),
        has_points=kernel.metric != "precomputed",
        is_graph=not has_points(kernel),
    )


def chosen_start(request: Request, kernel: MetricKernel) -> Any:
    """Return the start of a map, with "auto" resolved."""
    metric = "euclidean" if request.has_coordinates else kernel.metric
    return resolve_start(request.start, metric, has_points=has_points(kernel))


def resolved_kernel(request: Request, n_points: int) -> MetricKernel:
    """Return the unfitted kernel with its own automatic choices made for n points."""
    must_draw = request.affinities in ("dense", "sampled")
    return request.kernel.resolved(n_points, must_draw=must_draw, n_listed=request.n_listed)


def has_points(kernel: MetricKernel) -> bool:
    """Return whether the input is points or distances, and not affinities."""
    return not isinstance(kernel, PrecomputedKernel)


def choose_affinities(
    costs: Costs, request: Request, given: InputSize, available: int
) -> tuple[str, str]:
    """Return the form of the affinities, and the reason if it was chosen automatically."""
    wish, objective = request.affinities, request.objective
    if isinstance(request.kernel, PrecomputedKernel):
        return _given_form(request, given)
    if request.n_listed is not None:
        return _listed_form(request)
    if needs_all_pairs(objective):
        if wish not in (None, "dense"):
            rule = f"be 'dense' with the objective {objective}, which compares all pairs"
            hint = f"Choose {keyword('objective', 'kl')}, or dense affinities."
            raise ParameterError("affinities", rule, wish, hint)
        return "dense", "" if wish else f"{type(objective).__name__} compares all pairs"
    if wish is not None:
        _check_possible(wish, costs)
        return wish, ""
    return _choose_by_size(costs, request.forces, given.n_points, available)


def _given_form(request: Request, given: InputSize) -> tuple[str, str]:
    """Return the form of precomputed affinities: dense or sparse, as they are."""
    form = "sparse" if given.n_entries is not None else "dense"
    if needs_all_pairs(request.objective):
        form = "dense"
    if request.affinities not in (None, form):
        rule = f"be {form!r} for these precomputed affinities"
        raise ParameterError("affinities", rule, request.affinities, "Leave it out.")
    return form, "the affinities are precomputed"


def _listed_form(request: Request) -> tuple[str, str]:
    """Return the form of a sparse matrix of distances, which leaves most pairs out."""
    if needs_all_pairs(request.objective):
        rule = "be 'kl' for a sparse matrix of distances, which leaves most pairs out"
        hint = "Pass a dense matrix of distances."
        raise ParameterError("objective", rule, type(request.objective).__name__, hint)
    if request.affinities not in (None, "sparse"):
        rule = "be 'sparse' for a sparse matrix of distances, which leaves most pairs out"
        hint = "Leave it out, or pass a dense matrix of distances."
        raise ParameterError("affinities", rule, request.affinities, hint)
    return "sparse", "the distances are those to neighbors"


def _check_possible(wish: str, costs: Costs) -> None:
    if wish != "dense" and "sparse" not in costs.bytes:
        rule = "be 'dense' with a user-defined kernel, which compares all pairs"
        raise ParameterError("affinities", rule, wish, f"Pass {keyword('affinities', 'dense')}.")
    if wish == "sampled" and "sampled" not in costs.bytes:
        rule = "be 'dense' or 'sparse' with a kernel that has no cells to draw from"
        hint = "Pass IsolationKernel(n_partitions=200), or choose 'sparse'."
        raise ParameterError("affinities", rule, wish, hint)


def _choose_by_size(costs: Costs, forces: Method | None, n: int, available: int) -> tuple[str, str]:
    if "sparse" not in costs.bytes:
        return "dense", "a user-defined kernel compares all pairs"
    fits = {name: needed <= SHARE * available for name, needed in costs.bytes.items()}
    needs_lists = isinstance(forces, Mesh | Tree)
    if costs.kernel.needs_lists_only and costs.bytes["sparse"] <= available:
        return "sparse", "the kernel needs neighbor lists only"
    if n <= DENSE_LIMIT and fits["dense"] and not needs_lists:
        needed = size(costs.bytes["dense"])
        return "dense", f"all pairs take {needed} and n is at most {DENSE_LIMIT:,}"
    reason = f"all pairs would take {size(costs.bytes['dense'])}"
    if n > DENSE_LIMIT:
        reason = f"all pairs take too long above {DENSE_LIMIT:,} points"
    elif needs_lists:
        reason = f"forces on a {forces.name} need sparse or sampled affinities"  # type: ignore[union-attr]  # Mesh or Tree
    if "sampled" in fits and (costs.n_neighbors > LONGEST_LIST or not fits["sparse"]):
        choice = "sampled"
        why = f"a point has {costs.n_neighbors:,} similar points, too many to list"
    else:
        choice, why = "sparse", ""
    if costs.bytes[choice] > available:
        choice, why = _least(costs, n, needs_lists), "nothing takes less memory"
    return choice, f"{reason}; {why}" if why else reason


def _least(costs: Costs, n: int, needs_lists: bool) -> str:
    """Return the form that needs the least memory, of those that "auto" may choose."""
    without = "dense" if needs_lists or n > DENSE_LIMIT else None
    return min((name for name in costs.bytes if name != without), key=costs.bytes.__getitem__)


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


def choose_search(
    request: Request, affinities: str, kernel: MetricKernel, given: InputSize
) -> str | None:
    """Return the neighbor search, or None if affinities are not sparse."""
    if affinities != "sparse" or not has_points(kernel):
        return None
    if request.neighbors is not None:
        return request.neighbors
    can = has_approximate_search(kernel.metric, is_sparse=given.n_entries is not None)
    return "approximate" if can and given.n_points > EXACT_SEARCH_LIMIT else "exact"


PAIRS_PER_THREAD, POINTS_PER_THREAD = 500_000, 4_000
"""Work per step and thread: pairs with exact forces, otherwise points. With less, a further thread
saves little, and beside other busy programs it costs much, because threads wait for each other
several times per step, most often with a mesh (docs/decisions/0013)."""


@dataclass(frozen=True)
class Plan:
    """The plan of a fit: all automatic choices, their reasons, and the memory they need.

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
        Method for the repulsive forces, with ``accuracy`` or ``theta``.
    widest : float or None
        Map width up to which the mesh keeps its accuracy.
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
    reasons : tuple of str
        Reasons for the choices.
    n_rows, n_pool : int or None
        Number of rows of the input and of the pool, if landmarks are mapped.
    alignment : str or None
        Rows that are held at their places on a previous map, and the strength of the pull.
    parameters : dict
        Parameters of a `TSNE` that repeats the run, with every choice made.

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
    accuracy: float | None
    theta: float | None
    widest: float | None
    objective: str
    n_iter: int
    n_threads: int = field(compare=False)
    bytes_needed: int | None = field(compare=False)
    bytes_available: int | None = field(compare=False)
    reasons: tuple[str, ...] = field(default=(), compare=False)
    n_rows: int | None = None
    n_pool: int | None = None
    alignment: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        lines = [
            f"points      {self._points()}",
            f"kernel      {self.kernel}",
            f"affinities  {self._affinities()}",
            f"start       {self.start}",
            f"forces      {self._forces()}",
            f"objective   {self.objective}, at most {self.n_iter:,} steps",
            f"threads     {self.n_threads}",
            *self._memory(),
        ]
        if self.alignment is not None:
            lines.insert(4, f"alignment   {self.alignment}")
        return "\n".join([*lines, *(f"reason      {reason}" for reason in self.reasons)])

    def _repr_html_(self) -> str:
        lines = (line.partition(" ") for line in str(self).splitlines())
        return pairs_table((name, value.strip()) for name, _, value in lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the choices as plain values by name, without ``parameters``."""
        names = [field.name for field in fields(self) if field.name != "parameters"]
        return {name: getattr(self, name) for name in names}

    def _memory(self) -> list[str]:
        if self.bytes_needed is None or self.bytes_available is None:
            return []
        needed, available = size(self.bytes_needed), size(self.bytes_available)
        return [f"memory      {needed} more than in use now; {available} available"]

    def _points(self) -> str:
        mapped = f"{self.n_points:,} to {self.n_components} dimensions"
        if self.n_rows is None:
            return mapped
        return f"{mapped}; landmarks of {self.n_rows:,} rows, from a pool of {self.n_pool:,}"

    def _affinities(self) -> str:
        if self.neighbors is None:
            return self.affinities
        listed = f"{self.affinities}, {self.n_neighbors} {self.neighbors} neighbors per point"
        if self.n_partners == self.n_neighbors:
            return listed
        return f"{listed}, {self.n_partners} of them with a probability"

    def _forces(self) -> str:
        if self.accuracy is not None and self.widest is not None:
            return (
                f"mesh, accuracy {self.accuracy:g}; a tree if the map is wider than "
                f"{self.widest:,.0f}"
            )
        return self.forces if self.theta is None else f"tree, theta {self.theta:g}"


def make_plan(request: Request, given: InputSize, parameters: Mapping[str, Any]) -> Plan:
    """Return the plan for an input of this size; raise an error if it does not fit in memory.

    parameters: the estimator's parameters; ``Plan.parameters`` has them with every choice made.
    """
    n = given.n_points
    kernel = resolved_kernel(request, n)
    available = memory_available(request.memory_limit)
    costs = memory_costs(request, kernel, given)
    affinities, reason = choose_affinities(costs, request, given, available)
    if costs.bytes[affinities] > available:
        is_fixed = needs_all_pairs(request.objective) or not has_points(kernel)
        is_fixed |= request.n_listed is not None
        raise out_of_memory(
            affinities,
            costs,
            (affinities,) if is_fixed else tuple(costs.bytes),
            available,
            lambda n: memory_costs(request, resolved_kernel(request, n), given.fewer(n)).bytes[
                affinities
            ],
        )
    method = choose_forces(request.forces, affinities, n, request.n_components)
    neighbors = choose_search(request, affinities, kernel, given)
    start = chosen_start(request, kernel)
    return Plan(
        n_points=n,
        n_components=request.n_components,
        kernel=str(_unseeded(kernel, None)),
        affinities=affinities,
        neighbors=neighbors,
        n_neighbors=costs.n_neighbors if neighbors else None,
        n_partners=costs.n_partners if neighbors else None,
        start=_describe_start(start),
        **_force_settings(method, request.n_components),
        objective=type(request.objective).__name__,
        n_iter=request.schedule.n_iter,
        n_threads=useful_threads(n, method.name),
        bytes_needed=costs.bytes[affinities],
        bytes_available=available,
        reasons=tuple(part for part in (reason, request.note) if part),
        n_rows=given.n_rows,
        n_pool=None if given.n_rows is None else given.n_pool,
        alignment=_describe_alignment(request.anchors, given.n_rows or n),
        parameters={
            **parameters,
            "kernel": _unseeded(kernel, parameters["kernel"]),
            "objective": request.objective,
            "schedule": request.schedule,
            "exaggeration": None,
            "start": parameters["start"] if isinstance(start, Anchors) else start,
            "affinities": Sparse(neighbors=neighbors) if neighbors else affinities,
            "forces": method,
        },
    )


def _describe_start(start: Any) -> str:
    if isinstance(start, Anchors):
        return "previous map"
    return start if isinstance(start, str) else "given coordinates"


def _describe_alignment(anchors: Anchors | None, n_rows: int) -> str | None:
    if anchors is None:
        return None
    matched = f"{len(anchors.rows):,} of {n_rows:,} rows have a place on the previous map"
    scale = "" if anchors.scale == 1 else f", scaled by {anchors.scale:.3g}"
    return f"{matched}{scale}; strength {anchors.strength:g}"


def _force_settings(method: Method, n_components: int) -> dict[str, Any]:
    """Return the fields of a plan that describe the repulsive forces."""
    mesh = method if isinstance(method, Mesh) else None
    return {
        "forces": method.name,
        "accuracy": mesh and mesh.accuracy,
        "theta": method.theta if isinstance(method, Tree) else None,
        "widest": mesh and widest_map(n_components, mesh.accuracy),
    }


def seeded_kernel(plan: Plan, request: Request) -> MetricKernel:
    """Return the unfitted kernel of a plan, with the seed of this run."""
    own: MetricKernel = clone(plan.parameters["kernel"])
    if "random_state" in own.get_params():
        own.set_params(random_state=request.kernel.get_params()["random_state"])
    return own


def _unseeded(kernel: MetricKernel, asked: Any) -> MetricKernel:
    """Return the kernel with the user's own seed, if there is one."""
    own: MetricKernel = clone(kernel)
    if "random_state" in own.get_params():
        own.set_params(random_state=getattr(asked, "random_state", None))
    return own


def useful_threads(n_points: int, forces: str) -> int:
    """Return the number of threads that step 3 of a map of n points can use."""
    is_exact = forces == "exact"
    most = n_points**2 // PAIRS_PER_THREAD if is_exact else n_points // POINTS_PER_THREAD
    return min(n_threads(), max(1, most))
