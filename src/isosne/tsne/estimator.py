"""TSNE, the public estimator. It assembles the steps of the paper and contains no mathematics."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from copy import copy, deepcopy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import check_count
from isosne._numba import threads
from isosne._random import RandomState, as_generator, as_seed
from isosne.affinities.sparse import Sparse, as_affinities
from isosne.errors import ParameterError
from isosne.kernels.precomputed import PrecomputedKernel
from isosne.kernels.registry import as_kernel, for_table
from isosne.layout.descent import Progress, State
from isosne.layout.force_methods import Method, as_method
from isosne.layout.objectives import Objective, as_objective
from isosne.layout.schedules import Schedule, plain
from isosne.layout.start import initial_map
from isosne.sources import is_stored
from isosne.tables.mixed_rows import MixedRows
from isosne.tsne.assembly import make_affinities, make_forces
from isosne.tsne.checkpoint import Checkpoint
from isosne.tsne.choices import Request
from isosne.tsne.fitted_map import FittedMap
from isosne.tsne.foreign_parameters import InitSignature, refuse_foreign
from isosne.tsne.input_data import Input
from isosne.tsne.landmarks import Landmarks, as_landmarks
from isosne.tsne.plan import Plan, make_plan, seeded_kernel, useful_threads
from isosne.tsne.progress import Reporter
from isosne.tsne.run import Finished, Run
from isosne.tsne.task_hooks import CallbackSupport, FitTasks


class TSNE(CallbackSupport, FittedMap):
    """t-SNE with the owner kernel, the isolation kernel, or any other kernel.

    Parameters
    ----------
    kernel : str or kernel, default="owner"
        Similarity of the points: "owner" (the one-sided isolation kernel), "isolation" (the
        paper's), "gaussian", "adaptive", "knn", an object such as ``IsolationKernel(psi=64)``, or
        any object with ``fit(X)`` and ``similarity(A, B)``.
        "precomputed": `fit` takes precomputed affinities.
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    objective : str or objective, default="kl"
        Objective to minimize: "kl", "nerv", "jse", an object such as ``KL(dof=0.5)`` or
        ``NeRV(trade_off=0.8)``, or any object with ``value(P, Q)`` and ``derivative(P, Q)``.
    schedule : str or Schedule, default="annealed"
        Phases of the optimization: "annealed" (500 steps), "standard" (750 steps, as in other
        packages), "paper" (the authors' settings), "opt_sne" (stops automatically), or a
        `Schedule`.
    exaggeration : float or None, default=None
        Exaggeration kept until the end; 2 to 4 gives tighter clusters. None: that of the schedule,
        usually 1.
    start : str or array, default="auto"
        Initial coordinates: "pca", "spectral", "random" or an array (n_samples, n_components).
        "auto": "pca", or "spectral" for precomputed distances or affinities.
    affinities : str or Sparse, default="auto"
        Pairs with a probability: "dense" (all), "sparse" (neighbors; ``Sparse(neighbors=...)``
        sets the search), or "sampled" (partners drawn at random, for broad isolation kernels on
        many points). "auto": "sparse" for the owner kernel; for others by size and memory.
    forces : str, Mesh or Tree, default="auto"
        Method for the repulsive forces: "exact", "mesh" (`Mesh`), "tree" (`Tree`), or "auto".
    landmarks : int, Landmarks or None, default=None
        Number of rows to map, the paper's m. `place` computes the coordinates of the others
        afterwards. None maps all rows.
    memory_limit : int, str or None, default=None
        Memory that `fit` may add to the memory in use when it starts, in bytes or as text such as
        "2GB". None: the environment variable ISOSNE_MEMORY_LIMIT, else the free memory. `fit`
        raises an error before it starts if the plan needs more.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the kernel's samples and of the start.
    n_jobs : int or None, default=None
        Number of threads; None: Numba's number. The map does not depend on it.
    verbose : bool, default=False
        Whether to print the plan and show a progress bar, on standard error or in the notebook.
    callback : callable or None, default=None
        Called with the `State` after each step; return True to stop.

    Attributes
    ----------
    embedding_ : array of float32, shape (n_samples, n_components)
        The map.
    kernel_ : kernel
        The fitted kernel.
    affinities_ : DenseMatrix, SparseMatrix or SampledAffinities
        The joint probabilities.
    plan_ : Plan
        All choices of the fit and their reasons.
    trace_ : array of shape (n, 3)
        Iteration, objective and gradient norm, every 50 steps and at the end.
    kl_divergence_ : float
        Final value of the objective.
    n_iter_ : int
        Number of steps taken.
    isolated_ : array of int
        Points without affinity to any other point; each is connected to its nearest neighbor.
    landmark_indices_ : array of int
        Row indices of the mapped points in the input, if ``landmarks`` is set.
    table_ : TableForest
        For a data frame with columns that are not numbers, or with missing values: the columns, and
        the trees that turn rows into codes. `transform` applies it to new rows.
    input_scale_ : Scale
        Column scaling of the input, if its rows were scaled while reading. `transform` and `place`
        apply it to new rows.

    Notes
    -----
    Implements Algorithm 2 of the paper (steps 1 to 3; m = n without landmarks). Departures from the
    paper: the kernel, the schedule and the start. ``TSNE(IsolationKernel(psi=...),
    schedule="paper", start="random")`` has the authors' settings. docs/departures.md lists all
    departures.

    Cost with the owner kernel: the neighbor search is exact up to 10 000 points, O(n^2 d) time, and
    approximate above. A step takes O(n^2) time up to 2 000 points, and O(n) above (limits for two
    dimensions). Memory is about 2.6 kB per point. Other kernels compare all pairs up to 10 000
    points: O(n^2) time per step, and memory of n^2 to 6 n^2 bytes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE
    >>> TSNE(random_state=0).fit_transform(load_iris().data).shape
    (150, 2)
    """

    __signature__ = InitSignature()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Raise an error that names the equivalent of a parameter that TSNE does not have."""
        refuse_foreign(cls, args, kwargs)
        return object.__new__(cls)

    def __init__(
        self,
        kernel: Any = "owner",
        *,
        n_components: int = 2,
        objective: str | Objective = "kl",
        schedule: str | Schedule = "annealed",
        exaggeration: float | None = None,
        start: Any = "auto",
        affinities: str | Sparse = "auto",
        forces: str | Method = "auto",
        landmarks: int | Landmarks | None = None,
        memory_limit: int | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callable[[State], object] | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.objective = objective
        self.schedule = schedule
        self.exaggeration = exaggeration
        self.start = start
        self.affinities = affinities
        self.forces = forces
        self.landmarks = landmarks
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
            The points, one per row; for a kernel with ``metric="precomputed"`` their distances, for
            ``kernel="precomputed"`` their affinities. A path names a file of rows: see
            `isosne.sources.open_rows`.
        y : None
            Ignored.
        checkpoint : path or None, default=None
            File that holds the state of the run. If it exists, the run resumes from it; the map is
            bit-identical to that of an uninterrupted run.
        every : int, default=50
            Steps between two checkpoints.

        Returns
        -------
        TSNE
            The fitted estimator; the map is in ``embedding_``.
        """
        with threads(self.n_jobs), ExitStack() as held:
            given = self._open(X)
            state_file = self._checkpoint(checkpoint, every, given)
            saved = held.enter_context(state_file.opened()) if state_file else None
            seed = saved.seed if saved else as_seed(self.random_state)
            unused = deepcopy(seed)  # a generator moves on as it draws
            rng = saved.generator() if saved else as_generator(seed)
            if state_file:
                state_file.remember(rng, seed)
            request = self._request(given, rng, saved.route if saved else {})
            plan = make_plan(request, given.size(), self.get_params(deep=False))
            plan.parameters["random_state"] = unused
            if state_file:
                plan = state_file.follow(plan, saved)
            reporter = Reporter(self.verbose)
            reporter.say(str(plan))
            reporter.say("Computing affinities")
            tasks = FitTasks(self, request.schedule.n_iter, {"X": X, "y": y})
            held.enter_context(tasks)
            kernel, indices = given.fit(seeded_kernel(plan, request), rng)
            draws = int(rng.integers(2**31)) if plan.affinities == "sampled" else 0
            joint, isolated = make_affinities(kernel, plan, draws)
            start = plan.parameters["start"]
            Y = initial_map(start, kernel.X_fit_, joint, self.n_components, rng)
            forces = make_forces(joint, plan, request.objective)
            run = Run(forces, request.schedule, Progress.at(Y), plan.n_threads)
            if saved:
                run.restore(saved)

            def finish(model: TSNE, ended: Run) -> None:
                model._remember_input(X, given)
                model.kernel_, model.plan_, model.affinities_ = kernel, plan, joint
                model.isolated_ = isolated
                model._set_or_remove("landmark_indices_", indices)
                model._set_fitted(ended, draws)

            self._descend(run, finish, reporter, tasks, state_file)
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
        """Continue the optimization with the settings of the last phase of the schedule.

        Parameters
        ----------
        n_iter : int
            Number of additional steps.

        Returns
        -------
        TSNE
            The estimator itself.
        """
        check_is_fitted(self)
        check_count(n_iter, "n_iter", low=1, hint="Pass the number of further steps.")
        with threads(self.n_jobs), FitTasks(self, n_iter) as tasks:
            last = self._finished.run or self._revived()
            run = last.resumed(plain(n_iter, last.schedule))
            seed = self._finished.seed

            def finish(model: TSNE, ended: Run) -> None:
                model._set_fitted(ended, seed)

            self._descend(run, finish, Reporter(self.verbose), tasks)
        return self

    def _revived(self) -> Run:
        """Return the run of a loaded model; affinities and forces are computed again."""
        self.affinities_, _ = make_affinities(self.kernel_, self.plan_, self._finished.seed)
        forces = make_forces(self.affinities_, self.plan_, as_objective(self.objective))
        Y = np.ascontiguousarray(self.embedding_.T)
        progress = Progress.at(Y, self.n_iter_)
        n_threads = useful_threads(len(self.embedding_), self.plan_.forces)
        run = Run(forces, self._schedule(), progress, n_threads)
        run.trace = [(int(i), float(value), float(norm)) for i, value, norm in self.trace_]
        return run

    def plan(self, X: Any) -> Plan:
        """Return the plan that `fit` would follow for these points.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The points.

        Returns
        -------
        Plan
            All automatic choices; ``print(plan)`` shows them.
        """
        with threads(self.n_jobs):
            given = self._open(X)
            rng = as_generator(deepcopy(self.random_state))  # the user's own stays as it is
            request = self._request(given, rng, {})
            return make_plan(request, given.size(), self.get_params(deep=False))

    def _open(self, X: Any) -> Input:
        hint = "Maps have one, two or three dimensions."
        check_count(self.n_components, "n_components", low=1, high=3, hint=hint)
        if self.callback is not None and not callable(self.callback):
            hint = "Pass a function of one argument, the State after a step."
            raise ParameterError("callback", "be callable, or None", self.callback, hint)
        if not isinstance(self.verbose, bool | np.bool_ | int | np.integer):
            hint = "True writes progress to standard error."
            raise ParameterError("verbose", "be True or False", self.verbose, hint)
        metric = getattr(self.kernel, "metric", "euclidean")
        is_name = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if is_name or isinstance(self.kernel, PrecomputedKernel):
            metric = "precomputed"
        return Input(X, as_landmarks(self.landmarks), metric, self.random_state)

    def _request(self, given: Input, rng: np.random.Generator, route: Mapping[str, Any]) -> Request:
        """Return the user's parameters, with the choices of an interrupted run if it resumes."""
        affinities, neighbors = as_affinities(self.affinities)
        forces = as_method(self.forces)
        if forces is None and route.get("forces"):
            forces = as_method(route["forces"])
        kernel = as_kernel(self.kernel, given.shape[0], rng)
        if given.forest is not None:
            kernel = for_table(kernel)
        return Request(
            kernel=kernel,
            n_components=self.n_components,
            objective=as_objective(self.objective),
            schedule=self._schedule(),
            start=self.start,
            affinities=affinities or route.get("affinities"),
            neighbors=neighbors or route.get("neighbors"),
            forces=forces,
            memory_limit=self.memory_limit,
            n_listed=given.n_listed(kernel),
            note=given.note,
        )

    def _checkpoint(self, path: str | Path | None, every: int, given: Input) -> Checkpoint | None:
        if path is None:
            return None
        shape = self.n_components, given.shape[0]
        return Checkpoint(path, every, self.get_params(deep=False), given.fingerprint(), shape)

    def _remember_input(self, X: Any, given: Input) -> None:
        self._set_or_remove("table_", given.forest)
        self._set_or_remove("input_scale_", given.scale)
        X = X.frame if isinstance(X, MixedRows) else X
        if not is_stored(X):
            validate_data(self, X, reset=True, skip_check_array=True)
            return
        self.n_features_in_ = given.shape[1]
        names = given.column_names
        self._set_or_remove("feature_names_in_", None if names is None else np.array(names, object))

    def _set_or_remove(self, name: str, value: object) -> None:
        """Set an attribute, or for None remove that of an earlier fit."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

    def _descend(
        self,
        run: Run,
        finish: Callable[["TSNE", Run], None],
        reporter: Reporter,
        tasks: FitTasks,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Take the steps of a run; ``finish`` sets the fitted attributes, also after an error."""

        def fitted() -> dict[str, Any]:
            twin = copy(self)
            finish(twin, run.resumed(run.schedule))
            return dict(vars(twin))

        try:
            run.descend(tasks.watch(run, self.callback, fitted), checkpoint, reporter)
        except KeyboardInterrupt:
            warnings.warn(
                f"Interrupted at step {run.progress.iteration}; embedding_ holds the map so far. "
                "Call continue_fit for more steps.",
                RuntimeWarning,
                stacklevel=3,
            )
            raise
        finally:
            if run.is_usable:
                finish(self, run)

    def _set_fitted(self, run: Run, seed: int) -> None:
        """Set the fitted attributes from a run, even if it was interrupted."""
        run.record()
        self._finished = Finished(seed, run)
        self.embedding_ = np.ascontiguousarray(run.progress.Y.T)
        self.n_iter_ = run.progress.iteration
        self.trace_ = np.array(run.trace)
        self.kl_divergence_ = run.trace[-1][1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
