"""Tables of a command: opened, read whole where they must be, and joined with maps."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from isosne.cli.options import ResourceOptions, TableOptions
from isosne.errors import DataError, ParameterError

STDIN = "-"
KEYED = (".npz", ".zarr", ".h5ad")
"""Endings of files that may hold several arrays."""
WIDE, N_LOOKED_AT = 30.0, 1000
"""How many times wider than the median a column must be to be pointed out, in the first rows."""


def open_table(
    source: str, options: TableOptions, resources: ResourceOptions, *, quiet: bool
) -> Any:
    """Open a table, and say what one should know of it."""
    from isosne.files import read_table
    from isosne.tsne.memory import memory_available

    _check_key(source, options.key)
    said = {name: value for name, value in options.given().items() if name != "scale"}
    limit = memory_available(resources.memory_limit)
    table = read_table(source, **said, memory_limit=limit)
    if not quiet:
        say_notes(table.notes)
    if options.scale not in (None, "none"):
        from isosne.sources.scaled import Scale, ScaledRows

        scale = Scale.of(options.scale, table.rows)
        return replace(table, rows=ScaledRows(table.rows, scale))
    return table


def check_one_stdin(*sources: str | None) -> None:
    """Refuse two tables, or a table and a map, from the same standard input."""
    if sources.count(STDIN) > 1:
        raise ParameterError(
            "Standard input holds one table or map; got - more than once. Name files."
        )


def say_notes(notes: Iterable[str]) -> None:
    """Say what one should know, a line each."""
    for note in notes:
        typer.echo(f"isosne: note: {note}", err=True)


def has_keys(source: str) -> bool:
    """Return whether a table is of a kind that may hold several arrays."""
    path = Path(source)
    return path.suffix.lower() in KEYED or path.is_dir()


def _check_key(source: str, key: str | None) -> None:
    if key is not None and not has_keys(source):
        raise ParameterError(
            f"--key names an array of a {', '.join(KEYED[:-1])} or {KEYED[-1]}; got --key {key} "
            f"with {source}. Leave it out."
        )


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
    rows = table.rows
    _check_fits(rows, rows.shape[0] if indices is None else len(indices), resources)
    return rows.read(slice(None)) if indices is None else rows.take(indices)


def _check_fits(rows: Any, n_rows: int, resources: ResourceOptions) -> None:
    from isosne.tsne.memory import memory_available, size

    needed = n_rows * rows.row_bytes
    available = memory_available(resources.memory_limit)
    if needed > available:
        raise ParameterError(
            f"The rows must fit in memory for this; {rows.describe()} needs {size(needed)}, and "
            f"{size(available)} are available. Take a part of the rows."
        )


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
    """Return columns of some rows, numeric or not, by name; None: all. What is missing is NaN."""
    import numpy as np

    from isosne.sources.column_selection import check_column

    rows = table.rows
    chosen = np.arange(rows.shape[0]) if chosen is None else chosen
    _check_fits(rows, len(chosen), resources)
    values = rows.take(chosen, allow_missing=True)
    numeric = list(table.names or ())
    others = [name for name in rows.side if name not in numeric]
    columns = {}
    for name in [*numeric, *others] if wanted is None else wanted:
        check_column(name, [*numeric, *others], "color", rows.describe())
        if name in numeric:
            columns[name] = values[:, numeric.index(name)]
        else:
            columns[name] = rows.side[name]()[chosen]
    return columns
