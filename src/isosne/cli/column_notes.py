"""Notes on columns that distort the distances between rows, before a table is mapped."""

import shlex
from typing import Any

from isosne.cli.messages import note
from isosne.cli.options import TableOptions

WIDE, N_EXAMINED = 30.0, 1000
"""A column gets a note if its standard deviation is this many times the median of all columns, in
the first rows. Chosen, not measured."""
LEAST_ROWS = 10
"""Rows from which on consecutive integers are taken for row numbers. Chosen: integers of fewer rows
may have this order by chance."""


def note_columns(unscaled: Any, table: Any, options: TableOptions) -> None:
    """Print a note for each feature that numbers the rows, and for one that dominates distances.

    ``table`` is the unscaled table, or the same one scaled.
    """
    import numpy as np

    if table.names is None:
        return
    with np.errstate(invalid="ignore"):  # values that are not finite are refused later
        if options.columns is None:  # columns that were chosen by name are meant
            _note_numbers(unscaled, options)
        _note_spread(table)


def _note_numbers(table: Any, options: TableOptions) -> None:
    import numpy as np

    from isosne.sources.text_dialect import UNNAMED

    for name, given in _first_values(table.rows).items():
        values = np.asarray(given, np.float64)
        is_noted = name.startswith(UNNAMED) or name in (options.categorical or ())
        if is_noted or len(values) < LEAST_ROWS:
            continue
        if values[0] != np.rint(values[0]) or not np.all(np.diff(values) == 1):
            continue
        word = shlex.quote(name)
        leave_out = f"--exclude {word} to leave it out"
        known = "" if options.id else f"--id {word} if it identifies the rows, or "
        note(
            f"Column {name!r} numbers the rows ({values[0]:.0f}, {values[1]:.0f}, "
            f"{values[2]:.0f}, ...), and is used as a feature. Pass {known}{leave_out}."
        )


def _first_values(rows: Any) -> dict[str, Any]:
    """Return the first values of each column that holds numbers, by name."""
    import narwhals.stable.v2 as nw
    import numpy as np

    if hasattr(rows, "frame"):
        frame = nw.from_native(rows.read_frame(slice(0, N_EXAMINED)), eager_only=True)
        numbers = [column for column in frame.iter_columns() if column.dtype.is_numeric()]
        return {column.name: column.to_numpy() for column in numbers}
    first = _first_rows(rows)
    is_dense = isinstance(first, np.ndarray)
    return dict(zip(rows.column_names, first.T, strict=True)) if is_dense else {}


def _first_rows(rows: Any) -> Any:
    """Return the first rows; values may be missing."""
    import numpy as np

    return rows.take(np.arange(min(N_EXAMINED, rows.shape[0])), allow_missing=True)


def _note_spread(table: Any) -> None:
    """Print a note if one column varies so much more than others that it dominates distances."""
    import numpy as np

    if hasattr(table.rows, "frame"):
        return
    first = _first_rows(table.rows)
    if not isinstance(first, np.ndarray):
        return
    spread = first.std(axis=0, dtype=np.float64)
    if not spread.any() or not np.isfinite(spread).all():
        return
    widest, usual = int(spread.argmax()), float(np.median(spread[spread > 0]))
    if spread[widest] > WIDE * usual:
        note(
            f"Column {table.names[widest]!r} dominates the distances: its standard deviation is "
            f"{spread[widest] / usual:,.0f} times that of the median column. "
            "Pass --scale minmax to give all columns the same weight."
        )
