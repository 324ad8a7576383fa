"""A table with mixed columns in memory, as a source of rows."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.sources import Rows, open_rows
from isosne.tables.columns import read_columns
from isosne.tables.coordinates import table_coordinates
from isosne.tables.gower import gower_points


class MixedRows:
    """Rows of a table with mixed columns; it has the attributes and methods of `Rows`.

    ``read`` and ``take`` return points for ``metric="gower"``.

    Parameters
    ----------
    origin : Rows
        The source that the table was read from.
    frame : data frame
        All columns that are features, numeric or not.
    categorical : list of str or None
        Columns to treat as categories.
    side : mapping of str to callable, or None
        Numeric columns that are not features, besides those of the source.
    """

    metric = "gower"
    is_sparse = False
    left_out: tuple[str, ...] = ()
    dtype = np.dtype(np.float64)

    def __init__(
        self,
        origin: Rows,
        frame: Any,
        categorical: list[str] | None = None,
        side: Mapping[str, Callable[[], Array]] | None = None,
    ) -> None:
        self.frame, self.categorical = frame, categorical
        self._origin, self._table = origin, nw.from_native(frame, eager_only=True)
        names = tuple(self._table.columns)
        self.column_names: tuple[str, ...] | None = names
        self.shape = self._table.shape
        self.row_bytes = 8 * len(names)
        self.side: Mapping[str, Callable[[], Array]] = {**origin.side, **(side or {})}

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        return gower_points(self.frame, self.categorical)

    def read(self, rows: slice) -> Points:
        """Return consecutive rows."""
        return self._points[rows]

    def read_frame(self, rows: slice) -> Any:
        """Return consecutive rows of the table itself, as a data frame."""
        return self._table[rows].to_native()

    def subset(self, indices: Array) -> "MixedRows":
        """Return some rows as a table of their own, without columns that are not features."""
        frame = self._table[indices.tolist()].to_native()
        return MixedRows(open_rows(self._points[indices]), frame, self.categorical)

    def columns(self) -> dict[str, Array]:
        """Return the values of all columns by name, as they are."""
        return {name: self._table[name].to_numpy() for name in self._table.columns}

    def start_points(self) -> NDArray[np.float64]:
        """Return coordinates without missing values, from which a map starts."""
        return table_coordinates(*read_columns(self.frame, self.categorical))

    def take(self, indices: Any, *, allow_missing: bool = False) -> Points:
        """Return rows by index."""
        return self._points[indices]

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield the result of a function on all rows."""
        yield function(self._points)

    def describe(self) -> str:
        """Return the name of the source in messages."""
        return self._origin.describe()

    def fingerprint(self) -> str:
        """Return a hash of samples of the content."""
        return self._origin.fingerprint()
