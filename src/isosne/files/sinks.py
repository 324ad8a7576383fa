"""Where the blocks of a map go: one small class for each format.

A sink writes into an open file and knows nothing of its name.
"""

import csv
import io
import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.files.provenance import COMMENT, KEY

AXES = ("x", "y", "z")
GROUP_ROWS = 131_072
"""Rows that Parquet and Arrow keep together."""
NPY_HEADER = 128
"""Bytes of an .npy header, whatever the number of rows."""


class Layout(NamedTuple):
    """What all rows of a map share: names of the columns, and the line of provenance."""

    axes: tuple[str, ...]
    has_labels: bool
    line: str

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return ["id", *(["label"] if self.has_labels else []), *self.axes]


class Block(NamedTuple):
    """Consecutive rows of a map."""

    ids: Array
    labels: Array | None
    Y: Array

    @property
    def columns(self) -> list[Array]:
        """All columns, in the order of their names."""
        return [self.ids, *([] if self.labels is None else [self.labels]), *self.Y.T]


class Sink(ABC):
    """Writes blocks in order."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self.file, self.layout = file, layout

    @abstractmethod
    def write(self, block: Block) -> None:
        """Write the next rows."""

    @abstractmethod
    def finish(self) -> None:
        """Write what comes last."""

    def abandon(self) -> None:
        """Let go of what is open besides the file."""
        return


class CSVSink(Sink):
    """Provenance as a comment, a header, a line for each row; coordinates come back exactly."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        head = f"{COMMENT}{layout.line}\n{','.join(layout.names)}\n"
        file.write(head.encode("utf-8"))

    def write(self, block: Block) -> None:
        """Write the next rows."""
        shortest = block._replace(Y=block.Y.astype("U16"))  # the fewest digits that tell float32
        lists = [column.tolist() for column in shortest.columns]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(zip(*lists, strict=True))
        self.file.write(text.getvalue().encode("utf-8"))

    def finish(self) -> None:
        """Hand over what is still held."""
        self.file.flush()


class ColumnSink(Sink):
    """Columns of Parquet or Arrow, in groups of rows; provenance is in the schema."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        self._pa = require("pyarrow", "files", "A map in Parquet or Arrow")
        self._held: list[Any] = []
        self._n_held = 0
        self._writer: Any = None

    @abstractmethod
    def open_writer(self, schema: Any) -> Any:
        """Return a writer of tables into the file."""

    def write(self, block: Block) -> None:
        """Write the next rows, together with others if they are few."""
        arrays = [self._pa.array(np.ascontiguousarray(column)) for column in block.columns]
        metadata = {KEY: self.layout.line}
        table = self._pa.table(arrays, names=self.layout.names, metadata=metadata)
        self._held.append(table)
        self._n_held += len(block.ids)
        if self._n_held >= GROUP_ROWS:
            self._flush()

    def finish(self) -> None:
        """Write what is held, and the footer."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which would otherwise try to write a footer later."""
        if self._writer is not None:
            with suppress(OSError, ValueError):
                self._writer.close()
            self._writer.is_open = False

    def _flush(self) -> None:
        if not self._held:
            return
        table = self._pa.concat_tables(self._held).combine_chunks()
        self._held, self._n_held = [], 0
        if self._writer is None:
            self._writer = self.open_writer(table.schema)
        self._writer.write_table(table)


class ParquetSink(ColumnSink):
    """A Parquet file."""

    def open_writer(self, schema: Any) -> Any:
        """Return a writer of tables into the file."""
        parquet = require("pyarrow.parquet", "files", "A map in Parquet")
        return parquet.ParquetWriter(self.file, schema)


class ArrowSink(ColumnSink):
    """An Arrow file, which Feather reads too."""

    def open_writer(self, schema: Any) -> Any:
        """Return a writer of tables into the file."""
        return require("pyarrow.ipc", "files", "A map in Arrow").new_file(self.file, schema)


class NpySink(Sink):
    """Coordinates alone, without provenance; the header is written last, when n is known."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        self._n_rows = 0
        file.write(bytes(NPY_HEADER))

    def write(self, block: Block) -> None:
        """Write the next rows."""
        self._n_rows += len(block.Y)
        self.file.write(np.ascontiguousarray(block.Y).data)

    def finish(self) -> None:
        """Write the header into its place."""
        header = io.BytesIO()
        shape = (self._n_rows, len(self.layout.axes))
        entries = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, entries)
        self.file.seek(0)
        self.file.write(header.getvalue())
        self.file.seek(0, io.SEEK_END)


class NpzSink(Sink):
    """Arrays embedding, ids and labels, and provenance as text under the name isosne.

    Coordinates are gathered in a nameless file first: a zip wants to know the size of a member
    before the member.
    """

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        folder = Path(file.name).parent
        self._gathered: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  closed below
        self._coordinates = NpySink(self._gathered, layout)
        self._ids: list[Array] = []
        self._labels: list[Array] = []

    def write(self, block: Block) -> None:
        """Write the next rows."""
        self._coordinates.write(block)
        self._ids.append(block.ids)
        if block.labels is not None:
            self._labels.append(block.labels)

    def finish(self) -> None:
        """Put the arrays together."""
        self._coordinates.finish()
        self._gathered.seek(0)
        arrays = {"ids": np.concatenate(self._ids), KEY: np.array(self.layout.line)}
        if self._labels:
            arrays["labels"] = np.concatenate(self._labels)
        with zipfile.ZipFile(self.file, "w", zipfile.ZIP_STORED) as archive:
            with archive.open("embedding.npy", "w", force_zip64=True) as member:
                shutil.copyfileobj(self._gathered, member)
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the gathered coordinates."""
        with suppress(OSError):
            self._gathered.close()


SINKS: dict[str, type[Sink]] = {
    ".parquet": ParquetSink,
    ".csv": CSVSink,
    ".npz": NpzSink,
    ".npy": NpySink,
    ".feather": ArrowSink,
    ".arrow": ArrowSink,
}
