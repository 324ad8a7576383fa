"""The command line: `isosne COMMAND`. Nothing heavy is imported before a command runs."""

import signal
import sys
from types import FrameType

from isosne._extras import require
from isosne.errors import MissingPackageError

ENDING = ("SIGTERM", "SIGHUP")
"""Signals that ask a process to end; Windows has only the first."""


def main() -> None:
    """Run the command line, or say what to install if its packages are missing."""
    try:
        require("click", "cli", "The command line")
    except MissingPackageError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(1)
    from isosne.cli.app import app

    for number in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _exit)
    try:
        app(prog_name="isosne")
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)


def _exit(number: int, frame: FrameType | None) -> None:
    """Exit as for a signal, after temporary files are removed; a second signal ends at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)
