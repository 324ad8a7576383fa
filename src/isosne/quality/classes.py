"""Class separation: Davies-Bouldin and Calinski-Harabasz (Eq. 12-13), k-NN accuracy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Array
from isosne.errors import DataError
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import is_other, nearest
from isosne.neighbors.metric import Metric
from isosne.quality import inputs


def davies_bouldin(Y: Any, labels: Any) -> float:
    """Compute the Davies-Bouldin index of labeled classes; lower is better.

    Parameters
    ----------
    Y : array or data frame of shape (n_samples, n_components)
        The embedding. Each axis is scaled to 0..1, as in the paper.
    labels : array of shape (n_samples,)
        The class of each point: numbers or text.

    Returns
    -------
    float
        The index, at least 0.

    Notes
    -----
    Eq. 12: the mean over classes of the largest ratio of class widths to the distance of class
    centers; undefined if two classes have the same center.
    O(n + c^2) time for c classes.

    Examples
    --------
    >>> from isosne.quality import davies_bouldin
    >>> round(davies_bouldin([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1]), 4)
    0.4286
    """
    points, classes, centers = _check_classes(Y, labels)
    spread = np.linalg.norm(points - centers[classes.of_point], axis=1)
    widths = class_means(spread[:, None], classes)[:, 0]
    worst = np.empty(len(widths))
    for c in range(len(widths)):
        gaps = np.linalg.norm(centers - centers[c], axis=1)
        gaps[c] = np.inf
        if gaps.min() == 0:
            raise DataError(
                "The Davies-Bouldin index is undefined for classes with the same center; "
                f"got the same center for {classes.names[c]!s} and "
                f"{classes.names[gaps.argmin()]!s}. Merge the two classes, or drop one of them."
            )
        worst[c] = ((widths[c] + widths) / gaps).max()
    return float(worst.mean())


def calinski_harabasz(Y: Any, labels: Any) -> float:
    """Compute the Calinski-Harabasz index of labeled classes; higher is better.

    Parameters
    ----------
    Y, labels
        See `davies_bouldin`.

    Returns
    -------
    float
        The index, at least 0.

    Notes
    -----
    Eq. 13: the ratio of the scatter between classes to the scatter within classes; undefined
    without the latter. Departures from the paper: it prints the index without squares, but its
    table agrees with the usual definition, which is used here. O(n) time.

    Examples
    --------
    >>> from isosne.quality import calinski_harabasz
    >>> round(calinski_harabasz([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1]), 4)
    9.8
    """
    points, classes, centers = _check_classes(Y, labels)
    between = ((centers - points.mean(axis=0)) ** 2).sum(axis=1)
    within = ((points - centers[classes.of_point]) ** 2).sum()
    if within == 0:
        raise DataError(
            "The Calinski-Harabasz index is undefined without scatter within classes; "
            "got classes whose points all coincide. Pass other labels."
        )
    scatter = (classes.sizes * between).sum() / (len(centers) - 1)
    return float(scatter / (within / (len(points) - len(centers))))


def _check_classes(Y: Any, labels: Any) -> tuple[Array, inputs.Classes, Array]:
    """Return the embedding with axes scaled to 0..1, its classes, and their centers."""
    points = inputs.check_map(Y).astype(np.float64)
    points -= points.min(axis=0)
    lengths = points.max(axis=0)
    points /= np.where(lengths > 0, lengths, 1.0)
    classes = inputs.check_labels(labels, len(points))
    return points, classes, class_means(points, classes)


def class_means(values: Array, classes: inputs.Classes) -> NDArray[np.float64]:
    """Return the mean of each class (n_classes, n_columns)."""
    n_classes = len(classes.sizes)
    sums = [np.bincount(classes.of_point, column, n_classes) for column in values.T]
    means: NDArray[np.float64] = np.stack(sums, axis=1) / classes.sizes[:, None]
    return means


def knn_accuracy(
    Y: Any,
    labels: Any,
    k: int = 10,
    *,
    n_queries: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> inputs.Estimate:
    """Compute the accuracy of a k-nearest-neighbor classifier in the embedding (leave-one-out).

    Parameters
    ----------
    Y, labels
        See `davies_bouldin`.
    k : int, default=10
        Number of neighbors that vote, from 1 to n_samples - 1.
    n_queries, random_state, n_jobs
        See `compare`; the queries are the points that are classified.

    Returns
    -------
    Estimate
        The fraction of correctly classified points, with a ``standard_error``.

    Notes
    -----
    Ties between classes go to the class of the nearest neighbor among them.
    O(q n) time for q queries.

    Examples
    --------
    >>> from isosne.quality import knn_accuracy
    >>> print(knn_accuracy([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"], k=1))
    1.0000
    """
    points = inputs.check_map(Y)
    n = len(points)
    classes = inputs.check_labels(labels, n)
    hint = f"Each point has {n - 1} other points as possible neighbors."
    k = check_count(k, "k", low=1, high=n - 1, hint=hint)
    queries = inputs.choose_queries(n, n_queries, random_state)
    with threads(n_jobs):
        return knn_accuracy_of(points, classes, k, queries)


def knn_accuracy_of(Y: Array, classes: inputs.Classes, k: int, queries: Array) -> inputs.Estimate:
    """Compute the accuracy at the queries from validated inputs."""
    ids, _ = nearest(Y[queries], search_set(Y, Metric()), k + 1)
    voters = classes.of_point[ids[is_other(ids, queries)]].reshape(-1, k)
    votes = np.array([voter[np.bincount(voter)[voter].argmax()] for voter in voters])
    return inputs.estimate_mean((votes == classes.of_point[queries]).astype(np.float64), len(Y))
