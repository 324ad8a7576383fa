"""Text tables: their dialect (delimiter, header, types), rows, and columns as CSV."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.rows.arrow import BATCH_BYTES, ArrowRows, Part
from isosne.rows.columns import Request, as_objects, is_text, parse_integers, select_columns
from isosne.rows.rows import Indices, SourceFiles

SAMPLE_BYTES, LONGEST_LINE = 1_000_000, 64_000_000
"""Size of the sample from the start, and of a line: a few million numbers. Chosen."""
MIN_LINES, MAX_LINES = 4, 200
"""Lines of the sample: a header and rows to compare it with, at least. Chosen, not measured."""
DELIMITERS = (",", "\t", ";", "|")
MISSING_WORDS = {"", "na", "n/a", "nan", "null", "none", "?", "-"}
"""Missing values in lower case: words of pandas, and "?" and "-" of published tables. Chosen."""
UNNAMED = "unnamed_"
"""Prefix of the name of a column whose field in the header is empty."""
LINES_PER_BLOCK = 8
"""Lines of the longest kind in the sample that fit a block that pyarrow parses. Chosen."""
CRLF = "\r\n"
"""Line end for Python's writer, which quotes fields that contain one of its characters."""
FLOAT32_TEXT = "U16"
"""Type of the shortest text that gives a float32 back exactly: 9 digits, sign, point, exponent."""
MARK = "'"
MARKED = f"=+-@\t\r{MARK}\uff1d\uff0b\uff0d\uff20"
"""First characters of formulas, also in their full-width forms, and the mark itself."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
BOM = b"\xef\xbb\xbf"
TEXT, COMPRESSED = (".csv", ".tsv", ".txt"), (".gz", ".bz2", ".zst", ".lz4")
"""Extensions of text tables, and of their compressed forms that pyarrow reads."""


def is_text_file(path: Path) -> bool:
    """Return whether a name is that of a text table, compressed or not: table.csv.gz."""
    is_packed = path.suffix.lower() in COMPRESSED
    return (Path(path.stem) if is_packed else path).suffix.lower() in TEXT


def open_text(path: Path) -> BinaryIO:
    """Open the content of a text table, decompressed, as bytes; it need not be seekable."""
    if path.suffix.lower() not in COMPRESSED:
        return path.open("rb")
    pyarrow = require("pyarrow", "files", f"Reading {path}")
    return io.BufferedReader(pyarrow.input_stream(str(path), compression="detect"))


class TextRows(ArrowRows):
    """Rows of a text table, as float64.

    pyarrow splits lines into texts. These become numbers here, so that an error can name the cell,
    and so that any column can be read as text.
    """

    def __init__(self, path: Path, request: Request) -> None:
        self._pa, self._csv, self._compute = (
            require(f"pyarrow{name}", "files", f"Reading {path}")
            for name in ("", ".csv", ".compute")
        )
        self._path = path
        self._wrong_lines: list[Any] = []
        files = SourceFiles(str(path), path)
        with files.reading():
            self.decimal = request.decimal
            self._dialect = find_dialect(path, header=request.header, decimal=self.decimal)
            names, types = list(self._dialect.names), self._dialect.types
            # Before the file is read as a whole: columns that do not exist are refused at once.
            select_columns(names, types, request, str(path))
            parts = [Part(self._count_rows(), self._scan)]
        super().__init__(files, names, types, [np.float64] * len(names), parts, request)
        if not request.needs_numbers:
            # Features of a mixed table may turn out to be text, whatever their first values are.
            self.side = {name: partial(self._side_column, name) for name in names}

    def _stop_at_line(self, line: Any) -> str:
        """Note a line with another number of fields; pyarrow swallows what is raised here."""
        self._wrong_lines.append(line)
        return "error"

    def _scan(self, names: list[str]) -> Iterator[Any]:
        csv, dialect = self._csv, self._dialect
        reading = csv.ReadOptions(
            column_names=dialect.names,
            block_size=max(BATCH_BYTES // 2, LINES_PER_BLOCK * dialect.longest_line),
            use_threads=False,
        )
        parsing = csv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=True,
            invalid_row_handler=self._stop_at_line,
        )
        types = dict.fromkeys(names, self._pa.string())
        converting = csv.ConvertOptions(include_columns=names, column_types=types)
        if dialect.n_lines > dialect.n_head:
            with open_text(self._path) as file:
                file.read(dialect.start)
                stream = self._pa.PythonFile(file, mode="r")
                yield from csv.open_csv(stream, reading, parsing, converting)

    def _count_rows(self) -> int:
        """Read the file once; raise an error if a line has another number of fields."""
        try:
            return sum(batch.num_rows for batch in self._scan(list(self._dialect.names[:1])))
        except self._pa.ArrowInvalid:
            if not self._wrong_lines:
                raise
            line = self._wrong_lines[0]
            raise DataError(
                f"Every line must have {line.expected_columns} field(s), as the first line has; "
                f"{self._path} has {line.actual_columns} in line "
                f"{self._dialect.n_head + line.number}. Correct or remove that line."
            ) from None

    def _as_numbers(self, column: Any, feature: int, rows: Indices) -> Array:
        given = column
        if self.decimal != ".":  # as in `as_plain_number`
            for old, new in ((".", ";"), (self.decimal, ".")):
                column = self._compute.replace_substring(column, old, new)
        with suppress(self._pa.ArrowInvalid):
            return super()._as_numbers(column.cast("float64"), feature, rows)
        cells = self._compute.utf8_trim_whitespace(column)
        words = self._pa.array(sorted(MISSING_WORDS))
        is_gap = self._compute.is_in(self._compute.utf8_lower(cells), value_set=words)
        cells = self._compute.if_else(is_gap, None, cells)
        with suppress(self._pa.ArrowInvalid):
            return super()._as_numbers(cells.cast("float64"), feature, rows)
        texts = cells.to_pylist()
        k = next((k for k, text in enumerate(texts) if text and not is_number(text)), 0)
        example = f"1234{self.decimal}5 or 1{self.decimal}2e3"
        raise DataError(
            f"Every value must be a finite number; {self.describe()} has "
            f"{given[k].as_py().strip()!r} in {self._where(int(rows[k]))}, "
            f"{self._column(feature)}. Write numbers as {example}, or exclude the column."
        )

    def _where(self, row: int) -> str:
        """Return the line of a row, unless lines are blank or rows have several."""
        if self._dialect.n_lines != self._dialect.n_head + self.shape[0]:
            return super()._where(row)
        return f"line {self._dialect.n_head + row + 1}"

    def _side_column(self, name: str) -> Array:
        return parse_integers(super()._side_column(name))


class Dialect(NamedTuple):
    """How to read a text table.

    ``start`` is the offset of the first byte after comments and header, ``n_head`` the number of
    lines before it, of ``n_lines`` in all. ``types`` has None for a numeric column and "text" for
    others. ``longest_line`` is in bytes, of the lines of the sample.
    """

    delimiter: str
    start: int
    n_head: int
    n_lines: int
    names: tuple[str, ...]
    types: tuple[str | None, ...]
    longest_line: int


def find_dialect(path: Path, *, header: bool | None = None, decimal: str = ".") -> Dialect:
    """Detect the dialect from the start of a text table.

    Lines before the table that start with # are comments. By default, the first line of the table
    is a header if none of its fields is a number, if it has text above a number, or if it has the
    column numbers that pandas writes.
    """
    n_lines = _check_bytes(path)
    lines, offset = _sample_lines(path)
    is_row = [bool(line.strip()) and not line.startswith(b"#") for line in lines]
    if not any(is_row):
        raise DataError(f"{path} must contain a table; it is empty. Write the file again.")
    n_head = is_row.index(True)
    body = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines[n_head:]]
    delimiters = [delimiter for delimiter in DELIMITERS if delimiter != decimal]
    delimiter = _find_delimiter([line for line in body if line.strip()], delimiters)
    cells = list(csv.reader(filter(None, body), delimiter=delimiter))
    fields = [[as_plain_number(cell, decimal) for cell in row] for row in cells]
    has_header = _has_header(fields) if header is None else header
    names = tuple(f"column_{c}" for c in range(len(cells[0])))
    if has_header:
        names = tuple(name.strip() or f"{UNNAMED}{c}" for c, name in enumerate(cells[0]))
        n_head, fields = n_head + 1, fields[1:]
    types = tuple(_find_type(fields, c) for c in range(len(names)))
    start, longest = offset + sum(map(len, lines[:n_head])), max(map(len, lines))
    return Dialect(delimiter, start, n_head, n_lines, names, types, longest)


def as_plain_number(cell: str, decimal: str) -> str:
    """Return a field with a decimal comma as one with a point; one with points is no number."""
    return cell if decimal == "." else cell.replace(".", ";").replace(decimal, ".")


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


def _check_bytes(path: Path) -> int:
    """Return the number of lines; raise an error for bytes that are not UTF-8, and open quotes."""
    decoder: codecs.IncrementalDecoder = codecs.getincrementaldecoder("utf-8")()
    n_quotes, n_lines, last = 0, 0, b"\n"
    with open_text(path) as file:
        while chunk := file.read(SAMPLE_BYTES):
            n_quotes += chunk.count(b'"')
            n_lines, last = n_lines + chunk.count(b"\n"), chunk
            try:
                has_null = "\0" in decoder.decode(chunk)
            except UnicodeDecodeError:
                has_null = True
            if has_null:
                raise DataError(
                    f"{path} must be plain text in UTF-8; it has bytes that are not. "
                    "Convert it to UTF-8, or give the file the extension of its format."
                )
    if n_quotes % 2:
        raise DataError(
            f"Quotation marks must be closed; {path} has an odd number of them. "
            "Correct the line with the open one."
        )
    return n_lines + (not last.endswith(b"\n"))


def _sample_lines(path: Path) -> tuple[list[bytes], int]:
    """Return the first lines of a file, and the offset of the first of them."""
    lines: list[bytes] = []
    n_bytes = 0
    with open_text(path) as file:
        while line := file.readline(LONGEST_LINE):
            lines.append(line)
            n_bytes += len(line)
            if len(lines) >= MIN_LINES and (len(lines) == MAX_LINES or n_bytes >= SAMPLE_BYTES):
                break
    offset = len(BOM) if lines and lines[0].startswith(BOM) else 0
    return [line[offset * (k == 0) :] for k, line in enumerate(lines)], offset


def _find_delimiter(lines: list[str], delimiters: Sequence[str]) -> str:
    """Return the delimiter that gives all lines the same number of fields, and the most fields."""
    n_fields: dict[str, int] = {}
    for delimiter in delimiters:
        with suppress(csv.Error):  # a field above the size limit: this is not the delimiter
            widths = set(map(len, csv.reader(lines, delimiter=delimiter)))
            if len(widths) == 1 and max(widths) > 1:
                n_fields[delimiter] = max(widths)
    return max(n_fields or delimiters, key=lambda d: n_fields.get(d, 0) or lines[0].count(d))


def _has_header(cells: list[list[str]]) -> bool:
    first = [is_number(cell) or is_missing(cell) for cell in cells[0]]
    if len(cells) == 1 or not any(first):
        return not any(first)
    numbers = [is_number(cell) for cell in cells[1]]
    if any(below and not above for above, below in zip(first, numbers, strict=False)):
        return True
    # Column numbers of pandas: 0, 1, 2, ... after an empty field, or above fractions.
    is_indexed = cells[0][0] == ""
    names = cells[0][is_indexed:]
    if len(names) < 2 or names != [str(c) for c in range(len(names))]:
        return False
    return is_indexed or any(is_number(cell) and not cell.strip().isdigit() for cell in cells[1])


def _find_type(cells: list[list[str]], column: int) -> str | None:
    """Return "text" if a column has values and none of them is a number, otherwise None."""
    present = [row[column] for row in cells if column < len(row) and not is_missing(row[column])]
    return "text" if present and not any(map(is_number, present)) else None


def encode_csv(columns: Mapping[str, Any], *, header: bool = True) -> bytes:
    r"""Return columns as CSV in UTF-8; missing numbers are empty.

    Texts that a spreadsheet takes for formulas are marked.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows.text import encode_csv
    >>> encode_csv({"id": np.array(["a", "=b"]), "x": np.array([1.5, 2.0])})
    b"id,x\na,1.5\n'=b,2.0\n"
    """
    lines = _Lines()
    writer = csv.writer(lines, lineterminator=CRLF)
    if header:
        writer.writerow(map(_mark, columns))
    writer.writerows(zip(*map(_as_fields, columns.values()), strict=True))
    return "\n".join([*lines, ""]).encode()


class _Lines(list[str]):
    """Collects the rows of a CSV writer, without their ends."""

    def write(self, row: str) -> None:
        self.append(row.removesuffix(CRLF))


def _as_fields(column: Any) -> Iterable[Any]:
    values = np.asarray(column)
    if values.dtype.kind == "f":
        exact = values.astype(FLOAT32_TEXT) if values.dtype == np.float32 else values
        pairs = zip(exact.tolist(), np.isnan(values).tolist(), strict=True)
        return ["" if is_nan else value for value, is_nan in pairs]
    return [_mark(text) for text in values.tolist()] if is_text(values) else values.tolist()


def _mark(text: str) -> str:
    is_formula = bool(text) and text[0] in MARKED and not NUMBER.fullmatch(text)
    return f"{MARK}{text}" if is_formula else text


def restore_formulas(texts: Array | None) -> Array | None:
    """Return texts without the marks of `encode_csv`; integers and None are unchanged."""
    if texts is None or not is_text(texts):
        return texts
    marks = tuple(MARK + character for character in MARKED)
    return as_objects(t[1:] if t.startswith(marks) else t for t in texts.tolist())
