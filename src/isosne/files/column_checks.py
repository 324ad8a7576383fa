"""Find columns that distort the distances between rows, in the first rows of a table."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isosne._types import Array
from isosne.files.table_reader import Table
from isosne.sources.text_dialect import UNNAMED
from isosne.tables.mixed_rows import MixedRows

WIDE, N_EXAMINED = 30.0, 1000
"""A column dominates if its standard deviation is this many times the median of all columns, in the
first rows. Chosen, not measured."""
LEAST_ROWS = 10
"""Rows from which on consecutive integers are taken for row numbers. Chosen: integers of fewer rows
may have this order by chance."""


def find_numbering(table: Table) -> dict[str, Array]:
    """Return the features that number the rows, such as 0, 1, 2, ..., with their first values."""
    found = {}
    with np.errstate(invalid="ignore"):  # values that are not finite are refused later
        for name, given in _first_values(table).items():
            values = np.asarray(given, np.float64)
            if name.startswith(UNNAMED) or len(values) < LEAST_ROWS:
                continue
            if values[0] == np.rint(values[0]) and np.all(np.diff(values) == 1):
                found[name] = values
    return found


def find_dominant(table: Table) -> tuple[str, float] | None:
    """Return the column that dominates distances, and its width in those of the median column."""
    if table.names is None or isinstance(table.rows, MixedRows):
        return None
    first = _first_rows(table)
    if not isinstance(first, np.ndarray):
        return None
    with np.errstate(invalid="ignore"):
        spread = first.std(axis=0, dtype=np.float64)
    if not spread.any() or not np.isfinite(spread).all():
        return None
    widest, usual = int(spread.argmax()), float(np.median(spread[spread > 0]))
    ratio = float(spread[widest]) / usual
    return (table.names[widest], ratio) if ratio > WIDE else None


def _first_values(table: Table) -> dict[str, Array]:
    """Return the first values of each feature that holds numbers, by name."""
    if isinstance(table.rows, MixedRows):
        frame = nw.from_native(table.rows.read_frame(slice(0, N_EXAMINED)), eager_only=True)
        numbers = [column for column in frame.iter_columns() if column.dtype.is_numeric()]
        return {column.name: column.to_numpy() for column in numbers}
    first = _first_rows(table)
    is_named = isinstance(first, np.ndarray) and table.names is not None
    return dict(zip(table.names or (), first.T, strict=True)) if is_named else {}


def _first_rows(table: Table) -> Any:
    """Return the first rows; values may be missing."""
    n = min(N_EXAMINED, table.rows.shape[0])
    return table.rows.take(np.arange(n), allow_missing=True)
