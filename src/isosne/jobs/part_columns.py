"""Columns of a part that are copied or counted, read as its rows are placed."""

from pathlib import Path
from typing import Any, Protocol

from isosne._extras import require
from isosne._types import Array
from isosne.sources.arrow import ArrowRows
from isosne.sources.column_selection import check_column
from isosne.sources.row_source import Indices
from isosne.sources.source_files import SourceFiles

Columns = tuple[Any, ...]
"""Arrays of NumPy or Arrow, one per column."""
Roles = dict[str, str]
"""Columns, and for each the parameter that names it."""


class ColumnReader(Protocol):
    """Reads some columns of consecutive rows."""

    def next(self, n_rows: int) -> Columns:
        """Return the next rows."""
        ...


class ArrowColumns:
    """Columns of Parquet and Arrow files, in their own types."""

    def __init__(self, rows: ArrowRows, names: tuple[str, ...]) -> None:
        self._pa = require("pyarrow", "files", "Reading the columns to keep")
        self._names, self._coming = names, rows.batches(names)
        self._held: list[Any] = []

    def next(self, n_rows: int) -> Columns:
        """Return the next rows."""
        if not self._names:
            return ()
        n_held = sum(batch.num_rows for batch in self._held)
        while n_held < n_rows or not self._held:  # a batch also for no rows: it has the types
            self._held.append(next(self._coming))
            n_held += self._held[-1].num_rows
        table = self._pa.Table.from_batches(self._held)
        self._held = table.slice(n_rows).to_batches()
        return tuple(table.slice(0, n_rows).columns)


class TextColumns:
    """Columns of text tables, which are in memory as integers or text."""

    def __init__(self, columns: list[Array]) -> None:
        self._columns, self._first = columns, 0

    def next(self, n_rows: int) -> Columns:
        """Return the next rows."""
        rows = slice(self._first, self._first + n_rows)
        self._first = rows.stop
        return tuple(column[rows] for column in self._columns)


class CompleteColumns:
    """Columns of the rows that were kept, of those that another reader reads."""

    def __init__(self, columns: ColumnReader, kept: Indices) -> None:
        self._columns, self._kept = columns, kept
        self._n_read = self._n_kept = 0

    def next(self, n_rows: int) -> Columns:
        """Return the next rows."""
        chosen = self._kept[self._n_kept : self._n_kept + n_rows]
        stop = int(chosen[-1]) + 1 if n_rows else self._n_read
        every = self._columns.next(stop - self._n_read)
        found = tuple(column.take(chosen - self._n_read) for column in every)
        self._n_read, self._n_kept = stop, self._n_kept + n_rows
        return found


class NoColumns:
    """The columns of a part without rows."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def next(self, n_rows: int) -> Columns:
        """Return the columns, which are empty."""
        assert n_rows == 0
        return self._columns


def empty_columns(path: Path, columns: Roles) -> Columns | None:
    """Return some columns of a Parquet or Arrow file without rows; None for other files."""
    extension = path.suffix.lower()
    with SourceFiles(str(path), path).reading():
        if extension == ".parquet":
            parquet = require("pyarrow.parquet", "files", f"Reading {path}")
            with parquet.ParquetFile(path) as file:
                schema, n_rows = file.schema_arrow, file.metadata.num_rows
        elif extension in (".feather", ".arrow"):
            ipc = require("pyarrow.ipc", "files", f"Reading {path}")
            with ipc.open_file(str(path)) as reader:
                schema, n_rows = reader.schema, reader.num_record_batches
        else:
            return None
    if n_rows:
        return None
    for name, parameter in columns.items():
        check_column(name, schema.names, parameter, str(path))
    table = schema.empty_table()
    return tuple(table[name] for name in columns)
