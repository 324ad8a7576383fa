"""Options in groups: a command takes a few values, its users many options.

A parameter whose type is a dataclass becomes an option for each of its fields, under the title
that the class gives; the command gets them back as one value.
"""

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand

Command = Callable[..., None]
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
METAVARS = ((str, "NAME"), (int, "N"), (float, "X"))
"""What stands for the value of an option that has no word of its own."""


def spread(command: Command) -> Command:
    """Return a command with the fields of its groups as parameters of its own."""
    parameters = inspect.signature(command).parameters
    groups: dict[str, Any] = {
        name: p.annotation for name, p in parameters.items() if is_dataclass(p.annotation)
    }
    spread_out = []
    for name, parameter in parameters.items():
        if name in groups:
            spread_out += _options(groups[name])
        else:
            annotation = _marked(parameter.annotation)
            spread_out.append(parameter.replace(kind=KEYWORD_ONLY, annotation=annotation))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = inspect.Signature(spread_out)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in spread_out}
    return run


def _options(group: Any) -> list[inspect.Parameter]:
    """Return a parameter for each field of a group."""
    return [
        inspect.Parameter(
            field.name,
            KEYWORD_ONLY,
            default=field.default,
            annotation=_marked(field.type, group.TITLE),
        )
        for field in fields(group)
    ]


def _marked(annotation: Any, title: str | None = None) -> Any:
    """Return the annotation of an option with its section, and a word for its value."""
    kind, option = get_args(annotation)
    marked = copy(option)
    marked.rich_help_panel = title
    if marked.metavar is None:
        marked.metavar = next(
            (word for of, word in METAVARS if of in (kind, *get_args(kind))), None
        )
    return Annotated[kind, marked]


class SectionedCommand(TyperCommand):
    """A command whose help lists options under the titles of their groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the options of each group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_option = parameter.param_type_name == "option"
            title = getattr(parameter, "rich_help_panel", None) or "Options"
            if record is not None:
                sections.setdefault(title if is_option else "Arguments", []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def add_command(app: typer.Typer, command: Command) -> None:
    """Add a command to an application, its groups spread out."""
    app.command(cls=SectionedCommand)(spread(command))
