"""TSNE: wires the steps of the paper together. It holds no mathematics."""

import logging
import sys
import time
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import check_count, check_number, check_points, check_width
from isosne._numba import n_threads, threads
from isosne._random import RandomState, as_generator
from isosne._types import Array, DenseMatrix, Joint, Points, SparseMatrix
from isosne.affinities.dense import dense_affinities
from isosne.affinities.sampled import SampledAffinities
from isosne.affinities.sparse import sparse_affinities
from isosne.errors import DivergedError, IsolatedPointsWarning, ParameterError
from isosne.kernels._base import MetricKernel
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.knn import AdaptiveGaussianKernel, KNNKernel
from isosne.layout.attraction import DrawnAttraction, ListedAttraction
from isosne.layout.descent import State, advance, descend
from isosne.layout.exact import ExactForces, ExactRepulsion
from isosne.layout.mesh import MeshRepulsion
from isosne.layout.objectives import Objective, as_objective
from isosne.layout.schedules import Schedule, as_schedule, lasting, plain
from isosne.layout.split import Attraction, Repulsion, SplitForces
from isosne.layout.start import place_start
from isosne.layout.tree import TreeRepulsion
from isosne.neighbors import make_search
from isosne.placing import Placer
from isosne.plan import Plan, Wishes, make_plan

logger = logging.getLogger("isosne")
Forces = ExactForces | SplitForces
PAIRS_A_THREAD = 500_000
"""Pairs below which a thread costs more to wake, at every step, than it saves."""
TRACE_EVERY = 50
"""Steps between the values of the objective that `trace_` keeps."""
KERNELS: dict[str, Callable[[int], Any]] = {
    "isolation": lambda n: IsolationKernel(),
    "gaussian": lambda n: GaussianKernel(min(30.0, (n - 1) / 3) if n > 4 else 1.0),
    "adaptive": lambda n: AdaptiveGaussianKernel(min(7, n - 1)),
    "knn": lambda n: KNNKernel(min(7, n - 1)),
}


