"""`isosne datasets`: the paper's data sets, and where each is loaded from."""

from pathlib import Path
from typing import Annotated

import typer

from isosne.cli.options import option

Folder = Annotated[
    Path | None,
    option(
        "Folder with the data sets.",
        "--data",
        default="ISOSNE_DATA, else ~/.cache/isosne",
        metavar="FOLDER",
    ),
]


def datasets(folder: Folder = None) -> None:
    """List the paper's data sets.

    Prints name, shape, and where each set is loaded from.

    Example: isosne datasets --data ~/data
    """
    from isosne.datasets import describe

    typer.echo(describe(folder=folder))
