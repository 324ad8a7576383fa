"""`isosne explore`: maps in the browser."""

import shlex
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from isosne.cli import options as o
from isosne.cli.files import PIPE, read_map_file
from isosne.cli.messages import print_json, say, tell
from isosne.cli.models import load_model
from isosne.cli.options import Args, option
from isosne.cli.tables import open_table, open_table_of, read_images
from isosne.errors import ParameterError, keyword

LOOPBACK = "127.0.0.1"
LOCAL = (LOOPBACK, "localhost", "::1")
MAX_MAPS = 2


@o.command(
    o.argument(
        "source",
        "TABLE",
        "Table to read: a file, a folder of Parquet files, or the name of a data set.",
    ),
    *o.TABLE,
    option(f"--kernel {o.KERNELS}", "Kernel of the first map.", default="owner"),
    o.SEED,
    option(
        "--map MAP",
        "Map to show instead of computing one; it may come from another program. Repeat to compare "
        "two maps.",
        name="map_file",
        multiple=True,
    ),
    option("--model FILE", "Model file whose map is shown.", name="model_file"),
    o.IMAGES,
    option("--image-shape HEIGHTxWIDTH", "Show each row as an image of this shape, such as 8x8."),
    o.file_option(
        "--host ADDRESS",
        "Address to listen on. On any other address, others may be able to see the data.",
        default=LOOPBACK,
    ),
    o.file_option(
        "--port N",
        "Port to listen on.",
        type=click.IntRange(0, 65535),
        default=0,
        shown="a free port",
    ),
    o.file_option("--no-browser", "Print the address without opening it."),
    *(o.MEMORY_LIMIT, o.FORCE, o.QUIET, o.JSON),
)
def explore(args: Args) -> None:
    """Explore a map interactively in the browser.

    The page is served on this machine only. Its address contains a secret token: anyone who has the
    address can see the data. Ctrl-C stops the server.

    Example: isosne explore wine.csv --id id --label target --scale standard
    """
    from isosne.explorer import Explorer
    from isosne.explorer.data import Settings, from_table
    from isosne.explorer.files import place_rows
    from isosne.explorer.server import browsing
    from isosne.explorer.session import Session

    options = args.given(o.TABLE)
    if args.source == PIPE:
        hint = "Save the table to a file."
        raise ParameterError("source", "be a file or a data set", args.source, hint)
    if len(args.map_file) + (args.model_file is not None) > MAX_MAPS:
        hint = "Two maps are shown side by side."
        raise ParameterError("map_file", "be given at most twice", args.map_file, hint)
    read = [read_map_file(path, "map_file") for path in args.map_file]
    if read:
        options, unscaled, table = open_table_of(read, args.map_file, args.source, args)
    else:
        unscaled, table = open_table(args.source, options, args.memory_limit)
    typed = [shlex.split(keyword(name, value)) for name, value in options.items()]
    words = (args.source, *(word for option in typed for word in option))
    roles = options.get("id"), options.get("label")
    data = from_table(table, unscaled, args.source, roles, words)
    shown = Session(data.with_images(_find_images(args, unscaled.rows)))
    if args.model_file is not None:
        shown.add_model(load_model(args.model_file)[0])
    for path, drawn in zip(args.map_file, read, strict=True):
        shown.add_map(place_rows(drawn, shown.rows), Path(path).name)
    if not shown.maps:
        shown.begin(0, Settings(args.kernel, seed=args.random_state))
    explorer = Explorer(shown, host=args.host, port=args.port)
    try:
        explorer.start()
        if args.host not in LOCAL:
            say(
                "Note: The page can be opened from other machines, by anyone who has its address. "
                f"The connection is not encrypted. Leave out --host to serve {LOOPBACK} only."
            )
        print_json({"address": explorer.address}) if args.json else click.echo(explorer.address)
        tell("Press Ctrl-C to end.")
        with nullcontext() if args.no_browser else browsing(explorer.address):
            threading.Event().wait()
    except KeyboardInterrupt:  # the usual end
        pass
    finally:
        explorer.close()
    tell("Ended.")


def _find_images(args: Args, rows: Any) -> Any:
    """Return the images of a file, or the rows as images; None if neither is chosen."""
    if args.images is not None:
        return read_images(args.images)
    if args.image_shape is None:
        return None
    height, _, width = args.image_shape.partition("x")
    if not (height + width).isdecimal() or int(height) * int(width) != rows.shape[1]:
        rule = f"have as many pixels as the table has columns ({rows.shape[1]:,})"
        raise ParameterError("image_shape", rule, args.image_shape, "Write for example 8x8.")
    return rows.read(slice(None)).reshape(-1, int(height), int(width))
