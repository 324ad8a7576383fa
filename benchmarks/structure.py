"""Clusters, outliers and the null test beside other methods, on labeled data sets.

Columns are scaled to 0..1. Clusters: adjusted Rand index with the classes. Outliers: area under the
ROC curve; each class in turn is the outliers, reduced to 5 % of the points. Null test: p-values of
data with and without clusters, and false positive rates.
"""

import random
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import igraph
import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import IsolationForest
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.harness import table
from benchmarks.paper.data import load
from isosne import (
    TSNE,
    IsolationKernel,
    IsolationOutliers,
    LeidenClustering,
    nearest_neighbors,
)
from isosne.structure.leiden import as_graph, leiden, modularity
from isosne.structure.null import null_test

CLUSTER_SETS = [
    "iris", "wine", "dermatology", "control", "wdbc", "mice", "coil20", "digits", "segment",
    "forest_type", "pendig", "usps",
]  # fmt: skip
OUTLIER_SETS = [
    "wine", "dermatology", "control", "forest_type", "wdbc", "mice", "coil20", "digits", "segment",
    "pendig", "spam",
]  # fmt: skip
QUICK = 4
"""Data sets in a quick run."""
OUTLIERS = 0.05
MOST_POINTS, MOST_CLASSES, N_SEEDS = 3000, 10, 3
"""Outlier tasks: points of a set, classes that are outliers in turn, and seeds."""
PSI = (4, 8, 12, 16, 24, 32)
DENSITY_PSI = (8, 32, 128)
N_TESTS, N_ROWS = 100, 100
"""False positive rates: data sets of each kind, and their rows."""
NULL_ROWS = 500
"""Rows that are sampled of larger data sets with and without clusters."""


@cache
def load_scaled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a data set, with columns from 0 to 1, and their classes."""
    own = {"iris": load_iris, "digits": load_digits}
    if name in own:
        X, y = own[name](return_X_y=True)
    else:
        found = load(name)
        X, y = np.asarray(found.X, np.float64), found.y
    width = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(width > 0, width, 1), np.unique(y, return_inverse=True)[1]


def clusters_of(name: str) -> list[object]:
    """Return the adjusted Rand index of each method on a data set."""
    X, y = load_scaled(name)
    k = int(y.max()) + 1
    model = TSNE(random_state=0).fit(X)
    ours = LeidenClustering(random_state=0).fit(model)

    def k_means(data: np.ndarray) -> float:
        runs = [KMeans(k, n_init=10, random_state=s).fit_predict(data) for s in range(N_SEEDS)]
        return float(np.mean([adjusted_rand_score(y, labels) for labels in runs]))

    def hdbscan(data: np.ndarray) -> str:
        labels = HDBSCAN(min_cluster_size=15, copy=True).fit_predict(data)
        return f"{adjusted_rand_score(y, labels):.2f} ({labels.max() + 1})"

    leiden_score = f"{adjusted_rand_score(y, ours.labels_):.2f} ({ours.n_clusters_})"
    Y = model.embedding_
    row = [name, len(X), k, leiden_score, ours.stability_, hdbscan(Y), hdbscan(X)]
    return [*row, k_means(Y), k_means(X)]


def beside_igraph(name: str) -> list[object]:
    """Return modularity and seconds of the Leiden algorithm here and in igraph, means of 3 runs."""
    X, _ = load_scaled(name)
    joint = TSNE(random_state=0).fit(X).affinities_
    graph = as_graph(joint)
    rows = np.repeat(np.arange(len(X)), np.diff(joint.indptr))
    is_once = rows < joint.indices
    other = igraph.Graph(n=len(X), edges=np.c_[rows, joint.indices][is_once])
    weights = joint.data[is_once].astype(float)
    igraph.set_random_number_generator(random)

    def with_igraph(seed: int) -> np.ndarray:
        random.seed(seed)
        found = other.community_leiden("modularity", weights, resolution=0.5, n_iterations=-1)
        return np.array(found.membership)

    def measure(run: Callable[[int], np.ndarray]) -> tuple[str, float]:
        run(99)  # compiles
        start = time.perf_counter()
        found = [run(seed) for seed in range(N_SEEDS)]
        seconds = (time.perf_counter() - start) / N_SEEDS
        return f"{np.mean([modularity(graph, 0.5, labels) for labels in found]):.4f}", seconds

    ours = measure(lambda seed: leiden(graph, 0.5, np.random.default_rng(seed)))
    return [name, len(X), *ours, *measure(with_igraph)]


def outlier_tasks(name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield points and whether each is an outlier, with each class as outliers in turn."""
    X, y = load_scaled(name)
    rng = np.random.default_rng(0)
    kept = np.sort(rng.permutation(len(X))[:MOST_POINTS])
    X, y = X[kept], y[kept]
    sizes = np.bincount(y)
    # Of two classes, the smaller one: the larger one would be the normal points.
    rare = [int(sizes.argmin())] if len(sizes) == 2 else range(min(len(sizes), MOST_CLASSES))
    for c in rare:
        others, own = np.flatnonzero(y != c), np.flatnonzero(y == c)
        n_outliers = min(len(own), max(5, round(OUTLIERS / (1 - OUTLIERS) * len(others))))
        ids = np.r_[others, rng.choice(own, n_outliers, replace=False)]
        yield X[ids], y[ids] == c


