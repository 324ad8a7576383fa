"""Plot a folder of tiles: what `isosne plot` does with a map of any number of rows."""

from pathlib import Path
from typing import NamedTuple

from isosne.cli.messages import say
from isosne.cli.options import MessageOptions
from isosne.cli.outputs import print_json
from isosne.errors import ParameterError, keyword

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")
"""Endings of pictures and of pages."""


class TileLooks(NamedTuple):
    """How tiles are drawn, and whether an existing file is replaced."""

    color: str | None
    title: str | None
    dpi: float
    force: bool


def is_tiles(map_file: str) -> bool:
    """Return whether a map is a folder of tiles."""
    if not Path(map_file).is_dir():
        return False
    from isosne.tiles.tile_map import is_tile_folder

    return is_tile_folder(map_file)


def refuse_for_tiles(**options: str | list[str] | None) -> None:
    """Raise an error if an option is given that needs the rows of a map."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                name,
                "be left out for tiles, which hold no rows",
                value,
                f"Use {keyword('color')} with the label or a value column of the tiles.",
            )


def plot_tile_folder(folder: str, output: Path, looks: TileLooks, messages: MessageOptions) -> None:
    """Draw tiles as a picture or as a page, and print what was written."""
    n_rows = draw_tiles(folder, output, looks)
    if messages.json:
        print_json({"output": str(output), "n_points": n_rows})
    elif not messages.quiet:
        say(f"Wrote {output}: {n_rows:,} rows")


def draw_tiles(folder: str, output: Path, looks: TileLooks) -> int:
    """Draw tiles as a picture or as a page; return the number of rows."""
    from isosne.tiles import TileMap

    tiles = TileMap(folder)
    if output.suffix.lower() in PAGES:
        from isosne.pages import write_tile_page

        write_tile_page(output, tiles, looks.color, title=looks.title, force=looks.force)
    else:
        from isosne.plots import plot_tiles, save_figure

        axes = plot_tiles(tiles, looks.color, title=looks.title)
        save_figure(axes, output, dpi=looks.dpi, force=looks.force)
    return tiles.n_rows
