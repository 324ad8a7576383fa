"""Labels of points: classes or numbers, and the groups of points that share them.

Labels guide a map without becoming columns: a share of the row of each point goes to its neighbors
among the points with the same label (docs/labels.md).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._tables import as_array
from isosne._types import Array
from isosne.errors import DataError, ParameterError, show

N_BINS, FEWEST = 20, 50
"""Bins of equal size that numbers are sorted into, and the fewest points of a bin (chosen)."""


def as_labels(y: Any, n_points: int) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the class of each point as an integer, -1 if unknown; or its number, NaN if unknown.

    Numbers with decimals are numbers, other values are classes. None, NaN, empty text, and -1 among
    integers are unknown.
    """
    if y is None:
        hint = "Pass fit(X, y), or leave label_weight out."
        raise ParameterError("y", "hold a label per row, because label_weight is not 0", y, hint)
    given = as_array(y, "y")
    if given.shape != (n_points,):
        raise DataError(
            f"y must hold one label per row, shape ({n_points},); got {show(y)}. Use None or NaN "
            "for rows without a label."
        )
    values = given.astype(object) if given.dtype.kind not in "biuf" else given
    is_known = np.array([v not in (None, "") and v == v for v in values.tolist()], bool)
    if given.dtype.kind == "f" and not np.isfinite(given[is_known]).all():
        raise DataError("y must be finite; got infinite numbers. Use NaN for unknown labels.")
    if given.dtype.kind == "f" and (given[is_known] % 1).any():
        return given.astype(np.float64)
    if given.dtype.kind in "if":
        is_known &= np.where(is_known, given, 0) != -1
    codes = np.full(n_points, -1, np.int64)
    names = given[is_known] if given.dtype.kind in "biuf" else values[is_known].astype(str)
    codes[is_known] = np.unique(names, return_inverse=True)[1]
    return codes


def unknown_labels(labels: Array, n_points: int) -> Array:
    """Return labels of this kind for points without a label."""
    return np.full(n_points, -1 if labels.dtype.kind == "i" else np.nan, labels.dtype)


def label_groups(labels: Array) -> Iterator[tuple[NDArray[np.int64], slice]]:
    """Yield the points of each group, and the part of them whose partners are in the group.

    Classes are groups. Numbers are sorted into bins; a group is a bin, whose points have partners
    there and in the bins on both sides.
    """
    if labels.dtype.kind == "i":
        for label in range(int(labels.max(initial=-1)) + 1):
            yield np.flatnonzero(labels == label), slice(None)
        return
    known = np.flatnonzero(~np.isnan(labels))
    order = known[np.argsort(labels[known], kind="stable")]
    n_bins = max(1, min(N_BINS, len(order) // FEWEST))
    edges = [len(order) * b // n_bins for b in range(n_bins + 1)]
    for b in range(n_bins):
        first, stop = edges[max(b - 1, 0)], edges[min(b + 2, n_bins)]
        yield order[first:stop], slice(edges[b] - first, edges[b + 1] - first)
