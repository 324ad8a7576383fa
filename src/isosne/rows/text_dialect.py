"""Detect the dialect of a text table: encoding, delimiter, header and types of the columns."""

import codecs
import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from isosne.errors import DataError

SAMPLE_BYTES = 1_000_000
"""Size of the sample from the start of the file. Chosen: read in milliseconds, and 200 lines fit
unless they are longer than 5 KB."""
LARGEST_SAMPLE_BYTES = 64_000_000
"""Size up to which the sample grows if it has too few lines. Chosen:
a row of a few million numbers fits."""
MIN_LINES = 4
"""Number of line ends that the sample must have: a header, and rows to compare it with. Chosen."""
MAX_LINES = 200
"""Number of lines from which the dialect is detected. Chosen, not measured."""
DELIMITERS = (",", "\t", ";", "|")
WHITESPACE = None
"""Instead of a delimiter: fields are separated by any number of spaces and tabs."""
MISSING_WORDS = {"", "na", "n/a", "nan", "null", "none", "?", "-"}
"""Fields, in lower case, that mean a missing value. Chosen: words that pandas reads as missing, and
"?" and "-", which published tables use."""
UNNAMED = "unnamed_"
"""Prefix of the name of a column whose field in the header is empty."""
BOM = b"\xef\xbb\xbf"
OTHER_UNICODE = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16, which is not supported."""


class Dialect(NamedTuple):
    """How to read a text table.

    ``start`` is the offset of the first byte after comments and header, ``n_head`` the number of
    lines before it. ``types`` has None for a numeric column and "text" for others. ``longest_line``
    is in bytes, of the lines of the sample.
    """

    delimiter: str | None
    encoding: str
    start: int
    n_head: int
    names: tuple[str, ...]
    types: tuple[str | None, ...]
    longest_line: int


def find_dialect(path: Path, *, header: bool | None = None) -> Dialect:
    """Detect the dialect from the start of a text table.

    Lines before the table that start with # are comments. By default, the first line of the table
    is a header if none of its fields is a number, if it has text above a number, or if it has the
    column numbers that pandas writes.
    """
    sample, is_all = _read_sample(path)
    lines, offset = _sample_lines(sample, path, is_all=is_all)
    encoding, n_quotes = _examine_bytes(path)
    n_comments = 0
    while n_comments < len(lines) and lines[n_comments].startswith(b"#"):
        n_comments += 1
    offset += sum(map(len, lines[:n_comments]))
    body = [line.decode(encoding, "replace").rstrip("\r\n") for line in lines[n_comments:]]
    n_blank = next((k for k, line in enumerate(body) if line.strip()), len(body))
    offset += sum(map(len, lines[n_comments : n_comments + n_blank]))
    body = body[n_blank:]
    if not body:
        raise DataError(f"{path} must contain a table; it is empty. Write the file again.")
    delimiter = _find_delimiter([line for line in body if line.strip()])
    if n_quotes % 2 and delimiter is not WHITESPACE:
        raise DataError(
            f"Quotation marks must be closed; {path} has an odd number of them. "
            "Correct the line with the open one."
        )
    cells = list(split_fields(body, delimiter))
    has_header = _has_header(cells) if header is None else header
    names = tuple(name.strip() or f"{UNNAMED}{c}" for c, name in enumerate(cells[0]))
    n_head = n_comments + n_blank
    if has_header:
        offset += len(lines[n_head])
        n_head, cells = n_head + 1, cells[1:]
    else:
        names = tuple(f"column_{c}" for c in range(len(names)))
    types = tuple(_find_type(cells, c) for c in range(len(names)))
    longest = max(map(len, lines))
    return Dialect(delimiter, encoding, offset, n_head, names, types, longest)


def split_fields(lines: Iterable[str], delimiter: str | None) -> Iterator[list[str]]:
    """Yield the fields of each line that is not blank."""
    rows = (line for line in lines if not is_blank(line, delimiter))
    if delimiter is WHITESPACE:
        return (line.split() for line in rows)
    return csv.reader(rows, delimiter=delimiter)


def is_blank(line: str, delimiter: str | None) -> bool:
    """Return whether a line is not a row; a line of delimiters is a row of missing values."""
    return not (line.strip() if delimiter is WHITESPACE else line)


def is_number(cell: str) -> bool:
    """Return whether a field is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python accepts 1_000, NumPy does not


