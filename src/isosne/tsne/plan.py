"""The plan of a fit: all automatic choices, their reasons, and the memory they need.

`make_plan` turns a `Request`, the user's parameters, into a `Plan`, which prints the choices and
can be repeated: ``TSNE(**plan.parameters)``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sklearn.base import clone

from isosne._html import pairs_table
from isosne._numba import n_threads
from isosne.affinities.sparse import Sparse
from isosne.kernels.base import MetricKernel
from isosne.layout.force_methods import Mesh, Method, Tree
from isosne.layout.mesh_repulsion import widest_map
from isosne.layout.objectives import needs_all_pairs
from isosne.layout.pull import Anchors
from isosne.tsne.choices import (
    Request,
    choose_affinities,
    choose_forces,
    choose_search,
    chosen_start,
    has_points,
    memory_costs,
    resolved_kernel,
)
from isosne.tsne.memory_budget import memory_available, out_of_memory, size
from isosne.tsne.peak_memory import InputSize

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
    bytes_needed : int
        Estimated peak of the memory that `fit` adds to the memory in use when it starts. Rows that
        it reads from a file are included; points in memory, libraries and compiled code are not.
    bytes_available : int or None
        Memory that may be added: the free memory, or the limit if it is lower. None for a model
        that was read from a file.
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
    n_threads: int
    bytes_needed: int
    bytes_available: int | None = field(compare=False)
    reasons: tuple[str, ...] = ()
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
            f"memory      {self._memory()}",
        ]
        if self.alignment is not None:
            lines.insert(4, f"alignment   {self.alignment}")
        return "\n".join([*lines, *(f"reason      {reason}" for reason in self.reasons)])

    def _repr_html_(self) -> str:
        lines = (line.partition(" ") for line in str(self).splitlines())
        return pairs_table((name, value.strip()) for name, _, value in lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the choices as plain values, without ``parameters``.

        Returns
        -------
        dict
            Names and values: numbers, strings and tuples.
        """
        names = [field.name for field in fields(self) if field.name != "parameters"]
        return {name: getattr(self, name) for name in names}

    def _memory(self) -> str:
        needed = size(self.bytes_needed)
        if self.bytes_available is None:
            return f"{needed} more than in use before the fit"
        return f"{needed} more than in use now; {size(self.bytes_available)} available"

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
    costs = memory_costs(request, given)
    affinities, reason = choose_affinities(costs, request, given, available)
    if costs.bytes[affinities] > available:
        is_fixed = needs_all_pairs(request.objective) or not has_points(kernel)
        is_fixed |= request.n_listed is not None
        raise out_of_memory(
            affinities,
            costs,
            (affinities,) if is_fixed else tuple(costs.bytes),
            available,
            lambda n: memory_costs(request, given.fewer(n)).bytes[affinities],
        )
    method = choose_forces(request, affinities, n)
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
    found: dict[str, Any] = dict.fromkeys(("accuracy", "theta", "widest"))
    if isinstance(method, Mesh):
        found["accuracy"] = method.accuracy
        found["widest"] = widest_map(n_components, method.accuracy)
    elif isinstance(method, Tree):
        found["theta"] = method.theta
    return {"forces": method.name, **found}


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
