"""Options in groups: a command takes a few values, its users many options.

A parameter whose type is a dataclass becomes an option for each of its fields, under the title
that the class gives; the command gets them back as one value.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, ClassVar, get_args

import typer
from typer.core import TyperCommand

from isosne.cli.errors import WRONG_USE

Command = Callable[..., None]
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
METAVARS = ((str, "NAME"), (int, "N"), (float, "X"))
"""What stands for the value of an option that has no word of its own."""
NOUNS = ((int, "an integer"), (float, "a number"))


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
    """A command whose help lists options under the titles of their groups.

    A number that breaks the rule of its option is refused in one sentence.
    """

    rules: ClassVar[Mapping[str, str]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments when options have got their values."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            rule = self.rules.get(getattr(error.param, "name", None) or "")
            if error.param is None or rule is None:
                raise
            option = error.param.opts[0]
            came = _value_of(error.param.opts, given)
            typer.echo(f"isosne: {option} must be {rule}; got {came!r}. Correct it.", err=True)
            raise typer.Exit(WRONG_USE) from None

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


def _value_of(names: Sequence[str], given: Sequence[str]) -> str:
    """Return the last value that an option was given."""
    found = ""
    for word, following in zip(given, [*given[1:], ""], strict=True):
        name, has_value, value = word.partition("=")
        if name in names:
            found = value if has_value else following
    return found


def _rule(annotation: Any) -> str | None:
    """Return what must hold of an option's value, if it is a number."""
    kind, option = get_args(annotation)
    noun = next((noun for of, noun in NOUNS if of in (kind, *get_args(kind))), None)
    if noun is None or option.min is None:
        return noun
    return f"{noun} from {option.min} " + ("up" if option.max is None else f"to {option.max}")


def add_command(app: typer.Typer, command: Command) -> None:
    """Add a command to an application, its groups spread out."""
    whole = spread(command)
    found = {name: _rule(p.annotation) for name, p in inspect.signature(whole).parameters.items()}
    rules = {name: rule for name, rule in found.items() if rule is not None}
    app.command(cls=type("Command", (SectionedCommand,), {"rules": rules}))(whole)
