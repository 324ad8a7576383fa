"""TSNE, the public estimator. It assembles the steps of the paper and contains no mathematics."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._numba import threads
from isosne._random import RandomState, as_generator, as_seed
from isosne.affinities.sparse import Sparse
from isosne.errors import ParameterError
from isosne.kernels.precomputed import PrecomputedKernel
from isosne.layout.descent import State
from isosne.layout.force_methods import Method
from isosne.layout.objectives import Objective
from isosne.layout.pull import Anchors
from isosne.layout.schedules import Schedule
from isosne.tsne.alignment import find_anchors
from isosne.tsne.foreign_parameters import InitSignature, refuse_foreign
from isosne.tsne.growing_map import GrowingMap
from isosne.tsne.input_data import Input, suggesting_tables
from isosne.tsne.job import Job
from isosne.tsne.landmarks import Landmarks, as_landmarks
from isosne.tsne.plan import Plan, make_plan
from isosne.tsne.task_hooks import CallbackSupport


class TSNE(CallbackSupport, GrowingMap):
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
        "auto": the previous map with `align_to`, else "pca", or "spectral" for precomputed
        distances or affinities.
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
        with threads(self.n_jobs):
            with suggesting_tables(self.kernel):
                given = self._open(X)
            seed = as_seed(self.random_state)
            job = Job(given, seed, self._schedule(), self._anchors(X, given), X, y)
            self._map_rows(job, checkpoint, every)
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
            with suggesting_tables(self.kernel):
                given = self._open(X)
            rng = as_generator(deepcopy(self.random_state))  # the user's own stays as it is
            job = Job(given, rng, self._schedule(), self._anchors(X, given))
            request = self._request(job, rng, {})
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

    def _anchors(self, X: Any, given: Input) -> Anchors | None:
        n_mapped, n_rows = given.shape[0], given.n_rows
        return find_anchors(self.align_to, X, n_rows, n_mapped, self.n_components)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
