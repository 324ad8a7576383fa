"""Validation of the inputs of the measures: data, embedding, labels and neighborhood size."""

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
from isosne.tables.columns import is_mixed
from isosne.tables.gower import gower_points

STORED_POINTS = 100_000
"""Default number of rows sampled from data that are not in memory; chosen, not measured."""
MIN_POINTS = 4
"""With fewer points R_NX is defined for at most one neighborhood size."""


class Classes(NamedTuple):
    """Labels as integers: the sorted names, the class of each point, the class sizes."""

    names: Array
    of_point: NDArray[np.int64]
    sizes: NDArray[np.int64]


def check_map(Y: Any) -> Array:
    """Return an embedding as a finite, dense array."""
    points = check_points(Y, name="Y", min_rows=MIN_POINTS)
    if isinstance(points, csr_array):
        raise DataError("Y must be a dense array; got a sparse matrix. Pass Y.toarray().")
    return np.asarray(points)


def draw_rows(
    X: Any,
    Y: Any,
    labels: Any = None,
    *,
    n_points: int = STORED_POINTS,
    random_state: RandomState = None,
) -> tuple[Points, Array, Array | None]:
    """Sample rows of data of any size, with their coordinates and labels.

    Parameters
    ----------
    X : array, CSR, data frame, path, or Dask array or data frame
        The data. Only the sampled rows are read or transferred.
    Y : array of shape (n_samples, n_components)
        The embedding of all rows.
    labels : array of shape (n_samples,) or None, default=None
        The class of each row.
    n_points : int, default=100_000
        Number of rows to sample; all rows if there are fewer.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X, Y, labels
        The sampled rows, in the order of the input. Measures of the sample refer to a smaller data
        set: a neighborhood of k points corresponds to one of k n_samples / n_points.

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
        raise _unequal_rows(n, len(Y))
    if labels is not None and len(labels) != n:
        raise DataError(
            f"labels must have one entry per point; got {len(labels)} labels for {n} points. "
            "Pass the labels in the order of the rows of Y."
        )
    hint = "Pass the number of rows to sample."
    size = min(check_count(n_points, "n_points", low=MIN_POINTS, hint=hint), n)
    ids = np.sort(as_generator(random_state).choice(n, size, replace=False))
    sampled_labels = None if labels is None else np.asarray(labels)[ids]
    return rows.take(ids), np.asarray(Y)[ids], sampled_labels


def check_in_memory(X: Any) -> None:
    """Raise if the data are a path or a Dask collection."""
    if is_stored(X):
        raise DataError(
            f"X must be in memory; got {type(X).__name__}. "
            "Sample rows with isosne.quality.draw_rows, or call isosne.quality.report, which does."
        )


def as_measured(X: Any, metric: str) -> tuple[Any, str]:
    """Return data and metric; a table with mixed columns is measured by Gower's distance."""
    if metric == "euclidean" and not is_stored(X) and is_mixed(X):
        return gower_points(X), "gower"
    return X, metric


def check_pair(X: Any, Y: Any, metric: str, p: float) -> tuple[Points, Array]:
    """Return data and embedding with one row per point."""
    check_metric(metric, p)
    check_in_memory(X)
    data = check_points(X, min_rows=MIN_POINTS)
    check_for_metric(data, metric)
    if metric == "precomputed":
        check_square_distances(data)
    embedding = check_map(Y)
    if data.shape[0] != embedding.shape[0]:
        raise _unequal_rows(data.shape[0], embedding.shape[0])
    return data, embedding


def _unequal_rows(n_data: int, n_embedded: int) -> DataError:
    return DataError(
        "X and Y must have the same number of rows; "
        f"got {n_data} rows in X and {n_embedded} in Y. "
        "Pass the data that Y was computed from, in the same order."
    )


def check_label_shape(labels: Any, n: int) -> Array:
    """Return labels as an array with one entry per point."""
    array = np.asarray(labels)
    if array.shape != (n,):
        raise DataError(
            "labels must be one-dimensional, with one entry per point; "
            f"got shape {array.shape} for {n} points. "
            "Pass the labels in the order of the rows of Y."
        )
    return array


def check_labels(labels: Any, n: int) -> Classes:
    """Return the classes of n points: at least two classes, one of them with two points."""
    array = check_label_shape(labels, n)
    try:
        n_missing = int((array != array).sum()) if array.dtype.kind in "fmMO" else 0
        names, of_point, sizes = np.unique(array, return_inverse=True, return_counts=True)
    except TypeError:
        raise DataError(
            "labels must be all text or all numbers; got a mixture of types. "
            "Convert them with np.asarray(labels, dtype=str)."
        ) from None
    if n_missing:
        raise DataError(
            f"labels must not be missing; got {n_missing} NaN value(s). "
            "Drop these points, or assign them to a class of their own."
        )
    if not 2 <= len(names) < n:
        raise DataError(
            "labels must have at least 2 classes, and fewer classes than points; "
            f"got {len(names)} class(es) for {n} points. Class measures compare distances within "
            "classes with distances between classes; pass other labels."
        )
    return Classes(names, of_point.astype(np.int64), sizes.astype(np.int64))


def check_k(k: Any, n: int) -> int:
    """Return a neighborhood size for which trustworthiness is defined."""
    hint = f"Choose k smaller than half of the number of points ({n})."
    return check_count(k, "k", low=1, high=(n - 1) // 2, hint=hint)
