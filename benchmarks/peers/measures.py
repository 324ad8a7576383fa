"""Quality of a map: what it keeps of the neighborhoods, and how it shows the classes."""

import numpy as np

from isosne.quality import auc_rnx, calinski_harabasz, davies_bouldin, knn_accuracy

K = 10
ALL_QUERIES = 5_000
"""Points up to which every point is asked for its neighborhoods."""
N_QUERIES = {"auc_rnx": 1_000, "knn_accuracy": 10_000}
"""Points asked in larger maps, drawn with a fixed seed: the same for every method."""


def measure(X: np.ndarray, Y: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return the measures of a map; those of a sample have their standard error beside them."""
    n = len(X)
    queries = {key: min(n, most) if n > ALL_QUERIES else n for key, most in N_QUERIES.items()}
    area = auc_rnx(X, Y, n_queries=queries["auc_rnx"], random_state=0)
    accuracy = knn_accuracy(Y, classes, k=K, n_queries=queries["knn_accuracy"], random_state=0)
    return {
        "auc_rnx": float(area),
        "auc_rnx_error": area.standard_error,
        "calinski_harabasz": calinski_harabasz(Y, classes),
        "davies_bouldin": davies_bouldin(Y, classes),
        "knn_accuracy": float(accuracy),
        "knn_accuracy_error": accuracy.standard_error,
    }
