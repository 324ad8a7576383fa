"""What a text table looks like: delimiter, header, and which columns hold numbers."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from isosne.errors import DataError

SAMPLE_BYTES = 1_000_000
LONGEST_SAMPLE = 64_000_000
N_COMPLETE = 4
"""Lines that a sample holds at least, however long they are."""
N_SAMPLED = 200
"""Lines that the dialect is found from."""
DELIMITERS = (",", "\t", ";", "|")
BLANKS = None
"""In place of a delimiter: fields are separated by any number of spaces and tabs."""
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-"}
UNNAMED = "unnamed_"
"""Beginning of what a column is called whose place in the header is empty."""
BOM = b"\xef\xbb\xbf"
OTHER_UNICODE = (b"\xff\xfe", b"\xfe\xff")


class Dialect(NamedTuple):
    """How to read a text table.

    ``start`` is the first byte after comments and header, ``n_head`` the lines before it.
    ``kinds`` has None for a column of numbers and "text" for others.
    """

    delimiter: str | None
    encoding: str
    start: int
    n_head: int
    names: tuple[str, ...]
    kinds: tuple[str | None, ...]
    comments: tuple[str, ...]

    @property
    def width(self) -> int:
        """The number of fields of every line."""
        return len(self.names)


def find_dialect(path: Path, *, header: bool | None = None) -> Dialect:
    """Look at the beginning of a text table.

    Lines that begin with # before the table are comments. Names are those of the first line if
    it is a header: if none of its fields is a number, or one is not where the next line has one.
    """
    sample, is_all = _read_sample(path)
    lines, offset = _sample_lines(sample, path, is_all=is_all)
    encoding = _encoding(sample)
    n_comments = 0
    while n_comments < len(lines) and lines[n_comments].startswith(b"#"):
        n_comments += 1
    offset += sum(map(len, lines[:n_comments]))
    comments = [line.decode(encoding, "replace").rstrip("\r\n") for line in lines[:n_comments]]
    body = [line.decode(encoding, "replace").rstrip("\r\n") for line in lines[n_comments:]]
    n_blank = next((k for k, line in enumerate(body) if line.strip()), len(body))
    offset += sum(map(len, lines[n_comments : n_comments + n_blank]))
    body = body[n_blank:]
    if not body:
        raise DataError(f"{path} must hold a table; it is empty. Write it again.")
    delimiter = _delimiter([line for line in body if line.strip()])
    cells = list(split(body, delimiter))
    has_header = _is_header(cells) if header is None else header
    names = tuple(name.strip() or f"{UNNAMED}{c}" for c, name in enumerate(cells[0]))
    n_head = n_comments + n_blank
    if has_header:
        offset += len(lines[n_head])
        n_head, cells = n_head + 1, cells[1:]
    else:
        names = tuple(f"column_{c}" for c in range(len(names)))
    kinds = tuple(_kind(cells, c) for c in range(len(names)))
    return Dialect(delimiter, encoding, offset, n_head, names, kinds, tuple(comments))


def split(lines: Iterable[str], delimiter: str | None) -> Iterator[list[str]]:
    """Yield the fields of each line that is not blank."""
    rows = (line for line in lines if not is_blank(line, delimiter))
    if delimiter is BLANKS:
        return (line.split() for line in rows)
    return csv.reader(rows, delimiter=delimiter)


def is_blank(line: str, delimiter: str | None) -> bool:
    """Return whether a line is no row; one of tabs alone is, if tabs delimit fields."""
    return not (line.strip() if delimiter is BLANKS else line)


def is_number(cell: str) -> bool:
    """Return whether a field reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_missing(cell: str) -> bool:
    """Return whether a field says that there is no value."""
    return cell.strip().lower() in MISSING


def _read_sample(path: Path) -> tuple[bytes, bool]:
    """Return the beginning of a file, with a few lines at least; and whether it is the whole."""
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
        while sample.count(b"\n") < N_COMPLETE and len(sample) < LONGEST_SAMPLE:
            more = file.read(len(sample))
            if not more:
                return sample, True
            sample += more
        return sample, not file.read(1)


def _sample_lines(sample: bytes, path: Path, *, is_all: bool) -> tuple[list[bytes], int]:
    """Return the first complete lines, and where they begin."""
    if sample.startswith(OTHER_UNICODE) or b"\0" in sample:
        raise DataError(
            f"{path} must be plain text in UTF-8 or Latin-1; it holds bytes that are not text. "
            "Save it again as UTF-8, or give the file the ending of its kind."
        )
    offset = len(BOM) if sample.startswith(BOM) else 0
    lines = sample[offset:].splitlines(keepends=True)
    return (lines if is_all else lines[:-1])[:N_SAMPLED], offset


def _encoding(sample: bytes) -> str:
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 4:  # not a character that the end of the sample cuts
            return "latin-1"
    return "utf-8"


def _delimiter(lines: list[str]) -> str | None:
    """Return the delimiter that gives all lines the same number of fields, the more the better."""
    found: list[tuple[int, str | None]] = []
    for delimiter in (*DELIMITERS, BLANKS):
        try:
            widths = Counter(map(len, split(lines, delimiter)))
        except csv.Error:  # a field beyond all bounds: some other character divides the line
            continue
        if len(widths) == 1 and max(widths) > 1:
            found.append((max(widths), delimiter))
    if found:
        return max(found, key=lambda pair: pair[0])[1]
    counts = [(lines[0].count(delimiter), delimiter) for delimiter in DELIMITERS]
    return max(counts, key=lambda pair: pair[0])[1]


def _is_header(cells: list[list[str]]) -> bool:
    first = [is_number(cell) or is_missing(cell) for cell in cells[0]]
    if not any(first):
        return True
    if len(cells) == 1:
        return False
    second = [is_number(cell) for cell in cells[1]]
    return any(now and not before for before, now in zip(first, second, strict=False))


def _kind(cells: list[list[str]], column: int) -> str | None:
    """Return "text" if a column has values and none of them is a number."""
    values = [row[column] for row in cells if column < len(row)]
    present = [value for value in values if not is_missing(value)]
    return "text" if present and not any(map(is_number, present)) else None
