"""What all sources share: bounds, finite values, files that stay the same, fingerprints.

A source supplies `_read` and `_take`; these trust what they get.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError
from isosne.sources.base import blocks
from isosne.sources.watched import WatchedFiles

Indices = NDArray[np.int64]


class StoredRows(ABC):
    """Base of the sources."""

    is_sparse = False
    advice = "Impute such values, exclude the column, or leave out the rows (missing='drop')."

    def __init__(
        self,
        watched: WatchedFiles,
        shape: tuple[int, ...],
        dtype: Any,
        *,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        self.watched = watched
        check_table(watched.name, shape, np.dtype(dtype))
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype).newbyteorder("=")
        self.column_names = column_names
        self.row_bytes = max(1, self.shape[1] * self.dtype.itemsize)
        self.side: Mapping[str, Callable[[], Array]] = {}
        self.left_out: tuple[str, ...] = ()

    @property
    def can_lack_values(self) -> bool:
        """Whether the type of the values allows for missing ones."""
        return bool(self.dtype.kind == "f")

    @abstractmethod
    def _read(self, start: int, stop: int) -> Points:
        """Return rows from start up to stop."""

    @abstractmethod
    def _take(self, wanted: Indices) -> Points:
        """Return the rows named, which are in order and distinct."""

    def read(self, rows: slice) -> Points:
        """Return consecutive rows; every value is finite. Not to be written to."""
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ParameterError(
                f"rows must be a slice of consecutive rows; got {rows}. Use take for others."
            )
        stop = max(start, stop)
        with self.watched.reading():
            block = self._read(start, stop)
        self._check_finite(block, range(start, stop))
        return block

    def take(self, indices: Any, *, allow_missing: bool = False) -> Points:
        """Return any rows, in any order, repeated or not; reads as little as the format allows.

        Every value is finite, unless missing ones are allowed, which are NaN.
        """
        indices = self._as_indices(indices)
        wanted, places = indices, None
        if np.any(np.diff(indices) <= 0):
            wanted, places = np.unique(indices, return_inverse=True)
        with self.watched.reading():
            block = self._take(wanted)
        if not allow_missing:
            self._check_finite(block, wanted)
        return block if places is None else block[places]

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield what a function makes of blocks of about n_bytes, in the order of the rows."""
        for rows in blocks(self, n_bytes):
            yield function(self.read(rows))

    def describe(self) -> str:
        """Return the name by which messages call the source."""
        return self.watched.name

    def fingerprint(self) -> str:
        """Return a hash that changes when the source does, from a few samples of its content."""
        digest = sha256(f"{self.shape} {self.dtype.str} {self.column_names}".encode())
        with self.watched.reading():
            self._digest(digest)
        return digest.hexdigest()[:32]

    def _digest(self, digest: Any) -> None:
        """Feed what tells this content from another to a hash."""
        self.watched.digest(digest)

    def _where(self, row: int) -> str:
        return f"row {row} (the first is row 0)"

    def _column(self, column: int) -> str:
        return f"column {self.column_names[column]!r}" if self.column_names else f"column {column}"

    def _check_finite(self, block: Points, rows: Any) -> None:
        bad_rows, bad_columns = find_not_finite(block)
        if len(bad_rows) == 0:
            return
        row, column = int(bad_rows[0]), int(bad_columns[0])
        what = "a missing value" if np.isnan(block[row, column]) else "an infinite value"
        n_bad = len(bad_rows)
        count = "" if n_bad == 1 else f"; {n_bad} of the values read are not finite"
        raise DataError(
            f"Every value must be a finite number; {self.describe()} has {what} in "
            f"{self._where(int(rows[row]))}, {self._column(column)}{count}. {self.advice}"
        )

    def _as_indices(self, indices: Any) -> Indices:
        found = np.asarray(indices)
        if found.size == 0:
            return np.empty(0, np.int64)
        n_rows = self.shape[0]
        if found.ndim != 1 or found.dtype.kind not in "ui":
            raise ParameterError(
                "indices must be a list of integers; got "
                f"{found.dtype} of shape {found.shape}. Pass the numbers of rows."
            )
        low, high = int(found.min()), int(found.max())
        if low < 0 or high >= n_rows:
            wrong = low if low < 0 else high
            raise ParameterError(
                f"indices must be from 0 to {n_rows - 1}, the rows of {self.describe()}; "
                f"got {wrong}. Pass numbers of rows that exist."
            )
        return found.astype(np.int64)


def find_not_finite(block: Points) -> tuple[Indices, Indices]:
    """Return the rows and the columns of values that are not finite, row by row."""
    values = block.data if isinstance(block, csr_array) else block
    nowhere = np.empty(0, np.int64)
    if values.dtype.kind != "f":
        return nowhere, nowhere
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return nowhere, nowhere
    if not isinstance(block, csr_array):
        rows, columns = np.nonzero(~np.isfinite(values))
        return rows, columns
    places = np.flatnonzero(~np.isfinite(values))
    rows = np.searchsorted(block.indptr, places, side="right") - 1
    return rows, block.indices[places].astype(np.int64)


def check_table(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse what is not a table of real numbers."""
    if len(shape) != 2:
        raise DataError(
            f"{name} must be two-dimensional, one point in each row; got shape {tuple(shape)}. "
            "Reshape it, or name another array."
        )
    if dtype.kind not in "buif":
        raise DataError(
            f"{name} must be numeric; got dtype {dtype}. "
            "Encode or leave out what is not a real number."
        )
    if shape[0] == 0 or shape[1] == 0:
        raise DataError(
            f"{name} must have at least one row and one numeric column; "
            f"got {shape[0]} row(s) and {shape[1]} column(s). Pass a table with values."
        )


def near(starts: Indices, stops: Indices, *, gap: int, longest: int) -> Iterator[slice]:
    """Yield runs of pieces in order that are better read together than one by one.

    Neighbors in a run are at most `gap` apart, and begin in the same window of `longest`.
    """
    if len(starts) == 0:
        return
    window = starts // max(1, longest)
    apart = (starts[1:] - stops[:-1] > gap) | (window[1:] != window[:-1])
    bounds = [0, *(np.flatnonzero(apart) + 1).tolist(), len(starts)]
    for low, high in pairwise(bounds):
        yield slice(low, high)
