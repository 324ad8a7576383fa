"""The tables of a command: opened, read into memory where needed, and joined with maps.

How a table is read is a dict of the options that were given, by name.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from isosne.cli.files import PIPE, recorded_options
from isosne.cli.messages import note
from isosne.cli.options import TABLE, Args, refuse
from isosne.errors import DataError, ParameterError, keyword, suggest

ID_NAMES = ("id", "ID", "Id")  # columns that identify the rows if no other is named
KEYED = (".npz", ".zarr", ".h5ad")  # endings of files that may hold several arrays
TREATMENTS = ("scale", "mixed", "categorical")  # options for columns after they are read
Options = dict[str, Any]


def open_table(source: str, options: Options, memory_limit: str | None) -> tuple[Any, Any]:
    """Return a table whose rows are mapped: as it was read, and with its columns scaled.

    Prints notes on it and on columns that distort the map. A unique column id identifies the rows
    unless the options name another; it is added to them.
    """
    refuse_map(source, options)
    unscaled = _open_with_id(source, options, memory_limit)
    return unscaled, _scaled(unscaled, options)


def open_table_of(
    maps: Sequence[Any], paths: Sequence[str], source: str, args: Args
) -> tuple[Options, Any, Any]:
    """Open the table of maps, as one of them records it; return how, and as `open_table` does.

    Options that were given take precedence. Another table is refused unless forced.
    """
    records = [drawn.recorded("table") for drawn in maps]
    # The first one with identifiers, by which all maps are matched, or else with a record.
    base = min(range(len(maps)), key=lambda m: ("id" not in records[m], not records[m]))
    options, unscaled = _open_recorded(maps[base], paths[base], source, args)
    for m, drawn in enumerate(maps):
        if m != base and drawn.recorded("input") and not args.force:
            _open_recorded(drawn, paths[m], source, args)
    return options, unscaled, _scaled(unscaled, options)


def _open_recorded(drawn: Any, map_file: str, source: str, args: Args) -> tuple[Options, Any]:
    typed = args.given(TABLE)
    refuse_map(source, typed)
    options = recorded_options(drawn, map_file, typed)
    open_one = open_unscaled if "table" in drawn.provenance else _open_with_id
    try:
        unscaled = open_one(source, options, args.memory_limit)
    except ParameterError as error:
        if error.parameter not in options or error.parameter in typed:
            raise
        missing = error.value[0] if isinstance(error.value, list) else error.value
        raise drawn.wrong_table(source, f"it has no column {missing!r}") from None
    if not args.force:
        drawn.check_table(unscaled.rows)
    return options, unscaled


def check_color_table(drawn: Any, map_file: str, source: str, args: Args) -> None:
    """Refuse another table than that of a map if its rows are matched by their numbers."""
    from isosne.rows.columns import is_numbering

    record = drawn.recorded("table")
    is_numbered = "id" not in record or is_numbering(drawn.ids)
    if drawn.recorded("input") and is_numbered and not args.force:
        _open_recorded(drawn, map_file, source, args)


def _open_with_id(source: str, options: Options, memory_limit: str | None) -> Any:
    """Open a table without scaling it; a unique column id is added to the options."""
    from isosne.rows.table_reader import names_data_set

    lists = (options.get(name, ()) for name in ("columns", "exclude", "categorical"))
    used = {options.get("id"), options.get("label"), *(name for names in lists for name in names)}
    is_open = "id" not in options and source != PIPE and not names_data_set(source)
    for name in ID_NAMES if is_open else ():
        try:
            if name in used:
                continue
            table = open_unscaled(source, options | {"id": name}, memory_limit)
        except ParameterError as error:
            if error.parameter != "id":
                raise
        else:
            options["id"] = name
            hint = f"Pass {keyword('columns')} to choose the features if it is one of them."
            found = f"Column {name!r} identifies the rows. {hint}"
            return replace(table, notes=(found, *table.notes))
    return open_unscaled(source, options, memory_limit)


def notes_on_columns(table: Any, options: Options) -> tuple[str, ...]:
    """Return sentences about columns that distort a map; those chosen by name are meant."""
    from isosne.tables.notes import table_notes

    known = options.get("columns") or options.get("categorical", ())
    return table_notes(table.rows, known=known, has_id="id" in options)


def _scaled(table: Any, options: Options) -> Any:
    """Return a table with its columns scaled, and print the notes on it."""
    scale = options.get("scale", "none")
    if scale != "none":
        from isosne.rows.scaled import Scale, ScaledRows

        table = replace(table, rows=ScaledRows(table.rows, Scale.of(scale, table.rows)))
    table.rows.notes = notes_on_columns(table, options)  # a fit takes them into its plan
    note(*table.notes, *table.rows.notes)
    return table


def open_unscaled(source: str, options: Options, memory_limit: str | None) -> Any:
    """Open a table without scaling it."""
    from isosne.rows.table_reader import names_data_set, read_table
    from isosne.tables.mixed import as_mixed
    from isosne.tsne.memory import memory_available

    if not has_keys(source):
        hint = f"It names an array of a {', '.join(KEYED[:-1])} or {KEYED[-1]} file."
        refuse(f"for {source}, which holds one table", hint, key=options.get("key"))
    how = {name: value for name, value in options.items() if name not in TREATMENTS}
    is_mixed = "mixed" in options or "categorical" in options
    if is_mixed:
        when = f"with {keyword('mixed')}, which uses all columns as they are"
        scale = None if options.get("scale") == "none" else options.get("scale")
        missing, text_columns = options.get("missing"), options.get("text_columns")
        refuse(when, scale=scale, missing=missing, text_columns=text_columns)
        how |= {"text_columns": "leave_out", "columns": None}
    if names_data_set(source):
        table = _load_example(source, how)
    else:
        limit = memory_available(memory_limit).value
        table = read_table(source, **how, memory_limit=limit, needs_numbers=not is_mixed)
    if not is_mixed:
        return table
    _check_fits(table.rows, table.rows.shape[0], memory_limit)
    roles = {options.get("id"), options.get("label"), *options.get("exclude", ())} - {None}
    chosen = {name: options.get(name) for name in ("columns", "categorical")}
    return as_mixed(table, exclude=roles, **chosen)


def _load_example(source: str, how: Options) -> Any:
    """Return an example data set; if there is none of the name, a file is missing."""
    from isosne.datasets.examples import load_table, names
    from isosne.rows.table_reader import check_exists

    if source in names():
        return load_table(source, **how)
    try:
        check_exists(Path(source), "source")
    except ParameterError as error:
        rule = f"be a file that exists, or a data set ({', '.join(names())})"
        hint = suggest(source, names(), error.hint)
        raise ParameterError("source", rule, source, hint) from None


def refuse_map(source: str, options: Options) -> None:
    """Raise an error if a table is a map that isosne wrote, unless columns of it are chosen."""
    from isosne.rows.maps import find_provenance

    if "columns" in options or not (provenance := find_provenance(Path(source))):
        return
    made_of = provenance.get("input")
    name = made_of.get("source") if isinstance(made_of, dict) else None
    which = f", {name}" if isinstance(name, str) and name != "-" else ""
    hint = f"Name the table of the map{which}. To map the coordinates themselves, pass "
    hint += f"{keyword('columns', ['x', 'y'])}."
    raise ParameterError("source", "be a table, not a map that isosne wrote", source, hint)


def has_keys(source: str) -> bool:
    """Return whether a table is in a format that may hold several arrays."""
    from isosne._files import is_there

    path = Path(source)
    return path.suffix.lower() in KEYED or (is_there(path) and path.is_dir())


def named(values: Any, name: str | None) -> Any:
    """Return values as a series with a name, for legends; unchanged if there is no name."""
    if values is None or not name:
        return values
    import narwhals.stable.v2 as nw

    return nw.new_series(name, values, backend="pyarrow")


def read_points(table: Any, memory_limit: str | None, indices: Any = None, **missing: bool) -> Any:
    """Return all rows of a table, or some of them, as points in memory.

    Of a table with mixed columns, points for ``metric="gower"``. missing: see `Rows.read`.
    """
    rows = table.rows
    _check_fits(rows, rows.shape[0] if indices is None else len(indices), memory_limit)
    return rows.read(slice(None), **missing) if indices is None else rows.take(indices)


def _check_fits(rows: Any, n_rows: int, memory_limit: str | None) -> None:
    from isosne.tsne.memory import memory_available, size

    needed, available = n_rows * rows.row_bytes, memory_available(memory_limit).value
    if needed > available:
        rule = f"be at least {size(needed)} to hold the rows of {rows.describe()} in memory"
        rule += f"; {size(available)} is available"
        hint = "Raise the limit, or use a table with fewer rows."
        raise ParameterError("memory_limit", rule, hint=hint)


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
    source: str, drawn: Any, options: Options, memory_limit: str | None, color: str | None
) -> dict[str, Any]:
    """Return columns of a table for the points of a map, by name; color None: all columns.

    Of an AnnData file, all columns of obs, and a gene of X, or of another array that the options
    name, if it is the color.
    """
    import numpy as np

    from isosne.rows.archives import read_obs
    from isosne.rows.columns import as_integers_or_text, parse_integers
    from isosne.tables.mixed import take_columns

    path = str(file_of(source))
    how = {name: options[name] for name in ("id", "key", "decimal") if name in options}
    table = open_unscaled(path, how | {"text_columns": "leave_out"}, memory_limit)
    chosen = find_rows(table, drawn)
    chosen = np.arange(table.rows.shape[0]) if chosen is None else chosen
    columns = {}
    if is_cells(source):
        for name, values in read_obs(Path(path)).items():
            column = np.asarray(values)
            if column.dtype.kind not in "uif":
                column = parse_integers(as_integers_or_text(column))
            columns[str(name)] = column[chosen]
        if color is None or color in columns:
            return columns
    _check_fits(table.rows, len(chosen), memory_limit)
    return columns | take_columns(table, chosen, None if color is None else [color])


def is_cells(source: str | None) -> bool:
    """Return whether a table or a map is an AnnData file."""
    path = file_of(source)
    return path is not None and path.lower().endswith(".h5ad")


def file_of(source: str | None) -> str | None:
    """Return the path of a file without the array that may follow it, as in cells.h5ad:X_umap."""
    from isosne.rows.archives import split_key

    return None if source is None else str(split_key(source)[0])


def read_images(source: str) -> Any:
    """Return the images of a file, which are read when they are used."""
    import numpy as np

    try:
        return np.load(source, mmap_mode="r", allow_pickle=False)
    except ValueError:
        raise DataError(
            f"Cannot read {source}: it is not an array of NumPy. Save the images with np.save."
        ) from None
