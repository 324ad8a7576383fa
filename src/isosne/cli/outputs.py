"""Outputs that are known to be possible before the work begins, and results as JSON."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from isosne.errors import ParameterError

STDOUT = "-"


def check_output(path: str | Path, endings: Iterable[str], *, force: bool) -> None:
    """Refuse an output that could not be written later: wrong ending, exists, no permission."""
    from isosne._files import check_writable

    if str(path) == STDOUT and STDOUT in endings:
        return
    if endings and Path(path).suffix.lower() not in endings:
        raise ParameterError(
            f"The output must end in one of {', '.join(endings)}; got {str(path)!r}. "
            "Choose one of these."
        )
    check_writable(Path(path), force=force)


def note_bare(output: str) -> None:
    """Say if an output holds less than other commands need."""
    if output.lower().endswith(".npy"):
        typer.echo(
            f"isosne: note: {output} holds coordinates alone, which measure and plot do not take; "
            "they read .parquet, .csv and .npz.",
            err=True,
        )


def check_one_stdout(output: str, *, as_json: bool) -> None:
    """Refuse a map and a JSON object on the same standard output."""
    if output == STDOUT and as_json:
        raise ParameterError(
            "--json prints on standard output; got the map there too (--output -). "
            "Write the map to a file."
        )


def print_json(result: Any) -> None:
    """Print one object on standard output."""
    from isosne._files import encode_json

    typer.echo(encode_json(result))
