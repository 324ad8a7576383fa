"""A fit: Algorithm 2 of the paper, in the order of its steps.

`fit_steps` is the algorithm: plan, kernel (step 1), joint probabilities (step 2), initial map, and
forces. The `Run` that it returns takes the steps of the optimization (step 3).
`joint_probabilities` and `descend` are the stages for users who stop between them.
"""

import math
import warnings
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_number, is_one_of
from isosne._random import RandomState, as_generator
from isosne._types import Array, DenseMatrix, Joint, Neighbors, Points, SparseMatrix
from isosne.affinities.dense import dense_affinities, given_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import as_affinities, sparse_affinities
from isosne.errors import DataError, IsolatedPointsWarning
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.registry import as_kernel, for_table
from isosne.layout import descent
from isosne.layout.anchors import Anchors, make_pull
from isosne.layout.attraction import Attraction, DrawnAttraction, ListedAttraction, SplitForces
from isosne.layout.descent import Progress, State
from isosne.layout.exact import CustomForces, ExactForces, ExactRepulsion
from isosne.layout.forces import Forces, Mesh, Method, Repulsion, Tree, as_method
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.objectives import JSE, KL, NeRV, Objective, as_objective, dof_of
from isosne.layout.schedules import Schedule, as_schedule, lasting
from isosne.layout.start import check_spread, given_map, initial_map
from isosne.layout.tree import TreeRepulsion
from isosne.neighbors.search import make_search
from isosne.tsne.checkpoint import Checkpoint, Saved
from isosne.tsne.input import Input
from isosne.tsne.plan import Plan, Request, choose_forces, make_plan, seeded_kernel, useful_threads
from isosne.tsne.run import Reporter, Run
from isosne.tsne.series import gathering, joined


@dataclass(frozen=True)
class Job:
    """What a run maps: the rows of a fit, or those of a fitted map and new ones.

    ``earlier`` is the kernel of the map that is extended, ``first_seed`` the seed of its fit, and
    ``is_table`` says whether it compares the codes of a table.
    """

    given: Input
    seed: RandomState
    schedule: Schedule
    anchors: Anchors | None
    earlier: MetricKernel | None = None
    first_seed: Any = None
    is_table: bool = False

    def anchors_among(self, landmarks: Array | None) -> Anchors | None:
        """Return the anchors, counted among the landmarks if there are any."""
        if self.anchors is None or landmarks is None:
            return self.anchors
        anchors = self.anchors.among(landmarks)
        if not len(anchors.rows):
            raise DataError(
                f"At least one landmark must have a place on the previous map; none of "
                f"{len(landmarks):,} has. Draw more landmarks, or map all rows."
            )
        return anchors

    def identity(self) -> dict[str, Any]:
        """Return what distinguishes an extension, besides the parameters, by name."""
        if self.earlier is None or self.anchors is None:
            return {}
        _, places, strength, _ = self.anchors
        return {"n_iter": self.schedule.n_iter, "strength": strength, "embedding_": places}


def extension_job(model: Any, added: Points, n_iter: int, strength: float) -> Job:
    """Return the job that adds points to the map of a model, which is enlarged for them.

    Random numbers follow from the seed of the fit and the number of points; a seed that is not a
    number, which a model file does not hold, counts as 0.
    """
    kernel, n = model.kernel_, len(model.embedding_)
    scale = math.sqrt(1 + added.shape[0] / n)
    places = np.asarray(scale * model.embedding_, np.float32)
    seed = model.plan_.parameters["random_state"]
    number = int(seed) if isinstance(seed, int | np.integer) else 0
    return Job(
        Input(joined(kernel.X_fit_, added), None, kernel.metric),
        np.random.default_rng([number, n]),
        gathering(n_iter, schedule_of(model.schedule, model.exaggeration)),
        Anchors(np.arange(n), places, strength, scale),
        earlier=kernel,
        first_seed=seed,
        is_table=hasattr(model, "table_"),
    )


