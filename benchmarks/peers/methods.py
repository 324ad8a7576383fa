"""One small adaptor for each method: fit(X, threads) returns the map (n, 2).

Packages are imported when they are called, so that their import counts as part of the first call.
Each runs with its defaults, except for what is said here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Fit = Callable[[np.ndarray, int], np.ndarray]


class Method(NamedTuple):
    """How a method is called."""

    name: str
    package: str
    fit: Fit
    prepare: Fit | None
    """A fit of very few steps, which compiles all that a fit runs; None: nothing is compiled."""
    most_rows: int = 2_000_000
    """Rows above which it runs only if named."""


def isosne(X: np.ndarray, threads: int, **parameters: Any) -> np.ndarray:
    """Fit isosne."""
    from isosne import TSNE

    return TSNE(random_state=0, n_jobs=threads, **parameters).fit_transform(X)


def stop_at_once(state: object) -> bool:
    """End a run of isosne after its first step."""
    return True


def opentsne(X: np.ndarray, threads: int) -> np.ndarray:
    """Fit openTSNE: perplexity 30, repulsion by Fourier transform at any n.

    It finds neighbors by Annoy, but imports pynndescent too if that is installed.
    """
    from openTSNE import TSNE

    model = TSNE(perplexity=30, negative_gradient_method="fft", n_jobs=threads, random_state=0)
    return np.asarray(model.fit(X))


def umap(X: np.ndarray, threads: int, **parameters: Any) -> np.ndarray:
    """Fit umap-learn without a seed: with one it runs on one thread, whatever n_jobs says."""
    from umap import UMAP

    return UMAP(n_jobs=threads, random_state=None, **parameters).fit_transform(X)


def sklearn(X: np.ndarray, threads: int) -> np.ndarray:
    """Fit scikit-learn's Barnes-Hut t-SNE."""
    from sklearn.manifold import TSNE

    return TSNE(n_jobs=threads, random_state=0).fit_transform(X)


def pacmap(X: np.ndarray, threads: int, **parameters: Any) -> np.ndarray:
    """Fit PaCMAP without a seed, which would hold its search to one thread.

    It takes its number of threads from the environment.
    """
    from pacmap import PaCMAP

    return PaCMAP(**parameters).fit_transform(X)


METHODS = {
    "isosne": Method(
        "isosne",
        "isosne",
        isosne,
        lambda X, threads: isosne(X, threads, callback=stop_at_once),
    ),
    "isosne-3": Method(
        "isosne, exaggeration 3",
        "isosne",
        lambda X, threads: isosne(X, threads, exaggeration=3.0),
        lambda X, threads: isosne(X, threads, exaggeration=3.0, callback=stop_at_once),
    ),
    "opentsne": Method("openTSNE", "openTSNE", opentsne, None),
    "umap": Method(
        "umap-learn", "umap-learn", umap, lambda X, threads: umap(X, threads, n_epochs=1)
    ),
    "pacmap": Method(
        "PaCMAP", "pacmap", pacmap, lambda X, threads: pacmap(X, threads, num_iters=(1, 1, 1))
    ),
    "sklearn": Method("scikit-learn", "scikit-learn", sklearn, None, most_rows=200_000),
}
