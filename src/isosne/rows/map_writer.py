"""Write a map in blocks to a file that appears under its name only when it is complete.

A block of a map is a dictionary of columns: id, label, x, y, z, and further numbers. How the map
was made, its provenance, is one line of JSON. Beside a CSV file it is a file of its own,
``map.csv.json``, so that the table itself stays plain. That file has a hash of the map, because
either of the two can be changed without the other.
"""

import io
import json
import sys
import warnings
import weakref
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from isosne._checks import check_count
from isosne._extras import require
from isosne._files import AtomicFile, encode_json, hash_file, open_regular, writing_to
from isosne._types import Array
from isosne.errors import DataError, IsosneWarning, ParameterError
from isosne.rows.columns import as_text, is_text
from isosne.rows.text import encode_csv

AXES = ("x", "y", "z")
KEY = "isosne"
"""Name of the provenance in the metadata of Parquet and Arrow files and in .npz files."""
COLUMNS = "columns"
"""Entry of the provenance that names the further columns of a map."""
FORMAT_VERSION = 1
"""Version of the layout of map files; higher versions cannot be read."""
STDOUT = "-"
RESERVED = ("id", "ids", "label", "labels", "embedding", KEY, *AXES)
"""Names of columns and arrays that every map may have."""
GROUP_ROWS, TEXT_BYTES = 131_072, 4_000_000
"""Rows in a row group of Parquet or a record batch of Arrow, 1 MB of coordinates of a map; bytes of
text of an .npz file that are encoded at a time. Chosen, not measured."""
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
        File that ends in .parquet, .csv, .npz, .feather, .arrow, .h5ad, or in .npy for coordinates
        alone. "-" writes CSV to standard output, without provenance.
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
    obs : pandas.DataFrame or None, default=None
        Columns about the rows, which an .h5ad file keeps; other formats leave them out.
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
    kept in memory, not the map, except for .npy, .npz and .h5ad files.

    A CSV file is a plain table; its provenance is in a second file, ``map.csv.json``. Ids and
    labels that a spreadsheet would take for formulas, such as ``=A1``, get an apostrophe in front,
    which `read_map` removes. An .h5ad file has the map in ``obsm["X_isosne"]``, and the ids as the
    index of obs. Its columns are those of ``obs``, or the labels.

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
        obs: Any = None,
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
        line = encode_provenance(provenance)
        self.n_rows = 0
        self._is_closed = False
        self._target: AtomicFile | None = None
        self._sidecar: AtomicFile | None = None
        if str(path) == STDOUT:
            self._sink: Sink = _CSVSink(sys.stdout.buffer, line)
            return
        make_sink = SINKS.get(Path(path).suffix.lower())
        if make_sink is None:
            rule = f"be '-' or a file that ends in one of {', '.join(SINKS)}"
            raise ParameterError("path", rule, str(path), "Choose one of these extensions.")
        self._target = AtomicFile(Path(path), force=force)
        try:
            self._sink = make_sink(self._target.file, line, obs)
            if make_sink is _CSVSink:
                self._sidecar = _create_sidecar(self._target.path, force=force)
        except BaseException:
            self._target.discard()
            raise
        weakref.finalize(self, _discard, self._sink, self._target, self._sidecar)

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
            if self._sidecar is not None and isinstance(self._sink, _CSVSink):
                self._sidecar.file.write(self._sink.sidecar())
            for target in (self._target, self._sidecar):
                if target is not None:
                    target.commit()
        self._is_closed = True

    def discard(self) -> None:
        """Remove the incomplete file."""
        _discard(self._sink, self._target, self._sidecar)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        (self.close if kind is None else self.discard)()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with writing_to("standard output" if self._target is None else self._target.path):
                yield
        except BaseException:
            self.discard()
            raise

    def _wrong_count(self, n_rows: int) -> ParameterError:
        n = self._n_expected
        rule = "have " + ("at least one row" if n is None else f"{n} rows") + " in all"
        return ParameterError("Y", f"{rule}; got {n_rows}", hint="Write each row once, in order.")


def _discard(sink: "Sink", *targets: AtomicFile | None) -> None:
    sink.abandon()
    for target in targets:
        if target is not None:
            target.discard()


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
    lengths = {name: len(column) for name, column in columns.items()}
    n_rows = next(iter(lengths.values()), None)
    for name, length in lengths.items():
        if length != n_rows:
            parameter = "labels" if name == "label" else "columns"
            rule = f"have {n_rows} values, one per row; got {length} in {name!r}"
            raise ParameterError(parameter, rule, hint="Pass columns of the same table.")
    return n_rows


