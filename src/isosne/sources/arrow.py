"""Rows of Arrow tables in groups: row groups of Parquet, record batches of Feather.

Groups are decoded in batches of a few megabytes, so a large group need not fit in memory. The
decoder keeps its position between reads: consecutive blocks decode each group only once.
"""

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.sources.column_selection import ColumnRequest, select_columns
from isosne.sources.row_source import Indices, RowSource
from isosne.sources.side_columns import as_integers_or_text
from isosne.sources.source_files import SourceFiles

BATCH_BYTES = 8_000_000
"""Size of a batch of decoded rows. Chosen, not measured: a few megabytes bound the memory, and the
cost of a batch is small next to that of decoding it."""
COLUMNS = 16
"""Number of columns that are decoded at a time if many rows are taken: the decoder of Parquet holds
a page of each column, of about 1 MB, compressed and not. Chosen, not measured."""
NumberedBatch = tuple[int, Any]
"""The index of the first row of a batch, and the batch."""


class ArrowRows(RowSource):
    """Rows of a table whose groups are read one by one."""

    def __init__(
        self, files: SourceFiles, schema: Any, group_rows: list[int], request: ColumnRequest
    ) -> None:
        self._pa = pa = require("pyarrow", "files", f"Reading {files.name}")
        names = list(schema.names)
        types = [None if _is_numeric(pa, f.type) else str(f.type) for f in schema]
        selection = select_columns(names, types, request, files.name)
        dtypes = [_dtype(pa, schema.field(index).type) for index in selection.indices]
        shape = (sum(group_rows), len(selection.names))
        dtype = np.result_type(*dtypes) if dtypes else np.float64
        super().__init__(files, shape, dtype, column_names=selection.names)
        self.left_out = selection.left_out
        self.side = {name: partial(self._side_column, name) for name in selection.others}
        self._ends = np.cumsum(group_rows, dtype=np.int64)
        self._batch_rows = max(1, BATCH_BYTES // self.row_bytes)
        # The position of the last read, and what comes after it; several threads may read.
        self._lock = threading.Lock()
        self._stopped_at = -1
        self._pending: NumberedBatch | None = None
        self._coming: Iterator[NumberedBatch] = iter(())

    @property
    def can_lack_values(self) -> bool:
        """True: a column of any type can have nulls."""
        return True

    @abstractmethod
    def _batches(self, group: int, names: tuple[str, ...]) -> Iterator[Any]:
        """Yield the record batches of a group, with the named columns in this order."""

    def _read(self, start: int, stop: int) -> Array:
        if stop - start == self.shape[0]:
            return self._take(np.arange(start, stop))
        return self._read_with(self._fill, start, stop)

    def _read_of_type(self, start: int, stop: int) -> Array:
        return self._read_with(self._fill_with_zeros, start, stop)

    def _read_with(self, fill: Callable[..., Array], start: int, stop: int) -> Array:
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        if start == stop:
            return out
        with self._lock:
            for first, batch in self._batches_from(start):
                last = first + batch.num_rows
                low, high = max(first, start), min(last, stop)
                if low < high:
                    part = batch.slice(low - first, high - low)
                    out = fill(out, slice(low - start, high - start), part)
                if last >= stop:
                    self._stopped_at = stop
                    self._pending = (first, batch) if last > stop else None
                    return out
        raise EOFError("it has fewer rows than it declares")

    def _batches_from(self, row: int) -> Iterator[NumberedBatch]:
        """Return the batches from that of a row on; continue if the last read ended there."""
        pending, coming = self._pending, self._coming
        if row != self._stopped_at:
            pending, coming = None, self._decode_from(row)
        self._coming, self._stopped_at = coming, -1
        return chain([] if pending is None else [pending], coming)

    def _decode_from(self, row: int) -> Iterator[NumberedBatch]:
        group = int(np.searchsorted(self._ends, row, side="right"))
        for g in range(group, len(self._ends)):
            yield from self._numbered(g, self._names())

    def _numbered(self, group: int, names: tuple[str, ...]) -> Iterator[NumberedBatch]:
        """Yield the batches of a group once they are validated: a damaged one leads outside."""
        first = self._first_row(group)
        for batch in self._batches(group, names):
            batch.validate(full=True)
            yield first, batch
            first += batch.num_rows
        if first != self._ends[group]:
            raise EOFError("a group has another number of rows than it declares")

    def _take(self, indices: Indices) -> Array:
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        groups = np.unique(np.searchsorted(self._ends, indices, side="right")).tolist()
        with self._lock:
            for c in range(0, self.shape[1], COLUMNS):
                for g in groups:
                    out = self._take_columns(out, indices, g, c)
        if out.nbytes > BATCH_BYTES:  # otherwise Arrow keeps what it decoded in
            self._pa.default_memory_pool().release_unused()
        return out

    def _take_columns(self, out: Array, indices: Indices, group: int, column: int) -> Array:
        """Return ``out`` with the values of a group in COLUMNS columns from `column` on."""
        stop = int(self._ends[group])
        last = np.searchsorted(indices, stop)
        for first, batch in self._numbered(group, self._names()[column : column + COLUMNS]):
            low, high = np.searchsorted(indices, [first, first + batch.num_rows])
            if low < high:
                part = batch.take(self._pa.array(indices[low:high] - first))
                out = self._fill(out, slice(low, high), part, column)
            if high == last and first + batch.num_rows < stop:
                break
        return out

    def _first_row(self, group: int) -> int:
        return int(self._ends[group - 1]) if group else 0

    def _names(self) -> tuple[str, ...]:
        return self.column_names or ()

    def _fill(self, out: Array, rows: slice, batch: Any, first: int = 0) -> Array:
        """Return ``out`` with the values of a batch in some rows; float64 if a value is null.

        first: column of ``out`` that the first column of the batch fills.
        """
        types = self._pa.types
        for c, column in enumerate(batch.columns, first):
            has_nulls = column.null_count and not types.is_floating(column.type)
            if has_nulls and out.dtype.kind != "f":
                out = out.astype(np.float64)
            if has_nulls or types.is_decimal(column.type):
                column = column.cast("float64", safe=False)
            out[rows, c] = column.to_numpy(zero_copy_only=False)
        return out

    def _fill_with_zeros(self, out: Array, rows: slice, batch: Any) -> Array:
        """Return ``out`` with the values of a batch in some rows; its type does not change."""
        types = self._pa.types
        for c, column in enumerate(batch.columns):
            if types.is_decimal(column.type):
                column = column.cast("float64", safe=False)
            elif types.is_integer(column.type):
                column = column.fill_null(0)
            elif types.is_boolean(column.type):
                column = column.fill_null(False)
            out[rows, c] = column.to_numpy(zero_copy_only=False)
        return out

    def batches(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Yield record batches of all rows, with the named columns in their own types."""
        for group in range(len(self._ends)):
            with self._lock, self.files.reading():
                found = [batch for _, batch in self._numbered(group, names)]
            yield from found

    def _side_column(self, name: str) -> Array:
        """Return a column that is not a feature, as integers or text."""
        parts: list[Array] = []
        with self._lock, self.files.reading():
            for group in range(len(self._ends)):
                for _, batch in self._numbered(group, (name,)):
                    column = batch.column(0)
                    if column.null_count:  # NumPy has no missing integers
                        values = np.array(column.to_pylist(), dtype=object)
                    else:
                        values = column.to_numpy(zero_copy_only=False)
                    parts.append(as_integers_or_text(values))
        if any(part.dtype.kind == "U" for part in parts):
            parts = [part.astype(np.str_) for part in parts]
        return np.concatenate(parts)


def _is_numeric(pa: Any, arrow_type: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_boolean(arrow_type)
        or types.is_decimal(arrow_type)
    )


def _dtype(pa: Any, arrow_type: Any) -> np.dtype[Any]:
    is_decimal = pa.types.is_decimal(arrow_type)
    return np.dtype(np.float64 if is_decimal else arrow_type.to_pandas_dtype())
