"""`isosne datasets`: the paper's data sets and where each would come from."""

from pathlib import Path
from typing import Annotated

import typer


def datasets(
    data: Annotated[
        Path | None,
        typer.Option(help="Data folder; without it ISOSNE_DATA, else ~/.cache/isosne."),
    ] = None,
) -> None:
    """List the paper's data sets: name, shape, and where each would be loaded from.

    Example: isosne datasets --data ~/data
    """
    from isosne.datasets import describe

    typer.echo(describe(folder=data))
