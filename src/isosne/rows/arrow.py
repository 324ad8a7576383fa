"""Rows of tables in columns: Parquet and Arrow (Feather) files, read by pyarrow in batches.

A file is read as one or more parts: row groups of Parquet, otherwise the whole file. Batches have a
few megabytes, so a large part need not fit in memory. The reader keeps its position: consecutive
blocks read each part only once.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.rows.columns import Request, as_integers_or_text, as_text, is_text, select_columns
from isosne.rows.rows import Indices, Rows, SourceFiles

BATCH_BYTES = 8_000_000
"""Size of a batch of decoded rows. Chosen: it bounds the memory, and costs little to set up."""
BUFFER_BYTES = 262_144
"""Bytes of a column of Parquet that are read at a time, not the whole row group. Chosen."""
TEXT_BYTES = 64
"""Bytes of a text in memory: those of a few words. Chosen."""


class Part(NamedTuple):
    """Consecutive rows; ``scan`` returns their record batches, with the named columns."""

    n_rows: int
    scan: Callable[[list[str]], Iterator[Any]]


class ArrowRows(Rows):
    """Rows of a table in columns."""

    copies_read = 6  # pages of a row group, their columns, a batch, and the array (measured)

    def __init__(
        self,
        files: SourceFiles,
        names: list[str],
        types: Sequence[str | None],
        dtypes: list[Any],
        parts: list[Part],
        request: Request,
    ) -> None:
        """Select features; ``types`` are None, and ``dtypes`` those of NumPy, for numbers."""
        self._pa = require("pyarrow", "files", f"Reading {files.name}")
        selection = select_columns(names, types, request, files.name)
        chosen = [dtypes[index] for index in selection.indices]
        shape = (sum(part.n_rows for part in parts), len(selection.names))
        dtype = np.result_type(*chosen) if chosen else np.float64
        super().__init__(files, shape, dtype, column_names=selection.names)
        self.left_out, self.possible = selection.left_out, selection.possible
        self.side = {name: partial(self._side_column, name) for name in selection.others}
        self._parts = parts
        self._ends = np.cumsum([part.n_rows for part in parts], dtype=np.int64)
        self._lock = threading.Lock()  # several threads may read
        # A part, the index of the first row of the batch read last, that batch, and what follows.
        self._walk: tuple[int, int, Any, Iterator[Any]] | None = None

    def _take(self, indices: Indices) -> Array:
        out, done = np.empty((len(indices), self.shape[1]), self.dtype), 0
        with self._lock:
            while done < len(indices):
                first, batch = self._find_batch(int(indices[done]))
                stop = int(np.searchsorted(indices, first + batch.num_rows))
                chosen = indices[done:stop]
                if int(chosen[-1] - chosen[0]) == len(chosen) - 1:
                    picked = batch.slice(int(chosen[0]) - first, len(chosen))
                else:
                    picked = batch.take(self._pa.array(chosen - first))
                for c, column in enumerate(picked.columns):
                    values = self._as_numbers(column, c, chosen)
                    if values.dtype.kind == "f" and out.dtype.kind != "f":  # it has nulls
                        out = out.astype(np.float64)
                    out[done:stop, c] = values
                done = stop
            if done and indices[-1] == self.shape[0] - 1:
                self._walk = None  # at the end of the rows, it would only hold their last batches
        if out.nbytes > BATCH_BYTES:  # otherwise Arrow keeps what it decoded in
            self._pa.default_memory_pool().release_unused()
        return out

    def _find_batch(self, row: int) -> tuple[int, Any]:
        """Return the first row of the batch with a row, and the batch; walk on where possible."""
        batch: Any = None
        walk, self._walk = self._walk, None
        part = int(np.searchsorted(self._ends, row, side="right"))
        if walk is None or walk[0] != part or walk[1] > row:
            coming = self._parts[part].scan(list(self.column_names or ()))
            stop = int(self._ends[part]) - self._parts[part].n_rows
        else:
            _, first, batch, coming = walk
            stop = first + batch.num_rows
        while row >= stop:
            batch = next(coming, None)
            if batch is None:
                raise EOFError("it has fewer rows than it declares")
            batch.validate(full=True)  # a damaged one leads outside
            stop += batch.num_rows
        first = stop - len(batch)
        self._walk = part, first, batch, coming
        return first, batch

    def _as_numbers(self, column: Any, feature: int, rows: Indices) -> Array:
        """Return the values of a column; float64 with NaN if some are null."""
        types = self._pa.types
        has_nulls = column.null_count and not types.is_floating(column.type)
        if has_nulls or types.is_decimal(column.type):
            column = column.cast("float64", safe=False)
        return self._as_array(column)

    def _as_array(self, column: Any) -> Array:
        """Return a column as an array; nulls are NaN among floats, else None.

        Numbers and text take no conversion of Arrow's, which imports pandas.
        """
        types, kind = self._pa.types, column.type
        is_float, has_nulls = types.is_floating(kind), column.null_count > 0
        if not has_nulls and (is_float or types.is_integer(kind)):
            return np.from_dlpack(column)
        if (has_nulls and not is_float) or types.is_string(kind) or types.is_large_string(kind):
            values = np.empty(len(column), dtype=object)  # NumPy has no missing integers
            values[:] = column.to_pylist()
            return values
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def batches(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Yield record batches of all rows, with the named columns in their own types."""
        for part in self._parts:
            coming = part.scan(list(names))
            while True:
                with self.files.reading():
                    batch = next(coming, None)
                    if batch is None:
                        break
                    batch.validate(full=True)
                yield batch

    def _side_column(self, name: str) -> Array:
        """Return a column that is not a feature, as integers or text."""
        parts: list[Array] = []
        for batch in self.batches((name,)):
            parts.append(as_integers_or_text(self._as_array(batch.column(0))))
        if any(map(is_text, parts)):
            parts = [as_text(part) for part in parts]
        with self.files.reading():
            if sum(map(len, parts)) != self.shape[0]:
                raise ValueError(f"column {name!r} has not {self.shape[0]} values")
        return np.concatenate(parts)


