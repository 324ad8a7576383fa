"""The choices of a plan: form of the affinities, neighbor search and forces, with the reasons."""

from typing import Any, NamedTuple

from isosne._numba import n_threads
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.precomputed import PrecomputedKernel
from isosne.layout.force_methods import Exact, Mesh, Method, Tree
from isosne.layout.mesh_repulsion import THETA
from isosne.layout.objectives import Objective, needs_all_pairs
from isosne.layout.pull import Anchors
from isosne.layout.schedules import Schedule
from isosne.layout.start import resolve_start
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import has_approximate_search
from isosne.tsne.memory_budget import size
from isosne.tsne.peak_memory import Costs, InputSize

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


def memory_costs(request: Request, given: InputSize) -> Costs:
    """Return the memory that a request needs, and the list lengths of its kernel."""
    n, kernel = given.n_points, resolved_kernel(request, given.n_points)
    costs = kernel.costs(n, given.n_features)
    start = chosen_start(request, kernel)
    return Costs(
        given,
        costs if request.n_listed is None else costs.within(request.n_listed),
        Metric(kernel.metric, kernel.p),
        start if isinstance(start, str) else "",
        request.n_components,
        request.forces or _default_forces(n, request.n_components),
        choose_search(request, "sparse", kernel, given) == "approximate",
        float(getattr(request.objective, "dof", 1.0)),
        request.schedule.n_iter,
        n_threads(),
        not has_points(kernel),
    )


def chosen_start(request: Request, kernel: MetricKernel) -> Any:
    """Return the start of a map, with "auto" resolved."""
    metric = "euclidean" if request.has_coordinates else kernel.metric
    return resolve_start(request.start, metric, has_points=has_points(kernel))


def resolved_kernel(request: Request, n_points: int) -> MetricKernel:
    """Return the unfitted kernel with its own automatic choices made for n points."""
    must_draw = request.affinities in ("dense", "sampled")
    return request.kernel._resolved(n_points, must_draw=must_draw, n_listed=request.n_listed)


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
    form = "sparse" if given.is_sparse else "dense"
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
        raise ParameterError(
            "affinities",
            "be 'dense' with a user-defined kernel, which compares all pairs",
            wish,
            f"Pass {keyword('affinities', 'dense')}.",
        )
    if wish == "sampled" and "sampled" not in costs.bytes:
        raise ParameterError(
            "affinities",
            "be 'dense' or 'sparse' with a kernel that has no cells to draw from",
            wish,
            "Pass IsolationKernel(n_partitions=200), or choose 'sparse'.",
        )


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


def choose_forces(request: Request, affinities: str, n: int) -> Method:
    """Return the method for the repulsive forces between n points."""
    method = request.forces
    if method is None:
        return Exact() if affinities == "dense" else _default_forces(n, request.n_components)
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
    can = has_approximate_search(kernel.metric, is_sparse=given.is_sparse)
    return "approximate" if can and given.n_points > EXACT_SEARCH_LIMIT else "exact"
