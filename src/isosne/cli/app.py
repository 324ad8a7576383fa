"""The application and its commands. A new command is a module in `commands`, and a name here.

The modules of the commands import what is heavy inside functions: `isosne --help` loads no NumPy.
"""

import functools
import inspect
import re
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand

from isosne import __version__
from isosne.cli.commands.align import align
from isosne.cli.commands.datasets import datasets
from isosne.cli.commands.embed import embed
from isosne.cli.commands.explore import explore
from isosne.cli.commands.extend import extend
from isosne.cli.commands.measure import measure
from isosne.cli.commands.paper import paper
from isosne.cli.commands.place import place
from isosne.cli.commands.plan import plan
from isosne.cli.commands.plot import plot
from isosne.cli.commands.report import report
from isosne.cli.commands.sweep import sweep
from isosne.cli.commands.transform import transform
from isosne.cli.messages import Options, in_sentences, shows_tracebacks
from isosne.cli.options import COMMON, PANELS
from isosne.errors import suggest

COMMANDS = (
    *(embed, transform, place, extend, align, measure, sweep, plot, report, explore, plan),
    *(paper, datasets),
)

UNKNOWN_CHOICE = re.compile(r"(?:Value error, )?(?P<value>.*) is not one of (?P<choices>.*)\.$")
"""What Typer says of an unknown choice; the first words depend on its version."""

app = typer.Typer(
    name="isosne",
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


class Command(TyperCommand):
    """A command whose help lists options by panel, the common ones first.

    Its errors for unknown choices suggest the most similar one.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line; add a suggestion to an error for an unknown choice."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if found := UNKNOWN_CHOICE.search(error.message):
                choices = re.findall("'([^']*)'", found["choices"])
                hint = suggest(found["value"].strip("'\""), choices, "")
                error.message = f"{found['value']} is not one of {found['choices']}. {hint}".strip()
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each panel."""
        panels: dict[str, list[Any]] = {title: [] for title in ("Arguments", *PANELS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_argument = parameter.param_type_name == "argument"
            panel = getattr(parameter, "rich_help_panel", None) or COMMON
            if record is not None:
                panels["Arguments" if is_argument else panel].append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def add_command(command: Callable[..., None]) -> None:
    """Add a command; each field of its groups of options becomes an option."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind, *marks = get_args(parameter.annotation) or (parameter.annotation,)
        if is_dataclass(kind):
            groups[name] = kind
            parameters += _options(kind, marks)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    whole = in_sentences(run, Options(parameters))
    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    whole.__annotations__ = {p.name: p.annotation for p in parameters}
    app.command(cls=Command)(whole)


def _options(group: Any, marks: list[Any]) -> list[inspect.Parameter]:
    """Return a parameter for each field of a group of options."""
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=_marked(field.type, marks),
        )
        for field in fields(group)
    ]


def _marked(annotation: Any, marks: list[Any]) -> Any:
    """Return the annotation of an option whose default is in a file, if a mark says so."""
    kind, info = get_args(annotation)
    for mark in marks:
        info = copy(info)
        info.show_default = f"as in the {mark.place}"
    return Annotated[kind, info]


for each in COMMANDS:
    add_command(each)
