"""Tables whose columns are features as they are: numbers, text, categories, dates, with gaps."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import narwhals.stable.v2 as nw
import numpy as np

from isosne._types import Array
from isosne.errors import ParameterError
from isosne.files.table_reader import LEFT_OUT, Table
from isosne.sources import Rows
from isosne.sources.column_selection import check_column
from isosne.tables.columns import read_columns
from isosne.tables.mixed_rows import MixedRows

COLUMNS = "Columns: "
"""Beginning of the note on the kinds of the columns."""


def as_mixed(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    exclude: Collection[str] = (),
    categorical: list[str] | None = None,
) -> Table:
    """Return a table with all its columns in memory, and a note on how they are treated.

    Parameters
    ----------
    table : Table
        A table that was read with ``text_columns="leave_out"`` and without a choice of columns.
    columns : sequence of str or None, default=None
        Features. None: all columns that are not excluded.
    exclude : collection of str, default=()
        Columns that are not features, such as identifiers and labels.
    categorical : list of str or None, default=None
        Columns to treat as categories although they hold numbers.

    Returns
    -------
    Table
        The table; its rows are `MixedRows`.

    Raises
    ------
    ParameterError
        If the columns have no names, or a chosen one does not exist.
    """
    rows = table.rows
    if table.names is None:
        rule = f"be left out for {rows.describe()}, whose columns have no names"
        hint = "Save the array as a table with column names, such as a .csv or .parquet file."
        raise ParameterError("mixed", rule, True, hint)
    features = [*table.names, *rows.left_out]
    wanted = columns or [name for name in features if name not in exclude]
    for name in wanted:
        check_column(name, features, "columns", rows.describe())
    values = take_columns(table, None, wanted)
    frame = nw.from_dict(values, backend="pyarrow").to_native()
    kinds, _ = read_columns(frame, categorical, rows.describe())
    notes = [sentence for sentence in table.notes if not sentence.startswith(LEFT_OUT)]
    notes.append(COLUMNS + "; ".join(map(str, kinds)) + ".")
    side = {
        name: partial(_read_numbers, rows, c)
        for c, name in enumerate(table.names)
        if name not in wanted
    }
    mixed = MixedRows(rows, frame, categorical, side)
    return replace(table, rows=mixed, names=mixed.column_names, notes=tuple(notes))


def take_columns(
    table: Table, chosen: Array | None, wanted: Sequence[str] | None
) -> dict[str, Array]:
    """Return columns of some rows, numeric or not, by name; missing values are NaN.

    ``chosen`` None: all rows; ``wanted`` None: all columns.
    """
    rows = table.rows
    chosen = np.arange(rows.shape[0]) if chosen is None else chosen
    numeric = list(table.names or ())
    values = np.asarray(rows.take(chosen, allow_missing=True)) if numeric else np.empty((0, 0))
    others = [name for name in rows.side if name not in numeric]
    columns = {}
    for name in [*numeric, *others] if wanted is None else wanted:
        check_column(name, [*numeric, *others], "color", rows.describe())
        if name in numeric:
            columns[name] = values[:, numeric.index(name)]
        else:
            columns[name] = rows.side[name]()[chosen]
    return columns


def _read_numbers(rows: Rows, column: int) -> Array:
    """Return a numeric column that is not a feature; as integers if it holds nothing else."""
    taken = rows.take(np.arange(rows.shape[0]), allow_missing=True)
    values = np.asarray(taken[:, column])
    is_whole = np.isfinite(values).all() and (values == np.rint(values)).all()
    return values.astype(np.int64) if is_whole else values
