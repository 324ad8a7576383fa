"""`isosne datasets`: the paper's data sets, and example files for a first try."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from isosne.cli import options as o
from isosne.cli.messages import say
from isosne.cli.options import option
from isosne.errors import ParameterError


def datasets(
    action: Annotated[
        Literal["list", "export"],
        typer.Argument(metavar="ACTION", show_default="list", help="list or export."),
    ] = "list",
    name: Annotated[
        str | None,
        o.argument("NAME", "Data set to export: breast_cancer, digits, iris or wine."),
    ] = None,
    output: Annotated[
        Path | None,
        option("export: CSV file to write.", "--output", "-o", default="NAME.csv", metavar="FILE"),
    ] = None,
    folder: Annotated[
        Path | None,
        option(
            "Folder with the data sets.",
            "--data",
            default="ISOSNE_DATA, else ~/.cache/isosne",
            metavar="FOLDER",
        ),
    ] = None,
    force: o.Force = False,
) -> None:
    """List the paper's data sets, or write an example table.

    list prints name, shape, and where each set is loaded from. export writes a data set that is
    part of scikit-learn to a CSV file, with the columns id and target beside the features.

    Example: isosne datasets export wine
    """
    if action == "list":
        from isosne.datasets import describe

        typer.echo(describe(folder=folder))
        return
    from isosne.datasets import export
    from isosne.datasets.catalog import EXAMPLES

    if name is None:
        rule = f"be one of {', '.join(EXAMPLES)}"
        raise ParameterError("name", rule, hint="Pass for example: isosne datasets export wine.")
    say(f"Wrote {export(name, output, force=force)}")
