"""The tables of a command: opened, read into memory where needed, and joined with maps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from isosne.cli.messages import note
from isosne.cli.options import ResourceOptions, TableOptions
from isosne.errors import MissingValuesError, ParameterError, keyword

STDIN = "-"
KEYED = (".npz", ".zarr", ".h5ad")
"""Endings of files that may hold several arrays."""
TREATMENTS = ("scale", "mixed", "categorical")
"""Options that say how columns are treated after they are read."""


def open_table(
    source: str, options: TableOptions, resources: ResourceOptions, *, quiet: bool
) -> Any:
    """Open a table, scaled as the options say, and print the notes on it."""
    return scaled(open_unscaled(source, options, resources, quiet=quiet), options)


def open_unscaled(
    source: str, options: TableOptions, resources: ResourceOptions, *, quiet: bool
) -> Any:
    """Open a table without scaling it, and print the notes on it."""
    from isosne.files import read_table
    from isosne.tsne.memory_budget import memory_available

    _check_key(source, options.key)
    is_mixed = bool(options.mixed or options.categorical)
    if is_mixed:
        _check_mixed(options)
        chosen, options = options.columns, replace(options, text_columns="leave_out", columns=None)
    keywords = {k: value for k, value in options.given().items() if k not in TREATMENTS}
    limit = memory_available(resources.memory_limit)
    table = read_table(source, **keywords, memory_limit=limit, needs_numbers=not is_mixed)
    if is_mixed:
        table = _as_mixed(table, replace(options, columns=chosen), resources)
    if not quiet:
        for sentence in table.notes:
            note(sentence)
    return table


def _check_mixed(options: TableOptions) -> None:
    """Refuse options that have no effect on a table with mixed columns."""
    given = options.given()
    for name in ("scale", "missing", "text_columns"):
        if given.get(name, "none") != "none":
            raise ParameterError(
                name,
                f"be left out with {keyword('mixed')}, which uses all columns as they are",
                given[name],
                f"Leave out {keyword(name)} or {keyword('mixed')}.",
            )


def refuse_mixed(options: TableOptions, command: str, hint: str) -> None:
    """Refuse mixed columns for a command that compares numbers only."""
    for name in ("mixed", "categorical"):
        if value := getattr(options, name):
            rule = f"be left out for {command}, which uses numeric columns only"
            raise ParameterError(name, rule, value, hint)


def _as_mixed(table: Any, options: TableOptions, resources: ResourceOptions) -> Any:
    """Return a table with all its columns in memory, and notes on how they are treated."""
    from isosne.files.mixed_tables import as_mixed

    _check_fits(table.rows, table.rows.shape[0], resources)
    roles = {name for name in (options.id, options.label, *(options.exclude or ())) if name}
    return as_mixed(table, columns=options.columns, exclude=roles, categorical=options.categorical)


@contextmanager
def suggesting_mixed() -> Iterator[None]:
    """Say in an error for missing values that tables with mixed columns may have some."""
    try:
        yield
    except MissingValuesError as error:
        if "--mixed" in error.sentence:  # said by the estimator
            raise
        sentence = f"{error.sentence} To keep these rows, pass {keyword('mixed')}."
        raise MissingValuesError(sentence) from None


def scaled(table: Any, options: TableOptions) -> Any:
    """Return a table with its columns scaled as the options say."""
    if options.scale in (None, "none"):
        return table
    from isosne.sources.scaled import Scale, ScaledRows

    scale = Scale.of(options.scale, table.rows)
    return replace(table, rows=ScaledRows(table.rows, scale))


def check_one_stdin(**sources: str | None) -> None:
    """Refuse more than one source, by the name of its parameter, from standard input."""
    piped = [name for name, source in sources.items() if source == STDIN]
    if len(piped) > 1:
        raise ParameterError(
            piped[1],
            f"be a file if {keyword(piped[0])} is read from standard input",
            STDIN,
            "Save one of them to a file.",
        )


def note_origin(source: str, drawn: Any) -> None:
    """Print a note if a map does not tell how it was made, so that options say how to read rows."""
    for sentence in drawn.notes:
        note(sentence)
    is_csv = source == STDIN or source.lower().endswith(".csv")
    if (is_csv or drawn.notes) and not drawn.provenance:
        what = "The map from standard input" if source == STDIN else source
        note(
            f"{what} does not tell how it was made. Pass the options with which its table was "
            "read, such as --id and --scale, if there were any."
        )


def has_keys(source: str) -> bool:
    """Return whether a table is in a format that may hold several arrays."""
    path = Path(source)
    return path.suffix.lower() in KEYED or path.is_dir()


def _check_key(source: str, key: str | None) -> None:
    if key is not None and not has_keys(source):
        raise ParameterError(
            "key",
            f"be left out for {source}, which holds one table",
            key,
            f"It names an array of a {', '.join(KEYED[:-1])} or {KEYED[-1]} file.",
        )


def named(values: Any, name: str | None) -> Any:
    """Return values as a series with a name, for legends; unchanged if there is no name."""
    if values is None or not name:
        return values
    import narwhals.stable.v2 as nw

    return nw.new_series(name, values, backend="pyarrow")


def read_points(table: Any, resources: ResourceOptions, indices: Any = None) -> Any:
    """Return all rows of a table, or some of them, as points in memory.

    Of a table with mixed columns, points for ``metric="gower"``.
    """
    rows = table.rows
    _check_fits(rows, rows.shape[0] if indices is None else len(indices), resources)
    return rows.read(slice(None)) if indices is None else rows.take(indices)


def _check_fits(rows: Any, n_rows: int, resources: ResourceOptions) -> None:
    from isosne.tsne.memory_budget import memory_available, size

    needed = n_rows * rows.row_bytes
    available = memory_available(resources.memory_limit)
    if needed > available:
        raise ParameterError(
            "memory_limit",
            f"be at least {size(needed)} to hold the rows of {rows.describe()} in memory; "
            f"{size(available)} is available",
            hint="Raise the limit, or use a table with fewer rows.",
        )


def find_rows(table: Any, drawn: Any) -> Any:
    """Return the row of the table for each point of a map; None: all rows, in order."""
    from isosne.files.row_matching import match_rows

    return match_rows(drawn, table.ids, table.rows.shape[0], table.rows.describe())


def read_columns(
    table: Any, chosen: Any, resources: ResourceOptions, wanted: list[str] | None
) -> dict[str, Any]:
    """Return columns of some rows, numeric or not, by name; missing values are NaN.

    ``chosen`` None: all rows; ``wanted`` None: all columns.
    """
    from isosne.files.mixed_tables import take_columns

    _check_fits(table.rows, table.rows.shape[0] if chosen is None else len(chosen), resources)
    return take_columns(table, chosen, wanted)