def outliers_of(name: str) -> dict[str, float]:
    """Return the mean area under the ROC curve of each method, over tasks and seeds."""
    found: dict[str, list[float]] = {}
    for X, is_outlier in outlier_tasks(name):
        for seed in range(N_SEEDS):
            scores = {
                "isolation forest": IsolationForest(random_state=seed).fit(X).score_samples(X)
            }
            for psi in PSI:
                model = IsolationOutliers(psi, random_state=seed).fit(X)
                scores[f"psi {psi}"] = model.score_samples(X)
            scores["LOF"] = LocalOutlierFactor(20).fit(X).negative_outlier_factor_
            for method, values in scores.items():
                found.setdefault(method, []).append(roc_auc_score(is_outlier, -values))
    return {method: float(np.mean(areas)) for method, areas in found.items()}


def null_sets() -> Iterator[tuple[str, np.ndarray]]:
    """Yield data with clusters and without."""
    for name in ("digits", "wine", "iris", "dermatology", "wdbc"):
        yield name, load_scaled(name)[0]
    rng = np.random.default_rng(0)
    for name in ("digits", "wine"):
        yield f"{name}, columns shuffled", rng.permuted(load_scaled(name)[0], axis=0)
    n = 300
    for d in (2, 10, 50):
        yield f"one Gaussian, {d} columns", rng.normal(size=(n, d))
    yield "one correlated Gaussian, 10 columns", correlated(rng, n)
    yield "uniform, 3 columns", rng.random((n, 3))
    side = rng.integers(0, 2, n)[:, None]
    yield (
        "two Gaussians, 6 apart in one of 5 columns",
        rng.normal(size=(n, 5)) + side * np.eye(5)[0] * 6,
    )
    yield "two Gaussians, 3 apart in each of 5 columns", rng.normal(size=(n, 5)) + 3 * side
    angle = 2 * np.pi * rng.random(n)
    yield "a ring, 2 columns", np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.05, (n, 2))


