"""Errors of a command as one sentence: exit code 2 for wrong use, 1 for a run that failed.

A run that was stopped from the keyboard exits with 130, as programs do that a signal ends.
"""

import functools
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TextIO

import typer

from isosne.errors import IsosneError, ParameterError

Parameters = ParamSpec("Parameters")
FAILED, WRONG_USE, STOPPED = 1, 2, 130
shows_tracebacks = ContextVar("shows_tracebacks", default=False)
"""Whether `--debug` was asked for."""


def show_tracebacks(wanted: bool) -> bool:
    """Note that `--debug` was asked for, before the command or after it."""
    if wanted:
        shows_tracebacks.set(True)
    return wanted


def in_one_sentence(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Return a command whose errors and warnings are sentences on standard error.

    With `--debug` errors pass as they are.
    """

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.filterwarnings("ignore", "Stopped from the keyboard", RuntimeWarning)
            try:
                command(*args, **kwargs)
            except KeyboardInterrupt:
                typer.echo("isosne: Stopped from the keyboard; no file was written.", err=True)
                raise typer.Exit(STOPPED) from None
            except typer.Exit:
                raise
            except Exception as error:
                if shows_tracebacks.get() or _is_of_typer(error):
                    raise
                typer.echo(f"isosne: {_sentence(error)}", err=True)
                code = WRONG_USE if isinstance(error, ParameterError) else FAILED
                raise typer.Exit(code) from None

    return run


def _is_of_typer(error: Exception) -> bool:
    """Return whether an error is one that Typer has its own words for."""
    return isinstance(error, typer.BadParameter | typer.Abort)


def _sentence(error: Exception) -> str:
    if isinstance(error, IsosneError | OSError):
        from isosne.cli.wording import with_options  # which needs the options, which need this

        return with_options(str(error))
    if isinstance(error, MemoryError):
        return (
            "The run needs more memory than there is. Map fewer rows with --landmarks, or name "
            "what may be used with --memory-limit, so that the plan keeps to it."
        )
    return (
        f"This is a fault of the program: {type(error).__name__}: {error}. "
        "Please report it, with what the same command says with --debug."
    )


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> Any:
    typer.echo(f"isosne: warning: {message}", err=True)
