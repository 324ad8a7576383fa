"""`TSNE` with the parameters of scikit-learn's, for programs that change one line only.

``from isosne.compat import TSNE`` replaces ``from sklearn.manifold import TSNE``, and ``from isosne
import compat as manifold`` replaces ``from sklearn import manifold``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import sklearn.manifold
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import validate_data

from isosne._checks import METRICS, check_count, check_number, check_points, is_number, is_one_of
from isosne._random import RandomState
from isosne.errors import ParameterError, suggest
from isosne.kernels.base import MetricKernel
from isosne.kernels.gaussian import GaussianKernel
from isosne.kernels.owner import OwnerKernel
from isosne.layout.descent import SPREAD, State
from isosne.layout.forces import Tree
from isosne.layout.schedules import Phase, Schedule
from isosne.tsne.estimator import TSNE as _TSNE
from isosne.tsne.hints import hinting

__all__ = ["TSNE"]

SAME_METRICS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
"""Other names of scikit-learn for metrics of isosne."""
INITS, METHODS = ("auto", "pca", "random"), ("auto", "barnes_hut", "exact")
EARLY_STEPS, MAX_ITER, EARLY_EXAGGERATION, CHECK_EVERY = 250, 1000, 12.0, 50
"""Of scikit-learn: steps of early exaggeration, two defaults, and steps between checks to stop."""
ANNEALED_STEPS = 150
"""Steps in which the exaggeration of isosne's own schedule falls."""
RENAMED = {
    **dict.fromkeys(("n_iter", "n_epochs"), "max_iter={value}"),
    **dict.fromkeys(("seed", "random_seed"), "random_state={value}"),
    "initialization": "init={value}",
}
"""What to use instead of parameters of other versions and packages."""


