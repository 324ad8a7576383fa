"""Quality of a map: how well it preserves neighborhoods, and how well it separates classes."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import silhouette_score

from isosne.quality import calinski_harabasz, compare, davies_bouldin, knn_accuracy

MEASURES = {
    "auc_rnx": "AUC",
    "auc_rnx_paper": "AUC at the paper's k",
    "r_nx_10": "R_NX(10)",
    "knn_accuracy": "10-NN accuracy",
    "davies_bouldin": "DB",
    "calinski_harabasz": "CH",
}
"""What is measured, and its heading in tables. DB is better when lower, the others when higher."""
OTHERS = {
    "silhouette": "silhouette",
    "spearman": "Spearman correlation",
    "triplets": "random triplets",
    "centroids": "centroid triplets",
}
"""Measures of other papers, which `measure_more` adds."""
N_PAIRS = 100_000
"""Pairs and triplets of points that are compared."""
ALL_QUERIES = 5_000
"""Largest map in which the neighborhoods of all points are compared."""
N_RANKED, N_CLASSIFIED = 1_000, 10_000
"""Points sampled in larger maps, for R_NX and for 10-NN; the same points for every map."""


def measure(X: Any, Y: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return the measures of a map; X may be sparse."""
    n = X.shape[0]
    n_ranked, n_classified = (min(n, most) for most in (N_RANKED, N_CLASSIFIED))
    if n <= ALL_QUERIES:
        n_ranked = n_classified = n
    ranks = compare(X, Y, n_queries=n_ranked, random_state=0)
    accuracy = knn_accuracy(Y, classes, k=10, n_queries=n_classified, random_state=0)
    return {
        "auc_rnx": float(ranks.auc()),
        "auc_rnx_paper": float(ranks.auc("paper")),
        "r_nx_10": float(ranks.curve().r[9]),
        "knn_accuracy": float(accuracy),
        "davies_bouldin": davies_bouldin(Y, classes),
        "calinski_harabasz": calinski_harabasz(Y, classes),
    }


def measure_more(X: np.ndarray, Y: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return measures that other papers compare maps by, for dense X.

    The silhouette of the classes on the map; the rank correlation of distances in X and on the map,
    of random pairs; the share of random triplets (i, j, k), and of triplets of class centroids, of
    which j and k are in the same order of distance to i.
    """
    rng = np.random.default_rng(0)
    i, j, k = rng.integers(len(X), size=(3, N_PAIRS))
    far, near = _distances(X, i, j), _distances(Y, i, j)
    order = (far < _distances(X, i, k)) == (near < _distances(Y, i, k))
    names = np.unique(classes)
    centers = [np.array([Z[classes == name].mean(axis=0) for name in names]) for Z in (X, Y)]
    ids = np.array(list(combinations(range(len(names)), 3)), int).reshape(-1, 3)
    turned = np.concatenate([ids, ids[:, [1, 0, 2]], ids[:, [2, 0, 1]]]).T
    sides = [_distances(C, *turned[:2]) < _distances(C, *turned[::2]) for C in centers]
    sample = min(len(X), 5000)
    return {
        "silhouette": float(silhouette_score(Y, classes, sample_size=sample, random_state=0)),
        "spearman": float(spearmanr(far, near).statistic),
        "triplets": float(order[(j != k) & (i != j) & (i != k)].mean()),
        "centroids": float((sides[0] == sides[1]).mean()) if len(names) > 2 else np.nan,
    }


def _distances(X: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return np.linalg.norm(X[i] - X[j], axis=1)
