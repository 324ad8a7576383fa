"""Rows of a text table: CSV, TSV, and columns set apart by blanks.

One pass notes where every 64th row begins; after it any rows are found by seeking.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.columns import Wanted, choose_columns, read_integers
from isosne.sources.dialect import BLANKS, find_dialect, is_blank, is_missing, is_number, split
from isosne.sources.lines import APART, index_lines
from isosne.sources.stored import Indices, StoredRows
from isosne.sources.watched import WatchedFiles

PARSED_BYTES = 4_000_000
"""Bytes of text that are parsed at a time."""


class TextRows(StoredRows):
    """Rows of a text table, as float64."""

    def __init__(self, path: Path, wanted: Wanted, *, header: bool | None = None) -> None:
        watched = WatchedFiles(str(path), path)
        with watched.reading():
            dialect = find_dialect(path, header=header)
            choice = choose_columns(dialect.names, dialect.kinds, wanted, str(path))
            index = index_lines(path, dialect)
        shape = (index.n_rows, len(choice.names))
        super().__init__(watched, shape, np.float64, column_names=choice.names)
        self.left_out = choice.left_out
        self.comments = dialect.comments
        self._path, self._dialect, self._index, self._places = path, dialect, index, choice.places
        place = {name: place for place, name in enumerate(dialect.names)}
        self.side = {name: partial(self._side_column, place[name]) for name in choice.others}

    def _read(self, start: int, stop: int) -> Array:
        out = np.empty((stop - start, self.shape[1]))
        for first, lines in self._lines(start, stop):
            low, high = max(first, start), min(first + len(lines), stop)
            part = lines[low - first : high - first]
            out[low - start : high - start] = self._parse(part, np.arange(low, high))
        return out

    def _take(self, wanted: Indices) -> Array:
        out = np.empty((len(wanted), self.shape[1]))
        groups = wanted // APART
        for g in np.unique(groups).tolist():
            low, high = np.searchsorted(groups, [g, g + 1])
            rows = wanted[low:high]
            _, lines = next(self._lines(g * APART, g * APART + 1))
            picked = [lines[k] for k in (rows - g * APART).tolist()]
            out[low:high] = self._parse(picked, rows)
        return out

    def _lines(self, start: int, stop: int) -> Iterator[tuple[int, list[str]]]:
        """Yield numbers of first rows, and lines, that cover rows from start up to stop."""
        if start == stop:
            return
        offsets = self._index.offsets
        group, last = start // APART, -(-stop // APART)
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
                yield group * APART, [line for line in stripped if not is_blank(line, delimiter)]
                group = until

    def _parse(self, lines: list[str], rows: Indices) -> Array:
        """Return numbers, NaN where a field is missing; lines near such a field take longer."""
        delimiter = self._dialect.delimiter
        try:
            return np.loadtxt(
                lines,
                dtype=np.float64,
                delimiter=delimiter,
                usecols=self._places,
                ndmin=2,
                comments=None,
                quotechar=None if delimiter is BLANKS else '"',
            )
        except ValueError:
            if len(lines) <= APART:
                return self._parse_fields(lines, rows)
        starts = range(0, len(lines), APART)
        parts = [self._parse(lines[k : k + APART], rows[k : k + APART]) for k in starts]
        return np.concatenate(parts)

    def _parse_fields(self, lines: list[str], rows: Indices) -> Array:
        out = np.full((len(lines), self.shape[1]), np.nan)
        fields = split(lines, self._dialect.delimiter)
        for row, values, cells in zip(rows.tolist(), out, fields, strict=True):
            for column, place in enumerate(self._places):
                cell = cells[place] if place < len(cells) else ""
                if is_number(cell):
                    values[column] = float(cell)
                elif not is_missing(cell):
                    raise self._refuse_text(cell, row, column)
        return out

    def _refuse_text(self, cell: str, row: int, column: int) -> DataError:
        return DataError(
            f"Every value must be a finite number; {self.describe()} has {cell!r} in "
            f"{self._where(row)}, {self._column(column)}. "
            "Write numbers as 1234.5 or 1.2e3, or exclude the column."
        )

    def _where(self, row: int) -> str:
        if self._index.n_blank:
            return super()._where(row)
        return f"line {self._dialect.n_head + row + 1}"

    def _side_column(self, place: int) -> Array:
        """Return a column that is not a value of the points: integers, or text."""
        parts = []
        with self.watched.reading():
            for _, lines in self._lines(0, self.shape[0]):
                cells = split(lines, self._dialect.delimiter)
                parts.append(np.array([row[place] for row in cells], dtype=np.str_))
        return read_integers(np.concatenate(parts))
