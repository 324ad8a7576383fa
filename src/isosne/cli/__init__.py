"""The command line: `isosne COMMAND`. Nothing heavy is imported before a command runs."""

import sys

from isosne._extras import require
from isosne.errors import MissingPackageError


def main() -> None:
    """Run the command line, or say what to install if its packages are missing."""
    try:
        require("typer", "cli", "The command line")
    except MissingPackageError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(1)
    from isosne.cli.app import app

    try:
        app(prog_name="isosne")
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)
