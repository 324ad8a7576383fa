"""Index the rows of a text table in one pass, which also checks their number of fields."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.text_dialect import WHITESPACE, Dialect

ROWS_PER_OFFSET = 64
"""Rows between two stored offsets. Chosen, not measured: the index of a file of a million rows
takes 125 KB, and at most 64 rows are read to find one."""
CHUNK_BYTES = 4_000_000
"""Bytes that are read at a time. Chosen, not measured."""
LONGEST_LINE_BYTES = 64_000_000
"""Longest line of a table. Chosen: a row of a few million numbers fits."""
NEWLINE, RETURN, QUOTE, SPACE, TAB = b'\n\r" \t'


class LineIndex(NamedTuple):
    """Offsets of every 64th row, followed by the end of the file, and the number of blank lines."""

    offsets: NDArray[np.int64]
    n_rows: int
    n_blank: int


def index_lines(path: Path, dialect: Dialect) -> LineIndex:
    """Find the rows; raise an error for a line with another number of fields than the first."""
    offsets: list[Array] = []
    n_rows = n_lines = 0
    for position, chunk in _whole_lines(path, dialect.start):
        starts, widths = _count_fields(chunk, dialect, path, n_lines + dialect.n_head)
        is_row = widths > 0
        wrong = np.flatnonzero(is_row & (widths != dialect.width))
        if len(wrong):
            raise DataError(
                f"Every line must have {dialect.width} field(s), as the first line has; {path} has "
                f"{widths[wrong[0]]} in line {n_lines + dialect.n_head + int(wrong[0]) + 1}. "
                "Correct or remove that line."
            )
        row_starts = starts[is_row] + position
        offsets.append(row_starts[-n_rows % ROWS_PER_OFFSET :: ROWS_PER_OFFSET])
        n_rows += len(row_starts)
        n_lines += len(widths)
    end = path.stat().st_size
    return LineIndex(np.concatenate([*offsets, [end]]).astype(np.int64), n_rows, n_lines - n_rows)


def _whole_lines(path: Path, start: int) -> Any:
    """Yield the position and the bytes of consecutive parts that end with a line."""
    with path.open("rb") as file:
        file.seek(start)
        rest, position = b"", start
        while chunk := file.read(CHUNK_BYTES):
            data = rest + chunk
            cut = data.rfind(b"\n") + 1
            if cut:
                yield position, data[:cut]
            position, rest = position + cut, data[cut:]
            if len(rest) > LONGEST_LINE_BYTES:
                raise DataError(
                    f"{path} must be a text table; it has a line of more than "
                    f"{LONGEST_LINE_BYTES:,} bytes. Give the file the extension of its format."
                )
        if rest:
            yield position, rest + b"\n"


def _count_fields(
    chunk: bytes, dialect: Dialect, path: Path, n_before: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start of each line and its number of fields, 0 for a blank line."""
    data = np.frombuffer(chunk, np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if dialect.delimiter is WHITESPACE:
        is_text = (data != SPACE) & (data != TAB) & (data != RETURN) & (data != NEWLINE)
        field_starts = np.flatnonzero(is_text & ~np.concatenate([[False], is_text[:-1]]))
        return starts, np.diff(np.searchsorted(field_starts, ends), prepend=0)
    delimiters = np.flatnonzero(data == ord(dialect.delimiter))
    quotes = np.flatnonzero(data == QUOTE)
    if len(quotes):
        # A delimiter after an odd number of quotation marks is inside a quoted field.
        delimiters = delimiters[np.searchsorted(quotes, delimiters) % 2 == 0]
        unclosed = np.flatnonzero(np.searchsorted(quotes, ends) % 2)
        if len(unclosed):
            raise DataError(
                f"Quotation marks must be closed on the same line; {path} has an open one in "
                f"line {n_before + int(unclosed[0]) + 1}. Correct that line."
            )
    widths = np.diff(np.searchsorted(delimiters, ends), prepend=0) + 1
    lengths = ends - starts
    is_blank = (lengths == 0) | ((lengths == 1) & (data[starts] == RETURN))
    return starts, np.where(is_blank, 0, widths)
