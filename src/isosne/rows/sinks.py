"""Write the blocks of a map in a file format: one class for each format.

A sink writes to an open file. It does not know the name of the file.
"""

import csv
import io
import re
import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.rows.columns import as_objects, as_text, is_text
from isosne.rows.provenance import KEY

AXES = ("x", "y", "z")
GROUP_ROWS = 131_072
"""Rows in a row group of Parquet or a record batch of Arrow. Chosen, not measured: 1 MB of
coordinates of a two-dimensional map."""
NPY_HEADER_BYTES = 128
"""Size of an .npy header for shapes of this kind: NumPy pads headers to a multiple of 64 bytes."""
TEXT_BYTES = 4_000_000
"""Bytes of text of an .npz file that are encoded at a time. Chosen, not measured."""
CRLF = "\r\n"
"""Line end for Python's writer, which quotes fields that contain one of its characters."""
FLOAT32_TEXT = "U16"
"""Type of the shortest text that gives a float32 back exactly: 9 digits, sign, point, exponent."""


class Layout(NamedTuple):
    """The names of the columns of a map, its provenance as a line of JSON, and columns of obs.

    ``leading`` are the columns before the coordinates: id, and label if there is one. ``trailing``
    are columns of numbers after them.
    """

    leading: tuple[str, ...]
    axes: tuple[str, ...]
    line: str
    obs: Any = None
    trailing: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return [*self.leading, *self.axes, *self.trailing]


class Block(NamedTuple):
    """Consecutive rows of a map; leading columns of Parquet and Arrow may be Arrow arrays."""

    leading: tuple[Any, ...]
    Y: Array
    trailing: tuple[Array, ...] = ()

    @property
    def columns(self) -> list[Any]:
        """All columns, in the order of `Layout.names`."""
        return [*self.leading, *self.Y.T, *self.trailing]


class Sink(ABC):
    """Write blocks in order."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self.file, self.layout = file, layout

    @abstractmethod
    def write(self, block: Block) -> None:
        """Write the next rows."""

    @abstractmethod
    def finish(self) -> None:
        """Write the end of the file."""

    def abandon(self) -> None:
        """Release resources other than the file, without completing it."""
        return


class CSVSink(Sink):
    """A header and a line per row, without provenance; coordinates round-trip exactly."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        self.digest = sha256()
        self._write_lines([mark_formulas(np.array(layout.names)).tolist()])

    def write(self, block: Block) -> None:
        """Write the next rows."""
        leading = tuple(mark_formulas(column) for column in block.leading)
        whole = Block(leading, block.Y.astype(FLOAT32_TEXT), block.trailing)
        self._write_lines(zip(*(column.tolist() for column in whole.columns), strict=True))

    def _write_lines(self, rows: Iterable[Iterable[Any]]) -> None:
        lines = _Lines()
        csv.writer(lines, lineterminator=CRLF).writerows(rows)
        self._write_text("\n".join([*lines, ""]))

    def _write_text(self, text: str) -> None:
        content = text.encode("utf-8")
        self.digest.update(content)
        self.file.write(content)

    def finish(self) -> None:
        """Flush the file."""
        self.file.flush()


class _Lines(list[str]):
    """Collects the rows of a CSV writer, without their ends."""

    def write(self, row: str) -> None:
        """Add a row."""
        self.append(row.removesuffix(CRLF))


