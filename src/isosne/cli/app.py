"""The application and its commands. A new command is a module in `commands`, and a name here.

The modules of the commands import what is heavy inside functions: `isosne --help` loads no NumPy.
"""

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand

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
from isosne.cli.messages import Options, in_sentences, shows_tracebacks
from isosne.cli.options import COMMON, PANELS, DefaultsFrom

COMMANDS = (embed, transform, measure, sweep, plot, report, plan, paper, datasets)

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
    """A command whose help lists options by panel, the common ones first."""

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
    signature = inspect.signature(command)
    groups = {name: p.annotation for name, p in signature.parameters.items() if _is_group(p)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        found = _options(groups[name]) if name in groups else [parameter]
        parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in found]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            kind = _group(group)
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    whole = in_sentences(run, Options(parameters))
    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    whole.__annotations__ = {p.name: p.annotation for p in parameters}
    app.command(cls=Command)(whole)


def _is_group(parameter: inspect.Parameter) -> bool:
    return is_dataclass(_group(parameter.annotation))


def _group(annotation: Any) -> Any:
    """Return the class of a group of options, without a mark."""
    return get_args(annotation)[0] if get_args(annotation) else annotation


def _options(annotation: Any) -> list[inspect.Parameter]:
    """Return a parameter for each field of a group of options."""
    marks = [mark for mark in get_args(annotation)[1:] if isinstance(mark, DefaultsFrom)]
    found = []
    for field in fields(_group(annotation)):
        kind, info = get_args(field.type)
        if marks and field.default is None:
            info = copy(info)
            info.show_default = f"as in the {marks[0].place}"
        found.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[kind, info],
            )
        )
    return found


for each in COMMANDS:
    add_command(each)
