"""Write a map: an Arrow table of id, label, x, y, z and further numbers, and how it was made.

How the map was made, its provenance, is one line of JSON in the metadata of the table. A CSV file
stays a plain table: its provenance is a second file, ``map.csv.json``, with a hash of the map,
because either of the two can be changed without the other.
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

from isosne._checks import check_count
from isosne._extras import require
from isosne._files import AtomicFile, encode_json, hash_file, open_regular, writing_to
from isosne._types import Array
from isosne.errors import DataError, IsosneWarning, ParameterError
from isosne.rows.columns import is_text
from isosne.rows.text import encode_csv

AXES = ("x", "y", "z")
KEY = "isosne"
"""Name of the provenance in the metadata of Parquet and Arrow files."""
COLUMNS = "columns"
"""Entry of the provenance that names the further columns of a map."""
FORMAT_VERSION = 1
"""Version of the layout of map files; higher versions cannot be read."""
STDOUT = "-"
RESERVED = ("id", "label", *AXES)
"""Names of columns that every map may have."""
GROUP_ROWS = 131_072
"""Rows in a row group of Parquet or a record batch of Arrow, 1 MB of coordinates of a map. Chosen,
not measured."""
HASH = "sha256"
LARGEST_BYTES = 2**24
"""Largest file of provenance that is read: 16 MB. Chosen; provenance takes a few kilobytes."""

Block = Mapping[str, Any]
"""Consecutive rows of a map by the names of columns, which are arrays of NumPy or Arrow."""


class MapWriter:
    """Write the rows of a map in order, to a file or to standard output.

    Parameters
    ----------
    path : path or "-"
        File that ends in .parquet, .csv, .feather, .arrow, or in .npy for coordinates alone. "-"
        writes CSV to standard output, without provenance.
    ids : array of int or str, shape (n_samples,), or None
        Unique identifier of each row. None uses the index of the row.
    n_components : int
        Number of dimensions of the map, from 1 to 3.
    provenance : dict
        How the map was made: strings, numbers, lists and dictionaries.
    labels : array of int or str, shape (n_samples,), or None, default=None
        Class of each row.
    columns : mapping from str to array, or None, default=None
        Further columns of finite numbers, one value per row, such as clusters.
    force : bool, default=False
        Whether to replace an existing file.

    Raises
    ------
    OutputError
        If the file exists, cannot be written, or the disk is full.

    Notes
    -----
    Blocks are written to a temporary file in the same folder, which is renamed by `close` once its
    content is on the disk. An error or an interrupt inside ``with`` removes it. Only blocks are
    kept in memory, not the map, except for .npy files.

    Ids and labels of a CSV file that a spreadsheet would take for formulas, such as ``=A1``, get an
    apostrophe in front, which `read_map` removes.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from isosne.rows import MapWriter, read_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with MapWriter(f"{folder}/map.csv", ["a", "b"], 2, {"seed": 0}) as writer:
    ...         writer.write(np.array([[0.5, 1.0], [2.0, 3.0]]))
    ...     read_map(f"{folder}/map.csv").embedding.tolist()
    [[0.5, 1.0], [2.0, 3.0]]
    """

    def __init__(
        self,
        path: str | Path,
        ids: Any,
        n_components: int,
        provenance: Mapping[str, Any],
        *,
        labels: Any = None,
        columns: Mapping[str, Any] | None = None,
        force: bool = False,
    ) -> None:
        hint = "A map has one, two or three dimensions."
        check_count(n_components, "n_components", low=1, high=3, hint=hint)
        self._axes = AXES[:n_components]
        leading = (("id", ids), ("label", labels))
        self._leading = {n: _check_texts(v, f"{n}s") for n, v in leading if v is not None}
        self._trailing = {n: _check_numbers(v, n) for n, v in (columns or {}).items()}
        self._n_expected = _count_rows(self._leading | self._trailing)
        if self._trailing:
            provenance = {**provenance, COLUMNS: list(self._trailing)}
        self._line = encode_provenance(provenance)
        self.n_rows = 0
        self._is_closed = False
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
        """Write the next rows.

        Parameters
        ----------
        Y : array of shape (n_rows, n_components)
            Coordinates, which are stored as float32.
        """
        Y = np.asarray(Y, dtype=np.float32)
        if Y.ndim != 2 or Y.shape[1] != len(self._axes):
            rule = f"have {len(self._axes)} column(s); got shape {Y.shape}"
            raise ParameterError("Y", rule, hint="Pass one row of coordinates per point.")
        if not np.isfinite(Y).all():
            raise DataError(
                f"Coordinates must be finite; rows {self.n_rows} to {self.n_rows + len(Y) - 1} "
                "have NaN or infinite values. Check the points of these rows."
            )
        part = slice(self.n_rows, self.n_rows + len(Y))
        if self._n_expected is not None and part.stop > self._n_expected:
            raise self._wrong_count(part.stop)
        with self._writing():
            self._sink.write(
                {"id": np.arange(part.start, part.stop)}
                | {name: column[part] for name, column in self._leading.items()}
                | dict(zip(self._axes, Y.T, strict=True))
                | {name: column[part] for name, column in self._trailing.items()}
            )
        self.n_rows = part.stop

    def close(self) -> None:
        """Complete the file and rename it; do nothing if it is closed already."""
        if self._is_closed:
            return
        if self.n_rows == 0 or self._n_expected not in (None, self.n_rows):
            self.discard()
            raise self._wrong_count(self.n_rows)
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
        self._is_closed = True

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

    def _wrong_count(self, n_rows: int) -> ParameterError:
        n = self._n_expected
        rule = "have " + ("at least one row" if n is None else f"{n} rows") + " in all"
        return ParameterError("Y", f"{rule}; got {n_rows}", hint="Write each row once, in order.")


def _check_texts(values: Any, name: str) -> Array:
    column = np.asarray(values)
    if column.dtype.kind == "U":
        column = column.astype(object)
    is_known = column.dtype.kind in "uiO" and column.ndim == 1
    if not is_known or (is_text(column) and not all(isinstance(v, str) for v in column)):
        rule = f"be a list of integers or strings; got {column.dtype} of shape {column.shape}"
        raise ParameterError(name, rule, hint="Convert it with astype(int) or astype(str).")
    return column


def _check_numbers(values: Any, name: str) -> Array:
    column = np.asarray(values)
    if name in RESERVED:
        rule = f"have names other than {', '.join(RESERVED)}"
        raise ParameterError("columns", rule, name, "Rename the column.")
    if column.ndim != 1 or column.dtype.kind not in "uif" or not np.isfinite(column).all():
        rule = f"be finite numbers; got {column.dtype} of shape {column.shape} in {name!r}"
        raise ParameterError("columns", rule, hint="Pass one number per row.")
    return column


def _count_rows(columns: Mapping[str, Array]) -> int | None:
    """Return the number of values of every column; None if there are no columns."""
    n_rows = next((len(column) for column in columns.values()), None)
    for name, column in columns.items():
        if len(column) != n_rows:
            parameter = "labels" if name == "label" else "columns"
            rule = f"have {n_rows} values, one per row; got {len(column)} in {name!r}"
            raise ParameterError(parameter, rule, hint="Pass columns of the same table.")
    return n_rows


class Sink:
    """Writes blocks of a map to an open file; ``line`` is the provenance.

    This one keeps the coordinates and writes them at the end as an .npy file.
    """

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
    try:
        return encode_json({"format": FORMAT_VERSION, **provenance})
    except (TypeError, ValueError) as error:
        rule = f"contain only strings, numbers, lists and dictionaries ({error})"
        hint = "Convert other values to one of these types."
        raise ParameterError("provenance", rule, hint=hint) from error


def read_provenance(path: Path) -> dict[str, Any]:
    """Return how isosne made the map of a table; empty for a map of another program."""
    extension = path.suffix.lower()
    if extension in SINKS and extension != ".csv":
        dataset = require("pyarrow.dataset", "files", f"Reading {path}")
        kind = "parquet" if extension == ".parquet" else "feather"
        metadata = dataset.dataset(path, format=kind).schema.metadata or {}
        return decode_provenance(metadata[KEY.encode()], path) if KEY.encode() in metadata else {}
    stored = _load_sidecar(sidecar_path(path))
    if stored is None:
        return {}
    if stored[HASH] != hash_file(path):
        warnings.warn(
            f"{sidecar_path(path)} does not describe {path}, which has changed since isosne wrote "
            "it. How the map was made is not known.",
            IsosneWarning,
            stacklevel=2,
        )
        return {}
    return decode_provenance(json.dumps(stored[KEY]), path)


def decode_provenance(line: str | bytes, path: Path) -> dict[str, Any]:
    """Return provenance from its line; raise an error if a file is not a map of isosne."""
    try:
        provenance = json.loads(line)
        version = int(provenance.pop("format"))
    except (ValueError, TypeError, KeyError, AttributeError):
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