class ColumnSink(Sink):
    """Columns of Parquet or Arrow in groups of rows; provenance is in the schema metadata."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        self._pa = require("pyarrow", "files", "Writing a map as Parquet or Arrow")
        self._held: list[Any] = []
        self._n_held = 0
        self._writer: Any = None

    @abstractmethod
    def open_writer(self, schema: Any) -> Any:
        """Return a writer of tables to the file."""

    def write(self, block: Block) -> None:
        """Add the next rows; write them once a group is complete."""
        arrays = [self._as_arrow(column) for column in block.columns]
        metadata = {KEY: self.layout.line}
        table = self._pa.table(arrays, names=self.layout.names, metadata=metadata)
        self._held.append(table)
        self._n_held += len(block.Y)
        if self._n_held >= GROUP_ROWS:
            self._flush()

    def _as_arrow(self, column: Any) -> Any:
        is_array = isinstance(column, np.ndarray)
        return self._pa.array(np.ascontiguousarray(column)) if is_array else column

    def finish(self) -> None:
        """Write the last group and the footer."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer now; otherwise it would write a footer when it is deleted."""
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
        """Return a writer of tables to the file."""
        parquet = require("pyarrow.parquet", "files", "Writing a map as Parquet")
        return parquet.ParquetWriter(self.file, schema)


class ArrowSink(ColumnSink):
    """An Arrow file, which is also Feather version 2."""

    def open_writer(self, schema: Any) -> Any:
        """Return a writer of tables to the file."""
        return require("pyarrow.ipc", "files", "Writing a map as Arrow").new_file(self.file, schema)