class Sink(ABC):
    """Write blocks in order to an open file.

    ``line`` is the provenance, ``obs`` a data frame for .h5ad files.
    """

    def __init__(self, file: BinaryIO, line: str, obs: Any = None) -> None:
        self.file, self.line, self.obs = file, line, obs
        self._blocks: list[Any] = []

    def write(self, block: Block) -> None:
        """Write the next rows, or keep them until `finish`."""
        self._blocks.append(block)

    @abstractmethod
    def finish(self) -> None:
        """Write the rest of the file."""

    def abandon(self) -> None:
        """Release resources other than the file, without completing it."""
        return

    def _columns(self) -> dict[str, Array]:
        """Return the columns of all blocks that were kept."""
        names = self._blocks[0]
        return {name: np.concatenate([block[name] for block in self._blocks]) for name in names}


class _CSVSink(Sink):
    """A header and a line per row, without provenance; coordinates round-trip exactly."""

    _digest: Any = None

    def write(self, block: Block) -> None:
        content = encode_csv(block, header=self._digest is None)
        self._digest = self._digest or sha256()
        self._digest.update(content)
        self.file.write(content)

    def finish(self) -> None:
        self.file.flush()

    def sidecar(self) -> bytes:
        """Return the content of the file of provenance."""
        about = {KEY: json.loads(self.line), HASH: self._digest.hexdigest()}
        return encode_json(about, indent=1).encode()


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


class _NpySink(Sink):
    """Coordinates only, without provenance."""

    def finish(self) -> None:
        np.save(self.file, _coordinates(self._columns()), allow_pickle=False)


class _NpzSink(Sink):
    """Arrays embedding, ids, labels and other columns; provenance as text in the array isosne."""

    def finish(self) -> None:
        columns, plural = self._columns(), {"id": "ids", "label": "labels"}
        arrays = {"embedding": _coordinates(columns)}
        arrays |= {plural.get(name, name): v for name, v in columns.items() if name not in AXES}
        with zipfile.ZipFile(self.file, "w", zipfile.ZIP_STORED) as archive:
            for name, array in (arrays | {KEY: np.array(self.line)}).items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    _write_array(member, array)


class _H5adSink(Sink):
    """An AnnData file: the map in obsm, ids and columns in obs, provenance in uns."""

    def finish(self) -> None:
        what, columns = "Writing a map as .h5ad", self._columns()
        pandas, h5py = (require(name, "anndata", what) for name in ("pandas", "h5py"))
        obs = pandas.DataFrame() if self.obs is None else self.obs.copy()
        obs.index = pandas.Index(as_text(columns["id"]), dtype=object)
        if "label" in columns and self.obs is None:
            obs["label"] = pandas.Categorical(as_text(columns["label"]))
        for name in (name for name in columns if name not in RESERVED):
            obs[name] = columns[name]
        obsm, uns = {f"X_{KEY}": _coordinates(columns)}, {KEY: {"provenance": self.line}}
        data = require("anndata", "anndata", what).AnnData(obs=obs, obsm=obsm, uns=uns)
        content = io.BytesIO()  # HDF5 would lock the file, which is locked already
        with h5py.File(content, "w") as file:
            require("anndata.io", "anndata", what).write_elem(file, "/", data)
        self.file.write(content.getbuffer())


SINKS: dict[str, type[Sink]] = {
    ".parquet": _ParquetSink,
    ".csv": _CSVSink,
    ".npz": _NpzSink,
    ".npy": _NpySink,
    ".feather": _ArrowSink,
    ".arrow": _ArrowSink,
    ".h5ad": _H5adSink,
}
"""The sink for each extension."""


def _coordinates(block: Block) -> Array:
    return np.column_stack([block[axis] for axis in AXES if axis in block])


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


def decode_provenance(line: str | bytes | None, source: str) -> dict[str, Any]:
    """Return provenance from its line; raise an error if a file is not a map of isosne."""
    try:
        provenance = json.loads(line or "")
        version = int(provenance.pop("format"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DataError(
            f"{source} must be a map written by isosne; it has no provenance. "
            "Pass a map, or read the file as a table."
        ) from None
    if version > FORMAT_VERSION:
        raise DataError(
            f"{source} uses map format {version}; this version of isosne reads formats up to "
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


def read_sidecar(path: Path) -> dict[str, Any]:
    """Return the provenance of a map; empty if there is none, or if the map has changed."""
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
    return decode_provenance(json.dumps(stored[KEY]), str(path))


def _load_sidecar(path: Path) -> dict[str, Any] | None:
    """Return the content of a file of provenance; None if it is anything else."""
    try:
        with open_regular(path) as file:
            stored = json.loads(file.read(LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    is_own = isinstance(stored, dict) and isinstance(stored.get(KEY), dict) and HASH in stored
    return stored if is_own else None
