"""A fit: Algorithm 2 of the paper, in the order of its steps.

`fit_steps` is the algorithm: plan, kernel (step 1), joint probabilities (step 2), initial map, and
forces. The `Run` that it returns takes the steps of the optimization (step 3).
`joint_probabilities` and `descend` are the stages for users who stop between them.
"""

import warnings
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._checks import is_one_of
from isosne._random import RandomState, as_generator
from isosne._types import Array, DenseMatrix, Joint, Neighbors
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
from isosne.layout.descent import Progress, State
from isosne.layout.forces import Method, as_method
from isosne.layout.objectives import Objective, as_objective
from isosne.layout.schedules import Schedule, as_schedule
from isosne.layout.start import check_spread, given_map, initial_map
from isosne.neighbors.search import make_search
from isosne.tsne.checkpoint import Checkpoint, Saved
from isosne.tsne.input import Input
from isosne.tsne.plan import Plan, Request, choose_forces, make_plan, with_seed
from isosne.tsne.run import Reporter, Run, make_forces


@dataclass(frozen=True)
class Job:
    """What a run maps: the rows of a fit, or those of a fitted map and new ones.

    ``first_seed`` is the seed of the fit of a map that is extended, and ``is_table`` says whether
    the rows are codes of a table.
    """

    given: Input
    seed: RandomState
    schedule: Schedule
    anchors: Anchors | None
    is_extension: bool = False
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
    seed = job.seed if saved is None or saved.seed is None else saved.seed
    unused = deepcopy(seed)  # a generator moves on as it draws
    rng = as_generator(seed)
    request = make_request(job, settings, rng, saved and saved.affinities)
    plan = make_plan(request, job.given.size(), settings)
    plan.parameters["random_state"] = job.first_seed if job.is_extension else unused
    if saved:
        plan = replace(plan, reasons=saved.reasons)
    if checkpoint:
        checkpoint.remember(seed, plan)
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
    job: Job, settings: Mapping[str, Any], rng: np.random.Generator, form: str | None = None
) -> Request:
    """Return the user's parameters; form: the affinities of an interrupted run that resumes."""
    affinities, neighbors = as_affinities(settings["affinities"])
    kernel = as_kernel(settings["kernel"], job.given.shape[0], rng)
    if job.is_table or job.given.forest is not None:
        kernel = for_table(kernel)
    is_carried = job.anchors is not None and (
        job.is_extension or is_one_of(settings["start"], ("auto",))
    )
    return Request(
        kernel=kernel,
        n_components=settings["n_components"],
        objective=as_objective(settings["objective"]),
        schedule=job.schedule,
        start=job.anchors if is_carried else settings["start"],
        affinities=affinities or form,
        neighbors=neighbors,
        forces=as_method(settings["forces"]),
        memory_limit=settings["memory_limit"],
        n_listed=job.given.n_listed(kernel),
        anchors=job.anchors,
        note=job.given.note,
        has_coordinates=job.given.forest is not None,
    )


def seeded_kernel(plan: Plan, request: Request) -> MetricKernel:
    """Return the unfitted kernel of a plan, with the seed of this run."""
    return with_seed(plan.parameters["kernel"], getattr(request.kernel, "random_state", None))


def draw_seed(plan: Plan, rng: np.random.Generator) -> int:
    """Return the seed of sampled affinities; 0 for others, which draw nothing."""
    return int(rng.integers(2**31)) if plan.affinities == "sampled" else 0


def make_affinities(kernel: MetricKernel, plan: Plan, seed: int) -> tuple[Joint, NDArray[np.int64]]:
    """Return the joint probabilities in the form that the plan specifies, and isolated points.

    seed: seed of the draws, if affinities are sampled.
    """
    joint: Joint
    what = "each is tied to its nearest neighbor"
    if isinstance(kernel, PrecomputedKernel):
        joint, isolated = given_affinities(kernel.X_fit_, as_dense=plan.affinities == "dense")
        what = "only repulsion acts on them"
    elif plan.affinities == "dense":
        if kernel.reads_lists:
            _find_neighbors(kernel, plan)
        joint, isolated = dense_affinities(kernel)
    elif plan.affinities == "sampled":
        joint = sample_affinities(kernel, seed)
        isolated = joint.isolated
    else:
        joint, isolated = sparse_affinities(kernel, _find_neighbors(kernel, plan), plan.n_partners)
    if len(isolated):
        if isinstance(kernel, IsolationKernel):
            what += ". Lower psi, or raise n_partitions"
        warnings.warn(
            f"{len(isolated)} of {plan.n_points} points have no affinity to any other point; "
            f"{what}.",
            IsolatedPointsWarning,
            stacklevel=5,
        )
    return joint, isolated


def _find_neighbors(kernel: MetricKernel, plan: Plan) -> Neighbors:
    """Return the neighbor lists; copies of the points in the search are freed on return."""
    search = make_search(kernel.X_fit_, kernel.metric_, plan.neighbors or "exact")
    n_relevant = min(kernel.costs(plan.n_points).n_relevant, plan.n_points - 1)
    neighbors = search.neighbors(plan.n_neighbors or n_relevant)
    kernel.read_lists(neighbors)
    return neighbors


def sample_affinities(kernel: MetricKernel, seed: int = 0) -> SampledAffinities:
    """Return the sampled affinities of a kernel with cells."""
    assert isinstance(kernel, IsolationKernel)  # the plan allows sampling for no other kernel
    return SampledAffinities(kernel, random_state=seed)


class Similarities(NamedTuple):
    """A fitted kernel and the joint probabilities of its points."""

    kernel: MetricKernel
    joint: Joint


def joint_probabilities(
    X: Any,
    kernel: Any = "owner",
    *,
    affinities: Any = "auto",
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
    job, request, plan = _plan_affinities(X, kernel, affinities, random_state, rng)
    fitted, _ = job.given.fit(seeded_kernel(plan, request), rng)
    return Similarities(fitted, make_affinities(fitted, plan, draw_seed(plan, rng))[0])


def _plan_affinities(
    X: Any, kernel: Any, affinities: Any, random_state: RandomState, rng: np.random.Generator
) -> tuple[Job, Request, Plan]:
    settings = {"kernel": kernel, "affinities": affinities, "memory_limit": None}
    settings |= {"n_components": 2, "objective": "kl", "start": "auto", "forces": "auto"}
    job = Job(Input.of(X, kernel, None, random_state), rng, as_schedule("annealed"), None)
    request = make_request(job, settings, rng)
    return job, request, make_plan(request, job.given.size(), settings)


def similarities_of(fitted: Any) -> Similarities:
    """Return the kernel and P of a fitted `TSNE` or kernel, computed if it does not hold P."""
    if isinstance(fitted, MetricKernel):
        *_, plan = _plan_affinities(fitted.X_fit_, fitted, "auto", 0, as_generator(0))
        return Similarities(fitted, make_affinities(fitted, plan, 0)[0])
    joint = getattr(fitted, "affinities_", None)
    if joint is None:
        joint, _ = make_affinities(fitted.kernel_, fitted.plan_, fitted._finished.seed)
    return Similarities(fitted.kernel_, joint)


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
    field = make_forces(joint, method, n_components, as_objective(objective))
    return descent.descend(field, Progress.at(Y), as_schedule(schedule))
