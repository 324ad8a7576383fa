"""Rows of Arrow's columns, which lie in groups: Parquet's row groups, record batches of Feather.

Groups are decoded in batches of a few megabytes, so a large group need not fit in memory. A
place is kept between reads: rows that are read one block after the other are decoded once.
"""

import threading
from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.sources.columns import Wanted, choose_columns, plain_column
from isosne.sources.stored import Indices, StoredRows
from isosne.sources.watched import WatchedFiles

BATCH_BYTES = 8_000_000
Place = tuple[int, Any]
"""The number of a batch's first row, and the batch."""


class ArrowRows(StoredRows):
    """Rows of a table whose groups are at hand one by one."""

    def __init__(
        self, watched: WatchedFiles, schema: Any, group_rows: list[int], wanted: Wanted
    ) -> None:
        self._pa = pa = require("pyarrow", "files", watched.name)
        names = list(schema.names)
        kinds = [None if _is_numeric(pa, f.type) else str(f.type) for f in schema]
        choice = choose_columns(names, kinds, wanted, watched.name)
        dtypes = [_dtype(pa, schema.field(place).type) for place in choice.places]
        shape = (sum(group_rows), len(choice.names))
        super().__init__(watched, shape, np.result_type(*dtypes), column_names=choice.names)
        self.left_out = choice.left_out
        self.side = {name: partial(self._side_column, name) for name in choice.others}
        self._ends = np.cumsum(group_rows, dtype=np.int64)
        self._batch_rows = max(1, BATCH_BYTES // self.row_bytes)
        self._lock = threading.Lock()
        self._stopped_at = -1
        self._pending: Place | None = None
        self._coming: Iterator[Place] = iter(())

    @property
    def can_lack_values(self) -> bool:
        """True: a null can be in a column of any type."""
        return True

    @abstractmethod
    def _batches(self, group: int, names: tuple[str, ...]) -> Iterator[Any]:
        """Yield the record batches of a group, with these columns in this order."""

    def _read(self, start: int, stop: int) -> Array:
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        if start == stop:
            return out
        with self._lock:
            for first, batch in self._continue(start):
                last = first + batch.num_rows
                low, high = max(first, start), min(last, stop)
                if low < high:
                    part = batch.slice(low - first, high - low)
                    out = self._fill(out, slice(low - start, high - start), part)
                if last >= stop:
                    self._stopped_at = stop
                    self._pending = (first, batch) if last > stop else None
                    break
        return out

    def _continue(self, row: int) -> Iterator[Place]:
        """Return batches from the one that holds a row on; from the last place if it is there."""
        pending, coming = self._pending, self._coming
        if row != self._stopped_at:
            pending, coming = None, self._walk(row)
        self._coming, self._stopped_at = coming, -1
        return chain([] if pending is None else [pending], coming)

    def _walk(self, row: int) -> Iterator[Place]:
        group = int(np.searchsorted(self._ends, row, side="right"))
        for g in range(group, len(self._ends)):
            first = self._first_row(g)
            for batch in self._batches(g, self._names()):
                yield first, batch
                first += batch.num_rows

    def _take(self, wanted: Indices) -> Array:
        out = np.empty((len(wanted), self.shape[1]), self.dtype)
        groups = np.searchsorted(self._ends, wanted, side="right")
        with self._lock:
            for g in np.unique(groups).tolist():
                last = int(np.searchsorted(groups, g, side="right"))
                first = self._first_row(g)
                for batch in self._batches(g, self._names()):
                    low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
                    if low < high:
                        part = batch.take(self._pa.array(wanted[low:high] - first))
                        out = self._fill(out, slice(low, high), part)
                    first += batch.num_rows
                    if high == last:
                        break
        return out

    def _first_row(self, group: int) -> int:
        return int(self._ends[group - 1]) if group else 0

    def _names(self) -> tuple[str, ...]:
        return self.column_names or ()

    def _fill(self, out: Array, rows: slice, batch: Any) -> Array:
        """Return ``out`` with the values of a batch in its rows; as float64 where one is null."""
        types = self._pa.types
        for c, column in enumerate(batch.columns):
            has_gaps = column.null_count and not types.is_floating(column.type)
            if has_gaps and out.dtype.kind != "f":
                out = out.astype(np.float64)
            if has_gaps or types.is_decimal(column.type):
                column = column.cast("float64", safe=False)
            out[rows, c] = column.to_numpy(zero_copy_only=False)
        return out

    def _side_column(self, name: str) -> Array:
        """Return a column that is not a value of the points: integers, or anything as text."""
        parts: list[Array] = []
        with self._lock, self.watched.reading():
            for group in range(len(self._ends)):
                for batch in self._batches(group, (name,)):
                    column = batch.column(0)
                    if column.null_count:  # NumPy has no integers that are missing
                        parts.append(plain_column(np.array(column.to_pylist(), dtype=object)))
                    else:
                        parts.append(plain_column(column.to_numpy(zero_copy_only=False)))
        if any(part.dtype.kind == "U" for part in parts):
            parts = [part.astype(np.str_) for part in parts]
        return np.concatenate(parts)


def _is_numeric(pa: Any, kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _dtype(pa: Any, kind: Any) -> np.dtype[Any]:
    return np.dtype(np.float64 if pa.types.is_decimal(kind) else kind.to_pandas_dtype())
