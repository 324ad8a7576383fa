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
from isosne._random import RandomState, as_generator
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.sources import is_stored, open_rows

STORED_POINTS = 100_000
"""Rows that are drawn from an input that is not in memory."""
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


def draw_rows(
    X: Any,
    Y: Any,
    labels: Any = None,
    *,
    n_points: int = STORED_POINTS,
    random_state: RandomState = None,
) -> tuple[Points, Array, Array | None]:
    """Draw points of an input of any size, with their places and labels, to be measured.

    Parameters
    ----------
    X : array, CSR, data frame, path, or Dask array or data frame
        The rows that were placed. Only those drawn are read, or travel.
    Y : array of shape (n_samples, n_components)
        Their places.
    labels : array of shape (n_samples,) or None, default=None
        Their classes.
    n_points : int, default=100_000
        Rows to draw; all are taken if there are fewer.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    X, Y, labels
        Those of the rows drawn, in the order of the input. A measure of them is that of a smaller
        set: its neighborhoods of k points stand for k n_samples / n_points.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.quality import draw_rows
    >>> X, Y, _ = draw_rows(np.eye(50), np.eye(50)[:, :2], n_points=10, random_state=0)
    >>> X.shape, Y.shape
    ((10, 50), (10, 2))
    """
    rows = open_rows(X)
    n = rows.shape[0]
    if len(Y) != n:
        raise _unequal(n, len(Y))
    if labels is not None and len(labels) != n:
        raise DataError(
            f"labels must have one label for each point; got {len(labels)} for {n} points. "
            "Pass the labels of the rows of the map, in the same order."
        )
    hint = "Pass the number of rows to measure."
    size = min(check_count(n_points, "n_points", low=FEWEST, hint=hint), n)
    ids = np.sort(as_generator(random_state).choice(n, size, replace=False))
    named = None if labels is None else np.asarray(labels)[ids]
    return rows.take(ids), np.asarray(Y)[ids], named


def check_pair(X: Any, Y: Any, metric: str, p: float) -> tuple[Points, Array]:
    """Return data and map with one row for each point."""
    check_metric(metric, p)
    if is_stored(X):
        raise DataError(
            "X must be in memory to be measured here; got rows that need not be. "
            "Draw some with isosne.quality.draw_rows, or call report, which does."
        )
    data = check_points(X, min_rows=FEWEST)
    check_for_metric(data, metric)
    if metric == "precomputed":
        check_square_distances(data)
    drawn = check_map(Y)
    if data.shape[0] != drawn.shape[0]:
        raise _unequal(data.shape[0], drawn.shape[0])
    return data, drawn


def _unequal(n_data: int, n_drawn: int) -> DataError:
    return DataError(
        "X and Y must have one row for each point; "
        f"got {n_data} rows in X and {n_drawn} in Y. "
        "Pass the data that the map was made of, in the same order."
    )


def check_label_shape(labels: Any, n: int) -> Array:
    """Return labels as an array of one for each point."""
    array = np.asarray(labels)
    if array.shape != (n,):
        raise DataError(
            "labels must be one-dimensional, with one label for each point; "
            f"got shape {array.shape} for {n} points. "
            "Pass the labels of the rows of the map, in the same order."
        )
    return array


def check_labels(labels: Any, n: int) -> Classes:
    """Return the classes of n points: at least two, and one with two points."""
    array = check_label_shape(labels, n)
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
