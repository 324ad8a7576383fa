"""scikit-learn's defaults and words on top of `isosne.compat.TSNE`, for its own tests."""

import numpy as np

from isosne import compat
from isosne.errors import DataError, ParameterError

WORDS = {
    "perplexity": "perplexity ({value:g}) must be less than n_samples ({n_samples})",
    "start": 'The parameter init="pca" cannot be used with metric="precomputed".',
    "n_components": "'n_components' should be from 1 to 3",
}
"""By parameter: how scikit-learn words what isosne refuses too."""


class AsScikitLearn(compat.TSNE):
    """`isosne.compat.TSNE` with the defaults, the messages and the step count of scikit-learn."""

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
        given = {
            name: value for name, value in locals().items() if name not in ("self", "__class__")
        }
        super().__init__(**given)

    def fit(self, X, y=None):
        if self.metric == "mahalanobis" and not self.metric_params:
            raise ValueError("Must provide either V or VI for Mahalanobis distance")
        try:
            super().fit(X)
        except ParameterError as error:
            raise _reworded(error, np.shape(X)[0]) from error
        except DataError as error:
            if not callable(self.metric):
                raise
            words = "All distances must be usable; check the metric given."
            raise ValueError(f"{words} {error}") from error
        self.n_iter_ -= 1  # scikit-learn counts from 0
        return self

    def _stop_rule(self):
        return _Watch(self) if self.verbose else super()._stop_rule()


class _Watch(compat.StopRule):
    """A stop rule that prints as scikit-learn does, and waits for no step."""

    def __init__(self, model):
        super().__init__(model.n_iter_without_progress, model.min_grad_norm)
        self.every, self.last = model._N_ITER_CHECK, model.max_iter

    def __call__(self, state):
        if state.iteration % self.every and state.iteration != self.last:
            return False
        value = state.value()
        print(  # noqa: T201
            f"[t-SNE] Iteration {state.iteration}: error = {value:.7f}, "
            f"gradient norm = {state.gradient_norm:.7f}"
        )
        if value < self.best:
            self.best, self.best_at = value, state.iteration
        elif state.iteration - self.best_at > self.n_iter:
            print(  # noqa: T201
                f"did not make any progress during the last {self.n_iter} episodes. Finished."
            )
            return True
        return state.gradient_norm <= self.min_grad_norm


def _reworded(error, n_samples):
    """Return an error of scikit-learn's kind and words for one of isosne's, by its fields."""
    if error.parameter == "affinities":
        return TypeError(f"A sparse matrix of distances needs another method: {error}")
    if error.parameter not in WORDS:
        return error
    return ValueError(WORDS[error.parameter].format(value=error.value, n_samples=n_samples))
