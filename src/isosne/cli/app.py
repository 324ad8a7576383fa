"""The application and its commands. A new command is a module of its own, and a name here.

The modules of the commands import what is heavy inside functions: `isosne --help` loads no NumPy.
"""

import click

from isosne import __version__
from isosne.cli.datasets import datasets
from isosne.cli.embed import embed
from isosne.cli.explore import explore
from isosne.cli.extend import extend
from isosne.cli.info import info
from isosne.cli.measure import measure
from isosne.cli.messages import shows_tracebacks
from isosne.cli.options import write_panels
from isosne.cli.place import place
from isosne.cli.plot import plot
from isosne.cli.report import report
from isosne.cli.sweep import sweep
from isosne.cli.warm import warm

COMMANDS = {
    "Look at maps": (explore, report, plot),
    "Make maps": (embed, sweep),
    "New rows": (place, extend),
    "Judge maps": (measure,),
    "Data": (datasets,),
    "Installation": (warm, info),
}


class _Commands(click.Group):
    """The commands, in groups."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        panels = {
            title: [(str(each.name), each.get_short_help_str(formatter.width)) for each in commands]
            for title, commands in COMMANDS.items()
        }
        write_panels(panels, formatter)


@click.group(
    "isosne",
    cls=_Commands,
    commands=[command for commands in COMMANDS.values() for command in commands],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, help="Print the full traceback of an error.")
@click.version_option(__version__, message="isosne %(version)s", help="Print the version and exit.")
def app(debug: bool) -> None:
    """Make maps of high-dimensional data with t-SNE and measure how far you can trust them."""
    shows_tracebacks.set(debug)
