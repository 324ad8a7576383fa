"""Cells and counts of the isolation kernel, against scikit-learn's nearest centers."""

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from benchmarks.harness import in_fresh_process, load, table, timed
from isosne import IsolationKernel
from isosne.kernels.monte_carlo import count_shared

PSI, T = 2048, 200


def isosne_job(n: int) -> list[float]:
    """Time cells and counts, warm."""
    X, _ = load("mnist10k", (10_000, 784))
    X = X[:n]
    IsolationKernel(PSI // 4, n_partitions=3).fit(X[:1024]).rows().counts()
    kernel = IsolationKernel(PSI, n_partitions=T, random_state=0)
    fit, fit_mb, _ = timed(lambda: kernel.fit(X))
    cells, cells_mb, found = timed(kernel.cells)
    counts, counts_mb, _ = timed(lambda: count_shared(found, np.ascontiguousarray(found.T)))
    return [fit, cells, counts, fit + cells + counts, max(cells_mb, counts_mb) + fit_mb]


def sklearn_job(n: int, t: int) -> list[float]:
    """Time t nearest-center passes and the sum of equalities."""
    X, _ = load("mnist10k", (10_000, 784))
    X = X[:n].astype(np.float32)
    rng = np.random.default_rng(0)
    samples = [rng.choice(n, PSI, replace=False) for _ in range(t)]
    cells, mb, columns = timed(lambda: [pairwise_distances_argmin(X, X[s]) for s in samples])

    def count() -> np.ndarray:
        counts = np.zeros((n, n), np.uint8)
        for column in columns:
            counts += column[:, None] == column
        return counts

    counting, more, _ = timed(count)
    scale = T / t
    return [0.0, cells * scale, counting * scale, (cells + counting) * scale, mb + more]


def run(quick: bool) -> str:
    """Return the table."""
    n, t = (4096, 20) if quick else (10_000, T)
    ours = in_fresh_process(isosne_job, n)
    theirs = in_fresh_process(sklearn_job, n, t)
    _, source = load("mnist10k", (10_000, 784))
    ratio = theirs[3] / ours[3]
    rows = [
        ["isosne", *ours, 1.0],
        [f"scikit-learn ({t} of {T} passes, scaled)" if t < T else "scikit-learn", *theirs, ratio],
    ]
    title = f"Cells and counts: {source}, {n} x 784, psi {PSI}, t {T}; seconds"
    header = ["", "fit", "cells", "counts", "total", "peak MB", "times slower"]
    return f"### {title}\n\n{table(header, rows)}"
