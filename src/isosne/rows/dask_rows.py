"""Rows of Dask arrays and data frames, computed by the active Dask scheduler.

Only the rows that are asked for are transferred to this process.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import partial
from itertools import accumulate
from typing import Any, Self

import numpy as np

from isosne._extras import require
from isosne._types import Array, Points
from isosne.rows.arrays import N_SAMPLED
from isosne.rows.columns import Request, as_integers_or_text, select_columns, string_names
from isosne.rows.rows import Indices, Rows, SourceFiles

GRAPH_WARNING = "distributed.admin.large-graph-warning-threshold"
CHUNKS_IN_FLIGHT = 64
"""Chunks whose results are computed at a time, which bounds the memory of the results. Chosen, not
measured."""


class DaskRows(Rows):
    """Rows of a Dask array whose chunks have known sizes and contain whole rows."""

    n_sampled = N_SAMPLED  # of values: the names of some collections differ between processes
    advice = "Impute such values, exclude the column, or drop the rows with dropna beforehand."

    def __init__(self, array: Any, *, column_names: tuple[str, ...] | None = None) -> None:
        super().__init__(SourceFiles("X"), array.shape, array.dtype, column_names=column_names)
        self._dask = require("dask", "dask", "Reading a Dask collection")
        self._array = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
        self._ends = np.array(list(accumulate(self._array.chunks[0])), dtype=np.int64)

    def _read(self, start: int, stop: int) -> Array:
        return _as_values(self._array[start:stop].compute(), self.dtype)

    def _take(self, indices: Indices) -> Array:
        blocks = np.searchsorted(self._ends, indices, side="right")
        parts = []
        for b in np.unique(blocks).tolist():
            low, high = np.searchsorted(blocks, [b, b + 1])
            first = int(self._ends[b - 1]) if b else 0
            parts.append(self._array.blocks[b][indices[low:high] - first])
        if parts:
            values = [_as_values(part, self.dtype) for part in self._dask.compute(*parts)]
            return np.concatenate(values)
        return np.empty((0, self.shape[1]), self.dtype)

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield the results of a function on the chunks, in order.

        The function is sent to the workers once, and runs where the chunks are.
        """
        # Without `persist`, the function would be sent again with every chunk.
        with self._quiet_graphs():
            applied = partial(_apply_checked, function, self._without_array())
            sent = self._dask.delayed(applied, traverse=False).persist()
        firsts = (self._ends - self._array.chunks[0]).tolist()
        chunks = list(zip(self._array.to_delayed()[:, 0], firsts, strict=True))
        for start in range(0, len(chunks), CHUNKS_IN_FLIGHT):
            part = chunks[start : start + CHUNKS_IN_FLIGHT]
            yield from self._dask.compute(*(sent(*chunk) for chunk in part))

    def _quiet_graphs(self) -> AbstractContextManager[object]:
        """Return a context without warnings about large graphs: a function may contain a model.

        Only Dask's cluster warns. Its settings are loaded when it is imported, and if that happens
        inside the context, the end of the context removes them all; so nothing is set before.
        """
        if "distributed" not in sys.modules:
            return nullcontext()
        quiet: AbstractContextManager[object] = self._dask.config.set({GRAPH_WARNING: "1TB"})
        return quiet

    def _without_array(self) -> Self:
        """Return a small copy for the workers, which only checks values and words errors."""
        light = copy(self)
        light._array = light._dask = None
        light.side = {}
        return light


def _apply_checked(
    function: Callable[[Points], Array], rows: DaskRows, chunk: Any, first: int
) -> Array:
    block = _as_values(chunk, rows.dtype)
    rows._check_finite(block, range(first, first + len(block)))
    return function(block)


def _as_values(chunk: Any, dtype: np.dtype[Any]) -> Array:
    """Return the values of a chunk; masked ones are NaN, for which integers become float64."""
    if np.ma.is_masked(chunk):
        wide = np.result_type(dtype, np.float16 if dtype.kind == "f" else np.float64)
        return np.ma.filled(chunk.astype(wide), np.nan)
    return np.asarray(chunk, dtype=dtype)


def is_dask(source: Any) -> bool:
    """Return whether an object is a Dask collection, without importing Dask."""
    return type(source).__module__.startswith("dask") and hasattr(source, "dask")


def open_dask(source: Any, request: Request) -> DaskRows:
    """Return the rows of a Dask array or data frame; unknown chunk sizes are computed once."""
    if hasattr(source, "columns"):
        return _open_frame(source, request)
    array = source
    if any(np.isnan(size) for size in array.chunks[0]):
        array = array.copy().compute_chunk_sizes()  # works in place; the original must not change
    return DaskRows(array)


def _open_frame(frame: Any, request: Request) -> DaskRows:
    columns = list(frame.columns)
    dtypes = list(frame.dtypes)
    types = [None if _is_numeric(dtype) else str(dtype) for dtype in dtypes]
    selection = select_columns(columns, types, request, "X")
    value_dtypes = [_numpy_dtype(dtypes[index]) for index in selection.indices]
    values = frame[list(selection.names)].astype(np.result_type(*value_dtypes))
    first = frame[columns[:1]]  # of a Parquet file, only this column is read
    lengths = tuple(first.map_partitions(len).compute().tolist())
    names = string_names(selection.names)
    rows = DaskRows(values.to_dask_array(lengths=lengths), column_names=names)
    rows.left_out = selection.left_out
    rows.side = {name: partial(_side_column, frame[name]) for name in selection.others}
    return rows


def _is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "buif"


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy type of a column; nullable types become float64, which has NaN."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(np.float64)


def _side_column(column: Any) -> Array:
    values = column.compute()
    if values.isna().any():
        return as_integers_or_text(values.to_numpy(dtype=object, na_value=None))
    return as_integers_or_text(values.to_numpy())
