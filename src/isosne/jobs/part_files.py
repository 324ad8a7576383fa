"""Read a part of the input and write its result: kept columns, then coordinates.

A result has the format of its part, and its rows have the order of the part.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._files import HASHED_BYTES, AtomicFile, writing_to
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.files.provenance_json import encode_provenance
from isosne.files.sinks import AXES, SINKS, Block, CSVSink, Layout
from isosne.jobs.job_folder import Result
from isosne.jobs.parts import NAMED, Part
from isosne.sources.arrow import ArrowRows
from isosne.sources.column_selection import ColumnRequest, check_column
from isosne.sources.formats import OpenOptions, open_path
from isosne.sources.row_source import RowSource
from isosne.sources.source_files import SourceFiles
from isosne.tsne.estimator import TSNE

Columns = tuple[Any, ...]
"""Arrays of NumPy or Arrow, one per kept column."""


class PartPlacer(NamedTuple):
    """Places parts on the map of a model.

    ``keep`` are the columns to copy, and ``about`` is the provenance of all results.
    """

    model: TSNE
    keep: tuple[str, ...]
    about: dict[str, Any]

    def place(self, part: Part, target: Path, renew: Callable[[], None]) -> Result:
        """Write the result of a part; `renew` is called after each block of rows."""
        n_components = self.model.embedding_.shape[1]
        line = encode_provenance(self.about | {"part": part.name})
        writer = PartWriter(target, Layout(self.keep, AXES[:n_components], line))
        try:
            empty = empty_columns(part.path, self.keep)
            if empty is not None:
                writer.write(empty, np.empty((0, n_components), np.float32))
            else:
                rows = self._open(part)
                kept = self._open_kept(part, rows)
                for Y in self.model.place_blocks(rows):
                    writer.write(kept.next(len(Y)), Y)
                    renew()
            return writer.finish()
        finally:
            writer.discard()

    def _open(self, part: Part) -> RowSource:
        """Open the features; they are found by their names at fit, if both have names."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None or part.path.suffix.lower() not in NAMED:
            return open_path(part.path, _options(None, self.keep))
        known = tuple(names.tolist())
        others = tuple(name for name in self.keep if name not in known)
        try:
            return open_path(part.path, _options(known, others))
        except ParameterError as error:
            if error.parameter != "columns" or not isinstance(error.value, list):
                raise
            raise DataError(
                f"Every part must have all columns of the model; {part.path} has no "
                f"{error.value[0]!r}. {error.hint}"
            ) from None

    def _open_kept(self, part: Part, rows: RowSource) -> "ArrowColumns | TextColumns":
        """Open the columns to keep, which may be features."""
        if isinstance(rows, ArrowRows):  # opened again: each reads the file from its start
            kept = self._open(part)
            assert isinstance(kept, ArrowRows)
            return ArrowColumns(kept, self.keep)
        if not set(self.keep) <= set(rows.side):
            rows = open_path(part.path, _options(None, self.keep))
        return TextColumns([rows.side[name]() for name in self.keep])


def _options(columns: tuple[str, ...] | None, keep: tuple[str, ...]) -> OpenOptions:
    roles = tuple(("keep", name) for name in keep)
    return OpenOptions(ColumnRequest(columns, roles=roles))


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
        while n_held < n_rows:
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


def empty_columns(path: Path, keep: tuple[str, ...]) -> Columns | None:
    """Return the kept columns of a Parquet or Arrow file without rows; None for other files."""
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
    for name in keep:
        check_column(name, schema.names, "keep", str(path))
    table = schema.empty_table()
    return tuple(table[name] for name in keep)


class ExactCSVSink(CSVSink):
    """A CSV file whose kept columns are exactly those of the part, also if they are formulas."""

    def as_text(self, column: Array) -> Array:
        """Return a kept column unchanged."""
        return column


class PartWriter:
    """Writes a result, which appears under its name when it is complete."""

    def __init__(self, path: Path, layout: Layout) -> None:
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._target = AtomicFile(path, force=True)
        extension = path.suffix.lower()
        make_sink = ExactCSVSink if extension == ".csv" else SINKS[extension]
        try:
            with writing_to(path):
                self._sink = make_sink(self._target.file, layout)
        except BaseException:
            self._target.discard()
            raise
        self._n_rows = 0

    def write(self, kept: Columns, Y: Array) -> None:
        """Write the next rows."""
        if not np.isfinite(Y).all():
            raise DataError(
                f"Coordinates must be finite; those of {self._target.path.name} are not. "
                "Check the values of this part for extremes."
            )
        with writing_to(self._target.path):
            self._sink.write(Block(kept, Y))
        self._n_rows += len(Y)

    def finish(self) -> Result:
        """Complete the file and rename it."""
        file, digest = self._target.file, sha256()
        with writing_to(self._target.path):
            self._sink.finish()
            file.flush()
            file.seek(0)
            while block := file.read(HASHED_BYTES):
                digest.update(block)
            n_bytes = file.tell()
            self._target.commit()
        return Result(self._n_rows, n_bytes, digest.hexdigest())

    def discard(self) -> None:
        """Remove an incomplete file; do nothing after `finish`."""
        self._sink.abandon()
        self._target.discard()