class NpySink(Sink):
    """Coordinates only, without provenance; the header is written last, when n is known."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        self._n_rows = 0
        file.write(bytes(NPY_HEADER_BYTES))

    def write(self, block: Block) -> None:
        """Write the next rows."""
        self._n_rows += len(block.Y)
        self.file.write(np.ascontiguousarray(block.Y).data)

    def finish(self) -> None:
        """Write the header at the start of the file."""
        header = io.BytesIO()
        shape = (self._n_rows, len(self.layout.axes))
        entries = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, entries)
        self.file.seek(0)
        self.file.write(header.getvalue())
        self.file.seek(0, io.SEEK_END)


class NpzSink(Sink):
    """Arrays embedding, ids, labels and other columns; provenance as text in the array isosne.

    Coordinates go to an unnamed temporary file first: a zip file is written one member after the
    other, and ids come in the same blocks.
    """

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        folder = Path(file.name).parent
        self._gathered: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  closed below
        self._coordinates = NpySink(self._gathered, layout)
        self._columns: list[tuple[Array, ...]] = []

    def write(self, block: Block) -> None:
        """Write the next rows."""
        self._coordinates.write(block)
        self._columns.append((*block.leading, *block.trailing))

    def finish(self) -> None:
        """Write all arrays to the zip file."""
        self._coordinates.finish()
        self._gathered.seek(0)
        plural = {"id": "ids", "label": "labels"}
        names = [plural.get(name, name) for name in self.layout.leading] + [*self.layout.trailing]
        columns = (np.concatenate(c) for c in zip(*self._columns, strict=True))
        arrays = dict(zip(names, columns, strict=True)) | {KEY: np.array(self.layout.line)}
        with zipfile.ZipFile(self.file, "w", zipfile.ZIP_STORED) as archive:
            with archive.open("embedding.npy", "w", force_zip64=True) as member:
                shutil.copyfileobj(self._gathered, member)
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    _write_array(member, array)
        self.abandon()

    def abandon(self) -> None:
        """Remove the temporary file."""
        with suppress(OSError):
            self._gathered.close()


def _write_array(file: Any, column: Array) -> None:
    """Write an array; texts get the width of the longest, a few at a time."""
    if column.dtype.kind != "O":
        np.lib.format.write_array(file, column, allow_pickle=False)
        return
    dtype = np.dtype(f"<U{max(map(len, column.tolist()), default=1) or 1}")
    entries = {"descr": dtype.str, "fortran_order": False, "shape": column.shape}
    np.lib.format.write_array_header_1_0(file, entries)
    step = max(1, TEXT_BYTES // dtype.itemsize)
    for first in range(0, len(column), step):
        file.write(column[first : first + step].astype(dtype).tobytes())


class H5adSink(Sink):
    """An AnnData file: the map in obsm, ids and columns in obs, provenance in uns."""

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        super().__init__(file, layout)
        self._anndata = require("anndata", "anndata", "Writing a map as .h5ad")
        self._blocks: list[Block] = []

    def write(self, block: Block) -> None:
        """Keep the next rows."""
        self._blocks.append(block)

    def finish(self) -> None:
        """Write all rows."""
        pandas = require("pandas", "anndata", "Writing a map as .h5ad")
        parts = [block.leading for block in self._blocks]
        ids, *labels = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        obs = pandas.DataFrame() if self.layout.obs is None else self.layout.obs.copy()
        obs.index = pandas.Index(as_text(ids), dtype=object)
        if labels and self.layout.obs is None:
            obs["label"] = pandas.Categorical(as_text(labels[0]))
        others = zip(*(block.trailing for block in self._blocks), strict=True)
        for name, columns in zip(self.layout.trailing, others, strict=True):
            obs[name] = np.concatenate(columns)
        Y = np.concatenate([block.Y for block in self._blocks])
        uns = {KEY: {"provenance": self.layout.line}}
        data = self._anndata.AnnData(obs=obs, obsm={f"X_{KEY}": Y}, uns=uns)
        content = io.BytesIO()  # HDF5 would lock the file, which is locked already
        h5py = require("h5py", "anndata", "Writing a map as .h5ad")
        with h5py.File(content, "w") as file:
            require("anndata.io", "anndata", "Writing a map as .h5ad").write_elem(file, "/", data)
        self.file.write(content.getbuffer())


SINKS: dict[str, type[Sink]] = {
    ".parquet": ParquetSink,
    ".csv": CSVSink,
    ".npz": NpzSink,
    ".npy": NpySink,
    ".feather": ArrowSink,
    ".arrow": ArrowSink,
    ".h5ad": H5adSink,
}
"""The sink for each extension."""


MARKED = "=+-@\t\r'\uff1d\uff0b\uff0d\uff20"
"""First characters of formulas, also in their full-width forms, and the apostrophe itself."""
MARK = "'"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def mark_formulas(texts: Array) -> Array:
    """Return texts that no spreadsheet takes for formulas; numbers are returned unchanged."""
    return as_objects(map(_mark, texts.tolist())) if is_text(texts) else texts


def restore_formulas(texts: Array) -> Array:
    """Return the texts that `mark_formulas` was given."""
    return as_objects(map(_restore, texts.tolist())) if is_text(texts) else texts


def _mark(text: str) -> str:
    is_formula = bool(text) and text[0] in MARKED and not NUMBER.fullmatch(text)
    return f"{MARK}{text}" if is_formula else text


def _restore(text: str) -> str:
    is_marked = len(text) > 1 and text[0] == MARK and text[1] in MARKED
    return text[1:] if is_marked else text


def encode_csv(columns: Mapping[str, Array]) -> bytes:
    r"""Return columns as CSV in UTF-8; texts that a spreadsheet takes for formulas are marked.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows.sinks import encode_csv
    >>> encode_csv({"id": np.array(["a", "=b"]), "x": np.array([1.5, 2.0])})
    b"id,x\r\na,1.5\r\n'=b,2.0\r\n"
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(map(_mark, columns))
    marked = [_without_nan(mark_formulas(np.asarray(values))) for values in columns.values()]
    writer.writerows(zip(*marked, strict=True))
    return text.getvalue().encode()


def encode_parquet(columns: Mapping[str, Array]) -> bytes:
    """Return columns as a Parquet file; missing numbers are null."""
    pyarrow = require("pyarrow", "files", "Writing Parquet files")
    parquet = require("pyarrow.parquet", "files", "Writing Parquet files")
    arrays = {name: pyarrow.array(v, from_pandas=True) for name, v in columns.items()}
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), content)
    return content.getvalue()


def _without_nan(values: Array) -> list[object]:
    """Return values as a list in which missing numbers are empty texts."""
    return ["" if value != value else value for value in values.tolist()]
