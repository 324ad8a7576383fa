"""Notes on columns that distort the distances between rows, before a table is mapped."""

import shlex
from typing import Any

from isosne.cli.messages import note
from isosne.cli.options import TableOptions


def note_columns(unscaled: Any, table: Any, options: TableOptions) -> None:
    """Print a note for each feature that numbers the rows, and for one that dominates distances.

    ``table`` is the unscaled table, or the same one scaled.
    """
    from isosne.files.column_checks import find_dominant, find_numbering

    # Columns that were chosen by name are meant.
    numbering = find_numbering(unscaled) if options.columns is None else {}
    for name, values in numbering.items():
        if name in (options.categorical or ()):
            continue
        word = shlex.quote(name)
        known = "" if options.id else f"--id {word} if it identifies the rows, or "
        note(
            f"Column {name!r} numbers the rows ({values[0]:.0f}, {values[1]:.0f}, "
            f"{values[2]:.0f}, ...), and is used as a feature. Pass {known}--exclude {word} to "
            "leave it out."
        )
    dominant = find_dominant(table)
    if dominant is not None:
        name, ratio = dominant
        note(
            f"Column {name!r} dominates the distances: its standard deviation is {ratio:,.0f} "
            "times that of the median column. Pass --scale minmax to give all columns the same "
            "weight."
        )