class Steps(NamedTuple):
    """What the steps of a fit have made, up to the run that optimizes the map."""

    plan: Plan
    kernel: MetricKernel
    landmarks: Array | None
    """Row indices of the mapped points, if they are landmarks."""
    joint: Joint
    isolated: NDArray[np.int64]
    anchors: Anchors | None
    draws: int
    """Seed of sampled affinities."""
    run: Run


def fit_steps(
    job: Job,
    settings: Mapping[str, Any],
    checkpoint: Checkpoint | None,
    saved: Saved | None,
    reporter: Reporter,
) -> Steps:
    """Carry out Algorithm 2 up to the optimization; settings are the parameters of `TSNE`."""
    seed = saved.seed if saved else job.seed
    unused = deepcopy(seed)  # a generator moves on as it draws
    rng = saved.generator() if saved else as_generator(seed)
    if checkpoint:
        checkpoint.remember(rng, seed)

    request = make_request(job, settings, rng, saved.route if saved else {})
    plan = make_plan(request, job.given.size(), settings)
    plan.parameters["random_state"] = unused if job.earlier is None else job.first_seed
    if checkpoint:
        plan = checkpoint.follow(plan, saved)
    reporter.say(str(plan))
    reporter.say("Computing affinities")

    kernel, landmarks = job.given.fit(seeded_kernel(plan, request), rng)
    draws = draw_seed(plan, rng)
    joint, isolated = make_affinities(kernel, plan, draws)
    anchors = job.anchors_among(landmarks)
    start = anchors if request.start is job.anchors else plan.parameters["start"]
    points = job.given.start_points(kernel.X_fit_, landmarks)
    Y = initial_map(start, points, joint, plan.n_components, rng)
    forces = make_forces(joint, plan.parameters["forces"], plan.n_components, request.objective)
    pull = make_pull(anchors, plan.n_points)
    run = Run(forces, job.schedule, Progress.at(Y), plan.n_threads, pull)
    if saved:
        run.restore(saved)
    return Steps(plan, kernel, landmarks, joint, isolated, anchors, draws, run)


def make_request(
    job: Job, settings: Mapping[str, Any], rng: np.random.Generator, route: Mapping[str, Any]
) -> Request:
    """Return the user's parameters, with the choices of an interrupted run if it resumes."""
    affinities, neighbors = as_affinities(settings["affinities"])
    forces = as_method(settings["forces"])
    if forces is None and route.get("forces"):
        forces = as_method(route["forces"])
    kernel = as_kernel(settings["kernel"], job.given.shape[0], rng)
    if job.is_table or job.given.forest is not None:
        kernel = for_table(kernel)
    is_carried = job.anchors is not None and (
        job.earlier is not None or is_one_of(settings["start"], ("auto",))
    )
    return Request(
        kernel=kernel,
        n_components=settings["n_components"],
        objective=as_objective(settings["objective"]),
        schedule=job.schedule,
        start=job.anchors if is_carried else settings["start"],
        affinities=affinities or route.get("affinities"),
        neighbors=neighbors or route.get("neighbors"),
        forces=forces,
        memory_limit=settings["memory_limit"],
        n_listed=job.given.n_listed(kernel),
        anchors=job.anchors,
        note=job.given.note,
        has_coordinates=job.given.forest is not None,
    )


def schedule_of(schedule: Any, exaggeration: float | None) -> Schedule:
    """Return the schedule of a name or an object, with an exaggeration that lasts."""
    phases = as_schedule(schedule)
    if exaggeration is None:
        return phases
    check_number(exaggeration, "exaggeration", low=1, hint="1 changes nothing.")
    return lasting(phases, float(exaggeration))


def draw_seed(plan: Plan, rng: np.random.Generator) -> int:
    """Return the seed of sampled affinities; 0 for others, which draw nothing."""
    return int(rng.integers(2**31)) if plan.affinities == "sampled" else 0


