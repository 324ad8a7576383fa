"""Tables as points: coordinates from which a map starts, points for Gower's distance, and rows.

For the start, numbers are in units of their standard deviation, categories become indicator
columns, and missing values are at the mean. Gower's distance is the reference of quality measures.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.neighbors.pairs import CATEGORY, MISSING
from isosne.rows.rows import Rows, SourceFiles
from isosne.tables.columns import Column, read_columns
from isosne.tables.trees import category_flags

MOST_CATEGORIES = 20
"""Categories of a column that get an indicator, the most frequent ones (chosen)."""


def table_coordinates(X: Any, categorical: Collection[Any] | None = None) -> NDArray[np.float64]:
    """Return a table as coordinates without missing values, from which a map starts."""
    columns, table = read_columns(X, categorical)
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


def table_bytes(columns: Sequence[Column], n_rows: int) -> int:
    """Return the bytes beside codes: coordinates and their copy, trees and temporaries."""
    width = sum(
        min(len(column.categories), MOST_CATEGORIES) if column.kind == "category" else 1
        for column in columns
        if column.is_used
    )
    return n_rows * (16 * width + 2000)  # the latter two: measured, 800 to 1,900


def _centered(values: NDArray[np.float64], known: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
    """Return a column in units of its standard deviation, in a list; none if it is constant."""
    n = int(known.sum())
    if n == 0:
        return []
    mean = math.fsum(values[known] / n)  # exactly rounded: the same bits on every machine
    shifted = np.where(known, values - mean, 0.0)
    largest = float(np.abs(shifted).max())
    if largest == 0:
        return []
    shifted /= largest  # squares neither overflow nor underflow
    return [shifted / math.sqrt(math.fsum(shifted * shifted) / n)]


def gower_points(X: Any, categorical: Any = None) -> NDArray[np.float64]:
    """Return a table with mixed columns as points for ``metric="gower"``.

    Gower's distance of two rows is the mean difference over the columns in which both values are
    known: relative to the range of the column for numbers, dates and ordered categories, and 0 or 1
    for other categories. `isosne.quality` measures maps of tables by it.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
        The table; values may be missing.
    categorical : list of str or int, or None, default=None
        Columns to treat as categories although they hold numbers.

    Returns
    -------
    array of shape (n_samples, n_columns)
        Numbers from 0 to 1, categories from 2 up, and -1 for missing values. Identifiers are left
        out.

    Notes
    -----
    Not part of the paper (Gower 1971).

    Examples
    --------
    >>> import pandas as pd
    >>> from isosne.tables import gower_points
    >>> gower_points(pd.DataFrame({"size": [1, 2, 5], "color": ["red", None, "blue"]}))
    array([[ 0.  ,  3.  ],
           [ 0.25, -1.  ],
           [ 1.  ,  2.  ]])
    """
    columns, table = read_columns(X, categorical)
    points = np.empty(table.shape)
    for c, is_category in enumerate(category_flags(columns)):
        values = table[:, c]
        known = ~np.isnan(values)
        if is_category:
            points[:, c] = CATEGORY + values
        else:
            low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
            # Halves, because the range may overflow.
            points[:, c] = (values / 2 - low / 2) / ((high / 2 - low / 2) or 1.0)
        points[~known, c] = MISSING
    return points


class MixedRows(Rows):
    """Rows of a table with mixed columns, as points for ``metric="gower"``.

    origin: what the table was read from; frame: all features; kinds: those of its columns; side:
    numeric columns that are not features, besides those of the origin.
    """

    metric = "gower"

    def __init__(
        self,
        origin: Rows,
        frame: Any,
        categorical: list[str] | None = None,
        *,
        kinds: Sequence[Column] = (),
        side: Mapping[str, Callable[[], Array]] | None = None,
    ) -> None:
        self.frame, self.categorical, self.kinds = frame, categorical, kinds
        self._origin, self._table = origin, nw.from_native(frame, eager_only=True)
        names = tuple(self._table.columns)
        files = SourceFiles(origin.describe())
        super().__init__(files, self._table.shape, np.float64, column_names=names)
        others = {name: read for name, read in origin.side.items() if name not in names}
        self.side = {**others, **(side or {})}

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        return gower_points(self.frame, self.categorical)

    def _read(self, start: int, stop: int) -> Points:
        return self._points[start:stop]

    def _take(self, indices: Array) -> Points:
        return self._points[indices]

    def read_frame(self, rows: slice) -> Any:
        """Return consecutive rows of the table itself, as a data frame."""
        return self._table[rows].to_native()

    def subset(self, indices: Array) -> "MixedRows":
        """Return some rows as a table of their own, without columns that are not features."""
        from isosne.rows.formats import open_rows  # and all readers, which a fit does not need

        frame = self._table[indices.tolist()].to_native()
        return MixedRows(
            open_rows(self._points[indices]), frame, self.categorical, kinds=self.kinds
        )

    def columns(self) -> dict[str, Array]:
        """Return the values of all columns by name, as they are."""
        return {name: self._table[name].to_numpy() for name in self._table.columns}

    def fingerprint(self) -> str:
        return self._origin.fingerprint()
