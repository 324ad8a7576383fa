"""What a command prints, progress and Ctrl-C, and the exit codes.

Errors are one sentence each on standard error, with parameters spelled as options. Exit codes: 1
the run failed, 2 wrong use, 130 interrupted, as for programs that SIGINT ends.
"""

import shlex
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any, Self

import click

from isosne import _progress
from isosne._progress import Progress
from isosne.errors import (
    ColumnsWarning,
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
RENAMED = {"name": "source"}  # parameters of the library that have another name in a command
shows_tracebacks = ContextVar("shows_tracebacks", default=False)  # whether `--debug` was given
_is_quiet = ContextVar("is_quiet", default=False)
_noted: ContextVar[set[str]] = ContextVar("noted")  # notes that the command has printed


def say(sentence: str) -> None:
    """Print a line on standard error, also with --quiet."""
    click.echo(sentence, err=True)


def tell(sentence: str) -> None:
    """Print a line on standard error."""
    if not _is_quiet.get():
        say(sentence)


def note(*sentences: str) -> None:
    """Print what the user should know, once."""
    known = _noted.get(set())
    for sentence in dict.fromkeys(sentences):
        if sentence not in known:
            tell(f"Note: {sentence}")
    known.update(sentences)


def print_json(result: Any) -> None:
    """Print one object on standard output."""
    from isosne._files import encode_json

    click.echo(encode_json(result))


def conclude(result: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print what a command has done: an object for machines, or a line."""
    print_json(result) if as_json else tell(sentence)


def exit_interrupted(sentence: str) -> click.exceptions.Exit:
    """Print what is left of an interrupted run, and return the exit to raise."""
    say(f"Interrupted{sentence}")
    return click.exceptions.Exit(INTERRUPTED)


def make_progress() -> Progress:
    """Return silence with --quiet, a bar on a terminal, lines otherwise."""
    return _progress.make_progress(say, quiet=_is_quiet.get())


class Watch:
    """Shows a fit and handles Ctrl-C; use it in ``with``.

    From the first step on, Ctrl-C ends the fit after the current step, so that the result is
    usable. A second Ctrl-C, and one before the first step, ends it at once.
    """

    def __init__(self, model: Any, checkpoint: Path | None) -> None:
        self.is_interrupted, self.last_step, self._checkpoint = False, 0, checkpoint
        model.set_params(callback=self._see, verbose=not _is_quiet.get())

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _see(self, state: Any) -> bool:
        """Return whether to stop the fit after a step."""
        if self._checkpoint and not self.last_step and state.iteration > 1:
            tell(f"Resuming from step {state.iteration - 1:,} ({self._checkpoint})")
        self.last_step = state.iteration
        return self.is_interrupted

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self.last_step or self.is_interrupted:
            raise KeyboardInterrupt
        self.is_interrupted = True


def spelling_of(parameters: Sequence[Any]) -> Spelling:
    """Return what spells the parameters of a command as its options; others stay keywords."""
    by_name = {parameter.name: parameter for parameter in parameters}

    def spell(name: str, value: Any) -> str:
        parameter = by_name.get(name) or by_name.get(RENAMED.get(name, ""))
        if parameter is None:
            return as_keyword(name, value)
        if parameter.param_type_name == "argument":
            return parameter.metavar.strip("[]") if value is ... else show(value)
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
def in_sentences(parameters: Sequence[Any], *, quiet: bool = False) -> Iterator[None]:
    """Print errors and warnings of a command with these parameters as sentences.

    With `--debug`, errors pass through with their traceback.
    """
    from isosne._files import completed_files, listing_completed

    _is_quiet.set(quiet)
    _noted.set(set())
    with warnings.catch_warnings(), listing_completed(), spelled_by(spelling_of(parameters)):
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
        # The library warns of an interruption, in the words of Python; commands have their own.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="isosne")
        # Commands print the notes on columns themselves, before a fit.
        warnings.filterwarnings("ignore", category=ColumnsWarning)
        try:
            yield
        except KeyboardInterrupt:
            files = ", ".join(map(str, completed_files()))
            sentence = f"; wrote {files}." if files else "; no file was written."
            raise exit_interrupted(sentence) from None
        except click.exceptions.Exit:
            raise
        except Exception as error:
            if shows_tracebacks.get():
                raise
            say(f"Error: {_sentence(error, {parameter.name for parameter in parameters})}")
            code = WRONG_USE if isinstance(error, ParameterError) else FAILED
            raise click.exceptions.Exit(code) from None
        finally:
            _is_quiet.set(False)


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
