"""Nearest neighbors: isosne exact and approximate, scikit-learn, pynndescent."""

import time
from collections.abc import Callable

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.exact import principal_components
from benchmarks.harness import in_fresh_process, table, timed
from isosne import nearest_neighbors

K = 150


def pynndescent_indices(X: np.ndarray) -> np.ndarray:
    """Return the lists of pynndescent, which count each point as its own neighbor."""
    from pynndescent import NNDescent

    indices, _ = NNDescent(X, n_neighbors=K + 1, random_state=0, n_jobs=2).neighbor_graph
    return indices[:, 1:]


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "isosne exact": lambda X: nearest_neighbors(X, K).indices,
    "isosne approximate": lambda X: nearest_neighbors(X, K, method="approximate").indices,
    "scikit-learn brute": lambda X: (
        NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X).kneighbors(return_distance=False)
    ),
    "pynndescent": pynndescent_indices,
}


def job(name: str, n: int) -> list[float]:
    """Return cold and warm seconds, peak memory and recall of one method."""
    X, _ = principal_components(n)
    start = time.perf_counter()
    METHODS[name](X[:2000])
    cold = time.perf_counter() - start
    seconds, mb, indices = timed(lambda: METHODS[name](X))
    sample = np.arange(0, n, n // 500)
    true = nearest_neighbors(X, K).indices[sample]
    found = indices[sample]
    recall = np.mean([np.isin(t, f).mean() for t, f in zip(true, found, strict=True)])
    return [cold, seconds, mb, float(recall)]


def run(quick: bool) -> str:
    """Return the table."""
    n = 10_000 if quick else 70_000
    rows = [[name, *in_fresh_process(job, name, n)] for name in METHODS]
    header = ["", "first call, 2000 points, s", f"{n} points, s", "peak MB", "recall"]
    return f"### {K} nearest neighbors, {n} x 50\n\n{table(header, rows)}"
