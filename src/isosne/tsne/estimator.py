"""TSNE: wires the steps of the paper together. It holds no mathematics."""

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import check_count, check_names, check_number, check_points, check_width
from isosne._numba import threads
from isosne._random import RandomState, as_generator
from isosne._types import Array, Joint
from isosne.affinities.sampled import SampledAffinities
from isosne.errors import ParameterError
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.registry import as_kernel
from isosne.layout.descent import Progress, State
from isosne.layout.objectives import Objective, as_objective
from isosne.layout.schedules import Schedule, as_schedule, lasting, plain
from isosne.layout.start import place_start, resolve_start
from isosne.sources import is_stored, open_rows
from isosne.tsne.assembly import Forces, ForceSettings, join, make_forces
from isosne.tsne.checkpoint import Checkpoint
from isosne.tsne.data import Input
from isosne.tsne.model_file import read_model, write_model
from isosne.tsne.placers import Placer, check_out, make_placer, place_checked
from isosne.tsne.plan import Plan, Wishes, make_plan
from isosne.tsne.run import Finished, Run

logger = logging.getLogger("isosne")
PLACE_BYTES = 2**26
"""Bytes of a block of rows that are placed together."""


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
    landmarks : int or None, default=None
        Number of rows to map, the paper's m: the kernel sees samples of all rows, and `place`
        puts every row on the map afterwards. None: all rows are mapped.
    landmark_choice : {"uniform", "spread"}, default="uniform"
        Landmarks as they come, or half of them where points are rare, so that rare kinds of points
        have more than their share and others at least half of it.
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
    landmark_indices_ : array of int
        The row that each point of the map is, if ``landmarks`` are mapped.

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
        landmarks: int | None = None,
        landmark_choice: str = "uniform",
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
        self.landmarks = landmarks
        self.landmark_choice = landmark_choice
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self, X: Any, y: Any = None, *, checkpoint: str | Path | None = None, every: int = 50
    ) -> Self:
        """Map the points.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The points, one in each row; for a kernel with ``metric="precomputed"``, their
            distances. A path names a file of rows: see `isosne.sources.open_rows`.
        y : None
            Ignored.
        checkpoint : path or None, default=None
            File in which the state of the run is kept. If it is there already, the run goes on
            from it and ends with the same map as if it had not been interrupted.
        every : int, default=50
            Steps between two states.

        Returns
        -------
        TSNE
            The fitted estimator; the map is in ``embedding_``.
        """
        with threads(self.n_jobs):
            objective, schedule = as_objective(self.objective), self._schedule()
            self._check_parameters()
            given = self._open(X)
            kept = self._checkpoint(checkpoint, every, given)
            saved = kept.read() if kept else None
            rng = saved.generator() if saved else as_generator(self.random_state)
            if kept:
                kept.remember(rng)
            unfitted = self._make_kernel(given.shape[0], rng)
            plan = self._make_plan(unfitted, given, objective, saved.route if saved else None)
            if kept:
                kept.follow(plan)
            self._say(str(plan))
            kernel, indices = given.fit(unfitted, rng)
            seed = int(rng.integers(2**31)) if plan.affinities == "sampled" else 0
            joint, isolated = join(kernel, plan, seed)
            start = resolve_start(self.start, kernel.metric_.name)
            Y = place_start(start, kernel.X_fit_, joint, self.n_components, rng)
            run = Run(self._forces(joint, plan, objective), schedule, Progress.at(Y))
            if saved:
                run.restore(saved)
            try:
                self._descend(run, kept)
            finally:
                if run.is_usable:
                    self._remember_input(X, given)
                    self.kernel_, self.plan_, self.affinities_ = kernel, plan, joint
                    self.isolated_ = isolated
                    self._set_or_remove("landmark_indices_", indices)
                    self._keep(run, seed)
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
            last = self._finished.run or self._revived()
            run = last.resumed(plain(n_iter, last.schedule))
            try:
                self._descend(run)
            finally:
                if run.is_usable:
                    self._keep(run, self._finished.seed)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Place further points on the map; the map stays as it is.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            Any points. Each is placed independently of the others; a copy of a fitted point gets
            that point's place.

        Returns
        -------
        array of float32, shape (n, n_components)
            Their places.
        """
        check_is_fitted(self)
        if is_stored(X):
            return self.place(X)
        with threads(self.n_jobs):
            points = check_points(X)
            check_width(points, self.n_features_in_, type(self).__name__)
            validate_data(self, X, reset=False, skip_check_array=True)
            return self._ready_placer().place(points)

    def place(self, X: Any, out: Any = None) -> NDArray[np.float32]:
        """Place all rows of an input of any size on the map, in memory that does not grow with it.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The rows; with landmarks, all that they were drawn from.
        out : array of float32, shape (n, n_components), default=None
            Where the places go, such as a memmap; None: a new array.

        Returns
        -------
        array of float32, shape (n, n_components)
            Their places, in the order of the rows.
        """
        check_is_fitted(self)
        rows = open_rows(X)
        shape = rows.shape[0], self._n_features_out
        if out is None:
            out = np.empty(shape, np.float32)
        check_out(out, shape)
        start = 0
        for places in self.place_blocks(rows):
            out[start : start + len(places)] = places
            start += len(places)
        placed: NDArray[np.float32] = out
        return placed

    def place_blocks(self, X: Any) -> Iterator[NDArray[np.float32]]:
        """Return an iterator over the places of all rows of an input, in blocks and in order.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The rows. Blocks of a Dask collection are placed where they are.

        Returns
        -------
        iterator of arrays of float32, shape (n_rows, n_components)
            Places of the next rows.
        """
        check_is_fitted(self)
        rows = open_rows(X)
        check_width(rows, self.n_features_in_, type(self).__name__)
        check_names(rows.column_names, getattr(self, "feature_names_in_", None))
        with threads(self.n_jobs):
            placer = self._ready_placer()
        return rows.apply(partial(place_checked, placer, self.n_jobs), PLACE_BYTES)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file, which `load` reads; replaces a file.

        Parameters
        ----------
        path : path
            The file.
        """
        check_is_fitted(self)
        write_model(path, self, self._finished.seed)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` has written, here or by an earlier version.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        TSNE
            The fitted estimator. ``affinities_`` is not kept: `continue_fit` makes it anew.
        """
        model = read_model(path, cls._get_param_names())
        self = cls(**model.parameters)
        for name, value in model.attributes.items():
            setattr(self, name, value)
        self._finished = Finished(model.start_of_draws)
        return self

    def _revived(self) -> Run:
        """Return the run of a model from a file, with what the file does not keep made anew."""
        self.affinities_, _ = join(self.kernel_, self.plan_, self._finished.seed)
        forces = self._forces(self.affinities_, self.plan_, as_objective(self.objective))
        Y = np.ascontiguousarray(self.embedding_.T)
        run = Run(forces, self._schedule(), Progress.at(Y, self.n_iter_))
        run.trace = [(int(i), float(value), float(norm)) for i, value, norm in self.trace_]
        return run

    def _ready_placer(self) -> Placer:
        finished = self._finished
        if finished.placer is None:
            exaggeration = self._schedule().phases[-1].exaggeration
            source = getattr(self, "affinities_", None)
            if self.plan_.affinities != "sampled":
                source = None
            elif source is None:
                source = SampledAffinities(self.kernel_, random_state=finished.seed)
            settings = self.embedding_, self.dof, exaggeration
            finished.placer = make_placer(self.kernel_, self.plan_, source, settings)
        return finished.placer

    def plan(self, X: Any) -> Plan:
        """Say what `fit` would do with these points, without doing it.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The points.

        Returns
        -------
        Plan
            Print it.
        """
        self._check_parameters()
        given = self._open(X)
        kernel = self._make_kernel(given.shape[0], np.random.default_rng(0))
        return self._make_plan(kernel, given, as_objective(self.objective))

    def _open(self, X: Any) -> Input:
        metric = getattr(self.kernel, "metric", "euclidean")
        return Input(X, self.landmarks, self.landmark_choice, metric)

    def _checkpoint(self, path: str | Path | None, every: int, given: Input) -> Checkpoint | None:
        if path is None:
            return None
        return Checkpoint(path, every, self.get_params(deep=False), given.fingerprint())

    def _make_plan(
        self, kernel: Any, given: Input, objective: Objective, route: dict[str, Any] | None = None
    ) -> Plan:
        """Return the plan; where an interrupted run has taken a route, that one."""
        neighbors = "exact" if given.is_sparse and self.neighbors == "auto" else self.neighbors
        wishes = Wishes(
            self.affinities, self.forces, neighbors, self.memory_limit, self.mesh_accuracy
        )._replace(**(route or {}))
        return make_plan(kernel, given.shape, self.n_components, objective, wishes, given.stored())

    def _remember_input(self, X: Any, given: Input) -> None:
        if not is_stored(X):
            validate_data(self, X, reset=True, skip_check_array=True)
            return
        self.n_features_in_ = given.shape[1]
        names = given.column_names
        self._set_or_remove("feature_names_in_", None if names is None else np.array(names, object))

    def _set_or_remove(self, name: str, value: Array | None) -> None:
        """Set an attribute, or remove that of an earlier fit."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

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
        kernel = as_kernel(self.kernel, n, rng)
        if isinstance(kernel, IsolationKernel) and self.affinities in ("dense", "sampled"):
            kernel.set_params(n_partitions=kernel.drawn_if_auto())
        return kernel

    def _forces(self, joint: Joint, plan: Plan, objective: Objective) -> Forces:
        settings = ForceSettings(self.dof, self.mesh_accuracy, self.theta)
        return make_forces(joint, plan, objective, settings)

    def _descend(self, run: Run, checkpoint: Checkpoint | None = None) -> None:
        try:
            run.descend(self.callback, checkpoint, self._say)
        except KeyboardInterrupt:
            warnings.warn(
                f"Stopped from the keyboard at step {run.progress.iteration}; embedding_ holds the "
                "map so far. Call continue_fit for more steps.",
                RuntimeWarning,
                stacklevel=3,
            )
            raise

    def _keep(self, run: Run, seed: int) -> None:
        """Make a run the state of the estimator, whatever ended it."""
        run.record()
        self._finished = Finished(seed, run)
        self.embedding_ = np.ascontiguousarray(run.progress.Y.T)
        self.n_iter_ = run.progress.iteration
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