def make_affinities(kernel: MetricKernel, plan: Plan, seed: int) -> tuple[Joint, NDArray[np.int64]]:
    """Return the joint probabilities in the form that the plan specifies, and isolated points.

    seed: seed of the draws, if affinities are sampled.
    """
    joint: Joint
    if isinstance(kernel, PrecomputedKernel):
        joint, isolated = given_affinities(kernel.X_fit_, as_dense=plan.affinities == "dense")
        _warn_of_isolated(isolated, plan.n_points, "only repulsion acts on them")
        return joint, isolated
    if plan.affinities == "dense":
        joint, isolated = dense_affinities(kernel)
    elif plan.affinities == "sampled":
        joint = sample_affinities(kernel, seed)
        isolated = joint.isolated
    else:
        joint, isolated = sparse_affinities(kernel, _find_neighbors(kernel, plan), plan.n_partners)
    what = "each is tied to its nearest neighbor"
    if isinstance(kernel, IsolationKernel):
        what += ". Lower psi, or raise n_partitions"
    _warn_of_isolated(isolated, plan.n_points, what)
    return joint, isolated


def _find_neighbors(kernel: MetricKernel, plan: Plan) -> Neighbors:
    """Return the neighbor lists; the copies of the points in the search are freed on return."""
    search = make_search(kernel.X_fit_, kernel.metric_, plan.neighbors or "exact")
    return search.neighbors(plan.n_neighbors or 1)


def sample_affinities(kernel: MetricKernel, seed: int = 0) -> SampledAffinities:
    """Return the sampled affinities of a kernel with cells."""
    assert isinstance(kernel, IsolationKernel)  # the plan allows sampling for no other kernel
    return SampledAffinities(kernel, random_state=seed)


def _warn_of_isolated(isolated: NDArray[np.int64], n_points: int, what: str) -> None:
    if len(isolated):
        warnings.warn(
            f"{len(isolated)} of {n_points} points have no affinity to any other point; {what}.",
            IsolatedPointsWarning,
            stacklevel=6,
        )


def make_forces(joint: Joint, method: Method, n_components: int, objective: Objective) -> Forces:
    """Return the forces on the points of a map: attraction by `joint`, repulsion by `method`."""
    dof = dof_of(objective)
    if isinstance(joint, DenseMatrix):
        if isinstance(objective, KL | NeRV | JSE):
            return ExactForces(joint, objective, dof)
        return CustomForces(joint, objective)
    attraction: Attraction
    if isinstance(joint, SparseMatrix):
        attraction = ListedAttraction(joint, dof)
    else:
        attraction = DrawnAttraction(joint, dof)
    repulsion: Repulsion = ExactRepulsion(dof)
    if isinstance(method, Mesh):
        repulsion = MeshRepulsion(n_components, dof, method.accuracy)
    elif isinstance(method, Tree):
        repulsion = TreeRepulsion(n_components, dof, method.theta)
    return SplitForces(attraction, repulsion, dof)


class Similarities(NamedTuple):
    """A fitted kernel and the joint probabilities of its points."""

    kernel: MetricKernel
    joint: Joint


def joint_probabilities(
    X: Any,
    kernel: Any = "owner",
    *,
    affinities: Any = "auto",
    memory_limit: int | str | None = None,
    random_state: RandomState = None,
) -> Similarities:
    """Return the fitted kernel and the joint probabilities P: steps 1 and 2, without a map.

    Parameters
    ----------
    X : array, CSR, data frame, path, or Dask array or data frame
        The points.
    kernel : str or kernel, default="owner"
        Similarity of the points; see `TSNE`.
    affinities : str or Sparse, default="auto"
        Pairs with a probability; see `TSNE`.
    memory_limit : int, str or None, default=None
        Memory that may be added; see `TSNE`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the kernel's samples.

    Returns
    -------
    Similarities
        ``kernel``, which is fitted, and ``joint``: P in the form that the plan of `TSNE` chooses.
        They are those of ``TSNE(kernel, random_state=random_state).fit(X)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import joint_probabilities
    >>> kernel, P = joint_probabilities(load_iris().data, random_state=0)
    >>> kernel.X_fit_.shape, type(P).__name__
    ((150, 4), 'SparseMatrix')
    """
    rng = as_generator(random_state)
    job, request, plan = _plan_affinities(X, kernel, affinities, memory_limit, rng, random_state)
    fitted, _ = job.given.fit(seeded_kernel(plan, request), rng)
    return Similarities(fitted, make_affinities(fitted, plan, draw_seed(plan, rng))[0])


