"""Quality of a map: how well it preserves neighborhoods, and how well it separates classes."""

from typing import Any

import numpy as np

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
