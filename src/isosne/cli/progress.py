"""Progress on standard error: a bar on a terminal, plain lines elsewhere, or nothing."""

import sys
import time
from typing import Any, Protocol

import typer

LINE_SECONDS = 2.0
"""Seconds between two lines."""


class Progress(Protocol):
    """Shows how far some work has come; `begin` starts the next piece of work."""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Name the work, and how many steps or rows it has; `first` of them are done already."""
        ...

    def advance(self, done: int, note: str = "") -> None:
        """Say how many are done; a note says more, now and then."""
        ...

    def end(self) -> None:
        """Leave the screen as it is."""
        ...


def make_progress(*, quiet: bool) -> Progress:
    """Return what fits: nothing if quiet, a bar on a terminal, else lines."""
    if quiet:
        return Silence()
    return Bar() if sys.stderr.isatty() else Lines()


class Silence:
    """Shows nothing."""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Do nothing."""

    def advance(self, done: int, note: str = "") -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class Lines:
    """A line for a note, if the last one is some seconds old, and for the last."""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Take the time."""
        self._what, self._total, self._first = what, total, first
        self._began = self._said = time.monotonic()

    def advance(self, done: int, note: str = "") -> None:
        """Write a line if there is a note and it is time."""
        now = time.monotonic()
        if not note or (now - self._said < LINE_SECONDS and done < self._total):
            return
        self._said = now
        left = (now - self._began) / max(done - self._first, 1) * (self._total - done)
        counts = f"{done:,} of {self._total:,}"
        typer.echo(f"{self._what} {counts}   {note}   {left:.0f} s left", err=True)

    def end(self) -> None:
        """Do nothing: all lines are complete."""


class Bar:
    """A bar that stays on one line of the terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(stderr=True),
        )
        self._task: Any = None
        self._note = ""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Start a new bar in place of the last."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._bar.start()
        self._task = self._bar.add_task(what, total=total, completed=first, note="")

    def advance(self, done: int, note: str = "") -> None:
        """Move the bar."""
        self._note = note or self._note
        self._bar.update(self._task, completed=done, note=self._note)

    def end(self) -> None:
        """Leave the bar on the screen."""
        self._bar.stop()
