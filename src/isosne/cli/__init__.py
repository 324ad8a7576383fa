"""The command line: `isosne COMMAND`. Nothing heavy is imported before a command runs."""

import sys


def main() -> None:
    """Run the command line; say what to install where its packages are missing."""
    try:
        import typer as _  # noqa: F401  only to see whether it is there
    except ImportError:
        sys.stderr.write(
            "isosne: the command line needs the package typer, which is not installed. "
            "Run pip install isosne[cli].\n"
        )
        sys.exit(1)
    from isosne.cli.app import app

    try:
        app(prog_name="isosne")
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)
