"""Tables as coordinates, from which principal components start a map.

Numbers are in units of their standard deviation, categories become indicator columns, and missing
values are at the mean. Rows are not compared by these coordinates: trees do that.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isosne.tables.columns import Column

MOST_CATEGORIES = 20
"""Categories of a column that get an indicator, the most frequent ones (chosen)."""


def table_coordinates(columns: Sequence[Column], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table (n, number of used columns) as coordinates without missing values.

    Sums are exactly rounded, so that coordinates have the same bits on every machine.
    """
    axes = [np.zeros(len(table))]  # a table may have nothing that varies
    used = [column for column in columns if column.is_used]
    for column, values in zip(used, table.T, strict=True):
        known = ~np.isnan(values)
        if column.kind != "category":
            axes += _centered(values, known)
            continue
        found, counts = np.unique(values[known], return_counts=True)
        for c in np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]:
            axes += _centered(np.where(known, values == found[c], np.nan), known)
    return np.column_stack(axes)


def _centered(values: NDArray[np.float64], known: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
    """Return a column in units of its standard deviation, in a list; none if it is constant."""
    n = int(known.sum())
    if n == 0:
        return []
    mean = math.fsum(values[known] / n)
    shifted = np.where(known, values - mean, 0.0)
    largest = float(np.abs(shifted).max())
    if largest == 0:
        return []
    shifted /= largest  # squares neither overflow nor underflow
    return [shifted / math.sqrt(math.fsum(shifted * shifted) / n)]
