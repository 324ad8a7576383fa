"""Errors of a command as one sentence: exit code 2 for wrong use, 1 for a run that failed."""

import functools
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TextIO

import typer

from isosne.errors import IsosneError, ParameterError

Parameters = ParamSpec("Parameters")
FAILED, WRONG_USE = 1, 2
shows_tracebacks = ContextVar("shows_tracebacks", default=False)
"""Whether `isosne --debug` was asked for."""


def in_one_sentence(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Return a command whose errors and warnings are sentences on standard error.

    With `isosne --debug` errors pass as they are. What isosne did not raise on purpose, and the
    system did not report, is a fault of the program and keeps its traceback.
    """

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                command(*args, **kwargs)
            except (IsosneError, OSError) as error:
                if shows_tracebacks.get():
                    raise
                typer.echo(f"isosne: {error}", err=True)
                code = WRONG_USE if isinstance(error, ParameterError) else FAILED
                raise typer.Exit(code) from None

    return run


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> Any:
    typer.echo(f"isosne: warning: {message}", err=True)
