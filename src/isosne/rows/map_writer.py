"""Write a map: an Arrow table of id, label, x, y, z and further numbers, and how it was made.

How the map was made, its provenance, is one line of JSON in the metadata of the table. A CSV file
stays a plain table: its provenance is a second file, ``map.csv.json``, with a hash of the map,
because either of the two can be changed without the other. Ids and labels of a CSV file that a
spreadsheet would take for formulas, such as ``=A1``, get an apostrophe in front.
"""

import hashlib
import io
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from isosne._extras import require
from isosne._files import AtomicFile, encode_json, hash_file, open_regular, writing_to
from isosne._types import Array
from isosne.errors import DataError, IsosneWarning, ParameterError
from isosne.rows.rows import SourceFiles
from isosne.rows.text import encode_csv

AXES = ("x", "y", "z")
KEY = "isosne"
"""Name of the provenance in the metadata of Parquet and Arrow files."""
COLUMNS = "columns"
"""Entry of the provenance that names the further columns of a map."""
FORMAT_VERSION = 1
"""Version of the layout of map files; higher versions cannot be read."""
STDOUT = "-"
GROUP_ROWS = 131_072
"""Rows in a row group of Parquet or a record batch of Arrow: 1 MB of coordinates. Chosen."""
HASH = "sha256"
LARGEST_BYTES = 2**24
"""Largest file of provenance that is read: 16 MB. Chosen; provenance takes a few kilobytes."""

Block = Mapping[str, Any]
"""Consecutive rows of a map by the names of columns, which are arrays of NumPy or Arrow."""


class MapWriter:
    """Write the rows of a map in order, to a file or, for "-", to standard output as CSV.

    ``ids``: None for the index of the row. ``columns``: further numbers, such as clusters. Blocks
    go to a temporary file in the same folder, which is renamed by `close` once its content is on
    the disk; an error or an interrupt inside ``with`` removes it. Only .npy files are kept in
    memory as a whole.
    """

    def __init__(
        self,
        path: str | Path,
        ids: Array | None,
        n_components: int,
        provenance: Mapping[str, Any],
        *,
        labels: Array | None = None,
        columns: Mapping[str, Array] | None = None,
        force: bool = False,
    ) -> None:
        self._axes, self._columns = AXES[:n_components], dict(columns or {})
        leading = {"id": ids, "label": labels}
        self._leading = {name: np.asarray(v) for name, v in leading.items() if v is not None}
        if self._columns:
            provenance = {**provenance, COLUMNS: list(self._columns)}
        self._line = encode_provenance(provenance)
        self.n_rows = 0
        self._targets: list[AtomicFile] = []
        extension = Path(path).suffix.lower()
        if str(path) == STDOUT:
            self._sink: Sink = _CSVSink(sys.stdout.buffer, self._line)
            return
        if extension not in SINKS:
            rule = f"be '-' or a file that ends in one of {', '.join(SINKS)}"
            raise ParameterError("path", rule, str(path), "Choose one of these extensions.")
        self._targets.append(AtomicFile(Path(path), force=force))
        try:
            self._sink = SINKS[extension](self._targets[0].file, self._line)
            if extension == ".csv":
                self._targets.append(_create_sidecar(Path(path), force=force))
        except BaseException:
            self._targets[0].discard()
            raise

    def write(self, Y: Any) -> None:
        """Write the coordinates of the next rows, as float32."""
        Y = np.asarray(Y, dtype=np.float32)
        part = slice(self.n_rows, self.n_rows + len(Y))
        if not np.isfinite(Y).all():
            raise DataError(
                f"Coordinates must be finite; rows {part.start} to {part.stop - 1} "
                "have NaN or infinite values. Check the points of these rows."
            )
        with self._writing():
            self._sink.write(
                {"id": np.arange(part.start, part.stop)}
                | {name: column[part] for name, column in self._leading.items()}
                | dict(zip(self._axes, Y.T, strict=True))
                | {name: column[part] for name, column in self._columns.items()}
            )
        self.n_rows = part.stop

    def close(self) -> None:
        """Complete the file and rename it."""
        with self._writing():
            self._sink.finish()
            if len(self._targets) == 2:
                table, sidecar = (target.file for target in self._targets)
                table.seek(0)
                digest = hashlib.file_digest(table, HASH).hexdigest()  # type: ignore[arg-type]
                about = {KEY: json.loads(self._line), HASH: digest}
                sidecar.write(encode_json(about, indent=1).encode())
            for target in self._targets:
                target.commit()

    def discard(self) -> None:
        """Remove the incomplete file."""
        self._sink.abandon()
        for target in self._targets:
            target.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        (self.close if kind is None else self.discard)()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with writing_to(self._targets[0].path if self._targets else "standard output"):
                yield
        except BaseException:
            self.discard()
            raise


class Sink:
    """Writes blocks of a map to an open file; this one an .npy file, which it writes at the end."""

    def __init__(self, file: BinaryIO, line: str) -> None:
        self.file, self.line = file, line
        self._blocks: list[Any] = []

    def write(self, block: Block) -> None:
        """Write the next rows, or keep them until `finish`."""
        self._blocks.append(np.column_stack([block[axis] for axis in AXES if axis in block]))

    def finish(self) -> None:
        """Write the rest of the file."""
        np.save(self.file, np.concatenate(self._blocks), allow_pickle=False)

    def abandon(self) -> None:
        """Release resources other than the file, without completing it."""