def correlated(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return n points of a Gaussian with random correlations, in 10 columns."""
    return rng.normal(size=(n, 10)) @ rng.normal(size=(10, 10))


NO_CLUSTERS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "wine, columns shuffled": lambda rng: rng.permuted(load_scaled("wine")[0], axis=0),
    "digits, columns shuffled": lambda rng: rng.permuted(load_scaled("digits")[0][:N_ROWS], axis=0),
    "Gaussian, 5 columns": lambda rng: rng.normal(size=(N_ROWS, 5)),
    "exponential, 5 columns": lambda rng: rng.exponential(size=(N_ROWS, 5)),
    "three values, 10 columns": lambda rng: rng.integers(0, 3, (N_ROWS, 10)).astype(float),
    "correlated Gaussian, 10 columns": lambda rng: correlated(rng, N_ROWS),
    "correlated lognormal, 10 columns": lambda rng: np.exp(correlated(rng, N_ROWS) / 5),
    "correlated, rounded to a few values, 10 columns": lambda rng: np.round(
        correlated(rng, N_ROWS) / 3
    ),
}


def false_positives(kind: str, keep: str, n_tests: int) -> float:
    """Return the share of data sets without clusters that the test calls real."""
    found = []
    for seed in range(n_tests):
        X = NO_CLUSTERS[kind](np.random.default_rng([seed, 7]))
        found.append(null_test(X, keep=keep, random_state=seed).is_real)
    return float(np.mean(found))


def density_rows(quick: bool) -> Iterator[list[object]]:
    """Yield the rank correlation of density estimates with the density of four Gaussians."""
    for d in (2, 5, 10, 20)[: 1 if quick else None]:
        for seed in range(2):
            rng = np.random.default_rng(seed)
            centers, spreads = rng.normal(0, 4, (4, d)), np.array([0.5, 1, 1.5, 2.5])
            shares = np.array([0.4, 0.3, 0.2, 0.1])
            kinds = rng.choice(4, 2000, p=shares)
            X = centers[kinds] + rng.normal(size=(2000, d)) * spreads[kinds, None]
            sq = ((X[:, None] - centers) ** 2).sum(axis=2) / spreads**2
            true = np.logaddexp.reduce(np.log(shares) - d * np.log(spreads) - sq / 2, axis=1)
            found = [
                IsolationKernel(psi, n_partitions=100, partition=partition, random_state=seed)
                .fit(X)
                .density()
                for partition in ("voronoi", "forest", "spheres")
                for psi in DENSITY_PSI
            ]
            found.append(-nearest_neighbors(X, 20).distances[:, -1])
            yield [d, seed, *(f"{spearmanr(each, true).statistic:.2f}" for each in found)]


def density_table(quick: bool) -> str:
    """Return the table of density estimates."""
    kinds = [f"{name} {psi}" for name in ("Voronoi", "trees", "spheres") for psi in DENSITY_PSI]
    rows = list(density_rows(quick))
    return f"#### Density\n\n{table(['columns', 'seed', *kinds, '20th neighbor'], rows)}"


def cluster_tables(quick: bool) -> str:
    """Return the tables of clusters."""
    names = CLUSTER_SETS[:QUICK] if quick else CLUSTER_SETS
    header = ["data", "n", "classes", "Leiden (clusters)", "stability", "HDBSCAN, map",
              "HDBSCAN, data", "k-means, map", "k-means, data"]  # fmt: skip
    rows = [clusters_of(name) for name in names]
    scores = np.array([[float(str(cell).split()[0]) for cell in row[3:]] for row in rows])
    rows.append(["mean", "", "", *(f"{value:.2f}" for value in scores.mean(axis=0))])
    speed = [
        beside_igraph(name) for name in (names[:2] if quick else ["digits", "segment", "pendig"])
    ]
    speed_header = ["data", "n", "modularity", "s", "modularity, igraph", "s, igraph"]
    return f"#### Clusters\n\n{table(header, rows)}\n\n{table(speed_header, speed)}"


def outlier_table(quick: bool) -> str:
    """Return the table of outliers."""
    names = OUTLIER_SETS[:QUICK] if quick else OUTLIER_SETS
    found = [outliers_of(name) for name in names]
    methods = list(found[0])
    rows = [
        [name, *(f"{row[m]:.2f}" for m in methods)] for name, row in zip(names, found, strict=True)
    ]
    rows.append(["mean", *(f"{np.mean([row[m] for row in found]):.3f}" for m in methods)])
    return f"#### Outliers\n\n{table(['data', *methods], rows)}"


def null_tables(quick: bool) -> str:
    """Return the tables of the null test."""
    rows = []
    for name, X in list(null_sets())[: QUICK if quick else None]:
        tests = [null_test(X, keep=keep, n_rows=NULL_ROWS) for keep in ("columns", "correlations")]
        cells = [f"{t.p_value:.2f}" for t in tests], [f"{t.point_share:.0%}" for t in tests]
        rows.append([name, len(X), *(cell for pair in zip(*cells, strict=True) for cell in pair)])
    header = ["data", "n", "p, columns", "points", "p, correlations", "points"]
    n_tests = 10 if quick else N_TESTS
    rates = [
        [kind, *(false_positives(kind, keep, n_tests) for keep in ("columns", "correlations"))]
        for kind in NO_CLUSTERS
    ]
    rate_header = [f"{n_tests} data sets, {N_ROWS} rows", "columns", "correlations"]
    return f"#### Null test\n\n{table(header, rows)}\n\n{table(rate_header, rates)}"


def run(quick: bool) -> str:
    """Return all tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes on stand-ins of the paper's data sets
        parts = [
            make(quick) for make in (cluster_tables, outlier_table, density_table, null_tables)
        ]
    return "### Structure\n\n" + "\n\n".join(parts)
