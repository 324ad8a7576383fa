"""What a command prints on standard error, and the exit codes.

Errors are one sentence each, with parameters spelled as options. Exit codes: 1 the run failed,
2 wrong use, 130 interrupted, as for programs that SIGINT ends.
"""

import ast
import functools
import inspect
import shlex
import warnings
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple, TextIO, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from isosne.errors import IsosneError, ParameterError, as_keyword

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
shows_tracebacks = ContextVar("shows_tracebacks", default=False)
"""Whether `--debug` was given."""


def show_tracebacks(wanted: bool) -> bool:
    """Remember that `--debug` was given, before the command or after it."""
    if wanted:
        shows_tracebacks.set(True)
    return wanted


def say(sentence: str) -> None:
    """Print a line on standard error."""
    typer.echo(sentence, err=True)


def note(sentence: str) -> None:
    """Print something that the user should know."""
    say(f"Note: {sentence}")


def exit_interrupted(sentence: str) -> typer.Exit:
    """Print what is left of an interrupted run, and return the exit to raise."""
    say(f"Interrupted{sentence}")
    return typer.Exit(INTERRUPTED)


class _Option(NamedTuple):
    """How a parameter of a command is typed: ``--psi``, or ``TABLE`` if it is positional."""

    word: str
    is_repeatable: bool


ALIASES = {"accuracy": "mesh_accuracy", "choice": "landmark_choice", "name": "source"}
"""Parameters of the library that have another name in a command."""


class Options:
    """Spells the parameters of one command as its options; others stay keywords."""

    def __init__(self, parameters: Iterable[inspect.Parameter]) -> None:
        self._options = {parameter.name: _find_option(parameter) for parameter in parameters}

    def __call__(self, name: str, value: str | None) -> str:
        """Return ``--psi 16`` for the name psi and the value ``16``, which is a repr."""
        option = self._options.get(name) or self._options.get(ALIASES.get(name, ""))
        if option is None:
            return as_keyword(name, value)
        if value is None:
            return option.word
        try:
            return _spell(option, ast.literal_eval(value))
        except (ValueError, SyntaxError):  # the repr of an object
            return f"{option.word} {value}"


def _find_option(parameter: inspect.Parameter) -> _Option:
    kind, info = get_args(parameter.annotation)
    is_repeatable = any(get_origin(part) is list for part in (kind, *get_args(kind)))
    if isinstance(info, ArgumentInfo):
        return _Option(info.metavar or parameter.name.upper(), is_repeatable)
    # Typer keeps the first flag of an annotation as its default.
    flags = (info.default, *(info.param_decls or ()), f"--{parameter.name.replace('_', '-')}")
    flag = next(flag for flag in flags if str(flag).startswith("--"))
    return _Option(flag.partition("/")[0], is_repeatable)


def _spell(option: _Option, value: Any) -> str:
    if not option.word.startswith("--"):
        return repr(value)
    if value is None or value is False or value in ([], ()):
        return f"no {option.word}"
    if value is True:
        return option.word
    values = value if isinstance(value, list | tuple) else [value]
    words = [shlex.quote(str(entry)) for entry in values]
    if option.is_repeatable:
        return " ".join(f"{option.word} {word}" for word in words)
    return f"{option.word} {','.join(words)}"


def in_sentences(command: Callable[..., None], as_option: Options) -> Callable[..., None]:
    """Return a command whose errors and warnings are sentences on standard error.

    With `--debug`, errors pass through with their traceback.
    """

    @functools.wraps(command)
    def run(**given: Any) -> None:
        from isosne._files import completed_files, listing_completed

        with warnings.catch_warnings(), listing_completed():
            warnings.showwarning = _show_warning
            # The library warns of an interruption, in the words of Python; commands have their own.
            warnings.filterwarnings("ignore", category=RuntimeWarning, module="isosne")
            try:
                command(**given)
            except KeyboardInterrupt:
                files = ", ".join(map(str, completed_files()))
                sentence = f"; wrote {files}." if files else "; no file was written."
                raise exit_interrupted(sentence) from None
            except typer.Exit:
                raise
            except Exception as error:
                if shows_tracebacks.get():
                    raise
                say(f"Error: {_sentence(error, as_option)}")
                code = WRONG_USE if isinstance(error, ParameterError) else FAILED
                raise typer.Exit(code) from None

    return run


def _sentence(error: Exception, as_option: Options) -> str:
    if isinstance(error, IsosneError):
        return error.worded(as_option)
    if isinstance(error, OSError):
        return str(error)
    if isinstance(error, MemoryError):
        return (
            "Out of memory. Embed fewer rows with --landmarks, or set --memory-limit, so that "
            "isosne chooses methods that fit."
        )
    return (
        f"Internal error: {type(error).__name__}: {error}. "
        "Please report it with the output of --debug."
    )


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    say(f"Warning: {message}")
