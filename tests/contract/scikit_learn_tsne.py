"""An estimator with the interface of scikit-learn's TSNE that computes its maps with isosne."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import pairwise_distances

from isosne import TSNE, GaussianKernel, Phase, Schedule, Tree
from isosne.errors import DataError, ParameterError

WORDS = {
    "perplexity": "perplexity ({value:g}) must be less than n_samples ({n_samples})",
    "start": 'The parameter init="pca" cannot be used with metric="precomputed".',
    "n_components": "'n_components' should be from 1 to 3",
}
"""By parameter: how scikit-learn words what isosne refuses too."""


class AsScikitLearn(BaseEstimator):
    """The map of a Gaussian kernel, with scikit-learn's parameters and attributes."""

    _EXPLORATION_MAX_ITER = 250
    _N_ITER_CHECK = 50

    def __init__(
        self,
        n_components=2,
        *,
        perplexity=30.0,
        early_exaggeration=12.0,
        learning_rate="auto",
        max_iter=1000,
        n_iter_without_progress=300,
        min_grad_norm=1e-7,
        metric="euclidean",
        metric_params=None,
        init="pca",
        verbose=0,
        random_state=None,
        method="barnes_hut",
        angle=0.5,
        n_jobs=None,
    ):
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

    def fit(self, X, y=None):
        if self.metric == "mahalanobis" and not self.metric_params:
            raise ValueError("Must provide either V or VI for Mahalanobis distance")
        if callable(self.metric):
            return self._fit_to_distances(pairwise_distances(X, metric=self.metric))
        try:
            model = self._model().fit(X)
        except ParameterError as error:
            raise _reworded(error, np.shape(X)[0]) from error
        self.embedding_ = model.embedding_
        self.kl_divergence_ = model.kl_divergence_
        self.n_iter_ = model.n_iter_ - 1  # scikit-learn counts from 0
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).embedding_

    def _fit_to_distances(self, D):
        """Fit to distances of a metric that isosne does not have, as its error advises."""
        try:
            return clone(self).set_params(metric="precomputed", init="random").fit(D)
        except DataError as error:
            words = "All distances must be usable; check the metric given."
            raise ValueError(f"{words} {error}") from error

    def _model(self):
        is_exact = self.method == "exact"
        return TSNE(
            GaussianKernel(self.perplexity, metric=self.metric),
            n_components=self.n_components,
            schedule=self._schedule(),
            start=self.init,
            affinities="dense" if is_exact else "sparse",
            forces="exact" if is_exact else Tree(min(self.angle, 1.0)),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            callback=_Watch(self) if self.verbose else None,
        )

    def _schedule(self):
        step = None if self.learning_rate == "auto" else float(self.learning_rate)
        n_early = min(self._EXPLORATION_MAX_ITER, self.max_iter)
        early = Phase(n_early, exaggeration=self.early_exaggeration, momentum=0.5, step=step)
        late = Phase(self.max_iter - n_early, momentum=0.8, step=step)
        return Schedule(tuple(phase for phase in (early, late) if phase.n_iter))


class _Watch:
    """A callback that prints and stops as scikit-learn does, every so many steps."""

    def __init__(self, model):
        self.model = model
        self.every = model._N_ITER_CHECK
        self.best, self.best_at = np.inf, 0

    def __call__(self, state):
        model = self.model
        if state.iteration % self.every and state.iteration != model.max_iter:
            return False
        value = state.value()
        print(  # noqa: T201
            f"[t-SNE] Iteration {state.iteration}: error = {value:.7f}, "
            f"gradient norm = {state.gradient_norm:.7f}"
        )
        if value < self.best:
            self.best, self.best_at = value, state.iteration
        elif state.iteration - self.best_at > model.n_iter_without_progress:
            print(  # noqa: T201
                "did not make any progress during the last "
                f"{model.n_iter_without_progress} episodes. Finished."
            )
            return True
        return state.gradient_norm <= model.min_grad_norm


def _reworded(error, n_samples):
    """Return an error of scikit-learn's kind and words for one of isosne's, by its fields."""
    if error.parameter == "affinities":
        return TypeError(f"A sparse matrix of distances needs another method: {error}")
    if error.parameter not in WORDS:
        return error
    return ValueError(WORDS[error.parameter].format(value=error.value, n_samples=n_samples))
