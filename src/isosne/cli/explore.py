"""`isosne explore`: maps in the browser."""

import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from isosne.cli import options as o
from isosne.cli.files import PIPE, check_output
from isosne.cli.maps import read_map_file, refuse_map, words_of
from isosne.cli.messages import note, print_json, say
from isosne.cli.options import OUTPUT, Resources, TableOptions, option
from isosne.cli.tables import Opened, open_table
from isosne.errors import DataError, ParameterError, keyword

LOOPBACK = "127.0.0.1"
LOCAL = (LOOPBACK, "localhost", "::1")
MAX_MAPS = 2


def explore(
    source: Annotated[
        str | None,
        o.argument(
            "TABLE",
            "Table to read: a file, a folder of Parquet files, or the name of a data set. Without "
            "it, the page asks for a file.",
        ),
    ] = None,
    identifier: o.Id = None,
    label: o.Label = None,
    scale: o.Scaling = None,
    columns: o.Columns = None,
    exclude: o.Exclude = None,
    text_columns: o.TextColumns = None,
    missing: o.Missing = None,
    mixed: o.Mixed = None,
    categorical: o.Categorical = None,
    key: o.Key = None,
    kernel: Annotated[o.KernelName, option("Kernel of the first map.")] = "owner",
    random_state: o.Seed = 0,
    map_file: Annotated[
        list[str] | None,
        option(
            "Map of the table to show instead of computing one, also of another program; repeat "
            "to compare two maps.",
            "--map",
            metavar="MAP",
        ),
    ] = None,
    model_file: Annotated[
        Path | None, option("Model of the table whose map to show.", "--model", metavar="FILE")
    ] = None,
    session: Annotated[
        Path | None,
        option(
            "Keep maps and selections in this file, and restore them from it if it exists.",
            panel=OUTPUT,
            metavar="FILE",
        ),
    ] = None,
    host: Annotated[
        str,
        option(
            "Address to listen on. Others can see the data if it is not that of this machine.",
            panel=OUTPUT,
            metavar="ADDRESS",
        ),
    ] = LOOPBACK,
    port: Annotated[
        int,
        option(
            "Port to listen on.", panel=OUTPUT, default="a free port", min=0, max=65535, metavar="N"
        ),
    ] = 0,
    no_browser: Annotated[
        bool, option("Print the address, and do not open it.", "--no-browser", panel=OUTPUT)
    ] = False,
    memory_limit: o.MemoryLimit = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Watch and question a map of a table in the browser.

    The page is served on this machine only. Its address has a token; whoever has the address can
    see the data. Ctrl-C ends the server.

    Example: isosne explore wine.csv --id id --label target --scale standard
    """
    from isosne.explorer import Explorer
    from isosne.explorer.data import Settings
    from isosne.explorer.server import browsing
    from isosne.explorer.session import Session, restore_session

    _check_together(source, map_file, model_file, session)
    shown = Session()
    if source is not None:
        table_options = TableOptions(
            *(identifier, label, scale, columns, exclude, text_columns, missing, mixed),
            *(categorical, key),
        )
        resources = Resources(memory_limit=memory_limit)
        opened = open_table(source, table_options, resources, quiet=quiet)
        _show_table(shown, source, opened, table_options)
        if session is not None and session.exists():
            restore_session(shown, session)
            if not quiet:
                say(f"Restored the session in {session}")
        else:
            _show_model(shown, model_file)
            _show_maps(shown, map_file or [], None if force else opened.unscaled.rows, quiet=quiet)
            if not shown.maps:
                shown.begin(0, Settings(kernel, seed=random_state))
    explorer = Explorer(shown, host=host, port=port, session_file=session)
    try:
        explorer.start()
        _announce(explorer.address, host, quiet=quiet, as_json=json)
        with nullcontext() if no_browser else browsing(explorer.address):
            threading.Event().wait()
    except KeyboardInterrupt:  # the usual end
        pass
    finally:
        explorer.close()
    if not quiet:
        say("Ended." if session is None else f"Saved the session to {session}")


def _announce(address: str, host: str, *, quiet: bool, as_json: bool) -> None:
    """Print the address, and warn of visitors from elsewhere."""
    if host not in LOCAL:
        note(
            "The page can be opened from other machines, by anyone who has its address. The "
            f"connection is not encrypted. Leave out --host to serve {LOOPBACK} only."
        )
    if as_json:
        print_json({"address": address})
    else:
        typer.echo(address)
    if not quiet:
        say("Press Ctrl-C to end.")


def _check_together(
    source: str | None, map_file: list[str] | None, model_file: Path | None, session: Path | None
) -> None:
    """Refuse options that need a table without one, too many maps, and a map as a session."""
    given = {"map_file": map_file, "model_file": model_file, "session": session}
    for name, value in given.items():
        if source is None and value:
            shown = str(value) if isinstance(value, Path) else value
            hint = "Name the table as the first argument."
            raise ParameterError(name, f"be used together with {keyword('source')}", shown, hint)
    if source == PIPE:
        hint = "Save the table to a file."
        raise ParameterError("source", "be a file or a data set", source, hint)
    if map_file and len(map_file) + (model_file is not None) > MAX_MAPS:
        hint = "Two maps are shown side by side."
        raise ParameterError("map_file", "be given at most twice", map_file, hint)
    if session is not None:
        check_output(session, (), force=True)
        hint = f"Pass {keyword('map_file', str(session))} to show a map."
        refuse_map(session, "session", "a file for a session", hint)


def _show_table(shown: Any, source: str, opened: Opened, options: TableOptions) -> None:
    """Read the table into the session."""
    from isosne.explorer.data import from_table

    roles, words = (options.id, options.label), (source, *words_of(options))
    shown.open(from_table(opened.table, opened.unscaled, source, roles, words))


def _show_model(shown: Any, path: Path | None) -> None:
    """Show the map of a model of the whole table."""
    if path is None:
        return
    from isosne.cli.models import check_model, load_model

    check_model(path, f"Pass {keyword('map_file', str(path))} to show a map.")
    model, _ = load_model(path)
    if model.embedding_.shape != (shown.rows.n_rows, 2):
        raise DataError(
            f"The model {path} must have a two-dimensional map of the {shown.rows.n_rows:,} rows "
            f"of the table; its map has shape {model.embedding_.shape}. "
            "Pass the table that it was fitted on."
        )
    shown.add_model(model)


def _show_maps(shown: Any, paths: list[str], rows: Any, *, quiet: bool) -> None:
    """Show maps of the whole table, in the order of its rows; rows None: of any table."""
    from isosne.explorer.files import place_rows

    for path in paths:
        drawn = read_map_file(path, "map_file", quiet=quiet)
        if rows is not None:
            drawn.check_table(rows)
        shown.add_map(place_rows(drawn, shown.rows), Path(path).name)
