"""Questions about a point or a selection: neighbors, trust, and what sets a selection apart."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import make_search, nearest_neighbors
from isosne.studies.point_columns import Column

N_NEIGHBORS = 10
"""Size of the neighborhoods that are compared, as in `isosne report`."""
MAX_LARGEST_EXACT = 10_000
"""Most points whose neighbors are found exactly, as in `TSNE`."""


class Neighborhood(NamedTuple):
    """The nearest neighbors of a row, in the data and in a map.

    ``true``: rows nearest in the data. ``false``: rows nearest in the map that are not among them.
    ``trust``: fraction of the true neighbors that are also nearest in the map.
    """

    row: int
    true: NDArray[np.int64]
    false: NDArray[np.int64]
    trust: float


class Difference(NamedTuple):
    """How a column differs between a selection and the other rows.

    ``effect`` is the difference of the means in standard deviations (Cohen's d, with the pooled
    standard deviation); for a class of a text column, the difference of its shares.
    """

    column: str
    inside: float
    outside: float
    effect: float


def find_neighborhood(
    X: Points, Y: Array, row: int, metric: Metric, k: int = N_NEIGHBORS
) -> Neighborhood:
    """Compare the k nearest neighbors of a row in the data and in a map (n, 2)."""
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    k = min(k, len(placed) - 1)
    own = np.searchsorted(placed, [row])
    true, shown = (
        placed[found[0]] for found in _nearest_twice(X[placed], Y[placed], own, k, metric)
    )
    false = np.setdiff1d(shown, true)
    return Neighborhood(row, true, false, 1 - len(false) / k)


def measure_trust(
    X: Points, Y: Array, rows: Array, metric: Metric, k: int = N_NEIGHBORS
) -> NDArray[np.float64]:
    """Return the trust of some rows: the fraction of k true neighbors that are near in the map.

    Every row has a position in Y (n, 2). O(q n d) time for q rows.
    """
    true, shown = _nearest_twice(X, Y, rows, k, metric)
    is_kept = np.equal(true[:, :, None], shown[:, None, :]).any(axis=2)
    return np.asarray(is_kept.mean(axis=1))


def _nearest_twice(
    X: Points, Y: Array, rows: Array, k: int, metric: Metric
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the k nearest neighbors of some rows in the data, and those in the map."""
    flat = np.asarray(Y, np.float64)
    return _nearest(X, rows, k, metric), _nearest(flat, rows, k, Metric("euclidean"))


def _nearest(X: Points, rows: Array, k: int, metric: Metric) -> NDArray[np.int64]:
    """Return the k nearest neighbors (q, k) of some rows; a row is not its own neighbor."""
    found, _ = make_search(X, metric, "exact").nearest(X[rows], k + 1)
    is_other = found != rows[:, None]
    is_other[is_other.all(axis=1), -1] = False  # more than k copies of the row
    others: NDArray[np.int64] = found[is_other].reshape(len(rows), k).astype(np.int64)
    return others


def measure_density(X: Points, metric: Metric, k: int = N_NEIGHBORS) -> NDArray[np.float64]:
    """Return the density around each row: minus the logarithm of the mean distance to k neighbors.

    Rows with k copies have the density of the densest other row.
    """
    n = X.shape[0]
    is_small = n <= MAX_LARGEST_EXACT or not isinstance(X, np.ndarray)
    method = "exact" if is_small or metric.name != "euclidean" else "approximate"
    found = nearest_neighbors(X, min(k, n - 1), metric=metric.name, p=metric.p, method=method)
    mean = found.distances.mean(axis=1, dtype=np.float64)
    if not (mean > 0).any():
        return np.zeros(n)
    return np.asarray(-np.log(np.maximum(mean, mean[mean > 0].min())))


def compare_with_rest(
    columns: Sequence[Column], selected: Array, n_shown: int = 10
) -> list[Difference]:
    """Return the columns that differ most between the selected rows and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.explorer.questions import compare_with_rest
    >>> from isosne.studies.point_columns import Column
    >>> heights = Column("height", np.array([1.0, 2.0, 5.0, 6.0]))
    >>> (found,) = compare_with_rest([heights], np.array([2, 3]))
    >>> found.inside, found.outside, round(found.effect, 2)
    (5.5, 1.5, 5.66)
    """
    differences: list[Difference] = []
    for column in columns:
        is_inside = np.zeros(len(column.data), bool)
        is_inside[selected] = True
        if is_inside.all() or not is_inside.any():
            return []
        if column.words is not None:
            differences += _compare_shares(column, is_inside)
        else:
            differences += _compare_means(column, is_inside)
    return sorted(differences, key=lambda found: -abs(found.effect))[:n_shown]


def _compare_means(column: Column, is_inside: Array) -> list[Difference]:
    known = np.isfinite(column.data)
    inside = column.data[known & is_inside].astype(np.float64)
    outside = column.data[known & ~is_inside].astype(np.float64)
    if not len(inside) or not len(outside):
        return []
    squares = ((inside - inside.mean()) ** 2).sum() + ((outside - outside.mean()) ** 2).sum()
    pooled = math.sqrt(squares / max(len(inside) + len(outside) - 2, 1))
    if pooled == 0:
        return []
    means = float(inside.mean()), float(outside.mean())
    return [Difference(column.name, *means, (means[0] - means[1]) / pooled)]


def _compare_shares(column: Column, is_inside: Array) -> list[Difference]:
    """Return the class whose share differs most, unless almost every row has its own class."""
    words = column.words or []
    if not 2 <= len(words) <= len(column.data) // 2:
        return []
    shares = [
        np.bincount(column.data[part], minlength=len(words)) / part.sum()
        for part in (is_inside, ~is_inside)
    ]
    most = int(np.abs(shares[0] - shares[1]).argmax())
    inside, outside = float(shares[0][most]), float(shares[1][most])
    return [Difference(f"{column.name} = {words[most]}", inside, outside, inside - outside)]


def search_rows(ids: Array, columns: Sequence[Column], text: str) -> NDArray[np.int64]:
    """Return the rows whose identifier or text contains a text; upper case is ignored.

    A row whose identifier is the text comes alone, as do several whose identifiers are separated by
    commas.
    """
    wanted = text.strip().casefold()
    if not wanted:
        return np.empty(0, np.int64)
    names = [str(name).casefold() for name in ids.tolist()]
    for listed in ({wanted}, {part.strip() for part in wanted.split(",")}):
        same = np.flatnonzero([name in listed for name in names])
        if len(same) == len(listed):
            return same
    found = np.array([wanted in name for name in names])
    for column in columns:
        if column.words is not None:
            has_text = np.array([wanted in word.casefold() for word in column.words])
            found |= has_text[column.data]
    return np.flatnonzero(found)
