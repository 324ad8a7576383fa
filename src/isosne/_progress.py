"""How far long work has come: a bar on terminals and in notebooks, lines elsewhere.

The only module that imports rich, tqdm and IPython, each when it is needed. Terminals get a bar of
rich, or of tqdm if rich is not installed. Notebooks get HTML of our own, because the bars of rich
and tqdm need ipywidgets there.
"""

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Protocol

LINE_SECONDS = 2.0
"""Seconds between two lines; chosen, not measured."""
BAR_SECONDS = 0.1
"""Seconds between two states of a bar: as often as the eye follows (chosen)."""


class Progress(Protocol):
    """Shows how far some work has come; `begin` starts the next piece of work."""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Start a piece of work of `total` steps or rows, of which `first` are done already."""
        ...

    def advance(self, done: int, detail: str | None = None) -> None:
        """Show how many are done; a line is printed only if there is a detail, maybe empty."""
        ...

    def end(self) -> None:
        """Leave the screen as it is."""
        ...


def make_progress(say: Callable[[str], None], *, quiet: bool) -> Progress:
    """Return what suits the output; `say` prints a line where there is no bar."""
    if quiet:
        return Silence()
    if is_notebook():
        return NotebookBar()
    if sys.stderr is not None and sys.stderr.isatty():
        if find_spec("rich"):
            return RichBar()
        if find_spec("tqdm"):
            return TqdmBar()
    return Lines(say)


def print_line(message: str) -> None:
    """Print a line on standard error, if there is one; in notebooks, which color it, on output."""
    stream = sys.stdout if is_notebook() else sys.stderr
    if stream is not None:
        stream.write(message + "\n")


def is_notebook() -> bool:
    """Return whether the output goes to a notebook, that is, to a Jupyter kernel."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Silence:
    """Shows nothing."""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Do nothing."""

    def advance(self, done: int, detail: str | None = None) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class Clock:
    """Measures the pace of some work, and when it was last shown."""

    def __init__(self, total: int, first: int) -> None:
        self.total, self.first = total, first
        self.began = self.shown = time.monotonic()

    def is_due(self, done: int, seconds: float) -> bool:
        """Return whether the work is done, or was last shown this long ago; count it as shown."""
        now = time.monotonic()
        if now - self.shown < seconds and done < self.total:
            return False
        self.shown = now
        return True

    def seconds_left(self, done: int) -> float:
        """Return how long the rest takes at the pace so far."""
        pace = (time.monotonic() - self.began) / max(done - self.first, 1)
        return pace * (self.total - done)


class Lines:
    """Prints a line every few seconds, and one at the end."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Start the clock."""
        self._what, self._clock = what, Clock(total, first)

    def advance(self, done: int, detail: str | None = None) -> None:
        """Print a line if there is a detail and it is time."""
        if detail is None or not self._clock.is_due(done, LINE_SECONDS):
            return
        counted = f"{self._what} {done:,} of {self._clock.total:,}"
        parts = (counted, detail, f"{self._clock.seconds_left(done):.0f} s left")
        self._say("  ".join(part for part in parts if part))

    def end(self) -> None:
        """Do nothing: all lines are complete."""


class RichBar:
    """A bar of rich, which stays on one line of the terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(stderr=True),
            refresh_per_second=1 / BAR_SECONDS,
        )
        self._task: Any = None
        self._detail = ""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Replace the last bar by a new one."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._bar.start()
        self._task = self._bar.add_task(what, total=total, completed=first, detail="")

    def advance(self, done: int, detail: str | None = None) -> None:
        """Move the bar."""
        self._detail = detail or self._detail
        self._bar.update(self._task, completed=done, detail=self._detail)

    def end(self) -> None:
        """Leave the bar on the screen."""
        self._bar.stop()


class TqdmBar:
    """A bar of tqdm."""

    def __init__(self) -> None:
        self._bar: Any = None

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Start a new bar below the last one."""
        from tqdm import tqdm

        self.end()
        looks = {"mininterval": BAR_SECONDS, "dynamic_ncols": True, "file": sys.stderr}
        self._bar = tqdm(desc=what, total=total, initial=first, **looks)

    def advance(self, done: int, detail: str | None = None) -> None:
        """Move the bar."""
        if detail:
            self._bar.set_postfix_str(detail, refresh=False)
        self._bar.update(done - self._bar.n)

    def end(self) -> None:
        """Leave the bar on the screen."""
        if self._bar is not None:
            self._bar.close()


class NotebookBar:
    """A bar in the output of a notebook's cell, which is replaced as the work goes on."""

    def __init__(self) -> None:
        self._handle: Any = None

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Show a new bar."""
        from IPython.display import display

        self._what, self._clock = what, Clock(total, first)
        self._detail, self._done = "", first
        self._handle = display(self, display_id=True)  # type: ignore[no-untyped-call]

    def advance(self, done: int, detail: str | None = None) -> None:
        """Move the bar if it is time."""
        self._done, self._detail = done, detail or self._detail
        if self._clock.is_due(done, BAR_SECONDS):
            self._handle.update(self)

    def end(self) -> None:
        """Show the last state."""
        if self._handle is not None:
            self._handle.update(self)

    def __repr__(self) -> str:
        parts = (f"{self._what} {self._done:,} of {self._clock.total:,}", self._detail, self._left)
        return ", ".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        bar = f"<progress value='{self._done}' max='{self._clock.total}'></progress>"
        return f"<div style='font-variant-numeric:tabular-nums'>{bar} {self!r}</div>"

    @property
    def _left(self) -> str:
        is_known = self._clock.first < self._done < self._clock.total
        return f"{self._clock.seconds_left(self._done):.0f} s left" if is_known else ""
