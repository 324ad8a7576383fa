"""What a command prints, and the exit codes.

Errors are one sentence each on standard error, with parameters spelled as options. Exit codes: 1
the run failed, 2 wrong use, 130 interrupted, as for programs that SIGINT ends.
"""

import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import typer

from isosne.errors import (
    IsosneError,
    MissingValuesError,
    ParameterError,
    Spelling,
    as_keyword,
    shorten,
    show,
    spelled_by,
)

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
ALIASES = {"id": "identifier", "name": "source"}
"""Parameters of the library that have another name in a command."""
shows_tracebacks = ContextVar("shows_tracebacks", default=False)
"""Whether `--debug` was given."""


def say(sentence: str) -> None:
    """Print a line on standard error."""
    typer.echo(sentence, err=True)


def note(sentence: str) -> None:
    """Print something that the user should know."""
    say(f"Note: {sentence}")


def print_json(result: Any) -> None:
    """Print one object on standard output."""
    from isosne._files import encode_json

    typer.echo(encode_json(result))


def tell(result: dict[str, Any], sentence: str, *, quiet: bool, as_json: bool) -> None:
    """Print what a command has done: an object for machines, or a line."""
    if as_json:
        print_json(result)
    elif not quiet:
        say(sentence)


def exit_interrupted(sentence: str) -> typer.Exit:
    """Print what is left of an interrupted run, and return the exit to raise."""
    say(f"Interrupted{sentence}")
    return typer.Exit(INTERRUPTED)


def spelling_of(parameters: Sequence[Any]) -> Spelling:
    """Return what spells the parameters of a command as its options; others stay keywords."""
    by_name = {parameter.name: parameter for parameter in parameters}

    def spell(name: str, value: Any) -> str:
        parameter = by_name.get(name) or by_name.get(ALIASES.get(name, ""))
        if parameter is None:
            return as_keyword(name, value)
        if parameter.param_type_name == "argument":
            return str(parameter.metavar) if value is ... else show(value)
        flag = next(flag for flag in parameter.opts if flag.startswith("--"))
        return flag if value is ... else _spell(flag, value, is_repeatable=parameter.multiple)

    return spell


def _spell(flag: str, value: Any, *, is_repeatable: bool) -> str:
    """Return an option with its value as it is typed."""
    if value is None or value is False or value in ([], ()):
        return f"no {flag}"
    if value is True:
        return flag
    values = value if isinstance(value, list | tuple) else [value]
    words = [shlex.quote(shorten(str(entry))) for entry in values]
    if is_repeatable:
        return " ".join(f"{flag} {word}" for word in words)
    return f"{flag} {','.join(words)}"


@contextmanager
def in_sentences(parameters: Sequence[Any]) -> Iterator[None]:
    """Print errors and warnings of a command with these parameters as sentences.

    With `--debug`, errors pass through with their traceback.
    """
    from isosne._files import completed_files, listing_completed

    with warnings.catch_warnings(), listing_completed(), spelled_by(spelling_of(parameters)):
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
        # The library warns of an interruption, in the words of Python; commands have their own.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="isosne")
        try:
            yield
        except KeyboardInterrupt:
            files = ", ".join(map(str, completed_files()))
            sentence = f"; wrote {files}." if files else "; no file was written."
            raise exit_interrupted(sentence) from None
        except typer.Exit:
            raise
        except Exception as error:
            if shows_tracebacks.get():
                raise
            say(f"Error: {_sentence(error, {parameter.name for parameter in parameters})}")
            code = WRONG_USE if isinstance(error, ParameterError) else FAILED
            raise typer.Exit(code) from None


def _sentence(error: Exception, names: set[str]) -> str:
    """Return an error as a sentence of a command with the parameters of some names."""
    sentence = str(error)
    if isinstance(error, MissingValuesError) and "mixed" in names and "--mixed" not in sentence:
        return f"{sentence} To keep these rows, pass --mixed."
    if isinstance(error, IsosneError | OSError):
        return sentence
    if isinstance(error, MemoryError):
        return (
            "Out of memory. Embed fewer rows with --landmarks, or set --memory-limit, so that "
            "isosne chooses methods that fit."
        )
    return (
        f"Internal error: {type(error).__name__}: {error}. "
        "Please report it with the output of isosne --debug COMMAND."
    )
