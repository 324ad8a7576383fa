"""Rows of a text table: CSV, TSV, and columns separated by whitespace.

One pass over the file stores the offset of every 64th row; rows are then found by seeking.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.column_selection import ColumnRequest, select_columns
from isosne.sources.line_index import ROWS_PER_OFFSET, index_lines
from isosne.sources.row_source import Indices, RowSource
from isosne.sources.side_columns import parse_integers
from isosne.sources.source_files import SourceFiles
from isosne.sources.text_dialect import (
    WHITESPACE,
    find_dialect,
    is_blank,
    is_missing,
    is_number,
    split_fields,
)

PARSED_BYTES = 4_000_000
"""Bytes of text that are parsed at a time. Chosen, not measured: lines as Python strings take
several times as much memory."""


class TextRows(RowSource):
    """Rows of a text table, as float64."""

    def __init__(self, path: Path, request: ColumnRequest, *, header: bool | None = None) -> None:
        files = SourceFiles(str(path), path)
        with files.reading():
            dialect = find_dialect(path, header=header)
            selection = select_columns(dialect.names, dialect.types, request, str(path))
            index = index_lines(path, dialect)
        shape = (index.n_rows, len(selection.names))
        super().__init__(files, shape, np.float64, column_names=selection.names)
        self.left_out = selection.left_out
        self.comments = dialect.comments
        self._path, self._dialect, self._index = path, dialect, index
        self._columns = selection.indices
        column = {name: c for c, name in enumerate(dialect.names)}
        self.side = {name: partial(self._side_column, column[name]) for name in selection.others}

    def _read(self, start: int, stop: int) -> Array:
        out = np.empty((stop - start, self.shape[1]))
        for first, lines in self._lines(start, stop):
            low, high = max(first, start), min(first + len(lines), stop)
            part = lines[low - first : high - first]
            out[low - start : high - start] = self._parse(part, np.arange(low, high))
        return out

    def _take(self, indices: Indices) -> Array:
        out = np.empty((len(indices), self.shape[1]))
        groups = indices // ROWS_PER_OFFSET
        for g in np.unique(groups).tolist():
            low, high = np.searchsorted(groups, [g, g + 1])
            rows = indices[low:high]
            first = g * ROWS_PER_OFFSET
            _, lines = next(self._lines(first, first + 1))
            picked = [lines[k] for k in (rows - first).tolist()]
            out[low:high] = self._parse(picked, rows)
        return out

    def _lines(self, start: int, stop: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the index of a first row, and lines from it on, that cover `start` to `stop`."""
        if start == stop:
            return
        offsets = self._index.offsets
        group, last = start // ROWS_PER_OFFSET, -(-stop // ROWS_PER_OFFSET)
        with self._path.open("rb") as file:
            while group < last:
                limit = offsets[group] + PARSED_BYTES
                until = int(np.searchsorted(offsets, limit, side="right")) - 1
                until = min(max(until, group + 1), last)
                file.seek(int(offsets[group]))
                text = file.read(int(offsets[until] - offsets[group]))
                lines = text.decode(self._dialect.encoding, "replace").split("\n")
                stripped = (line.rstrip("\r") for line in lines)
                delimiter = self._dialect.delimiter
                rows = [line for line in stripped if not is_blank(line, delimiter)]
                yield group * ROWS_PER_OFFSET, rows
                group = until

    def _parse(self, lines: list[str], rows: Indices) -> Array:
        """Return the values of lines, NaN for missing ones.

        Groups of lines that NumPy cannot parse are parsed field by field, which takes longer.
        """
        delimiter = self._dialect.delimiter
        try:
            return np.loadtxt(
                lines,
                dtype=np.float64,
                delimiter=delimiter,
                usecols=self._columns,
                ndmin=2,
                comments=None,
                quotechar=None if delimiter is WHITESPACE else '"',
            )
        except ValueError:
            if len(lines) <= ROWS_PER_OFFSET:
                return self._parse_fields(lines, rows)
        groups = [
            slice(start, start + ROWS_PER_OFFSET) for start in range(0, len(lines), ROWS_PER_OFFSET)
        ]
        return np.concatenate([self._parse(lines[group], rows[group]) for group in groups])

    def _parse_fields(self, lines: list[str], rows: Indices) -> Array:
        out = np.full((len(lines), self.shape[1]), np.nan)
        fields = split_fields(lines, self._dialect.delimiter)
        for row, values, cells in zip(rows.tolist(), out, fields, strict=True):
            for feature, column in enumerate(self._columns):
                cell = cells[column] if column < len(cells) else ""
                if is_number(cell):
                    values[feature] = float(cell)
                elif not is_missing(cell):
                    raise self._refuse_text(cell, row, feature)
        return out

    def _refuse_text(self, cell: str, row: int, feature: int) -> DataError:
        return DataError(
            f"Every value must be a finite number; {self.describe()} has {cell!r} in "
            f"{self._where(row)}, {self._column(feature)}. "
            "Write numbers as 1234.5 or 1.2e3, or exclude the column."
        )

    def _where(self, row: int) -> str:
        if self._index.n_blank:
            return super()._where(row)
        return f"line {self._dialect.n_head + row + 1}"

    def _side_column(self, column: int) -> Array:
        """Return a column that is not a feature, as integers or text."""
        parts = []
        with self.files.reading():
            for _, lines in self._lines(0, self.shape[0]):
                cells = split_fields(lines, self._dialect.delimiter)
                parts.append(np.array([row[column] for row in cells], dtype=np.str_))
        return parse_integers(np.concatenate(parts))