class _CSVSink(Sink):
    """A header and a line per row, without provenance; coordinates round-trip exactly."""

    _has_header = False

    def write(self, block: Block) -> None:
        self.file.write(encode_csv(block, header=not self._has_header))
        self._has_header = True

    def finish(self) -> None:
        self.file.flush()


class _ArrowSink(Sink):
    """Groups of rows of an Arrow file, with the provenance in its metadata; also Feather."""

    _writer: Any = None

    def write(self, block: Block) -> None:
        self._blocks.append(as_arrow(block).replace_schema_metadata({KEY: self.line}))
        if sum(table.num_rows for table in self._blocks) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._blocks:
            pyarrow = require("pyarrow", "files", "Writing a map")
            table = pyarrow.concat_tables(self._blocks).combine_chunks()
            self._blocks = []
            self._writer = self._writer or self._open_writer(table.schema)
            self._writer.write_table(table)

    def _open_writer(self, schema: Any) -> Any:
        return require("pyarrow.ipc", "files", "Writing a map").new_file(self.file, schema)

    def finish(self) -> None:
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer now; otherwise it would write a footer when it is deleted."""
        if self._writer is not None:
            with suppress(OSError, ValueError):
                self._writer.close()
            self._writer.is_open = False


class _ParquetSink(_ArrowSink):
    """Row groups of a Parquet file, with the provenance in its metadata."""

    def _open_writer(self, schema: Any) -> Any:
        return require("pyarrow.parquet", "files", "Writing a map").ParquetWriter(self.file, schema)


SINKS: dict[str, type[Sink]] = {
    ".parquet": _ParquetSink,
    ".csv": _CSVSink,
    ".feather": _ArrowSink,
    ".arrow": _ArrowSink,
    ".npy": Sink,
}
"""The sink for each extension."""


def as_arrow(columns: Block) -> Any:
    """Return columns as an Arrow table; missing numbers are null."""
    pyarrow = require("pyarrow", "files", "Writing Parquet and Arrow files")
    arrays = dict(columns)
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            arrays[name] = pyarrow.array(np.ascontiguousarray(column), from_pandas=True)
    return pyarrow.table(arrays)


def encode_parquet(columns: Block) -> bytes:
    """Return columns as a Parquet file; missing numbers are null."""
    table, content = as_arrow(columns), io.BytesIO()
    require("pyarrow.parquet", "files", "Writing Parquet files").write_table(table, content)
    return content.getvalue()


def encode_provenance(provenance: Mapping[str, Any]) -> str:
    """Return provenance as one line of JSON."""
    return encode_json({"format": FORMAT_VERSION, **provenance})


def read_provenance(path: Path) -> dict[str, Any]:
    """Return how isosne made the map of a table; empty for a map of another program."""
    with SourceFiles(str(path), path).reading():
        line = _read_line(path)
    if line is None:
        return {}
    try:
        provenance = json.loads(line)
        version = int(provenance.pop("format"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(
            f"{path} must be a map written by isosne; it has no provenance. "
            "Pass a map, or read the file as a table."
        ) from None
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path} uses map format {version}; this version of isosne reads formats up to "
            f"{FORMAT_VERSION}. Update isosne."
        )
    return dict(provenance)


def _read_line(path: Path) -> str | bytes | None:
    """Return the provenance of a table as JSON; None if it has none, or has changed since."""
    extension = path.suffix.lower()
    if extension in SINKS and extension != ".csv":
        dataset = require("pyarrow.dataset", "files", f"Reading {path}")
        kind = "parquet" if extension == ".parquet" else "feather"
        metadata: dict[bytes, bytes] = dataset.dataset(path, format=kind).schema.metadata or {}
        return metadata.get(KEY.encode())
    stored = _load_sidecar(sidecar_path(path))
    if stored is None or stored[HASH] == hash_file(path):
        return None if stored is None else json.dumps(stored[KEY])
    warnings.warn(
        f"{sidecar_path(path)} does not describe {path}, which has changed since isosne wrote it. "
        "How the map was made is not known.",
        IsosneWarning,
        stacklevel=2,
    )
    return None


def sidecar_path(path: Path) -> Path:
    """Return the path of the provenance of a map."""
    return path.with_name(f"{path.name}.json")


def _create_sidecar(path: Path, *, force: bool) -> AtomicFile:
    """Create the file of the provenance of a map; an earlier one is replaced."""
    target = sidecar_path(path)
    return AtomicFile(target, force=force or _load_sidecar(target) is not None)


def check_sidecar(path: Path, *, force: bool) -> None:
    """Raise an error if the provenance of a map could not be written; call it before a long run."""
    _create_sidecar(path, force=force).discard()


def _load_sidecar(path: Path) -> dict[str, Any] | None:
    """Return the content of a file of provenance; None if it is anything else."""
    try:
        with open_regular(path) as file:
            stored = json.loads(file.read(LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    is_own = isinstance(stored, dict) and isinstance(stored.get(KEY), dict) and HASH in stored
    return stored if is_own else None
