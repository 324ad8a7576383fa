"""Rows of Dask's arrays and data frames, computed on whatever scheduler is active.

Only the rows that are asked for travel.
"""

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from itertools import accumulate
from typing import Any, Self

import numpy as np

from isosne._extras import require
from isosne._types import Array, Points
from isosne.sources.columns import Wanted, choose_columns, names_in_words, plain_column
from isosne.sources.memory import N_SAMPLED
from isosne.sources.stored import Indices, StoredRows
from isosne.sources.watched import WatchedFiles

LARGE = "distributed.admin.large-graph-warning-threshold"
AT_A_TIME = 64
"""Chunks whose results are on their way at a time."""


class DaskRows(StoredRows):
    """Rows of a Dask array whose chunks have known sizes and hold whole rows."""

    advice = "Impute such values, exclude the column, or leave out the rows (dropna) before."

    def __init__(self, array: Any, *, column_names: tuple[str, ...] | None = None) -> None:
        super().__init__(WatchedFiles("X"), array.shape, array.dtype, column_names=column_names)
        self._dask = require("dask", "dask", "X")
        self._array = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
        self._ends = np.array(list(accumulate(self._array.chunks[0])), dtype=np.int64)

    def _read(self, start: int, stop: int) -> Array:
        return np.asarray(self._array[start:stop].compute(), dtype=self.dtype)

    def _take(self, wanted: Indices) -> Array:
        blocks = np.searchsorted(self._ends, wanted, side="right")
        parts = []
        for b in np.unique(blocks).tolist():
            low, high = np.searchsorted(blocks, [b, b + 1])
            first = int(self._ends[b - 1]) if b else 0
            parts.append(self._array.blocks[b][wanted[low:high] - first])
        out = np.empty((len(wanted), self.shape[1]), self.dtype)
        if parts:
            np.concatenate(self._dask.compute(*parts), out=out, casting="unsafe")
        return out

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield what a function makes of the chunks, in order; it travels to where they are, once.

        Were it not kept there, it would go with every chunk.
        """
        with self._dask.config.set({LARGE: "1TB"}):  # a model may be large, and has to travel
            applied = partial(_apply_checked, function, self._without_array())
            sent = self._dask.delayed(applied, traverse=False).persist()
        firsts = (self._ends - self._array.chunks[0]).tolist()
        chunks = list(zip(self._array.to_delayed()[:, 0], firsts, strict=True))
        for start in range(0, len(chunks), AT_A_TIME):
            yield from self._dask.compute(*(sent(*c) for c in chunks[start : start + AT_A_TIME]))

    def _without_array(self) -> Self:
        """Return what finds and names a value that is not finite, and weighs nothing."""
        light = copy(self)
        light._array = light._dask = None
        light.side = {}
        return light

    def _digest(self, digest: Any) -> None:
        # The names of some collections change from one process to the next.
        rows = np.unique(np.linspace(0, self.shape[0] - 1, N_SAMPLED).astype(np.int64))
        digest.update(self._take(rows).tobytes())


def _apply_checked(
    function: Callable[[Points], Array], rows: DaskRows, chunk: Any, first: int
) -> Array:
    block = np.asarray(chunk, dtype=rows.dtype)
    rows._check_finite(block, range(first, first + len(block)))
    return function(block)


def is_dask(source: Any) -> bool:
    """Return whether something is a Dask collection, without importing Dask."""
    return type(source).__module__.startswith("dask") and hasattr(source, "dask")


def open_dask(source: Any, wanted: Wanted) -> DaskRows:
    """Return the rows of a Dask array or data frame; unknown sizes are computed once."""
    if hasattr(source, "columns"):
        return _open_frame(source, wanted)
    array = source
    if any(np.isnan(size) for size in array.chunks[0]):
        array = array.copy().compute_chunk_sizes()  # the caller's array stays as it is
    return DaskRows(array)


def _open_frame(frame: Any, wanted: Wanted) -> DaskRows:
    columns = list(frame.columns)
    types = list(frame.dtypes)
    kinds = [None if _is_numeric(kind) else str(kind) for kind in types]
    choice = choose_columns(columns, kinds, wanted, "X")
    dtypes = [_numpy_dtype(types[place]) for place in choice.places]
    values = frame[list(choice.names)].astype(np.result_type(*dtypes))
    lengths = tuple(frame.map_partitions(len).compute().tolist())
    names = names_in_words(choice.names)
    rows = DaskRows(values.to_dask_array(lengths=lengths), column_names=names)
    rows.left_out = choice.left_out
    rows.side = {name: partial(_side_column, frame[name]) for name in choice.others}
    return rows


def _is_numeric(kind: Any) -> bool:
    return getattr(kind, "kind", "O") in "buif"


def _numpy_dtype(kind: Any) -> np.dtype[Any]:
    """Return the type of a column's values; nullable ones may hold NaN, and become float64."""
    return kind if isinstance(kind, np.dtype) else np.dtype(np.float64)


def _side_column(column: Any) -> Array:
    values = column.compute()
    if values.isna().any():
        return plain_column(values.to_numpy(dtype=object, na_value=None))
    return plain_column(values.to_numpy())
