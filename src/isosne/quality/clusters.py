"""How well a map separates labeled classes: Davies-Bouldin, Calinski-Harabasz (Eq. 12-13), kNN."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._numba import kernel, threads
from isosne._random import RandomState
from isosne._types import Array
from isosne.errors import DataError
from isosne.neighbors.distances import Metric, search_set
from isosne.neighbors.exact import nearest
from isosne.quality.inputs import Classes, check_labels, check_map
from isosne.quality.sampling import Estimate, choose_queries, estimate_mean


def davies_bouldin(Y: Any, labels: Any, *, scale: bool = True) -> float:
    """Measure how wide the classes of a map are beside the gaps between them; low is good.

    Parameters
    ----------
    Y : array or data frame of shape (n_samples, n_components)
        The map.
    labels : array of shape (n_samples,)
        The class of each point: numbers or text.
    scale : bool, default=True
        Scale each axis to 0..1 first, as the paper does.

    Returns
    -------
    float
        From zero up.

    Notes
    -----
    Eq. 12. Departures from the paper: none. Two classes with the same center have no index; they
    are an error. Cost: O(n + c^2) time for c classes.

    Examples
    --------
    >>> from isosne.quality import davies_bouldin
    >>> round(davies_bouldin([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1]), 4)
    0.4286
    """
    points = check_map(Y)
    return davies_bouldin_of(points, check_labels(labels, len(points)), scale=scale)


def davies_bouldin_of(Y: Array, classes: Classes, *, scale: bool) -> float:
    """Return the index of checked values."""
    points = unit_box(Y, scale=scale)
    centers = class_means(points, classes)
    spread = np.linalg.norm(points - centers[classes.of_point], axis=1)
    widths = class_means(spread[:, None], classes)[:, 0]
    worst = np.empty(len(widths))
    for c in range(len(widths)):
        gaps = np.linalg.norm(centers - centers[c], axis=1)
        gaps[c] = np.inf
        if gaps.min() == 0:
            raise DataError(
                "Davies-Bouldin needs classes with different centers; "
                f"got the same for {classes.names[c]!s} and {classes.names[gaps.argmin()]!s}. "
                "Merge the two, or leave one out."
            )
        worst[c] = ((widths[c] + widths) / gaps).max()
    return float(worst.mean())


def calinski_harabasz(Y: Any, labels: Any, *, scale: bool = True, squared: bool = True) -> float:
    """Measure the scatter between the classes of a map beside that within; high is good.

    Parameters
    ----------
    Y : array or data frame of shape (n_samples, n_components)
        The map.
    labels : array of shape (n_samples,)
        The class of each point: numbers or text.
    scale : bool, default=True
        Scale each axis to 0..1 first, as the paper does.
    squared : bool, default=True
        Square the distances, as the index is usually defined; False follows Eq. 13 as printed.

    Returns
    -------
    float
        From zero up.

    Notes
    -----
    Eq. 13. Departures from the paper: it prints the index without squares, yet its table agrees
    with the usual one, which is the default. Classes that are single points have no scatter within
    and no index; they are an error. Cost: O(n) time.

    Examples
    --------
    >>> from isosne.quality import calinski_harabasz
    >>> round(calinski_harabasz([[0.0], [2.0], [6.0], [10.0]], [0, 0, 1, 1]), 4)
    9.8
    """
    points = check_map(Y)
    classes = check_labels(labels, len(points))
    return calinski_harabasz_of(points, classes, scale=scale, squared=squared)


def calinski_harabasz_of(Y: Array, classes: Classes, *, scale: bool, squared: bool = True) -> float:
    """Return the index of checked values."""
    points = unit_box(Y, scale=scale)
    centers = class_means(points, classes)
    power = 2 if squared else 1
    between = np.linalg.norm(centers - points.mean(axis=0), axis=1) ** power
    within = np.linalg.norm(points - centers[classes.of_point], axis=1) ** power
    n, n_classes = len(points), len(centers)
    if within.sum() == 0:
        raise DataError(
            "Calinski-Harabasz needs a class whose points differ; "
            "got all points of each class at one place. Its value would be infinite."
        )
    scatter = (classes.sizes * between).sum() / (n_classes - 1)
    return float(scatter / (within.sum() / (n - n_classes)))


def unit_box(Y: Array, *, scale: bool) -> NDArray[np.float64]:
    """Return the map moved to 0 and scaled to 1: each axis, or all axes by the longest one.

    Neither index changes when all axes are scaled alike; this keeps squares within bounds.
    """
    points = np.asarray(Y, dtype=np.float64)
    points = points - points.min(axis=0)
    lengths = points.max(axis=0)
    if not scale:
        lengths = np.full_like(lengths, lengths.max())
    scaled: NDArray[np.float64] = points / np.where(lengths > 0, lengths, 1.0)
    return scaled


def class_means(values: Array, classes: Classes) -> NDArray[np.float64]:
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
) -> Estimate:
    """Measure how often the nearest neighbors of a point in a map vote for its class.

    Parameters
    ----------
    Y : array or data frame of shape (n_samples, n_components)
        The map.
    labels : array of shape (n_samples,)
        The class of each point: numbers or text.
    k : int, default=10
        Number of neighbors that vote, from 1 to n_samples - 1; the point itself does not.
    n_queries : int, "auto" or None, default=None
        Number of points that are classified, drawn at random. None and "auto": every point up to
        20 000 points, 2 000 of them beyond.
    random_state : int, Generator, RandomState or None, default=None
        Chooses the queries where they are a sample.
    n_jobs : int or None, default=None
        Number of threads; None uses as many as Numba does. The result does not depend on it.

    Returns
    -------
    Estimate
        The share of points classified rightly, with its ``standard_error`` where the queries are
        a sample.

    Notes
    -----
    Where classes have equally many votes, the one with the nearest neighbor among them wins.
    Equal distances, lower index first. Not in the paper. Cost: O(q n) time for q queries.

    Examples
    --------
    >>> from isosne.quality import knn_accuracy
    >>> print(knn_accuracy([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"], k=1))
    1.0000
    """
    points = check_map(Y)
    n = len(points)
    classes = check_labels(labels, n)
    hint = f"There are {n - 1} other points."
    k = check_count(k, "k", low=1, high=n - 1, hint=hint)
    queries = choose_queries(n, n_queries, random_state)
    with threads(n_jobs):
        return knn_accuracy_of(points, classes, k, queries)


def knn_accuracy_of(Y: Array, classes: Classes, k: int, queries: Array) -> Estimate:
    """Return the accuracy at the queries, of checked values."""
    search = search_set(Y, Metric())
    ids, _ = nearest(Y[queries], search, k + 1)
    votes = np.empty(len(queries), np.int64)
    count_votes(ids, queries, classes.of_point, len(classes.sizes), votes)
    return estimate_mean((votes == classes.of_point[queries]).astype(np.float64), len(Y))


@kernel
def count_votes(ids: Array, own: Array, of_point: Array, n_classes: int, votes: Array) -> None:
    """Fill votes (q,) with the class most frequent in each list (q, k + 1) without own[i].

    A list that copies of lower index have crowded its own point out of loses its last entry.
    """
    counts = np.zeros(n_classes, np.int64)
    n_listed = ids.shape[1]
    for i in range(len(ids)):
        last = n_listed - 1
        most = 0
        for a in range(n_listed):
            if ids[i, a] == own[i]:
                last = n_listed
        for a in range(last):
            if ids[i, a] != own[i]:
                c = of_point[ids[i, a]]
                counts[c] += 1
                most = max(most, counts[c])
        votes[i] = -1
        for a in range(last):
            c = of_point[ids[i, a]]
            if ids[i, a] != own[i] and votes[i] < 0 and counts[c] == most:
                votes[i] = c
        for a in range(last):
            counts[of_point[ids[i, a]]] = 0