def _plan_affinities(
    X: Any,
    kernel: Any,
    affinities: Any,
    memory_limit: int | str | None,
    rng: np.random.Generator,
    random_state: RandomState,
) -> tuple[Job, Request, Plan]:
    settings = {
        "kernel": kernel,
        "n_components": 2,
        "objective": "kl",
        "start": "auto",
        "affinities": affinities,
        "forces": "auto",
        "memory_limit": memory_limit,
    }
    given = Input.of(X, kernel, None, random_state)
    job = Job(given, rng, as_schedule("annealed"), None)
    request = make_request(job, settings, rng, {})
    return job, request, make_plan(request, given.size(), settings)


def similarities_of(fitted: Any) -> Similarities:
    """Return the kernel and P of a fitted `TSNE` or kernel, computed if it does not hold P."""
    if not isinstance(fitted, MetricKernel):
        if hasattr(fitted, "affinities_"):
            return Similarities(fitted.kernel_, fitted.affinities_)
        joint, _ = make_affinities(fitted.kernel_, fitted.plan_, fitted._finished.seed)
        return Similarities(fitted.kernel_, joint)
    rng = as_generator(0)
    *_, plan = _plan_affinities(fitted.X_fit_, fitted, "auto", None, rng, 0)
    return Similarities(fitted, make_affinities(fitted, plan, 0)[0])


def descend(
    joint: Joint,
    start: Any,
    *,
    schedule: str | Schedule = "annealed",
    objective: str | Objective = "kl",
    forces: str | Method = "auto",
) -> Iterator[State]:
    """Yield the state of a map after each step of the optimization (step 3).

    Parameters
    ----------
    joint : DenseMatrix, SparseMatrix or SampledAffinities
        The joint probabilities, of `joint_probabilities` or of a fitted `TSNE`.
    start : array of shape (n_samples, n_components)
        Initial coordinates; they are copied.
    schedule : str or Schedule, default="annealed"
        Phases of the optimization; see `TSNE`.
    objective : str or objective, default="kl"
        Objective to minimize; see `TSNE`.
    forces : str, Mesh or Tree, default="auto"
        Method for the repulsive forces; see `TSNE`.

    Yields
    ------
    State
        The state after a step; ``Y`` is the map (n_components, n_samples), which the next step
        modifies in place.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from isosne import descend, joint_probabilities
    >>> P = joint_probabilities(load_iris().data, random_state=0).joint
    >>> start = 1e-4 * np.random.default_rng(0).normal(size=(150, 2))
    >>> for state in descend(P, start):
    ...     if state.iteration == 100:
    ...         break
    >>> state.Y.shape
    (2, 150)
    """
    places = np.asarray(start)
    n, n_components = places.shape if places.ndim == 2 else (len(places), 1)
    Y = check_spread(given_map(start, n, n_components), "start")
    form = "dense" if isinstance(joint, DenseMatrix) else "sparse"
    method = choose_forces(as_method(forces), form, n, n_components)
    phases = as_schedule(schedule)
    field = make_forces(joint, method, n_components, as_objective(objective))
    return descent.descend(field, Progress.at(Y), phases)


def revived_run(model: Any, seed: int) -> Run:
    """Return the run of a model from a file; its affinities and forces are computed again."""
    plan, n = model.plan_, len(model.embedding_)
    model.affinities_, _ = make_affinities(model.kernel_, plan, seed)
    objective = as_objective(model.objective)
    method = plan.parameters["forces"]
    forces = make_forces(model.affinities_, method, plan.n_components, objective)
    progress = Progress.at(np.ascontiguousarray(model.embedding_.T), model.n_iter_)
    pull = make_pull(getattr(model, "alignment_", None), n)
    schedule = schedule_of(model.schedule, model.exaggeration)
    run = Run(forces, schedule, progress, useful_threads(n, plan.forces), pull)
    run.trace = [(int(i), float(value), float(norm)) for i, value, norm in model.trace_]
    return run
