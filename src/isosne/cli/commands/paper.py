"""`isosne paper`: reproduce the paper's tables and figures."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from isosne.cli.commands.datasets import Folder
from isosne.cli.messages import say
from isosne.cli.options import RESOURCES, option
from isosne.errors import ParameterError, keyword


def paper(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            show_default=False,
            help="Table or figure to reproduce, or all; --list prints the names.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option("Folder for tables, values and pictures.", "--output", "-o", metavar="FOLDER"),
    ] = None,
    show_names: Annotated[bool, option("Print the names and exit.", "--list")] = False,
    quick: Annotated[
        bool, option("Use coarse parameter grids and three small data sets.", "--quick")
    ] = False,
    sets: Annotated[
        str | None,
        option("Data sets to use.", default="all of the paper's sets", metavar="NAME[,NAME...]"),
    ] = None,
    grid: Annotated[
        Literal["paper", "thin", "least"] | None,
        option("Parameter values to try.", default="fewer values for larger sets"),
    ] = None,
    folder: Folder = None,
    n_jobs: Annotated[
        int | None,
        option(
            "Number of threads or processes.",
            panel=RESOURCES,
            default="all cores",
            min=1,
            metavar="N",
        ),
    ] = None,
) -> None:
    """Reproduce a table or figure of the paper.

    Writes NAME.md, NAME.json and pictures to a folder. Resumes after an interruption when the same
    command is given again.

    Example: isosne paper results --quick --output paper
    """
    from isosne.paper.registry import describe, reproduce
    from isosne.paper.settings import Settings

    if show_names:
        typer.echo(describe())
        return
    if name is None or output is None:
        raise ParameterError(
            "name" if name is None else "output",
            f"be given, unless {keyword('show_names', True)} is used",
            hint="Run for example isosne paper results --output FOLDER.",
        )
    chosen = tuple(part.strip() for part in (sets or "").split(",") if part.strip())
    reproduce(name, Settings(output, quick, folder, chosen, grid, n_jobs, say))
    say(f"Wrote {output}")
