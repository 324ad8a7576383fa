"""Measures of maps: AUC_RNX over all k, exactly and by sampling."""

import numpy as np

from benchmarks.harness import in_fresh_process, load, table, timed
from isosne.quality import compare, report


def principal_map(X: np.ndarray) -> np.ndarray:
    """Return the first two principal components, as a map whose quality is to be measured."""
    centered = X - X.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return (centered @ axes[:, -2:]).astype(np.float32)


def exact_job(n: int) -> list[float]:
    """Return seconds, peak memory and AUC_RNX of n points of MNIST, then those of a report."""
    X, _ = load("mnist10k", (10_000, 784))
    X = X[:n]
    Y = principal_map(X)
    labels = np.arange(n) % 10
    report(X[:300], Y[:300], labels[:300])
    seconds, mb, area = timed(lambda: compare(X, Y).auc())
    more_seconds, more_mb, found = timed(lambda: report(X, Y, labels))
    return [seconds, mb, area.value, 0.0, more_seconds, more_mb, found.auc_rnx.value, 0.0]


def sampled_job(n: int, n_queries: int) -> list[float]:
    """Return seconds, peak memory, AUC_RNX and its standard error of n normal points in 50-d."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 50), dtype=np.float32)
    X[:, :2] *= 5
    Y = X[:, :2] + rng.standard_normal((n, 2), dtype=np.float32)
    compare(X[:300], Y[:300]).auc()
    seconds, mb, area = timed(lambda: compare(X, Y, n_queries=n_queries, random_state=0).auc())
    return [seconds, mb, area.value, area.standard_error]


def run(quick: bool) -> str:
    """Return the table."""
    n, n_sampled, n_queries = (2000, 50_000, 500) if quick else (10_000, 1_000_000, 2000)
    exact = in_fresh_process(exact_job, n)
    sampled = in_fresh_process(sampled_job, n_sampled, n_queries)
    _, source = load("mnist10k", (10_000, 784))
    rows = [
        [f"AUC_RNX of {source}, {n} x 784", *exact[:4]],
        [f"report of {source}, {n} x 784", *exact[4:]],
        [f"AUC_RNX, {n_queries} queries, {n_sampled} x 50", *sampled],
    ]
    header = ["", "s", "peak MB", "AUC_RNX", "standard error"]
    return f"### Quality of a map, all k\n\n{table(header, rows)}"
