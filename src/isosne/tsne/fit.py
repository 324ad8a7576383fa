"""A fit: Algorithm 2 of the paper, in the order of its steps.

`start_run` is the algorithm: plan, kernel (step 1), joint probabilities (step 2) and initial map.
The `Run` that it returns has the forces, and takes the steps of the optimization (step 3).
`joint_probabilities` and `descend` are the stages for users who stop between them.
"""

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import is_one_of
from isosne._random import RandomState, as_generator
from isosne._tables import as_array
from isosne._types import Array, DenseMatrix, Joint, Neighbors
from isosne.affinities.dense import dense_affinities, given_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import merged_affinities, sparse_affinities, weighted_affinities
from isosne.errors import DataError, IsolatedPointsWarning, ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.labels import as_labels
from isosne.kernels.owner import OwnerKernel
from isosne.kernels.registry import as_kernel, for_table, for_views, uses_labels
from isosne.kernels.views import ViewsKernel
from isosne.layout import descent
from isosne.layout.anchors import Anchors
from isosne.layout.descent import Progress, State
from isosne.layout.forces import Method, as_method
from isosne.layout.objectives import Objective, as_objective
from isosne.layout.schedules import Schedule, as_schedule
from isosne.layout.start import check_spread, given_map, initial_map
from isosne.neighbors.search import make_search
from isosne.tsne.input import Input
from isosne.tsne.plan import PREVIOUS, Plan, choose_forces, make_plan, with_seed
from isosne.tsne.run import Reporter, Run, RunState, make_forces


