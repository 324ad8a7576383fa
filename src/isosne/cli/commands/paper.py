"""`isosne paper`: make the paper's tables and figures anew."""

from pathlib import Path
from typing import Annotated

import typer


def paper(
    name: Annotated[
        str | None, typer.Argument(help="What to make; --list has the names.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables, values and pictures.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Thin grids and three small sets.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(help="Data folder; without it ISOSNE_DATA, else ~/.cache/isosne."),
    ] = None,
    sets: Annotated[
        str, typer.Option(help="Data sets to use, with commas between; all by default.")
    ] = "",
    grid: Annotated[
        str | None,
        typer.Option(help="paper, thin or least; by default fewer values on larger sets."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Threads or processes; all cores by default.")
    ] = None,
    show_names: Annotated[
        bool, typer.Option("--list", help="List what can be made, and do nothing.")
    ] = False,
) -> None:
    """Make a table or figure of the paper anew: NAME.md, NAME.json and pictures in a folder.

    A run that was stopped goes on when the same command is given again.

    Example: isosne paper results --quick --out paper
    """
    from isosne.paper.registry import describe, reproduce
    from isosne.paper.settings import Settings

    if show_names:
        typer.echo(describe())
        return
    if name is None or out is None:
        raise typer.BadParameter("Name what to make and the folder: isosne paper results --out DIR")
    chosen = tuple(part.strip() for part in sets.split(",") if part.strip())
    settings = Settings(out, quick, data, chosen, grid, jobs, _say)
    reproduce(name, settings)
    typer.echo(f"The results are in {out}", err=True)


def _say(sentence: str) -> None:
    typer.echo(sentence, err=True)
