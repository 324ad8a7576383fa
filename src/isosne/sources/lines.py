"""Where the rows of a text table begin, found in one pass that also counts their fields."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.dialect import BLANKS, Dialect

APART = 64
"""Rows from one known position to the next."""
CHUNK_BYTES = 4_000_000
LONGEST_LINE = 64_000_000
NEWLINE, RETURN, QUOTE, SPACE, TAB = b'\n\r" \t'


class LineIndex(NamedTuple):
    """Where every 64th row begins, the end of the file last; and whether lines were blank."""

    offsets: NDArray[np.int64]
    n_rows: int
    n_blank: int


def index_lines(path: Path, dialect: Dialect) -> LineIndex:
    """Walk through the file; refuse rows whose number of fields is not that of the first."""
    known: list[Array] = []
    n_rows = n_lines = 0
    for position, chunk in _whole_lines(path, dialect.start):
        starts, widths = _count_fields(chunk, dialect, path, n_lines + dialect.n_head)
        is_row = widths > 0
        wrong = np.flatnonzero(is_row & (widths != dialect.width))
        if len(wrong):
            raise DataError(
                f"Every line must have {dialect.width} field(s), as the first one has; {path} has "
                f"{widths[wrong[0]]} in line {n_lines + dialect.n_head + int(wrong[0]) + 1}. "
                "Correct or remove that line."
            )
        begins = starts[is_row] + position
        known.append(begins[-n_rows % APART :: APART])
        n_rows += len(begins)
        n_lines += len(widths)
    end = path.stat().st_size
    offsets = np.concatenate([*known, [end]]).astype(np.int64)
    return LineIndex(offsets, n_rows, n_lines - n_rows)


def _whole_lines(path: Path, start: int) -> Any:
    """Yield positions and bytes of consecutive parts that end where a line does."""
    with path.open("rb") as file:
        file.seek(start)
        rest, position = b"", start
        while chunk := file.read(CHUNK_BYTES):
            data = rest + chunk
            cut = data.rfind(b"\n") + 1
            if cut:
                yield position, data[:cut]
            position, rest = position + cut, data[cut:]
            if len(rest) > LONGEST_LINE:
                raise DataError(
                    f"{path} must be a text table; it has a line of more than "
                    f"{LONGEST_LINE:,} bytes. Give the file the ending of its kind."
                )
        if rest:
            yield position, rest + b"\n"


def _count_fields(
    chunk: bytes, dialect: Dialect, path: Path, n_before: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each line begins and how many fields it has; 0 for a blank one."""
    data = np.frombuffer(chunk, np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if dialect.delimiter is BLANKS:
        is_text = (data != SPACE) & (data != TAB) & (data != RETURN) & (data != NEWLINE)
        begins = np.flatnonzero(is_text & ~np.concatenate([[False], is_text[:-1]]))
        return starts, np.diff(np.searchsorted(begins, ends), prepend=0)
    marks = np.flatnonzero(data == ord(dialect.delimiter))
    quotes = np.flatnonzero(data == QUOTE)
    if len(quotes):
        marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
        unclosed = np.flatnonzero(np.searchsorted(quotes, ends) % 2)
        if len(unclosed):
            raise DataError(
                f"Quotation marks must be closed on the same line; {path} has one left open in "
                f"line {n_before + int(unclosed[0]) + 1}. Correct that line."
            )
    widths = np.diff(np.searchsorted(marks, ends), prepend=0) + 1
    lengths = ends - starts
    is_blank = (lengths == 0) | ((lengths == 1) & (data[starts] == RETURN))
    return starts, np.where(is_blank, 0, widths)