class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Draw a map of high-dimensional points: t-SNE with the isolation kernel.

    Parameters
    ----------
    kernel : str or kernel, default="isolation"
        Similarity of the points: "isolation", "gaussian", "adaptive", "knn", or an object such as
        ``IsolationKernel(psi=64)``.
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    objective : str or objective, default="kl"
        What is minimized: "kl", "nerv", "jse", or ``NeRV(trade_off)``, ``JSE(mixture)``.
    dof : float, default=1.0
        Degrees of freedom of the map similarity; infinity is a Gaussian (symmetric SNE).
    schedule : str or Schedule, default="standard"
        "standard", "paper" (the authors' numbers) or "opt_sne" (stops by itself).
    start : str or array, default="auto"
        "pca", "spectral", "random" or coordinates (n_samples, n_components); "auto": "pca", and
        "spectral" for precomputed distances.
    exaggeration : float or None, default=None
        Factor of the attraction that stays to the end; 2 to 4 draws tighter clusters. None: that
        of the schedule, 1 as a rule.
    affinities : {"auto", "dense", "sparse", "sampled"}, default="auto"
        All pairs; neighbors alone; or partners drawn from all pairs, for broad isolation kernels
        on many points. "auto" decides by size and memory.
    forces : {"auto", "exact", "mesh", "tree"}, default="auto"
        How points push each other: every pair, by a mesh and Fourier transforms, or by a tree
        (Barnes-Hut).
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbors are found where only they are compared.
    mesh_accuracy : float, default=0.01
        Relative error of the forces of a mesh to aim at.
    theta : float, default=0.5
        Width of a tree's cell, relative to its distance, up to which it counts as one point.
    memory_limit : int, str or None, default=None
        Bytes that may be used, such as 2_000_000_000 or "2GB". None: the environment variable
        ISOSNE_MEMORY_LIMIT, else what is free. What would not fit is refused before it starts.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the kernel's draws and of the start; 0 is a seed.
    n_jobs : int or None, default=None
        Number of threads; None: as many as Numba uses. The map does not depend on it.
    verbose : bool, default=False
        Whether to write progress to standard error.
    callback : callable or None, default=None
        Called with the State after each step; a true answer ends the run.

    Attributes
    ----------
    embedding_ : array of float32, shape (n_samples, n_components)
        The map.
    kernel_ : kernel
        The fitted kernel.
    affinities_ : DenseMatrix, SparseMatrix or SampledAffinities
        The joint probabilities.
    plan_ : Plan
        What was chosen, and why.
    trace_ : array of shape (n, 3)
        Iteration, objective and length of the gradient, every 50 steps and at the end.
    kl_divergence_ : float
        The objective at the end.
    n_iter_ : int
        Steps taken.
    isolated_ : array of int
        Points that share no cell with any other; each is tied to its nearest neighbor.

    Notes
    -----
    Steps 1 to 3 of the paper's Algorithm 2 with m = n. Departures from the paper: the schedule and
    the start are those in general use today; ``schedule="paper", start="random"`` has the authors'.

    Cost: up to 10 000 points all pairs are compared, O(n^2) time for each of about 750 steps, and
    n^2 to 4 n^2 bytes. Above, a step takes time in proportion to n, and memory is 2 kB a point.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE
    >>> TSNE(random_state=0).fit_transform(load_iris().data).shape
    (150, 2)
    """

    embedding_: NDArray[np.float32]
    trace_: NDArray[np.float64]

    def __init__(
        self,
        kernel: Any = "isolation",
        *,
        n_components: int = 2,
        objective: Any = "kl",
        dof: float = 1.0,
        schedule: Any = "standard",
        exaggeration: float | None = None,
        start: Any = "auto",
        affinities: str = "auto",
        forces: str = "auto",
        neighbors: str = "auto",
        mesh_accuracy: float = 0.01,
        theta: float = 0.5,
        memory_limit: int | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callable[[State], object] | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.objective = objective
        self.dof = dof
        self.schedule = schedule
        self.exaggeration = exaggeration
        self.start = start
        self.affinities = affinities
        self.forces = forces
        self.neighbors = neighbors
        self.mesh_accuracy = mesh_accuracy
        self.theta = theta
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:
        """Map the points.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; for a kernel with ``metric="precomputed"``, their distances.
        y : None
            Ignored.

        Returns
        -------
        TSNE
            The fitted estimator; the map is in ``embedding_``.
        """
        with threads(self.n_jobs):
            objective, schedule = as_objective(self.objective), self._schedule()
            self._check_parameters()
            rng = as_generator(self.random_state)
            points = check_points(X, min_rows=2)
            unfitted = self._make_kernel(points.shape[0], rng)
            wishes = self._wishes(points)
            plan = make_plan(unfitted, points.shape, self.n_components, objective, wishes)
            self._say(str(plan))
            kernel = unfitted.fit(points)
            joint, isolated = self._join(kernel, plan, rng)
            Y = place_start(self._start_name(kernel), kernel.X_fit_, joint, self.n_components, rng)
            run = Run(self._forces(joint, plan, objective), schedule, Y)
            try:
                self._descend(run, schedule)
            finally:
                if run.is_usable:
                    validate_data(self, X, reset=True, skip_check_array=True)
                    self.kernel_, self.plan_, self.affinities_ = kernel, plan, joint
                    self.isolated_ = isolated
                    self._keep(run)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float32]:
        """Map the points and return the map.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points.
        y : None
            Ignored.

        Returns
        -------
        array of float32, shape (n_samples, n_components)
            The map.
        """
        return self.fit(X).embedding_

    def continue_fit(self, n_iter: int) -> Self:
        """Take more steps from where the map is, as in the last phase of the schedule.

        Parameters
        ----------
        n_iter : int
            Number of steps.

        Returns
        -------
        TSNE
            The estimator itself.
        """
        check_is_fitted(self)
        check_count(n_iter, "n_iter", low=1, hint="Pass the number of further steps.")
        with threads(self.n_jobs):
            run = self._run.resumed()
            try:
                self._descend(run, plain(n_iter, run.schedule))
            finally:
                if run.is_usable:
                    self._keep(run)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Place further points on the map; the map stays as it is.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n, n_features)
            Any points. Each is placed independently of the others; a copy of a fitted point gets
            that point's place.

        Returns
        -------
        array of float32, shape (n, n_components)
            Their places.
        """
        check_is_fitted(self)
        with threads(self.n_jobs):
            points = check_points(X)
            check_width(points, self.n_features_in_, type(self).__name__)
            validate_data(self, X, reset=False, skip_check_array=True)
            run = self._run
            if run.placer is None:
                settings = self.embedding_, run.forces.dof, run.schedule.phases[-1].exaggeration
                joint = self.affinities_
                source = joint if isinstance(joint, SampledAffinities) else None
                run.placer = Placer(self.kernel_, self.plan_, source, settings)
            return run.placer.place(points)

    def plan(self, X: Any) -> Plan:
        """Say what `fit` would do with these points, without doing it.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points.

        Returns
        -------
        Plan
            Print it.
        """
        self._check_parameters()
        points = check_points(X, min_rows=2)
        kernel = self._make_kernel(points.shape[0], np.random.default_rng(0))
        objective, wishes = as_objective(self.objective), self._wishes(points)
        return make_plan(kernel, points.shape, self.n_components, objective, wishes)

    def _wishes(self, points: Points) -> Wishes:
        neighbors = self.neighbors
        if isinstance(points, csr_array) and neighbors == "auto":
            neighbors = "exact"
        return Wishes(
            self.affinities, self.forces, neighbors, self.memory_limit, self.mesh_accuracy
        )

    def _schedule(self) -> Schedule:
        schedule = as_schedule(self.schedule)
        if self.exaggeration is None:
            return schedule
        check_number(self.exaggeration, "exaggeration", low=1, hint="1 changes nothing.")
        return lasting(schedule, float(self.exaggeration))

    def _check_parameters(self) -> None:
        hint = "Maps have one, two or three dimensions."
        check_count(self.n_components, "n_components", low=1, high=3, hint=hint)
        if not isinstance(self.dof, Real) or isinstance(self.dof, bool) or not self.dof > 0:
            raise ParameterError(
                f"dof must be a number above 0; got dof={self.dof!r}. 1 is the usual Student's t."
            )
        hint = "0.03 is as accurate as other packages; 0.01 draws better maps."
        check_number(self.mesh_accuracy, "mesh_accuracy", low=0.003, high=0.2, hint=hint)
        check_number(self.theta, "theta", low=0, high=1, hint="0.5 is usual; 0 is exact.")

    def _make_kernel(self, n: int, rng: np.random.Generator) -> Any:
        is_name = isinstance(self.kernel, str)
        if self.kernel not in KERNELS if is_name else not isinstance(self.kernel, MetricKernel):
            raise ParameterError(
                f"kernel must be one of {', '.join(KERNELS)} or a kernel object; "
                f"got {self.kernel!r}. Pass for example IsolationKernel(psi=64)."
            )
        kernel = KERNELS[self.kernel](n) if is_name else clone(self.kernel)
        if "random_state" in kernel.get_params() and kernel.random_state is None:
            kernel.set_params(random_state=int(rng.integers(2**31)))
        kernel.check_parameters(n)
        if isinstance(kernel, IsolationKernel) and self.affinities in ("dense", "sampled"):
            kernel.set_params(n_partitions=kernel.drawn_if_auto())
        return kernel

    def _join(self, kernel: Any, plan: Plan, rng: np.random.Generator) -> tuple[Joint, Array]:
        joint: Joint
        if plan.affinities == "dense":
            joint, isolated = dense_affinities(kernel)
        elif plan.affinities == "sampled":
            joint = SampledAffinities(kernel, random_state=int(rng.integers(2**31)))
            isolated = joint.isolated
        else:
            search = make_search(kernel.X_fit_, kernel.metric_, plan.neighbors or "exact")
            neighbors = search.neighbors(plan.n_neighbors or 1)
            n_partners = kernel.n_partners(plan.n_points)
            joint, isolated = sparse_affinities(kernel, neighbors, n_partners)
        if len(isolated):
            warnings.warn(
                f"{len(isolated)} of {plan.n_points} points share no cell with any other; each is "
                "tied to its nearest neighbor. Lower psi, or raise n_partitions.",
                IsolatedPointsWarning,
                stacklevel=3,
            )
        return joint, isolated

    def _forces(self, joint: Joint, plan: Plan, objective: Objective) -> Forces:
        if isinstance(joint, DenseMatrix):
            return ExactForces(joint, objective, self.dof)
        attraction: Attraction
        if isinstance(joint, SparseMatrix):
            attraction = ListedAttraction(joint, self.dof)
        else:
            attraction = DrawnAttraction(joint, self.dof)
        repulsion: Repulsion
        if plan.forces == "mesh":
            accuracy = self.mesh_accuracy
            repulsion = MeshRepulsion(self.n_components, self.dof, accuracy, plan.n_points)
        elif plan.forces == "tree":
            repulsion = TreeRepulsion(self.n_components, self.dof, self.theta)
        else:
            repulsion = ExactRepulsion(self.dof)
        return SplitForces(attraction, repulsion, self.dof)

    def _start_name(self, kernel: Any) -> Any:
        precomputed = kernel.metric_.name == "precomputed"
        if isinstance(self.start, str) and self.start == "auto":
            return "spectral" if precomputed else "pca"
        if isinstance(self.start, str) and self.start == "pca" and precomputed:
            raise ParameterError(
                "start='pca' needs points; got metric='precomputed'. "
                "Choose 'spectral', 'random', or pass coordinates."
            )
        return self.start

    def _descend(self, run: "Run", schedule: Schedule) -> None:
        began = time.perf_counter()
        first = run.iteration
        useful_threads = max(1, run.forces.n_points**2 // PAIRS_A_THREAD)
        if not getattr(advance, "signatures", True):  # plain Python compiles nothing
            self._say("compiling the loops, once for this machine")
        try:
            with threads(min(n_threads(), useful_threads)):
                for state in descend(run.forces, run.Y, schedule, first=first):
                    run.iteration, run.gradient_norm = state.iteration, state.gradient_norm
                    if state.iteration % TRACE_EVERY == 0:
                        run.record()
                        self._say(f"{run}   {time.perf_counter() - began:.1f} s")
                    if self.callback is not None and self.callback(state):
                        break
        except DivergedError:
            run.is_usable = False
            raise
        except KeyboardInterrupt:
            warnings.warn(
                f"Stopped from the keyboard at step {run.iteration}; embedding_ holds the map so "
                "far. Call continue_fit for more steps.",
                RuntimeWarning,
                stacklevel=3,
            )
            raise
        self._say(f"{run.iteration - first} steps in {time.perf_counter() - began:.1f} s")

    def _keep(self, run: "Run") -> None:
        """Make a run the state of the estimator, whatever ended it."""
        run.record()
        self._run = run
        self.embedding_ = np.ascontiguousarray(run.Y.T)
        self.n_iter_ = run.iteration
        self.trace_ = np.array(run.trace)
        self.kl_divergence_ = run.trace[-1][1]

    def _say(self, message: str) -> None:
        logger.info(message)
        if self.verbose:
            sys.stderr.write(message + "\n")

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class Run:
    """A map on its way: forces, schedule, the map (d, n), and what has been recorded of it."""

    def __init__(self, forces: Forces, schedule: Schedule, Y: NDArray[np.float32]) -> None:
        self.forces = forces
        self.schedule = schedule
        self.Y = Y
        self.iteration = 0
        self.gradient_norm = 0.0
        self.trace: list[tuple[int, float, float]] = []
        self.is_usable = True
        self.placer: Placer | None = None  # made when the first further points come

    def __str__(self) -> str:
        iteration, value, _ = self.trace[-1]
        return f"step {iteration:5d}   objective {value:.4f}"

    def record(self) -> None:
        """Note the objective at this step, once."""
        if not self.trace or self.trace[-1][0] != self.iteration:
            value = self.forces.value(self.Y)
            self.trace.append((self.iteration, value, self.gradient_norm))

    def resumed(self) -> "Run":
        """Return a run that starts where this one ended."""
        run = Run(self.forces, self.schedule, self.Y.copy())
        run.iteration, run.trace = self.iteration, list(self.trace)
        return run
