"""Inputs of the measures: data, embedding, labels, sampled queries; and the estimate of a mean.

Neighborhood measures are means over points. Above `EXACT_LIMIT` points the mean is estimated from a
sample drawn without replacement.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne import _checks as checks
from isosne._random import RandomState, as_generator
from isosne._tables import as_array
from isosne._types import Array, Points
from isosne.errors import DataError, keyword
from isosne.neighbors.metric import Metric
from isosne.rows import is_stored, open_rows
from isosne.tables.columns import is_mixed
from isosne.tables.coordinates import gower_points

STORED_POINTS = 100_000
"""Default number of rows sampled from data that are not in memory; chosen, not measured."""
MIN_POINTS = 4
"""With fewer points R_NX is defined for at most one neighborhood size."""


class Classes(NamedTuple):
    """Labels as integers: the sorted names, the class of each point, the class sizes."""

    names: Array
    of_point: NDArray[np.int64]
    sizes: NDArray[np.int64]


def check_map(Y: Any, name: str = "Y", *, min_rows: int = MIN_POINTS) -> Array:
    """Return an embedding as a finite, dense array."""
    points = checks.check_points(Y, name=name, min_rows=min_rows)
    if isinstance(points, csr_array):
        rule = f"{name} must be a dense array; got a sparse matrix"
        raise DataError(f"{rule}. Pass {name}.toarray().")
    return np.asarray(points)


def draw_rows(
    X: Any, Y: Any, labels: Any, random_state: RandomState
) -> tuple[Points, Array, Array | None]:
    """Sample rows of data of any size, with their coordinates and labels, in the same order."""
    rows = open_rows(X)
    n = rows.shape[0]
    _check_equal_rows(n, len(Y))
    ids = np.sort(as_generator(random_state).choice(n, min(STORED_POINTS, n), replace=False))
    sampled_labels = None if labels is None else check_label_shape(labels, n)[ids]
    return rows.take(ids), np.asarray(Y)[ids], sampled_labels


def check_in_memory(X: Any) -> None:
    """Raise if the data are a path or a Dask collection."""
    if is_stored(X):
        raise DataError(
            f"X must be in memory; got {type(X).__name__}. "
            "Call isosne.quality.report, which samples rows, or pass a sample of your own."
        )


def as_measured(X: Any, metric: str) -> tuple[Any, str]:
    """Return data and metric; a table with mixed columns is measured by Gower's distance."""
    if checks.is_one_of(metric, ("euclidean",)) and not is_stored(X) and is_mixed(X):
        return gower_points(X), "gower"
    return X, metric


def check_inputs(
    X: Any, Y: Any, k: Any, metric: Metric, n_queries: Any, random_state: RandomState
) -> tuple[tuple[Points, Array], Metric, NDArray[np.int64], int]:
    """Return (data, embedding), the metric, the points to evaluate, and k, all checked.

    k must be a neighborhood size with a trustworthiness.
    """
    X, name = as_measured(X, metric.name)
    checks.check_metric(name, metric.p)
    check_in_memory(X)
    data = checks.check_points(X, min_rows=MIN_POINTS)
    checks.check_for_metric(data, name)
    if name == "precomputed":
        checks.check_square_distances(data)
    embedding, n = check_map(Y), data.shape[0]
    _check_equal_rows(n, len(embedding))
    hint = f"Choose k smaller than half of the number of points ({n})."
    k = checks.check_count(k, "k", low=1, high=(n - 1) // 2, hint=hint)
    queries = choose_queries(n, n_queries, random_state)
    return (data, embedding), Metric(name, metric.p), queries, k


def _check_equal_rows(n_data: int, n_embedded: int) -> None:
    if n_data != n_embedded:
        raise DataError(
            f"X and Y must have the same number of rows; got {n_data} rows in X and {n_embedded} "
            "in Y. Pass the data that Y was computed from, in the same order."
        )


def check_label_shape(labels: Any, n: int) -> Array:
    """Return labels as an array with one entry per point."""
    array = as_array(labels, "labels")
    if array.shape != (n,):
        raise DataError(
            f"labels must be one-dimensional, with one entry per point; got shape {array.shape} "
            f"for {n} points. Pass the labels in the order of the rows of Y."
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


def is_unlabeled(labels: Array) -> NDArray[np.bool_]:
    """Return for each label (n,) whether it is missing: an empty string, None or NaN."""
    if labels.dtype.kind in "biu":
        return np.zeros(len(labels), bool)
    if labels.dtype.kind == "U":
        return np.asarray(labels == "")
    return np.array([_is_missing(label) for label in labels.tolist()], bool)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or label in ("", b"") or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True


EXACT_LIMIT = 20_000
"""Largest number of points that are all evaluated by default; chosen, not measured."""
SAMPLE_SIZE = 2_000
"""Default sample above the limit; measured: standard error 0.0011 (docs/benchmarks.md)."""


class Estimate(float):
    """A mean over points: a float with a standard error.

    ``standard_error``: standard error of the mean; zero if all points were evaluated.
    ``n_queries``: number of evaluated points. ``value``: the mean as a plain float.

    Examples
    --------
    >>> from isosne.quality import Estimate
    >>> print(Estimate(0.9712, 0.0031, 2000))
    0.9712 +- 0.0031
    """

    standard_error: float
    n_queries: int

    def __new__(cls, value: float, standard_error: float = 0.0, n_queries: int = 0) -> Self:
        """Store the value, its standard error and the number of evaluated points."""
        self = super().__new__(cls, value)
        self.standard_error = float(standard_error)
        self.n_queries = int(n_queries)
        return self

    @property
    def value(self) -> float:
        """The mean as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        error = self.standard_error
        return f"Estimate({self.value!r}, standard_error={error!r}, n_queries={self.n_queries})"

    def __str__(self) -> str:
        error = f" +- {self.standard_error:.2g}" if self.standard_error else ""
        return f"{self.value:.4f}{error}"


def choose_queries(n: int, n_queries: Any, random_state: RandomState) -> NDArray[np.int64]:
    """Return the indices of the points to evaluate, in ascending order: all, or a sample."""
    generator = as_generator(random_state)
    if n_queries is None or checks.is_one_of(n_queries, ("auto",)):
        n_queries = n if n <= EXACT_LIMIT else SAMPLE_SIZE
    hint = (
        f"Use {keyword('n_queries', None)} for all points up to {EXACT_LIMIT:,}, and a sample of "
        f"{SAMPLE_SIZE:,} otherwise."
    )
    size = checks.check_count(n_queries, "n_queries", low=2, high=n, hint=hint)
    if size == n:
        return np.arange(n)
    return np.sort(generator.choice(n, size, replace=False))


def estimate_mean(values: Array, n: int, mean: float | None = None) -> Estimate:
    """Estimate the mean over n points from the values at q of them, unless it is known.

    The standard error includes the finite population correction 1 - q / n.
    """
    q = len(values)
    error = math.sqrt((1 - q / n) * float(np.var(values, ddof=1)) / q) if q < n else 0.0
    return Estimate(float(np.mean(values)) if mean is None else mean, error, q)