class Job(NamedTuple):
    """What a run maps, and how: the rows of a fit, or those of a fitted map and new ones."""

    given: Input
    settings: dict[str, Any]
    """Parameters of `TSNE`; ``random_state`` is what the plan repeats the run with."""
    seed: RandomState
    anchors: Anchors | None = None
    far: NDArray[np.int64] | None = None
    """Indices of new rows that are far from all fitted rows, if a map is extended."""
    y: Any = None
    """Labels of the rows, for kernels that use them."""
    weights: NDArray[np.float64] | None = None
    """Number of copies that each row stands for; None if all are 1."""

    def resumed(self, saved: RunState) -> Self:
        """Return the job with the choices of an interrupted run."""
        settings, seed = dict(self.settings), self.seed
        if is_one_of(settings["affinities"], ("auto",)):
            settings["affinities"] = saved.affinities
        if self.far is None:  # the random numbers of an extension follow from its input
            settings["random_state"] = seed = saved.seed
        return self._replace(settings=settings, seed=seed)

    def identity(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the estimator, and what else a checkpoint knows a run by."""
        identity = dict(parameters)
        if self.far is not None and self.anchors is not None:  # an extension
            _, places, strength, _ = self.anchors
            n_iter = self.settings["schedule"].n_iter
            identity |= {"n_iter": n_iter, "strength": strength, "embedding_": places}
        if self.y is not None and uses_labels(parameters["kernel"]):
            identity |= {"y": as_labels(self.y, self.given.n_rows)}
        if self.weights is not None:
            identity |= {"sample_weight": self.weights}
        return identity

    def labels_of(self, landmarks: Array | None) -> Any:
        """Return the labels of the rows that are mapped."""
        return self.y if self.y is None or landmarks is None else as_array(self.y, "y")[landmarks]

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


def start_run(job: Job, saved: RunState | None, reporter: Reporter) -> Run:
    """Carry out Algorithm 2 up to the optimization (step 3), which the run goes on with."""
    job = job.resumed(saved) if saved else job
    rng = as_generator(job.seed)
    plan, kernel = plan_job(job, rng)
    if saved:
        plan = replace(plan, reasons=saved.reasons)
    reporter.say(str(replace(plan, notes=())))  # `fit` warns of them
    reporter.say("Computing affinities")
    kernel, landmarks = job.given.fit(kernel, rng)
    kernel.read_labels(job.labels_of(landmarks))
    if job.weights is not None and isinstance(kernel, OwnerKernel):
        kernel.read_weights(job.weights)
    draws = draw_seed(plan, rng)
    joint, isolated = make_affinities(kernel, plan, draws)
    anchors = job.anchors_among(landmarks)
    start = anchors if plan.start == PREVIOUS else plan.parameters["start"]
    points = job.given.start_points(kernel.X_fit_, landmarks)
    is_exaggerated = plan.parameters["schedule"].phases[0].exaggeration > 1
    seen = (start, points, joint, plan.n_components, rng)
    Y = initial_map(*seen, is_exaggerated=is_exaggerated)
    made = (plan, kernel, joint, isolated, landmarks, anchors, job.far, draws)
    run = Run(*made, Progress.at(Y))
    if saved:
        run.restore(saved)
    return run


def revived_run(model: Any) -> Run:
    """Return the run of a model from a file; its affinities are computed again."""
    plan, kernel, draws = model.plan_, model.kernel_, model._finished.draws
    joint, _ = make_affinities(kernel, plan, draws)
    landmarks, anchors = (getattr(model, k, None) for k in ("landmark_indices_", "alignment_"))
    made = (plan, kernel, joint, model.isolated_, landmarks, anchors, getattr(model, "far_", None))
    progress = Progress.at(np.ascontiguousarray(model.embedding_.T), model.n_iter_)
    return Run(*made, draws, progress, [tuple(row) for row in model.trace_.tolist()])


def plan_job(job: Job, rng: np.random.Generator) -> tuple[Plan, MetricKernel]:
    """Return the plan of a job, and its unfitted kernel with the seed of this run."""
    kernel = for_views(job.settings["kernel"], job.given.layout)
    kernel = as_kernel(kernel, job.given.shape[0], rng)
    kernel = for_table(kernel) if job.given.has_codes else kernel
    plan = make_plan(kernel, job.given.size(kernel), job.settings, job.anchors)
    if job.weights is not None:
        check_weighable(kernel, plan)
    return plan, with_seed(plan.parameters["kernel"], getattr(kernel, "random_state", None))


def check_weighable(kernel: MetricKernel, plan: Plan) -> None:
    """Raise an error if a plan has no place for weights of rows."""
    is_plain = isinstance(kernel, OwnerKernel) and not kernel.label_weight
    if not is_plain or plan.affinities != "sparse" or plan.n_rows is not None:
        rule = "be left out with kernels other than the owner kernel, with several views, labels "
        rule += "that guide the map, landmarks, and affinities that are not sparse"
        raise ParameterError("sample_weight", rule, hint="Leave out one of the two.")


def draw_seed(plan: Plan, rng: np.random.Generator) -> int:
    """Return the seed of sampled affinities; 0 for others, which draw nothing."""
    return int(rng.integers(2**31)) if plan.affinities == "sampled" else 0


def make_affinities(kernel: MetricKernel, plan: Plan, seed: int) -> tuple[Joint, NDArray[np.int64]]:
    """Return the joint probabilities in the form of the plan, and the isolated points."""
    joint: Joint
    what = "each is tied to its nearest neighbor"
    if isinstance(kernel, PrecomputedKernel):
        joint, isolated = given_affinities(kernel.X_fit_, as_dense=plan.affinities == "dense")
        what = "only repulsion acts on them"
    elif isinstance(kernel, ViewsKernel):
        joint, isolated = merged_affinities(kernel.whole_rows())
    elif plan.affinities == "dense":
        if kernel.reads_lists:
            kernel.read_lists(_find_neighbors(kernel, plan))
        joint, isolated = dense_affinities(kernel)
    elif plan.affinities == "sampled":
        joint = sample_affinities(kernel, seed)
        isolated = joint.isolated
    else:
        neighbors = _find_neighbors(kernel, plan)
        kernel.read_lists(neighbors)
        weights = getattr(kernel, "weights_", None)
        if weights is None:
            joint, isolated = sparse_affinities(kernel, neighbors, plan.n_partners)
        else:
            joint, isolated = weighted_affinities(kernel.copy_rows(neighbors), weights)
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
    return search.neighbors(plan.n_neighbors or n_relevant)


def sample_affinities(kernel: MetricKernel, seed: int = 0) -> SampledAffinities:
    """Return the sampled affinities of a kernel with cells."""
    assert isinstance(kernel, IsolationKernel)  # the plan allows sampling for no other kernel
    return SampledAffinities(kernel, random_state=seed)


DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("affinities", "start", "forces"), "auto"),
    **{"n_components": 2, "objective": "kl", "schedule": "annealed"},
    **{"exaggeration": None, "memory_limit": None},
}
"""Parameters of `TSNE` for steps 1 and 2 alone."""


class Similarities(NamedTuple):
    """A fitted kernel and the joint probabilities of its points."""

    kernel: MetricKernel
    joint: Joint


def joint_probabilities(
    X: Any,
    kernel: Any = "owner",
    y: Any = None,
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
    y : array of shape (n_samples,) or None, default=None
        Labels, for an `OwnerKernel` with ``label_weight``.
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
    given = Input(X, kernel, None, random_state)
    settings = DEFAULTS | {"kernel": kernel, "affinities": affinities}
    plan, own = plan_job(Job(given, settings, None), rng)
    fitted, _ = given.fit(own, rng)
    fitted.read_labels(y)
    return Similarities(fitted, make_affinities(fitted, plan, draw_seed(plan, rng))[0])


def similarities_of(fitted: Any) -> Similarities:
    """Return the kernel and P of a fitted `TSNE` or kernel, computed if it does not hold P."""
    if isinstance(fitted, MetricKernel):
        job = Job(Input(fitted.X_fit_, fitted), DEFAULTS | {"kernel": fitted}, None)
        plan, _ = plan_job(job, as_generator(0))
        own = copy(fitted)  # it reads the lists of this search; the user's stays as it is
        return Similarities(own, make_affinities(own, plan, 0)[0])
    joint = getattr(fitted, "affinities_", None)
    if joint is None:
        joint, _ = make_affinities(fitted.kernel_, fitted.plan_, fitted._finished.draws)
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
