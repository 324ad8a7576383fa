"""`isosne datasets`: example data sets, and their files for a first try."""

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
    o.FORCE,
)
def datasets(args: Args) -> None:
    """List the example data sets, or write one to a file.

    The examples are part of scikit-learn. list prints the name and the shape of each. export writes
    one to a CSV file, with the columns id and target beside the features.

    Example: isosne datasets export wine
    """
    from isosne.datasets import export, load, names

    if args.action == "list":
        click.echo(f"{'name':<14}  points  attributes  classes")
        for name in names():
            found = load(name)
            n, d = found.X.shape
            click.echo(f"{name:<14}  {n:>6}  {d:>10}  {len(found.classes):>7}")
        return
    if args.name is None:
        rule = f"be one of {', '.join(names())}"
        raise ParameterError("name", rule, hint="Pass for example: isosne datasets export wine.")
    say(f"Wrote {export(args.name, args.output, force=args.force)}")
