"""Files that the browser sends: they are read from a private temporary folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne.errors import DataError, IsosneError, MissingValuesError
from isosne.explorer.data import Data, from_table
from isosne.files import Map, Table, read_map, read_table
from isosne.files.column_checks import find_dominant, find_numbering
from isosne.files.map_reader import READABLE
from isosne.files.maps import is_numbering
from isosne.files.mixed_tables import as_mixed
from isosne.files.row_matching import match_rows
from isosne.sources.scaled import Scale, ScaledRows

TABLES = (".csv", ".tsv", ".parquet", ".feather", ".npy", ".npz", ".h5ad")
"""Tables that can be sent."""
OPTION = " Or tick the box for missing values."
MAPS = READABLE
"""Maps that can be sent."""


class Reading(NamedTuple):
    """How to read a table that was sent.

    ``scale``: "none", "minmax" or "standard". ``is_mixed``: text, categories, dates and missing
    values are features too, and columns are not scaled.
    """

    label: str | None = None
    identifier: str | None = None
    scale: str = "none"
    is_mixed: bool = False

    def words(self) -> list[str]:
        """Return the options that read the table in the same way."""
        words = ["--mixed"] if self.is_mixed else ["--text-columns", "leave_out"]
        words += ["--label", self.label] if self.label else []
        words += ["--id", self.identifier] if self.identifier else []
        return words + (["--scale", self.scale] if self.scale != "none" else [])


def upload_table(content: bytes, name: str, how: Reading) -> tuple[Data, str]:
    """Return the rows of a table that was sent, and notes on columns that distort its map."""
    roles = how.identifier, how.label
    with _as_file(content, name, "table", TABLES) as path:
        unscaled = table = read_table(
            path,
            id=how.identifier,
            label=how.label,
            text_columns="leave_out",
            needs_numbers=not how.is_mixed,
        )
        if how.is_mixed:
            unscaled = table = as_mixed(table, exclude=[role for role in roles if role])
        elif how.scale != "none":
            rows = ScaledRows(table.rows, Scale.of(how.scale, table.rows))
            table = replace(table, rows=rows)
        data = from_table(table, unscaled, name, roles, (name, *how.words()))
        return data, " ".join(_notes(unscaled, table))


def _notes(unscaled: Table, table: Table) -> Iterator[str]:
    """Yield sentences about columns that number the rows, or dominate the distances."""
    for name in find_numbering(unscaled):
        yield (
            f"The column {name!r} numbers the rows, and is used as a feature. Open the table "
            "again, with this column as the row identifier, to leave it out."
        )
    dominant = find_dominant(table)
    if dominant is not None:
        name, ratio = dominant
        yield (
            f"The column {name!r} dominates the distances: its standard deviation is {ratio:,.0f} "
            "times that of the median column. Open the table again, with scaled columns."
        )


def upload_map(content: bytes, name: str, data: Data) -> tuple[NDArray[np.float32], str]:
    """Return the positions of the rows in a map that was sent, and how the file was read."""
    with _as_file(content, name, "map", MAPS) as path:
        drawn = read_map(path)
        notes = " ".join(drawn.notes).replace(str(path), name)
        return place_rows(drawn, data), notes


def place_rows(drawn: Map, data: Data) -> NDArray[np.float32]:
    """Return the position of each row in a map of all rows."""
    ids = None if is_numbering(data.ids) else data.ids
    rows = match_rows(drawn, ids, data.n_rows, data.source)
    if rows is None:
        return drawn.embedding
    if len(rows) != data.n_rows or len(np.unique(rows)) != data.n_rows:
        raise DataError(
            f"A map must have one point for each of the {data.n_rows:,} rows of {data.source}; it "
            f"has {len(rows):,} points. Pass a map of all rows."
        )
    Y = np.empty_like(drawn.embedding)
    Y[rows] = drawn.embedding
    return Y


@contextmanager
def _as_file(content: bytes, name: str, kind: str, endings: tuple[str, ...]) -> Iterator[Path]:
    """Give the path of a file with some content; errors name the file as the user does."""
    ending = Path(name).suffix.lower()
    if ending not in endings:
        raise DataError(
            f"A {kind} must end in one of {', '.join(endings)}; got {name}. Choose another file."
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}{ending}"
        path.write_bytes(content)
        try:
            yield path
        except IsosneError as error:
            hint = OPTION if isinstance(error, MissingValuesError) else ""
            raise DataError(f"{str(error).replace(str(path), name)}{hint}") from None
