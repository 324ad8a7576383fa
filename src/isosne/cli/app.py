"""The application and its commands. A new command is a module of its own, and a name here.

The modules of the commands import what is heavy inside functions: `isosne --help` loads no NumPy.
Typer formats panels of options and commands only with rich, whose help depends on the terminal;
two methods here do it in plain text.
"""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from isosne import __version__
from isosne.cli.datasets import datasets
from isosne.cli.embed import embed
from isosne.cli.explore import explore
from isosne.cli.extend import extend
from isosne.cli.measure import measure
from isosne.cli.messages import in_sentences, shows_tracebacks
from isosne.cli.options import COMMON, PANELS
from isosne.cli.place import place
from isosne.cli.plot import plot
from isosne.cli.report import report
from isosne.cli.sweep import sweep

COMMANDS = {
    "Look at maps": (explore, report, plot),
    "Make maps": (embed, sweep),
    "New rows": (place, extend),
    "Judge maps": (measure,),
    "Data": (datasets,),
}


class Command(TyperCommand):
    """A command whose errors are sentences, and whose help lists options by panel."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with in_sentences(self.params):
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each panel of options."""
        panels: dict[str, list[Any]] = {title: [] for title in ("Arguments", *PANELS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_argument = parameter.param_type_name == "argument"
            panel = getattr(parameter, "rich_help_panel", None) or COMMON
            if record is not None:
                panels["Arguments" if is_argument else panel].append(record)
        _write_panels(panels, formatter)


class Commands(TyperGroup):
    """The commands, in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group of commands."""
        panels: dict[str, list[Any]] = {title: [] for title in COMMANDS}
        for title, functions in COMMANDS.items():
            for function in functions:
                command = self.commands[function.__name__]
                panels[title].append((command.name, command.get_short_help_str(formatter.width)))
        _write_panels(panels, formatter)


def _write_panels(panels: dict[str, list[Any]], formatter: Any) -> None:
    for title, records in panels.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


app = typer.Typer(
    name="isosne",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help of the same width and without colors everywhere
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"isosne {__version__}")
        raise typer.Exit


@app.callback()
def isosne(
    debug: Annotated[
        bool, typer.Option("--debug", help="Print the full traceback of an error.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Make maps of high-dimensional data with t-SNE and measure how far you can trust them."""
    shows_tracebacks.set(debug)


for functions in COMMANDS.values():
    for function in functions:
        app.command(cls=Command)(function)
