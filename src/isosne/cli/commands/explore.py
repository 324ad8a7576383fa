"""`isosne explore`: maps in the browser."""

import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from isosne.cli.column_notes import note_columns
from isosne.cli.map_files import read_map_file, refuse_map, refuse_map_as_table
from isosne.cli.messages import note, say
from isosne.cli.options import FILES, OUTPUT, MessageOptions, ResourceOptions, TableOptions, option
from isosne.cli.outputs import check_output, print_json
from isosne.cli.provenance import words_of
from isosne.cli.tables import STDIN, open_unscaled, scaled, suggesting_mixed
from isosne.errors import DataError, ParameterError, keyword

LOOPBACK = "127.0.0.1"
LOCAL = (LOOPBACK, "localhost", "::1")
MAX_MAPS = 2


def explore(
    table_options: TableOptions,
    resources: ResourceOptions,
    messages: MessageOptions,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            show_default=False,
            help="Table to read: a file, a folder of Parquet files, or the name of a data set. "
            "Without it, the page asks for a file.",
        ),
    ] = None,
    kernel: Annotated[
        Literal["owner", "isolation", "gaussian", "adaptive", "knn"],
        option("Kernel of the first map."),
    ] = "owner",
    random_state: Annotated[
        int,
        option("Seed of the first map.", *("--random-state", "--seed"), min=0, metavar="N"),
    ] = 0,
    map_file: Annotated[
        list[str] | None,
        option(
            "Map of the table to show instead of computing one, also of another program: a file "
            "with the columns id, x and y; give it twice to compare two maps.",
            "--map",
            metavar="FILE",
        ),
    ] = None,
    model_file: Annotated[
        Path | None,
        option("Model of the table whose map to show.", "--model", metavar="FILE"),
    ] = None,
    session: Annotated[
        Path | None,
        option(
            "Keep maps and selections in this file, and restore them from it if it exists.",
            panel=FILES,
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
) -> None:
    """Watch and question a map of a table in the browser.

    The page is served on this machine only. Its address has a token; whoever has the address can
    see the data. Ctrl-C ends the server.

    Example: isosne explore wine.csv --label target --id id --scale minmax
    """
    from isosne.explorer import Explorer
    from isosne.explorer.explorer import restore
    from isosne.explorer.session import Session
    from isosne.explorer.settings import Settings

    _check_together(source, map_file, model_file, session)
    if session is not None:
        check_output(session, (), force=True)
        hint = f"Pass {keyword('map_file', str(session))} to show a map."
        refuse_map(session, "session", "a file for a session", hint)
    shown = Session()
    if source is not None:
        if source == STDIN:
            hint = "Save the table to a file."
            raise ParameterError("source", "be a file or a data set", source, hint)
        refuse_map_as_table(source, table_options)
        _open(shown, source, table_options, resources, quiet=messages.quiet)
        is_restored = session is not None and restore(shown, session)
        if is_restored and not messages.quiet:
            say(f"Restored the session in {session}")
        if not is_restored:
            _show_model(shown, model_file)
            _show_maps(shown, map_file or [])
            if not shown.maps:
                shown.begin(0, Settings(kernel, seed=random_state))
    explorer = Explorer(shown, host=host, port=port, session_file=session)
    try:
        explorer.start()
        _announce(explorer.address, host, messages)
        if not no_browser:
            webbrowser.open(explorer.address)
        threading.Event().wait()
    except KeyboardInterrupt:  # the usual end
        pass
    finally:
        explorer.close()
    if not messages.quiet:
        say("Ended." if session is None else f"Saved the session to {session}")


def _announce(address: str, host: str, messages: MessageOptions) -> None:
    """Print the address, and warn of visitors from elsewhere."""
    if host not in LOCAL:
        note(
            "The page can be opened from other machines, by anyone who has its address. The "
            f"connection is not encrypted. Leave out --host to serve {LOOPBACK} only."
        )
    if messages.json:
        print_json({"address": address})
    else:
        typer.echo(address)
    if not messages.quiet:
        say("Press Ctrl-C to end.")


def _check_together(
    source: str | None, map_file: list[str] | None, model_file: Path | None, session: Path | None
) -> None:
    """Refuse options that need a table without one, and too many maps."""
    given = {"map_file": map_file, "model_file": model_file, "session": session}
    for name, value in given.items():
        if source is None and value:
            shown = str(value) if isinstance(value, Path) else value
            hint = "Name the table as the first argument."
            raise ParameterError(name, f"be used together with {keyword('source')}", shown, hint)
    if map_file and len(map_file) + (model_file is not None) > MAX_MAPS:
        hint = "Two maps are shown side by side."
        raise ParameterError("map_file", "be given at most twice", map_file, hint)


@suggesting_mixed()
def _open(
    shown: Any, source: str, options: TableOptions, resources: ResourceOptions, *, quiet: bool
) -> None:
    """Read the table into the session."""
    from isosne.explorer.data import from_table

    unscaled = open_unscaled(source, options, resources, quiet=quiet)
    table = scaled(unscaled, options)
    if not quiet:
        note_columns(unscaled, table, options)
    words = (source, *words_of(options))
    shown.open(from_table(table, unscaled, source, (options.id, options.label), words))


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


def _show_maps(shown: Any, paths: list[str]) -> None:
    """Show maps of the whole table, in the order of its rows."""
    from isosne.explorer.uploads import place_rows

    for path in paths:
        found = read_map_file(path, "map_file")
        shown.add_map(place_rows(found, shown.rows), Path(path).name)
