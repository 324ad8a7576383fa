"""How far long work has come: a bar on terminals and in notebooks, lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import Any

LINE_SECONDS = 2.0
"""Seconds between two lines; chosen, not measured."""
BAR_SECONDS = 0.1
"""Seconds between two states of a bar: as often as the eye follows (chosen)."""


class Progress:
    """Shows how far some work has come; this one shows nothing."""

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        """Start a piece of work of `total` steps or rows, of which `first` are done already."""

    def advance(self, done: int, detail: str | None = None) -> None:
        """Show how many are done; a line is printed only if there is a detail, maybe empty."""

    def end(self) -> None:
        """Leave the screen as it is."""


def make_progress(say: Callable[[str], None], *, quiet: bool) -> Progress:
    """Return what suits the output; `say` prints a line where there is no bar."""
    if quiet:
        return Progress()
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return Bar() if is_terminal or is_notebook() else Lines(say)


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


class Lines(Progress):
    """Prints a line every few seconds, and one at the end."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        self._what, self._total, self._first = what, total, first
        self._began = self._shown = time.monotonic()

    def advance(self, done: int, detail: str | None = None) -> None:
        now = time.monotonic()
        if detail is None or (now - self._shown < LINE_SECONDS and done < self._total):
            return
        self._shown = now
        pace = (now - self._began) / max(done - self._first, 1)
        counted = f"{self._what} {done:,} of {self._total:,}"
        parts = (counted, detail, f"{pace * (self._total - done):.0f} s left")
        self._say("  ".join(part for part in parts if part))


class Bar(Progress):
    """A bar of tqdm, on a terminal or in a notebook."""

    def __init__(self) -> None:
        self._bar: Any = None

    def begin(self, what: str, total: int, *, first: int = 0) -> None:
        from tqdm.auto import tqdm

        self.end()
        looks = {"mininterval": BAR_SECONDS, "dynamic_ncols": True}
        self._bar = tqdm(desc=what, total=total, initial=first, **looks)

    def advance(self, done: int, detail: str | None = None) -> None:
        if detail:
            self._bar.set_postfix_str(detail, refresh=False)
        self._bar.update(done - self._bar.n)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()
