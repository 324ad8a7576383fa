"""Step 3 and whole fits: exact maps of 10 000 points, and how long small ones take."""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.manifold import _t_sne
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import minmax_scale

from benchmarks.harness import in_fresh_process, load, table, timed
from isosne import TSNE, IsolationKernel
from isosne.layout.schedules import Schedule

FIRST_FIT = """
from sklearn.datasets import load_digits
from isosne import TSNE
TSNE(random_state=0).fit(load_digits().data)
"""


def isosne_job(n: int) -> list[float]:
    """Return seconds of a fit of 1000 exact steps, memory, and pairs a second over all of it."""
    X, _ = load("mnist10k", (10_000, 784))
    X = X[:n]
    TSNE(IsolationKernel(300), schedule="paper", random_state=0).fit(X[:400])
    model = TSNE(IsolationKernel(n // 15), schedule="paper", random_state=0)
    total, mb, _ = timed(lambda: model.fit(X))
    return [total, mb, n * n * Schedule.paper().n_iter / total / 1e9]


def sklearn_job(n: int, n_steps: int) -> list[float]:
    """Return seconds of scikit-learn's exact method, its steps scaled to 1000, and memory.

    Its estimator takes 250 steps at the least, so its own gradient is called directly.
    """
    X, _ = load("mnist10k", (10_000, 784))

    def probabilities() -> np.ndarray:
        return _t_sne._joint_probabilities(euclidean_distances(X[:n], squared=True), 30, 0)

    before, mb, P = timed(probabilities)
    Y = np.random.default_rng(0).normal(size=2 * n)

    def steps() -> None:
        for _ in range(n_steps):
            _t_sne._kl_divergence(Y, P, 1.0, n, 2, compute_error=False)

    seconds, more, _ = timed(steps)
    return [before + seconds * 1000 / n_steps, mb + more]


def small_fits() -> list[list[object]]:
    """Return seconds of warm fits of small sets, best of three."""
    sets = {
        "wine": minmax_scale(load_wine().data),
        "wdbc": minmax_scale(load_breast_cancer().data),
        "digits": load_digits().data,
        "100 points": load_digits().data[:100],
    }
    rows: list[list[object]] = []
    for name, X in sets.items():
        TSNE(random_state=0).fit(X)
        best = min(timed(lambda X=X: TSNE(random_state=0).fit(X))[0] for _ in range(3))
        rows.append([name, X.shape[0], best])
    return rows


def first_fits() -> list[list[object]]:
    """Return seconds of the first fit of digits in a new interpreter, cold and warm."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        rows: list[list[object]] = []
        for name in ("empty cache", "again"):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", FIRST_FIT], check=True, env=environment)
            seconds = time.perf_counter() - start
            rows.append([f"first fit of digits, new interpreter, {name}", 1797, seconds])
    return rows


def run(quick: bool) -> str:
    """Return the tables."""
    n, n_steps = (2000, 20) if quick else (10_000, 5)
    seconds, mb, rate = in_fresh_process(isosne_job, n)
    theirs, their_mb = in_fresh_process(sklearn_job, n, n_steps)
    rows = [
        ["isosne, isolation kernel", seconds, mb, rate, 1.0],
        [f"scikit-learn, {n_steps} steps scaled to 1000", theirs, their_mb, "", theirs / seconds],
    ]
    header = ["", "s", "peak MB", "Gpairs/s", "times slower"]
    exact = f"### Exact t-SNE, {n} x 784, 1000 steps, all of a fit\n\n{table(header, rows)}"
    small = table(["fit, 750 steps", "n", "s"], [*in_fresh_process(small_fits), *first_fits()])
    return f"{exact}\n\n### Small fits\n\n{small}"
