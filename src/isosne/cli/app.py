"""The commands together. A new command is a module beside this one, and a line here.

A command's function imports what it needs inside, so that `isosne --help` answers at once.
"""

from typing import Annotated

import typer

from isosne import __version__
from isosne.cli.commands.datasets import datasets
from isosne.cli.commands.embed import embed
from isosne.cli.commands.measure import measure
from isosne.cli.commands.paper import paper
from isosne.cli.commands.plan import plan
from isosne.cli.commands.plot import plot
from isosne.cli.commands.report import report
from isosne.cli.commands.sweep import sweep
from isosne.cli.commands.transform import transform
from isosne.cli.errors import in_one_sentence, shows_tracebacks
from isosne.cli.grouping import add_command

app = typer.Typer(
    name="isosne",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"isosne {__version__}")
        raise typer.Exit


@app.callback()
def isosne(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the program an error came from.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Draw maps of high-dimensional data that can be trusted: t-SNE, isolation kernel."""
    shows_tracebacks.set(debug)


for command in (embed, transform, measure, sweep, plot, report, plan, paper, datasets):
    add_command(app, in_one_sentence(command))
