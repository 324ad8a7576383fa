"""The command line: `isosne COMMAND`. Nothing heavy is imported before a command runs."""

import io
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from isosne._extras import require
from isosne.errors import MissingPackageError


def main() -> None:
    """Run the command line, or say what to install if its packages are missing."""
    try:
        require("click", "cli", "The command line")
    except MissingPackageError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(1)
    from isosne.cli.app import app

    _keep_running_without_log()
    names = ("SIGTERM", "SIGHUP")  # Windows has only the first
    for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _exit)
    try:
        app(prog_name="isosne")
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)


class _Log(io.FileIO):
    """Standard error; what cannot be written is dropped, as on a full disk."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content) or len(content)
        except OSError:
            return len(content)


def _keep_running_without_log() -> None:
    """Have messages that cannot be written be dropped: they must not end a run."""
    with suppress(AttributeError, ValueError):  # no standard error, or one that is no file
        raw = io.BufferedWriter(_Log(sys.stderr.fileno(), "wb", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, sys.stderr.encoding, "backslashreplace", None, True)


def _exit(number: int, frame: FrameType | None) -> None:
    """Exit as for a signal, after temporary files are removed; a second signal ends at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)