def open_arrow(path: Path, request: Request) -> ArrowRows:
    """Return the rows of a Parquet or Arrow file, or of all Parquet files of a folder.

    Arrow files are also version 2 of Feather.
    """
    paths = _list_folder(path) if path.is_dir() else [path]
    files = SourceFiles(str(path), *paths)
    parts: list[Part] = []
    schema: Any = None
    with files.reading():
        for file in paths:
            is_arrow = file.suffix.lower() in (".feather", ".arrow")
            other, parts_of_file = (_make_part if is_arrow else _list_row_groups)(file)
            schema = schema or other
            _check_schema(schema, other, paths[0], file)
            parts += parts_of_file
        dtypes = [_dtype(arrow_type) for arrow_type in schema.types]
        pairs = zip(dtypes, schema.types, strict=True)
        types = [None if dtype else str(arrow_type) for dtype, arrow_type in pairs]
        return ArrowRows(files, list(schema.names), types, dtypes, parts, request)


def _list_folder(path: Path) -> list[Path]:
    """Return the Parquet files of a folder and its subfolders, sorted by name.

    Numbers in names are compared as numbers: part.2 comes before part.10. Names that start with
    "." or "_" are no data, as for Spark and Arrow.
    """

    def natural(name: Path) -> list[Any]:
        parts = re.split(r"(\d+)", name.as_posix())
        return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]

    names = [p.relative_to(path) for p in path.rglob("*.parquet") if not p.is_dir()]
    data = [n for n in names if not any(part.startswith((".", "_")) for part in n.parts)]
    if not data:
        raise DataError(
            f"A folder must contain files that end in .parquet; {path} has none. "
            "Name the folder that contains them."
        )
    return [path / name for name in sorted(data, key=natural)]


def _list_row_groups(path: Path) -> tuple[Any, list[Part]]:
    parquet = require("pyarrow.parquet", "files", f"Reading {path}")
    with parquet.ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema_arrow

    def scan(group: int, names: list[str]) -> Iterator[Any]:
        """Yield batches of a row group, which pyarrow.dataset would decode as a whole."""
        widths = [_width(schema.field(name).type) for name in names]
        batch_rows = max(1, BATCH_BYTES // max(1, sum(widths)))
        with parquet.ParquetFile(
            path, metadata=metadata, buffer_size=BUFFER_BYTES, pre_buffer=False
        ) as file:
            for batch in file.iter_batches(batch_rows, [group], columns=names, use_threads=False):
                yield batch.select(names)  # "a" also reads "a.b", which looks like a nested column

    groups = range(metadata.num_row_groups)
    return schema, [Part(metadata.row_group(g).num_rows, partial(scan, g)) for g in groups]


def _make_part(path: Path) -> tuple[Any, list[Part]]:
    ipc = require("pyarrow.ipc", "files", f"Reading {path}")
    dataset = require("pyarrow.dataset", "files", f"Reading {path}")
    with path.open("rb") as file:
        fragment = dataset.IpcFileFormat().make_fragment(file)
        schema, n_rows = fragment.physical_schema, fragment.count_rows()  # reads no rows

    def scan(names: list[str]) -> Iterator[Any]:
        """Yield the record batches of a file, one at a time: pyarrow.dataset would read ahead."""
        fields = [schema.get_field_index(name) for name in names]
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with ipc.open_file(str(path), options=options) as file:
            for k in range(file.num_record_batches):
                yield file.get_batch(k).select(names)

    return schema, [Part(n_rows, scan)]


def _width(arrow_type: Any) -> int:
    """Return the bytes of a value."""
    try:
        return max(1, int(arrow_type.bit_width) // 8)
    except ValueError:  # text
        return TEXT_BYTES


def _check_schema(schema: Any, other: Any, first: Path, path: Path) -> None:
    if schema.equals(other, check_metadata=False):
        return
    before, now = (dict(zip(s.names, s.types, strict=True)) for s in (schema, other))
    name = next((n for n in [*before, *now] if before.get(n) != now.get(n)), schema.names[0])
    raise DataError(
        "All files of a folder must have the same columns in the same order; "
        f"column {name!r} is {now.get(name, 'absent')} in {path.name} and "
        f"{before.get(name, 'absent')} in {first.name}. Write the files again with one schema."
    )


def _dtype(arrow_type: Any) -> np.dtype[Any] | None:
    """Return the NumPy type of the values of a numeric column; None for other columns."""
    types = require("pyarrow.types", "files", "Reading a table")
    if types.is_decimal(arrow_type):
        return np.dtype(np.float64)
    is_numeric = types.is_integer(arrow_type) or types.is_floating(arrow_type)
    is_numeric = is_numeric or types.is_boolean(arrow_type)
    return np.dtype(arrow_type.to_pandas_dtype()) if is_numeric else None