def is_missing(cell: str) -> bool:
    """Return whether a field means a missing value."""
    return cell.strip().lower() in MISSING_WORDS


def _read_sample(path: Path) -> tuple[bytes, bool]:
    """Return the start of a file, with a few lines at least, and whether it is the whole file."""
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
        while sample.count(b"\n") < MIN_LINES and len(sample) < LARGEST_SAMPLE_BYTES:
            more = file.read(len(sample))
            if not more:
                return sample, True
            sample += more
        return sample, not file.read(1)


def _sample_lines(sample: bytes, path: Path, *, is_all: bool) -> tuple[list[bytes], int]:
    """Return the first complete lines, and the offset of the first of them."""
    if sample.startswith(OTHER_UNICODE) or b"\0" in sample:
        raise DataError(
            f"{path} must be plain text in UTF-8 or Latin-1; it has bytes that are not text. "
            "Save it as UTF-8, or give the file the extension of its format."
        )
    offset = len(BOM) if sample.startswith(BOM) else 0
    lines = sample[offset:].splitlines(keepends=True)
    return (lines if is_all else lines[:-1])[:MAX_LINES], offset


def _examine_bytes(path: Path) -> tuple[str, int]:
    """Return the encoding of a file, and its number of quotation marks."""
    decoder: codecs.IncrementalDecoder = codecs.getincrementaldecoder("utf-8")()
    encoding, n_quotes = "utf-8", 0
    with path.open("rb") as file:
        while chunk := file.read(SAMPLE_BYTES):
            n_quotes += chunk.count(b'"')
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                encoding, decoder = "latin-1", codecs.getincrementaldecoder("latin-1")()
    return encoding, n_quotes


def _find_delimiter(lines: list[str]) -> str | None:
    """Return the delimiter that gives all lines the same number of fields, and the most fields."""
    found: list[tuple[int, str | None]] = []
    for delimiter in (*DELIMITERS, WHITESPACE):
        try:
            widths = Counter(map(len, split_fields(lines, delimiter)))
        except csv.Error:  # a field above the size limit: this is not the delimiter
            continue
        if len(widths) == 1 and max(widths) > 1:
            found.append((max(widths), delimiter))
    if found:
        return max(found, key=lambda pair: pair[0])[1]
    counts = [(lines[0].count(delimiter), delimiter) for delimiter in DELIMITERS]
    return max(counts, key=lambda pair: pair[0])[1]


def _has_header(cells: list[list[str]]) -> bool:
    first = [is_number(cell) or is_missing(cell) for cell in cells[0]]
    if not any(first):
        return True
    if len(cells) == 1:
        return False
    if _has_column_numbers(cells[0], cells[1]):
        return True
    second = [is_number(cell) for cell in cells[1]]
    return any(below and not above for above, below in zip(first, second, strict=False))


def _has_column_numbers(first: list[str], second: list[str]) -> bool:
    """Return whether a line is 0, 1, 2, ... after an empty field, or above fractions."""
    is_indexed = first[0] == ""
    names = first[1:] if is_indexed else first
    if len(names) < 2 or names != [str(c) for c in range(len(names))]:
        return False
    return is_indexed or any(is_number(cell) and not cell.strip().isdigit() for cell in second)


def _find_type(cells: list[list[str]], column: int) -> str | None:
    """Return "text" if a column has values and none of them is a number, otherwise None."""
    values = [row[column] for row in cells if column < len(row)]
    present = [value for value in values if not is_missing(value)]
    return "text" if present and not any(map(is_number, present)) else None
