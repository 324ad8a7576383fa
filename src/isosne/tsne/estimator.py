"""TSNE, the public estimator: its parameters and methods. It contains no mathematics."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from isosne._checks import check_count, check_number, is_one_of
from isosne._extras import require
from isosne._html import fitted_summary
from isosne._numba import compilation, threads
from isosne._random import RandomState, as_generator, as_seed
from isosne._types import Joint
from isosne.affinities.sparse import Sparse
from isosne.errors import ColumnsWarning
from isosne.kernels.base import MetricKernel
from isosne.kernels.copies import as_weights
from isosne.layout.anchors import Anchors
from isosne.layout.descent import State
from isosne.layout.forces import Method
from isosne.layout.objectives import Objective
from isosne.layout.schedules import Schedule, plain, refining
from isosne.rows.rows import is_stored
from isosne.rows.scaled import Scale
from isosne.tables.trees import TableForest
from isosne.tsne.alignment import LARGEST_STRENGTH, find_anchors
from isosne.tsne.extension import (
    EXTEND_STRENGTH,
    N_ITER,
    check_growing,
    extension_job,
    find_far_rows,
    warn_of_far_rows,
)
from isosne.tsne.fit import Job, plan_job, revived_run, start_run
from isosne.tsne.hints import HINTS, hinting
from isosne.tsne.input import (
    Input,
    Landmarks,
    checked_points,
    comparable_rows,
    set_or_remove,
    take_landmarks,
)
from isosne.tsne.model_file import read_model, write_model
from isosne.tsne.place import Finished, fitted_search, place_rows, ready_placer
from isosne.tsne.plan import Plan, schedule_of
from isosne.tsne.run import Checkpoint, Reporter, Run, check_reporting, opened_checkpoint

if TYPE_CHECKING:
    from isosne.quality import Report


class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """t-SNE with the owner kernel, the isolation kernel, or any other kernel.

    Parameters
    ----------
    kernel : str or kernel, default="owner"
        Similarity of the points: "owner" (the one-sided isolation kernel), "isolation" (the
        paper's), "gaussian", "adaptive", "knn", an object such as ``IsolationKernel(psi=64)``, or
        any object with ``fit(X)`` and ``similarity(A, B)``; "precomputed": `fit` takes affinities.
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    objective : str or objective, default="kl"
        Objective to minimize: "kl", "nerv", "jse", an object such as ``KL(dof=0.5)`` or
        ``NeRV(trade_off=0.8)``, or any object with ``value(P, Q)`` and ``derivative(P, Q)``.
    schedule : str or Schedule, default="annealed"
        Phases of the optimization: "annealed" (250 to 500 steps, until the objective has
        settled), "standard" (750 steps, as in other packages), "paper" (the authors' settings),
        "opt_sne" (stops automatically), or a `Schedule`.
    exaggeration : float or None, default=None
        Factor on the attractive forces that is kept until the end; 2 to 4 gives compact clusters.
        None: that of the schedule, usually 1.
    start : str or array, default="auto"
        Initial coordinates: "pca", "spectral", "random" or an array (n_samples, n_components); its
        scale does not matter if the schedule begins with exaggeration. "auto": the previous map
        with `align_to`, else "pca", or "spectral" for precomputed distances or affinities.
    align_to : TSNE, array, data frame, Alignment or None, default=None
        A previous map: rows stay near their places on it. An `Alignment` also holds the strength
        of the pull and identifiers of the rows; without identifiers rows are matched by position.
    affinities : str or Sparse, default="auto"
        Pairs with a probability: "dense" (all), "sparse" (neighbors; ``Sparse(neighbors=...)``
        sets the search), or "sampled" (partners drawn at random, for broad isolation kernels on
        many points). "auto": "sparse" for the owner kernel; for others by size and memory.
    forces : str, Mesh or Tree, default="auto"
        Method for the repulsive forces: "exact", "mesh" (`Mesh`), "tree" (`Tree`), or "auto".
    landmarks : int, Landmarks or None, default=None
        Number of rows to map, the paper's m. `fit_transform` places the other rows on their map;
        after `fit`, `transform` and `place` do. None maps all rows.
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
        The map; with landmarks, of these rows alone: (n_landmarks, n_components).
    kernel_ : kernel
        The fitted kernel.
    affinities_ : DenseMatrix, SparseMatrix or SampledAffinities
        The joint probabilities.
    plan_ : Plan
        All choices of the fit and their reasons.
    trace_ : array of shape (n, 3)
        Iteration, objective and gradient norm, every 50 steps and at the end. The objective does
        not include the pull of an alignment; the gradient does.
    kl_divergence_ : float
        Final value of the objective, without the pull of an alignment.
    n_iter_ : int
        Number of steps taken; after `extend`, by the extension.
    isolated_ : array of int
        Points without affinity to any other point; each is connected to its nearest neighbor.
    landmark_indices_ : array of int
        Row indices of the mapped points in the input, if ``landmarks`` is set.
    alignment_ : Anchors
        Rows with a place on the previous map, with `align_to` and after `extend`: indices
        (``rows``), ``places``, ``strength`` and the ``scale`` of the previous map.
    displacement_ : array of shape (n_matched,)
        Distance of these rows from their places, relative to the radius of the previous map.
    far_ : array of int
        Rows of the last `extend` that are far from all rows fitted before.
    table_ : TableForest
        Columns and trees of a mixed table, by which `transform` turns new rows into codes.
    input_scale_ : Scale
        Scaling of the columns while reading, which `transform` and `place` apply to new rows.

    Notes
    -----
    Implements Algorithm 2 of the paper (steps 1 to 3; m = n without landmarks). Kernel, schedule
    and start differ (docs/departures.md). ``TSNE(IsolationKernel(psi=...), schedule="paper",
    start="random")`` has the authors' settings.

    Cost with the owner kernel: O(n^2 d) time for the exact neighbor search, up to 10,000 points,
    and O(n) per step above 2,000 points; memory is about 2.6 kB per point. Other kernels compare
    all pairs up to 10,000 points: O(n^2) time per step, and memory of n^2 to 6 n^2 bytes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE
    >>> TSNE(random_state=0).fit_transform(load_iris().data).shape
    (150, 2)
    """

    embedding_: NDArray[np.float32]
    kernel_: MetricKernel
    affinities_: Joint
    plan_: Plan
    trace_: NDArray[np.float64]
    kl_divergence_: float
    n_iter_: int
    isolated_: NDArray[np.int64]
    landmark_indices_: NDArray[np.int64]
    alignment_: Anchors
    far_: NDArray[np.int64]
    table_: TableForest
    input_scale_: Scale
    input_options_: dict[str, Any]
    _finished: Finished

    @hinting(HINTS)
    def __init__(
        self,
        kernel: Any = "owner",
        *,
        n_components: int = 2,
        objective: str | Objective = "kl",
        schedule: str | Schedule = "annealed",
        exaggeration: float | None = None,
        start: Any = "auto",
        align_to: Any = None,
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
        self.align_to = align_to
        self.affinities = affinities
        self.forces = forces
        self.landmarks = landmarks
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
        every: int = 50,
    ) -> Self:
        """Map the points.

        Parameters
        ----------
        X : array, tensor, CSR, data frame, path, Dask collection, or list or mapping of views
            The points, one per row; for a kernel with ``metric="precomputed"`` their distances, for
            ``kernel="precomputed"`` their affinities: of all pairs, or CSR, or a pair of indices
            and values of neighbors. Paths: see `isosne.rows.open_rows`; views: see `ViewsKernel`.
        y : array of shape (n_samples,) or None, default=None
            Labels that guide the map, for a kernel with ``label_weight``: classes or numbers, with
            None, NaN or -1 for rows without a label. Ignored otherwise.
        sample_weight : array of shape (n_samples,) or None, default=None
            Number of rows that each row stands for, positive, at least 1 on average; need not be
            integers. For the owner kernel. See docs/weights.md.
        checkpoint : path or None, default=None
            File that holds the state of the run. If it exists, the run resumes from it; the map is
            bit-identical to that of an uninterrupted run. ``random_state`` must be an integer or
            None.
        every : int, default=50
            Steps between two checkpoints.

        Returns
        -------
        TSNE
            The fitted estimator; the map is in ``embedding_``.
        """
        with threads(self.n_jobs):
            job = self._job(X, as_seed(self.random_state))
            for sentence in job.given.notes:
                warnings.warn(sentence, ColumnsWarning, stacklevel=2)
            weights = as_weights(sample_weight, job.given.n_rows)
            self._map_rows(job._replace(y=y, weights=weights), checkpoint, every)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, sample_weight: Any = None
    ) -> NDArray[np.float32]:
        """Map the points as `fit` does, and return the coordinates (n_samples, n_components).

        With landmarks, the other rows are placed on their map as `transform` places new points.
        """
        self.fit(X, y, sample_weight=sample_weight)
        if self.plan_.n_rows is None:
            return self.embedding_
        Y = self.place(X)
        Y[self.landmark_indices_] = self.embedding_  # duplicate rows may share another place
        return Y

    def plan(self, X: Any) -> Plan:
        """Return the plan that `fit` would follow for X; ``print(plan)`` shows its choices."""
        with threads(self.n_jobs):
            seed = deepcopy(self.random_state)  # the user's own stays as it is
            return plan_job(self._job(X, seed), as_generator(seed))[0]

    def continue_fit(self, n_iter: int) -> Self:
        """Take `n_iter` more steps with the settings of the last phase of the schedule."""
        check_is_fitted(self)
        check_count(n_iter, "n_iter", low=1, hint="Pass the number of further steps.")
        with threads(self.n_jobs):
            last = self._finished.run or revived_run(self)
            self._descend(last.resumed(plain(n_iter, last.schedule)), Reporter(self.verbose))
        return self

    def extend(
        self,
        X: Any,
        *,
        n_iter: int = N_ITER,
        strength: float = EXTEND_STRENGTH,
        checkpoint: str | Path | None = None,
        every: int = 50,
    ) -> Self:
        """Add new rows to the map; all rows may move.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The new rows, with the columns of the fitted rows. They follow the fitted rows in
            ``embedding_``.
        n_iter : int, default=250
            Number of steps.
        strength : float, default=30.0
            Strength of the pull that keeps fitted rows near their places; see `Alignment`. 0 lets
            them move freely.
        checkpoint, every
            As in `fit`.

        Returns
        -------
        TSNE
            The estimator. ``displacement_`` says how far the fitted rows have moved, and ``far_``
            which new rows are far from them; a warning counts them if chance does not explain them.

        Notes
        -----
        Affinities are those of a fit on all rows, and cost as much; the optimization takes fewer
        steps. The previous map is enlarged by the square root of the growth. Random numbers follow
        from ``random_state`` and the number of fitted rows. Not part of the paper.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from isosne import TSNE
        >>> X = load_iris().data
        >>> TSNE(random_state=0).fit(X[::2]).extend(X[1::2]).embedding_.shape
        (150, 2)
        """
        check_is_fitted(self)
        check_count(n_iter, "n_iter", low=1, hint="Pass the number of steps.")
        hint = "0 lets the fitted rows move freely."
        check_number(strength, "strength", low=0, high=LARGEST_STRENGTH, hint=hint)
        check_growing(self.kernel_, self.plan_.n_rows)
        with threads(self.n_jobs):
            added, n = checked_points(self, X), len(self.embedding_)
            job = extension_job(self, added, n_iter, float(strength))
            self._map_rows(job, checkpoint, every)
        warn_of_far_rows(len(self.far_), added.shape[0], n)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the coordinates (n, n_components) of new points on the map, which does not change.

        X is as in `fit`; precomputed affinities or distances are those to the fitted points. Each
        point is placed independently of the others; a copy of a fitted point gets its coordinates.
        Not part of the paper.
        """
        check_is_fitted(self)
        if is_stored(X):
            return self.place(X)
        with threads(self.n_jobs):
            return ready_placer(self).place(checked_points(self, X))

    def place(self, X: Any, out: Any = None) -> NDArray[np.float32]:
        """Return the coordinates of all rows of an input of any size, in constant memory.

        X is as in `fit`; `out` is a float32 array (n, n_components), such as a memmap, or None.
        """
        check_is_fitted(self)
        return place_rows(self, X, out)

    def find_far(self, X: Any) -> NDArray[np.int64]:
        """Return the indices of new points that are far from every fitted point.

        They are farther from their nearest fitted point than 99 % of the fitted points are from
        theirs. `transform` places them among points that they do not resemble. Costs a neighbor
        search among the fitted points.
        """
        check_is_fitted(self)
        check_growing(self.kernel_, None)
        with threads(self.n_jobs):
            return find_far_rows(fitted_search(self), checked_points(self, X))

    @property
    def displacement_(self) -> NDArray[np.float64]:
        """Distance of aligned rows from their places, relative to the radius of these places."""
        return self.alignment_.displacement(self.embedding_)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file; an existing file is replaced."""
        check_is_fitted(self)
        write_model(path, self, self._finished.draws)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model written by `save`; ``affinities_`` is missing until `continue_fit`.

        Parameters that do not affect the map (``n_jobs``, ``memory_limit``, ``verbose``,
        ``callback``) are not stored: they have their defaults.
        """
        self, draws = read_model(path, cls)
        self._finished = Finished(draws)
        return self  # type: ignore[no-any-return]  # an instance of cls

    def report(self, X: Any, labels: Any = None, *, k: int = 10) -> "Report":
        """Measure how well the map of X preserves neighborhoods; see `isosne.quality.report`.

        With landmarks, X and labels are those of all rows or of the landmarks, which are measured.
        """
        from isosne.quality import report as measure

        check_is_fitted(self)
        metric: dict[str, Any] = {"metric": self.kernel_.metric, "p": self.kernel_.p}
        rows, classes = comparable_rows(self, X), take_landmarks(self, labels)
        how = metric | {"k": k, "random_state": 0, "n_jobs": self.n_jobs}
        return measure(rows, self.embedding_, classes, **how)

    def plot(
        self,
        color: Any = None,
        *,
        kind: str = "auto",
        title: str | None = None,
        legend: bool | str = "auto",
        names: Mapping[Any, str] | Sequence[str] | None = None,
        annotate: Any = False,
        style: str = "screen",
        ax: Any = None,
    ) -> Any:
        """Draw the map with `isosne.plots.plot_map`, which documents the parameters.

        With landmarks, `color` has a value for each row or for each landmark.
        """
        check_is_fitted(self)
        # By name: plots stand above the estimator, and need matplotlib.
        plots = require("isosne.plots", "plot", "TSNE.plot")
        how = {"kind": kind, "title": title, "legend": legend, "names": names}
        colors = take_landmarks(self, color)
        return plots.plot_map(self.embedding_, colors, annotate=annotate, style=style, ax=ax, **how)

    def _html_repr(self) -> str:
        """Return what notebooks show: a small map and its figures, after a fit."""
        if not hasattr(self, "embedding_"):
            return str(estimator_html_repr(self))
        return fitted_summary(type(self).__name__, self.embedding_, self.trace_[-1], self.plan_)

    def _job(self, X: Any, seed: RandomState) -> Job:
        """Return what a fit maps, once the input and the parameters of this class are checked."""
        hint = "Maps have one, two or three dimensions."
        check_count(self.n_components, "n_components", low=1, high=3, hint=hint)
        check_reporting(self.callback, self.verbose)
        given = Input(X, self.kernel, self.landmarks, self.random_state)
        anchors = find_anchors(self.align_to, X, given.n_rows, given.shape[0], self.n_components)
        settings = self.get_params(deep=False) | {"random_state": deepcopy(seed)}
        if anchors is not None and is_one_of(self.start, ("auto",)):  # the start is a map
            share = 1 - len(anchors.rows) / (given.n_rows or given.shape[0])
            schedule = refining(schedule_of(self.schedule, self.exaggeration), share)
            settings |= {"schedule": schedule, "exaggeration": None}
        return Job(given, settings, seed, anchors)

    def _map_rows(self, job: Job, checkpoint: str | Path | None, every: int) -> None:
        """Carry out a job and set the fitted attributes."""
        reporter, given = Reporter(self.verbose), job.given
        identity = job.identity(self.get_params(deep=False))
        opened = opened_checkpoint(checkpoint, every, identity, given, self.n_components)
        with compilation.told(reporter.say), opened as file:
            run = start_run(job, file[1], reporter)
            self._descend(run, reporter, file[0], given if job.far is None else None)

    def _descend(
        self,
        run: Run,
        reporter: Reporter,
        checkpoint: Checkpoint | None = None,
        given: Input | None = None,
    ) -> None:
        """Take the steps of a run, and set the fitted attributes, also after an interruption."""
        try:
            run.descend(self.callback, checkpoint, reporter)
        finally:
            if run.is_usable:
                if given is not None:
                    given.describe_columns(self)
                run.record()
                self._keep(run)

    def _keep(self, run: Run) -> None:
        """Set the fitted attributes that a run has made; remove those of an earlier fit."""
        self.kernel_, self.plan_ = run.kernel, run.plan
        self.affinities_, self.isolated_ = run.joint, run.isolated
        set_or_remove(self, "landmark_indices_", run.landmarks)
        set_or_remove(self, "alignment_", run.anchors)
        set_or_remove(self, "far_", run.far)
        self._finished = Finished(run.draws, run)
        self.embedding_ = np.ascontiguousarray(run.progress.Y.T)
        self.n_iter_ = run.progress.iteration
        self.trace_ = np.array(run.trace)
        self.kl_divergence_ = run.trace[-1][1]

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
