"""Tables of a command: opened, read whole where they must be, and joined with maps."""

from dataclasses import replace
from typing import Any

import typer

from isosne.cli.options import ResourceOptions, TableOptions
from isosne.errors import DataError, ParameterError

STDIN = "-"
WIDE, N_LOOKED_AT = 30.0, 1000
"""How many times wider than the median a column must be to be pointed out, in the first rows."""


def open_table(
    source: str, options: TableOptions, resources: ResourceOptions, *, quiet: bool
) -> Any:
    """Open a table, and say what one should know of it."""
    from isosne.files import read_table
    from isosne.plan import memory_available

    table = read_table(
        source,
        id=options.id,
        label=options.label,
        text_columns=options.text_columns,
        columns=options.columns or None,
        exclude=options.exclude or (),
        key=options.key,
        header=options.header,
        memory_limit=memory_available(resources.memory_limit),
    )
    if not quiet:
        for note in table.notes:
            typer.echo(f"isosne: note: {note}", err=True)
    if options.scale != "none":
        from isosne.cli.scaling import Scale, ScaledRows

        scale = Scale.of(options.scale, table.rows)
        return replace(table, rows=ScaledRows(table.rows, scale))
    return table


def note_spread(table: Any) -> None:
    """Say if one column is so much wider than others that it alone decides who is near."""
    import numpy as np

    first = table.rows.read(slice(0, N_LOOKED_AT))
    if table.names is None or not isinstance(first, np.ndarray):
        return
    spread = first.std(axis=0, dtype=np.float64)
    if not spread.any():
        return
    widest, usual = int(spread.argmax()), float(np.median(spread[spread > 0]))
    if spread[widest] > WIDE * usual:
        typer.echo(
            f"isosne: note: Column {table.names[widest]!r} spreads {spread[widest] / usual:,.0f} "
            "times as wide as a usual one, and decides who is near. --scale minmax gives all "
            "columns the same weight.",
            err=True,
        )


def read_points(table: Any, resources: ResourceOptions, indices: Any = None) -> Any:
    """Return all rows of a table, or some of them, as points in memory."""
    from isosne.plan import memory_available, size

    rows = table.rows
    needed = rows.row_bytes * (rows.shape[0] if indices is None else len(indices))
    available = memory_available(resources.memory_limit)
    if needed > available:
        raise ParameterError(
            f"The rows must fit in memory for this; {rows.describe()} needs {size(needed)}, and "
            f"{size(available)} are available. Take a part of the rows."
        )
    return rows.read(slice(None)) if indices is None else rows.take(indices)


def find_rows(table: Any, drawn: Any) -> Any:
    """Return the row of a table that each point of a map is; None: all rows, in order."""
    import numpy as np

    n_rows = table.rows.shape[0]
    ids = np.arange(n_rows) if table.ids is None else table.ids
    wanted = drawn.ids
    if len(wanted) == n_rows and np.array_equal(ids, wanted):
        return None
    if table.ids is None and wanted.dtype.kind == "U":
        raise ParameterError(
            f"id must name the column of {table.rows.describe()} that holds the ids of the map, "
            f"such as {str(wanted[0])!r}; got none. Add --id COLUMN."
        )
    if ids.dtype.kind != wanted.dtype.kind:
        ids, wanted = ids.astype(str), wanted.astype(str)
    order = np.argsort(ids)
    places = np.searchsorted(ids, wanted, sorter=order).clip(max=n_rows - 1)
    found = order[places]
    strangers = wanted[ids[found] != wanted]
    if len(strangers):
        raise DataError(
            f"Every point of the map must be a row of the table; {len(strangers):,} of "
            f"{len(wanted):,} are not in {table.rows.describe()}, such as {str(strangers[0])!r}. "
            "Pass the table that the map was made of, and the column of its ids as --id."
        )
    return found


def read_columns(
    table: Any, chosen: Any, resources: ResourceOptions, wanted: list[str] | None
) -> dict[str, Any]:
    """Return columns of some rows, numeric or not, by name; None: all."""
    from isosne.sources.columns import check_column

    numeric = list(table.names or ())
    others = [name for name in table.rows.side if name not in numeric]
    columns = {}
    values = read_points(table, resources, chosen)
    for name in [*numeric, *others] if wanted is None else wanted:
        check_column(name, [*numeric, *others], "color", table.rows.describe())
        if name in numeric:
            columns[name] = values[:, numeric.index(name)]
        else:
            column = table.rows.side[name]()
            columns[name] = column if chosen is None else column[chosen]
    return columns