class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """t-SNE with the parameters of ``sklearn.manifold.TSNE``, computed by `isosne.TSNE`.

    A parameter that is left out has isosne's default: ``TSNE()`` makes the map of
    ``isosne.TSNE()``. A parameter that is given means what it means in scikit-learn:
    ``TSNE(perplexity=30)`` uses a Gaussian kernel.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    perplexity : float or "auto", default="auto"
        Perplexity of a Gaussian kernel. "auto": the owner kernel, which needs none.
    early_exaggeration : float or "auto", default="auto"
        Exaggeration of the first 250 steps. "auto": isosne's; 12 if `learning_rate` is given.
    learning_rate : float or "auto", default="auto"
        Step length of all steps. "auto": by the number of points.
    max_iter : int or "auto", default="auto"
        Number of steps. "auto": 250 to 500, or 1000 if `early_exaggeration` or `learning_rate` is
        given.
    n_iter_without_progress : int or None, default=None
        Stop if the objective has not fallen for this number of steps, after the first 250.
    min_grad_norm : float or None, default=None
        Stop if the norm of the gradient is at most this, after the first 250 steps.
    metric : str or callable, default="euclidean"
        A metric of isosne, "precomputed", or another metric of
        ``sklearn.metrics.pairwise_distances``, which takes the memory of all pairs.
    metric_params : dict or None, default=None
        Parameters of the metric, such as ``{"p": 3}`` for "minkowski".
    init : {"auto", "pca", "random"} or array, default="auto"
        Initial coordinates. "auto": "pca", or spectral where only distances are known.
    verbose : int, default=0
        Whether to write progress to standard error.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the map.
    method : {"auto", "barnes_hut", "exact"}, default="auto"
        Method for the repulsive forces. "auto": the fastest. "exact" compares all pairs of points
        in the data, too.
    angle : float, default=0.5
        Opening angle of ``method="barnes_hut"``.
    n_jobs : int or None, default=None
        Number of threads; None and -1: all. The map does not depend on it.

    Attributes
    ----------
    embedding_, kl_divergence_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    learning_rate_ : float
        Step length of the last phase.
    model_ : isosne.TSNE
        The fitted model, which also has `transform` for new points, `save` and `plan_`.

    Notes
    -----
    Differences from scikit-learn: maps are not bit-identical to its maps, they have at most three
    dimensions, and progress goes to standard error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne.compat import TSNE
    >>> TSNE(n_components=2, perplexity=20, random_state=0).fit_transform(load_iris().data).shape
    (150, 2)
    """

    @hinting(RENAMED)
    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = "auto",
        early_exaggeration: Any = "auto",
        learning_rate: Any = "auto",
        max_iter: Any = "auto",
        n_iter_without_progress: int | None = None,
        min_grad_norm: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        init: Any = "auto",
        verbose: int = 0,
        random_state: RandomState = None,
        method: str = "auto",
        angle: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Map the points, or with ``metric="precomputed"`` their distances; y is ignored."""
        self._check()
        schedule, given, start = self._schedule(), X, self.init
        parameters = dict(self.metric_params or {})
        p = float(parameters.pop("p", 2.0))
        metric: Any = self.metric
        if isinstance(metric, str):
            metric = SAME_METRICS.get(metric, metric)
        if parameters or not is_one_of(metric, METRICS):
            given, start = self._compare(X)
            metric = "precomputed"
        kernel: MetricKernel = OwnerKernel(metric=metric, p=p)
        if self.perplexity != "auto":
            kernel = GaussianKernel(self.perplexity, metric=metric, p=p)
        tree = Tree(float(self.angle))
        methods: dict[str, Any] = {"barnes_hut": ("sparse", tree), "exact": ("dense", "exact")}
        affinities, forces = methods.get(self.method, ("auto", "auto"))
        stops = self.n_iter_without_progress is not None or self.min_grad_norm is not None
        self.model_ = _TSNE(
            kernel,
            n_components=self.n_components,
            schedule=schedule,
            start=start,
            affinities=affinities,
            forces=forces,
            random_state=self.random_state,
            n_jobs=None if self.n_jobs == -1 else self.n_jobs,
            verbose=bool(self.verbose),
            callback=self._stop_rule() if stops else None,
        ).fit(given)
        validate_data(self, X, reset=True, skip_check_array=True)
        self.embedding_ = self.model_.embedding_
        self.kl_divergence_ = self.model_.kl_divergence_
        self.n_iter_ = self.model_.n_iter_
        self.learning_rate_ = schedule.phases[-1].step_for(len(self.embedding_))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float32]:
        """Map the points as `fit` does, and return the map."""
        return self.fit(X).embedding_

    def _check(self) -> None:
        """Raise an error, by scikit-learn's names, for values that no map can be made with."""
        usual, ends = "'auto' suits most data.", "None takes all steps."
        for name, left_out, check, low, hint in (
            ("early_exaggeration", "auto", check_number, 1, usual),
            ("learning_rate", "auto", check_number, 0, usual),
            ("max_iter", "auto", check_count, 1, "1000 is usual."),
            ("n_iter_without_progress", None, check_count, -1, ends),
            ("min_grad_norm", None, check_number, 0, ends),
        ):
            value = getattr(self, name)
            if value != left_out:
                check(value, name, low=low, hint=hint)
        check_number(self.angle, "angle", low=0, high=1, hint="0.5 is usual.")
        for name, known in (("init", INITS), ("method", METHODS)):
            value = getattr(self, name)
            if not is_one_of(value, known) and (name == "method" or isinstance(value, str)):
                rule = f"be one of {', '.join(map(repr, known))}"
                raise ParameterError(name, rule, value, suggest(value, known, usual))

    def _schedule(self) -> Schedule:
        """Return isosne's schedule, or phases as in scikit-learn if their settings are given."""
        high, step = self.early_exaggeration, self.learning_rate
        if not is_number(high) and not is_number(step):
            if self.max_iter == "auto":
                return Schedule.annealed()
            if self.max_iter > ANNEALED_STEPS:
                return Schedule.annealed(n_iter=self.max_iter)
        n_iter = MAX_ITER if self.max_iter == "auto" else int(self.max_iter)
        high = float(high) if is_number(high) else EARLY_EXAGGERATION
        # Without the smallest step of scikit-learn, 50, which throws points out of small maps.
        steps: dict[str, Any] = {"step": float(step) if is_number(step) else None, "shortest": 0}
        early = Phase(min(EARLY_STEPS, n_iter), exaggeration=high, momentum=0.5, **steps)
        late = Phase(n_iter - early.n_iter, momentum=0.8, **steps)
        return Schedule((early, late) if late.n_iter else (early,), bounded=True)

    def _compare(self, X: Any) -> tuple[Any, Any]:
        """Return the distances of all pairs by scikit-learn, and the start, which needs points."""
        points = check_points(X, min_rows=2)
        parameters = dict(self.metric_params or {})
        if "V" in parameters:  # of "mahalanobis": SciPy takes the inverse of this covariance
            parameters["VI"] = np.linalg.inv(parameters.pop("V"))
        try:
            D = pairwise_distances(points, metric=self.metric, **parameters)
        except (ValueError, TypeError) as error:
            rule = "be a metric of isosne or of sklearn.metrics.pairwise_distances"
            hint = "Correct its name or its metric_params, or pass a function of two points."
            raise ParameterError("metric", rule, self.metric, hint) from error
        if not is_one_of(self.init, ("pca",)):
            return D, self.init
        dense = points if isinstance(points, np.ndarray) else points.toarray()
        axes = PCA(self.n_components, svd_solver="full").fit_transform(dense)
        return D, axes * (SPREAD / (axes[:, 0].std() or 1.0))

    def _stop_rule(self) -> "StopRule":
        return StopRule(self.n_iter_without_progress, self.min_grad_norm)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = []
        return tags


class StopRule:
    """A callback that ends a run after n steps without progress, or with a small gradient."""

    def __init__(self, n_iter: int | None, min_grad_norm: float | None) -> None:
        self.n_iter = np.inf if n_iter is None else n_iter
        self.min_grad_norm = -1.0 if min_grad_norm is None else min_grad_norm
        self.best, self.best_at = np.inf, 0

    def __call__(self, state: State) -> bool:
        """Return whether to stop."""
        if state.iteration <= EARLY_STEPS or state.iteration % CHECK_EVERY:
            return False
        value, is_flat = state.value(), state.gradient_norm <= self.min_grad_norm
        if value < self.best:
            self.best, self.best_at = value, state.iteration
            return is_flat
        return is_flat or state.iteration - self.best_at > self.n_iter


def __getattr__(name: str) -> Any:
    return getattr(sklearn.manifold, name)
