"""The door of the measures: data and map of the same points, labels, sizes of neighborhoods."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._checks import (
    check_count,
    check_for_metric,
    check_metric,
    check_points,
    check_square_distances,
)
from isosne._types import Array, Points
from isosne.errors import DataError

FEWEST = 4
"""Points below which no neighborhood measure is left to average."""


class Classes(NamedTuple):
    """Labels as whole numbers: the names in order, the class of each point, the class sizes."""

    names: Array
    of_point: NDArray[np.int64]
    sizes: NDArray[np.int64]


def check_map(Y: Any) -> Array:
    """Return a map as a finite, dense array."""
    points = check_points(Y, name="Y", min_rows=FEWEST)
    if isinstance(points, csr_array):
        raise DataError("Y must be dense; got a sparse map. Pass Y.toarray().")
    return np.asarray(points)


def check_pair(X: Any, Y: Any, metric: str, p: float) -> tuple[Points, Array]:
    """Return data and map with one row for each point."""
    check_metric(metric, p)
    data = check_points(X, min_rows=FEWEST)
    check_for_metric(data, metric)
    if metric == "precomputed":
        check_square_distances(data)
    drawn = check_map(Y)
    if data.shape[0] != drawn.shape[0]:
        raise DataError(
            "X and Y must have one row for each point; "
            f"got {data.shape[0]} rows in X and {drawn.shape[0]} in Y. "
            "Pass the data that the map was made of, in the same order."
        )
    return data, drawn


def check_labels(labels: Any, n: int) -> Classes:
    """Return the classes of n points: at least two, and one with two points."""
    array = np.asarray(labels)
    if array.shape != (n,):
        raise DataError(
            "labels must be one-dimensional, with one label for each point; "
            f"got shape {array.shape} for {n} points. "
            "Pass the labels of the rows of the map, in the same order."
        )
    try:
        n_missing = int((array != array).sum()) if array.dtype.kind in "fmMO" else 0
        names, of_point, sizes = np.unique(array, return_inverse=True, return_counts=True)
    except TypeError:
        raise DataError(
            "labels must be of one kind, so that they can be sorted; got a mixture. "
            "Pass all of them as text, or all as numbers."
        ) from None
    if n_missing:
        raise DataError(
            f"labels must not be missing; got {n_missing} that are not a number. "
            "Leave these points out, or give them a class of their own."
        )
    if not 2 <= len(names) < n:
        raise DataError(
            f"labels must name from 2 to n - 1 classes; got {len(names)} for {n} points. "
            "Measures of classes compare points within classes with points between them."
        )
    return Classes(names, of_point.astype(np.int64), sizes.astype(np.int64))


def check_k(k: Any, n: int) -> int:
    """Return the size of a neighborhood for which trustworthiness is defined."""
    hint = f"It must be less than half of the {n} points."
    return check_count(k, "k", low=1, high=(n - 1) // 2, hint=hint)
