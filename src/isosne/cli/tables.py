"""The tables of a command: opened, read into memory where needed, and joined with maps."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from isosne.cli.messages import note
from isosne.cli.options import TableOptions, refuse
from isosne.errors import ParameterError, keyword

KEYED = (".npz", ".zarr", ".h5ad")
"""Endings of files that may hold several arrays."""
TREATMENTS = ("scale", "mixed", "categorical")
"""Options that say how columns are treated after they are read."""


def open_table(source: str, options: TableOptions, memory_limit: str | None) -> tuple[Any, Any]:
    """Return a table whose rows are mapped: as it was read, and with its columns scaled.

    Prints notes on it and on columns that distort the map.
    """
    refuse_map_as_table(source, options)
    unscaled = open_unscaled(source, options, memory_limit)
    table = _scaled(unscaled, options)
    note(*unscaled.notes)
    note_columns(unscaled, table, options)
    return unscaled, table


def open_table_of(
    drawn: Any, source: str, options: TableOptions, memory_limit: str | None, *, force: bool
) -> Any:
    """Open the table of a map, scaled; refuse another table unless forced."""
    unscaled = open_unscaled(source, options, memory_limit)
    note(*unscaled.notes)
    if not force:
        drawn.check_table(unscaled.rows)
    return _scaled(unscaled, options)


def _scaled(table: Any, options: TableOptions) -> Any:
    if options.scale in (None, "none"):
        return table
    from isosne.rows.scaled import Scale, ScaledRows

    return replace(table, rows=ScaledRows(table.rows, Scale.of(options.scale, table.rows)))


def open_unscaled(source: str, options: TableOptions, memory_limit: str | None) -> Any:
    """Open a table without scaling it."""
    from isosne.rows.table_reader import names_data_set, read_table
    from isosne.tables.mixed import as_mixed
    from isosne.tsne.memory import memory_available

    given = options.given()
    if not has_keys(source):
        hint = f"It names an array of a {', '.join(KEYED[:-1])} or {KEYED[-1]} file."
        refuse(f"for {source}, which holds one table", hint, key=options.key)
    is_mixed = bool(options.mixed or options.categorical)
    if is_mixed:
        scale = None if options.scale == "none" else options.scale
        when = f"with {keyword('mixed')}, which uses all columns as they are"
        refuse(when, scale=scale, missing=options.missing, text_columns=options.text_columns)
        given = given | {"text_columns": "leave_out", "columns": None}
    limit = memory_available(memory_limit)
    how = {name: value for name, value in given.items() if name not in TREATMENTS}
    if names_data_set(source):
        from isosne.datasets.catalog import load_table

        table = load_table(source, **how)
    else:
        table = read_table(source, **how, memory_limit=limit, needs_numbers=not is_mixed)
    if is_mixed:
        _check_fits(table.rows, table.rows.shape[0], memory_limit)
        roles = {name for name in (options.id, options.label, *(options.exclude or ())) if name}
        columns, categorical = options.columns, options.categorical
        table = as_mixed(table, columns=columns, exclude=roles, categorical=categorical)
    return table


def refuse_map_as_table(source: str, options: TableOptions) -> None:
    """Raise an error if a table is a map that isosne wrote, unless columns of it are chosen."""
    from isosne.rows.maps import find_provenance

    if options.columns or not (provenance := find_provenance(Path(source))):
        return
    made_of = provenance.get("input")
    name = made_of.get("source") if isinstance(made_of, dict) else None
    which = f", {name}" if isinstance(name, str) and name != "-" else ""
    raise ParameterError(
        "source",
        "be a table, not a map that isosne wrote",
        source,
        f"Name the table of the map{which}. To map the coordinates themselves, pass "
        f"{keyword('columns', ['x', 'y'])}.",
    )


def note_columns(unscaled: Any, table: Any, options: TableOptions) -> None:
    """Print a note for each feature that numbers the rows, and for one that dominates distances."""
    from isosne.tables.mixed import find_dominant, find_numbering

    # Columns that were chosen by name are meant.
    numbering = find_numbering(unscaled) if options.columns is None else {}
    for name, values in numbering.items():
        if name in (options.categorical or ()):
            continue
        word = shlex.quote(name)
        known = "" if options.id else f"--id {word} if it identifies the rows, or "
        note(
            f"Column {name!r} numbers the rows ({values[0]:.0f}, {values[1]:.0f}, "
            f"{values[2]:.0f}, ...), and is used as a feature. Pass {known}--exclude {word} to "
            "leave it out."
        )
    if dominant := find_dominant(table):
        name, ratio = dominant
        note(
            f"Column {name!r} dominates the distances: its standard deviation is {ratio:,.0f} "
            "times that of the median column. Pass --scale minmax to give all columns the same "
            "weight."
        )


def has_keys(source: str) -> bool:
    """Return whether a table is in a format that may hold several arrays."""
    path = Path(source)
    return path.suffix.lower() in KEYED or path.is_dir()


def named(values: Any, name: str | None) -> Any:
    """Return values as a series with a name, for legends; unchanged if there is no name."""
    if values is None or not name:
        return values
    import narwhals.stable.v2 as nw

    return nw.new_series(name, values, backend="pyarrow")


def read_points(table: Any, memory_limit: str | None, indices: Any = None) -> Any:
    """Return all rows of a table, or some of them, as points in memory.

    Of a table with mixed columns, points for ``metric="gower"``.
    """
    rows = table.rows
    _check_fits(rows, rows.shape[0] if indices is None else len(indices), memory_limit)
    return rows.read(slice(None)) if indices is None else rows.take(indices)


def _check_fits(rows: Any, n_rows: int, memory_limit: str | None) -> None:
    from isosne.tsne.memory import memory_available, size

    needed, available = n_rows * rows.row_bytes, memory_available(memory_limit)
    if needed > available:
        rule = f"be at least {size(needed)} to hold the rows of {rows.describe()} in memory"
        raise ParameterError(
            "memory_limit",
            f"{rule}; {size(available)} is available",
            hint="Raise the limit, or use a table with fewer rows.",
        )


def find_rows(table: Any, drawn: Any) -> Any:
    """Return the row of the table for each point of a map; None: all rows, in order."""
    from isosne.rows.maps import match_rows

    return match_rows(drawn, table.ids, table.rows.shape[0], table.rows.describe())


def find_labels(table: Any, drawn: Any, chosen: Any) -> Any:
    """Return the labels of the points of a map: those of the table if it has some."""
    if table.labels is None:
        return drawn.labels
    return table.labels if chosen is None else table.labels[chosen]


def read_columns(
    source: str, drawn: Any, options: TableOptions, memory_limit: str | None, color: str | None
) -> dict[str, Any]:
    """Return columns of a table for the points of a map, by name; None: all columns."""
    from isosne.tables.mixed import take_columns

    table = open_unscaled(source, options.with_all_columns(), memory_limit)
    chosen = find_rows(table, drawn)
    n_rows = table.rows.shape[0] if chosen is None else len(chosen)
    _check_fits(table.rows, n_rows, memory_limit)
    return take_columns(table, chosen, None if color is None else [color])


def is_cells(source: str | None) -> bool:
    """Return whether a table or a map is an AnnData file."""
    path = file_of(source)
    return path is not None and path.lower().endswith(".h5ad")


def file_of(source: str | None) -> str | None:
    """Return the path of a file without the array that may follow it, as in cells.h5ad:X_umap."""
    from isosne.rows.archives import split_key

    return None if source is None else str(split_key(source)[0])


def read_cell_columns(
    source: str, drawn: Any, options: TableOptions, memory_limit: str | None, color: str | None
) -> dict[str, Any]:
    """Return the columns of obs for the points of a map, and a gene if it is the color.

    The gene is read from X, or from the layer that the options name.
    """
    import numpy as np

    from isosne.rows.archives import read_obs
    from isosne.rows.columns import as_integers_or_text, check_column, parse_integers

    path = str(file_of(source))
    table = open_unscaled(path, options.with_all_columns(), memory_limit)
    chosen = find_rows(table, drawn)
    chosen = np.arange(table.rows.shape[0]) if chosen is None else chosen
    columns = {}
    for name, column in read_obs(Path(path)).items():
        values = np.asarray(column)
        is_number = values.dtype.kind in "uif"
        values = values if is_number else parse_integers(as_integers_or_text(values))
        columns[str(name)] = values[chosen]
    genes = table.names or ()
    if color is not None:
        check_column(color, [*columns, *genes], "color", path, what="a gene or a column of obs")
    if color is not None and color not in columns:
        columns[color] = _read_feature(table.rows, genes.index(color))[chosen]
    return columns


def _read_feature(rows: Any, feature: int) -> Any:
    """Return one column, dense, without holding the others in memory."""
    import numpy as np
    from scipy.sparse import issparse

    from isosne.rows import blocks

    parts = []
    for block in blocks(rows):
        every = np.arange(block.start, block.stop)
        values = rows.take(every, allow_missing=True)[:, [feature]]
        parts.append((values.toarray() if issparse(values) else values).ravel())
    return np.concatenate(parts)
