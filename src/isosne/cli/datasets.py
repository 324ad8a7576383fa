"""`isosne datasets`: the paper's data sets, and example files for a first try."""

import click

from isosne.cli import options as o
from isosne.cli.messages import say
from isosne.cli.options import Args, option
from isosne.errors import ParameterError


@o.command(
    o.argument(
        "action",
        "[ACTION]",
        "list (the default) or export.",
        type=click.Choice(["list", "export"]),
        default="list",
    ),
    o.argument(
        "name", "[NAME]", "Data set to export: breast_cancer, digits, iris or wine.", required=False
    ),
    option("--output -o FILE", "export: CSV file to write.", shown="NAME.csv"),
    option(
        "--data FOLDER", "Folder with the data sets.", shown="ISOSNE_DATA, else ~/.cache/isosne"
    ),
    o.FORCE,
)
def datasets(args: Args) -> None:
    """List the paper's data sets, or write an example table.

    list prints name, shape, and where each set is loaded from. export writes a data set that is
    part of scikit-learn to a CSV file, with the columns id and target beside the features.

    Example: isosne datasets export wine
    """
    if args.action == "list":
        from isosne.datasets import describe

        click.echo(describe(folder=args.data))
        return
    from isosne.datasets import export
    from isosne.datasets.catalog import EXAMPLES

    if args.name is None:
        rule = f"be one of {', '.join(EXAMPLES)}"
        raise ParameterError("name", rule, hint="Pass for example: isosne datasets export wine.")
    say(f"Wrote {export(args.name, args.output, force=args.force)}")
