"""Tables whose columns are features as they are: numbers, text, categories, dates, with gaps."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.rows import Rows
from isosne.rows.columns import check_column
from isosne.rows.table_reader import LEFT_OUT, Table
from isosne.rows.text import as_plain_number, is_missing, is_number
from isosne.tables.columns import read_columns
from isosne.tables.coordinates import MixedRows

COLUMNS = "Columns: "
"""Beginning of the note on the kinds of the columns."""


def as_mixed(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    exclude: Collection[str] = (),
    categorical: list[str] | None = None,
) -> Table:
    """Return a table with all its columns in memory as `MixedRows`, and a note on their kinds.

    table: read with ``text_columns="leave_out"`` and without a choice of columns. columns:
    features; None is all that are not excluded. categorical: columns to treat as categories.
    """
    rows = table.rows
    if table.names is None:
        rule = f"be left out for {rows.describe()}, whose columns have no names"
        hint = "Save the array as a table with column names, such as a .csv or .parquet file."
        raise ParameterError("mixed", rule, True, hint)
    features = list(rows.possible or table.names)
    wanted = columns or [name for name in features if name not in exclude]
    for name in wanted:
        check_column(name, features, "columns", rows.describe())
    values = _read_features(table, wanted)
    frame = nw.from_dict(values, backend="pyarrow").to_native()
    kinds, _ = read_columns(frame, categorical, rows.describe())
    notes = [sentence for sentence in table.notes if not sentence.startswith(LEFT_OUT)]
    notes.append(COLUMNS + "; ".join(map(str, kinds)) + ".")
    side = {
        name: partial(_read_numbers, rows, c)
        for c, name in enumerate(table.names)
        if name not in wanted
    }
    mixed = MixedRows(rows, frame, categorical, kinds=kinds, side=side)
    return replace(table, rows=mixed, names=mixed.column_names, notes=tuple(notes))


def _read_features(table: Table, wanted: Sequence[str]) -> dict[str, Array]:
    """Return whole columns by name, of numbers where all values are numbers or missing."""
    try:
        return take_columns(table, None, wanted)
    except DataError:
        if not set(wanted) <= table.rows.side.keys():
            raise
    # Columns of a text table that begin with numbers and hold other text: each is read as text.
    decimal = getattr(table.rows, "decimal", ".")
    return {name: _as_numbers_or_text(table.rows.side[name](), decimal) for name in wanted}


def _as_numbers_or_text(values: Array, decimal: str) -> Array:
    if values.dtype.kind in "iu":
        return values
    plain = [as_plain_number(value, decimal) for value in values]
    if not all(is_number(value) or is_missing(value) for value in plain):
        return values
    return np.array([np.nan if is_missing(value) else float(value) for value in plain])


def take_columns(
    table: Table, chosen: Array | None, wanted: Sequence[str] | None
) -> dict[str, Array]:
    """Return wanted columns (None: all) of chosen rows (None: all) by name; NaN where missing."""
    rows = table.rows
    chosen = np.arange(rows.shape[0]) if chosen is None else chosen
    numeric = list(table.names or ())
    values: Any = rows.take(chosen, allow_missing=True) if numeric else np.empty((0, 0))
    others = [name for name in rows.side if name not in numeric]
    columns = {}
    for name in [*numeric, *others] if wanted is None else wanted:
        check_column(name, [*numeric, *others], "color", rows.describe())
        if name in numeric:
            column = values[:, [numeric.index(name)]]
            columns[name] = np.asarray(column.toarray() if issparse(column) else column).ravel()
        else:
            columns[name] = rows.side[name]()[chosen]
    return columns


def _read_numbers(rows: Rows, column: int) -> Array:
    """Return a numeric column that is not a feature; as integers if it holds nothing else."""
    taken = rows.take(np.arange(rows.shape[0]), allow_missing=True)
    values = np.asarray(taken[:, column])
    is_whole = np.isfinite(values).all() and (values == np.rint(values)).all()
    return values.astype(np.int64) if is_whole else values
