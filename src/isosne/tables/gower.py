"""Gower's distance between rows of mixed columns (Gower 1971): a reference without trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne.tables.columns import read_columns
from isosne.tables.forest import category_flags

FARTHEST = 1.0
"""Distance of two rows that have no column in which both values are known."""


def gower_distances(X: Any, categorical: Any = None) -> NDArray[np.float32]:
    """Return Gower's distances between all rows of a table with mixed columns.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
        The table; values may be missing.
    categorical : list of str or int, or None, default=None
        Columns to treat as categories although they hold numbers.

    Returns
    -------
    array of float32, shape (n_samples, n_samples)
        The mean over the columns in which both values are known: for numbers, dates and ordered
        categories the difference relative to the range of the column, for other categories 0 or 1.

    Notes
    -----
    Not part of the paper. O(n^2 d) time and 12 n^2 bytes.

    Examples
    --------
    >>> import pandas as pd
    >>> from isosne.tables import gower_distances
    >>> gower_distances(pd.DataFrame({"size": [1, 2, 5], "color": ["red", "red", "blue"]}))
    array([[0.   , 0.125, 1.   ],
           [0.125, 0.   , 0.875],
           [1.   , 0.875, 0.   ]], dtype=float32)
    """
    columns, table = read_columns(X, categorical)
    n = len(table)
    total, n_known = np.zeros((n, n)), np.zeros((n, n), np.int32)
    for values, is_category in zip(table.T, category_flags(columns), strict=True):
        known = ~np.isnan(values)
        if not known.any():
            continue
        if is_category:
            difference = (values[:, None] != values).astype(np.float64)
        else:
            filled = np.where(known, values, 0.0)
            span = np.ptp(values[known])
            difference = np.abs(filled[:, None] - filled) / (span or 1.0)
        both = known[:, None] & known
        total += np.where(both, difference, 0.0)
        n_known += both
    distances = np.where(n_known > 0, total / np.maximum(n_known, 1), FARTHEST)
    np.fill_diagonal(distances, 0.0)
    return distances.astype(np.float32)
