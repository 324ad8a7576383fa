"""One small adaptor for each method: fit(X, threads, seed) returns the map (n, 2).

Packages are imported when they are called, so that their import counts as part of the first call.
Each runs with its defaults, except for what is said here.
"""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Fit = Callable[[np.ndarray, int, int], np.ndarray]


class Method(NamedTuple):
    """How a method is called."""

    name: str
    package: str
    fit: Fit
    prepare: Fit | None = None
    """A fit of very few steps, which compiles all that a fit runs; None: nothing is compiled."""
    usual: bool = True
    """Whether it runs without being named."""


def isosne(X: np.ndarray, threads: int, seed: int, **parameters: Any) -> np.ndarray:
    """Fit isosne."""
    from isosne import TSNE

    return TSNE(random_state=seed, n_jobs=threads, **parameters).fit_transform(X)


def stop_when_wide(state: Any) -> bool:
    """End a run of isosne when its map is wide, and everything that a fit needs is compiled."""
    return bool(state.iteration >= 200)


def sklearnex(X: np.ndarray, threads: int, seed: int) -> np.ndarray:
    """Fit the t-SNE of scikit-learn-intelex: Barnes-Hut, perplexity 30, from principal components.

    Only its `fit` hands n_jobs to oneDAL, whose threads ignore OMP_NUM_THREADS; `fit_transform`
    takes all cores.
    """
    from sklearnex.manifold import TSNE

    log = logging.getLogger("sklearnex")
    log.setLevel(logging.INFO)
    log.addFilter(refuse_fallback)
    return TSNE(perplexity=30, n_jobs=threads, random_state=seed).fit(X).embedding_


def refuse_fallback(record: logging.LogRecord) -> bool:
    """Raise an error if scikit-learn-intelex hands t-SNE over to scikit-learn; print no record.

    Checked with 2026.2.0 and scikit-learn 1.9.1: "TSNE._tsne: running accelerated version on CPU"
    for float32 and float64, "TSNE._tsne: fallback to original Scikit-learn" with verbose=1, which
    took 30 s instead of 1 to 2 s on 1797 points. Both are logged at the level INFO.
    """
    message = record.getMessage()
    if "TSNE" in message and "fallback" in message:
        raise RuntimeError(message)
    return False


def opentsne(X: np.ndarray, threads: int, seed: int) -> np.ndarray:
    """Fit openTSNE with perplexity 30. It changes from Barnes-Hut to FFT at 10,000 points.

    It finds neighbors by Annoy, but imports pynndescent too if that is installed.
    """
    from openTSNE import TSNE

    model = TSNE(perplexity=30, n_jobs=threads, random_state=seed)
    return np.asarray(model.fit(X))


def umap(X: np.ndarray, threads: int, seed: int, **parameters: Any) -> np.ndarray:
    """Fit umap-learn; the seed is not used: with one it runs on one thread, whatever n_jobs is."""
    from umap import UMAP

    return UMAP(n_jobs=threads, random_state=None, **parameters).fit_transform(X)


def pacmap(X: np.ndarray, threads: int, seed: int, **parameters: Any) -> np.ndarray:
    """Fit PaCMAP; the seed is not used: with one its search runs on one thread.

    It takes its number of threads from the environment.
    """
    from pacmap import PaCMAP

    return PaCMAP(**parameters).fit_transform(X)


def sklearn(X: np.ndarray, threads: int, seed: int) -> np.ndarray:
    """Fit scikit-learn's Barnes-Hut t-SNE."""
    from sklearn.manifold import TSNE

    return TSNE(n_jobs=threads, random_state=seed).fit_transform(X)


METHODS = {
    "isosne": Method(
        "isosne",
        "isosne",
        isosne,
        lambda *call: isosne(*call, callback=stop_when_wide),
    ),
    "isosne-3": Method(
        "isosne, exaggeration 3",
        "isosne",
        lambda *call: isosne(*call, exaggeration=3.0),
        lambda *call: isosne(*call, exaggeration=3.0, callback=stop_when_wide),
        usual=False,
    ),
    "sklearnex": Method("scikit-learn-intelex", "scikit-learn-intelex", sklearnex),
    "opentsne": Method("openTSNE", "openTSNE", opentsne),
    "umap": Method("umap-learn", "umap-learn", umap, lambda *call: umap(*call, n_epochs=1)),
    "pacmap": Method("PaCMAP", "pacmap", pacmap, lambda *call: pacmap(*call, num_iters=(1, 1, 1))),
    "sklearn": Method("scikit-learn", "scikit-learn", sklearn, usual=False),
}
