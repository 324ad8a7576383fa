"""Base class of all sources: checks of indices and values, of files, and fingerprints.

A subclass implements `_read` and `_take`, which receive checked arguments.
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
from isosne.errors import DataError, MissingValuesError, ParameterError, keyword
from isosne.rows.rows import blocks
from isosne.rows.source_files import SourceFiles

Indices = NDArray[np.int64]


class RowSource(ABC):
    """Rows whose indices, values and files are checked when they are read."""

    is_sparse = False
    advice: str | None = None
    """What to do about values that are not finite; None: impute or drop them."""

    def __init__(
        self,
        files: SourceFiles,
        shape: tuple[int, ...],
        dtype: Any,
        *,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        self.files = files
        # No names at all: a table without numeric columns, whose reader has allowed that.
        check_table(files.name, shape, np.dtype(dtype), min_columns=int(column_names != ()))
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype).newbyteorder("=")
        self.column_names = column_names
        self.row_bytes = max(1, self.shape[1] * self.dtype.itemsize)
        self.side: Mapping[str, Callable[[], Array]] = {}
        self.left_out: tuple[str, ...] = ()

    @property
    def can_lack_values(self) -> bool:
        """Whether the values can include missing ones."""
        return bool(self.dtype.kind == "f")

    @abstractmethod
    def _read(self, start: int, stop: int) -> Points:
        """Return the rows from `start` up to `stop`."""

    @abstractmethod
    def _take(self, indices: Indices) -> Points:
        """Return the rows with the given indices, which are distinct and in ascending order."""

    def read(self, rows: slice) -> Points:
        """Return consecutive rows; all values are finite. The result must not be modified."""
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ParameterError(
                "rows", "be a slice of consecutive rows", rows, "Use take for other rows."
            )
        stop = max(start, stop)
        with self.files.reading():
            block = self._read(start, stop)
        self._check_finite(block, range(start, stop))
        return block

    def take(self, indices: Any, *, allow_missing: bool = False) -> Points:
        """Return rows by index, in any order and with repetitions.

        Reads as little as the format allows. All values are finite, except that missing values
        are NaN if `allow_missing` is true.
        """
        indices = self._check_indices(indices)
        distinct, inverse = indices, None
        if np.any(np.diff(indices) <= 0):
            distinct, inverse = np.unique(indices, return_inverse=True)
        with self.files.reading():
            block = self._take(distinct)
        if not allow_missing:
            self._check_finite(block, distinct)
        return block if inverse is None else block[inverse]

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield the results of a function on blocks of about `n_bytes`, in order."""
        for rows in blocks(self, n_bytes):
            yield function(self.read(rows))

    def describe(self) -> str:
        """Return the name of the source in messages."""
        return self.files.name

    def fingerprint(self) -> str:
        """Return a hash of samples of the content, which changes when the source changes."""
        digest = sha256(f"{self.shape} {self.dtype.str} {self.column_names}".encode())
        with self.files.reading():
            self._digest(digest)
        return digest.hexdigest()[:32]

    def _digest(self, digest: Any) -> None:
        """Update a hash with samples of the content."""
        self.files.digest(digest)

    def _where(self, row: int) -> str:
        """Return the location of a row in messages."""
        return f"row {row} (counting from 0)"

    def _column(self, column: int) -> str:
        """Return the name or the index of a feature in messages."""
        return f"column {self.column_names[column]!r}" if self.column_names else f"column {column}"

    def _check_finite(self, block: Points, rows: Any) -> None:
        """Raise an error if a value is not finite; ``rows[i]`` is the index of row i of a block."""
        bad_rows, bad_columns = find_not_finite(block)
        if len(bad_rows) == 0:
            return
        row, column = int(bad_rows[0]), int(bad_columns[0])
        is_missing = bool(np.isnan(block[row, column]))
        what = "a missing value" if is_missing else "an infinite value"
        n_bad = len(bad_rows)
        count = "" if n_bad == 1 else f" ({n_bad} of the values read are not finite)"
        advice = self.advice or (
            "Impute such values, exclude the column, or pass "
            f"{keyword('missing', 'drop')} to leave out the rows."
        )
        raise (MissingValuesError if is_missing and not self.is_sparse else DataError)(
            f"Every value must be a finite number; {self.describe()} has {what} in "
            f"{self._where(int(rows[row]))}, {self._column(column)}{count}. {advice}"
        )

    def _check_indices(self, indices: Any) -> Indices:
        found = np.asarray(indices)
        if found.size == 0:
            return np.empty(0, np.int64)
        n_rows = self.shape[0]
        if found.ndim != 1 or found.dtype.kind not in "ui":
            raise ParameterError(
                "indices",
                f"be a list of integers, not {found.dtype} of shape {found.shape}",
                hint="Pass the indices of rows.",
            )
        low, high = int(found.min()), int(found.max())
        if low < 0 or high >= n_rows:
            raise ParameterError(
                "indices",
                f"be from 0 to {n_rows - 1}, the last row of {self.describe()}",
                low if low < 0 else high,
                "Pass the indices of existing rows.",
            )
        return found.astype(np.int64)


def find_not_finite(block: Points) -> tuple[Indices, Indices]:
    """Return the rows and the columns of the values that are not finite, in the order of rows."""
    values = block.data if isinstance(block, csr_array) else block
    none = np.empty(0, np.int64)
    if values.dtype.kind != "f":
        return none, none
    # The sum is finite for almost all data, and needs no array of the size of the block.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return none, none
    if not isinstance(block, csr_array):
        rows, columns = np.nonzero(~np.isfinite(values))
        return rows, columns
    entries = np.flatnonzero(~np.isfinite(values))
    rows = np.searchsorted(block.indptr, entries, side="right") - 1
    return rows, block.indices[entries].astype(np.int64)


def check_table(
    name: str, shape: tuple[int, ...], dtype: np.dtype[Any], *, min_columns: int = 1
) -> None:
    """Raise an error if an array is not a nonempty table of real numbers."""
    if len(shape) != 2:
        raise DataError(
            f"{name} must be two-dimensional, with one point per row; got shape {tuple(shape)}. "
            "Reshape it, or choose another array."
        )
    if dtype.kind not in "buif":
        raise DataError(
            f"{name} must be numeric; got dtype {dtype}. "
            "Encode values that are not real numbers, or leave them out."
        )
    if shape[0] < 1 or shape[1] < min_columns:
        raise DataError(
            f"{name} must have at least one row and one numeric column; "
            f"got {shape[0]} row(s) and {shape[1]} column(s). Pass a table that contains values."
        )


def group_nearby(starts: Indices, stops: Indices, *, max_gap: int, window: int) -> Iterator[slice]:
    """Yield slices of consecutive ranges that are faster to read together than one by one.

    The ranges are in ascending order. Within a slice they are at most `max_gap` apart and start
    in the same window of size `window`, which bounds the size of a read.
    """
    if len(starts) == 0:
        return
    windows = starts // max(1, window)
    is_new = (starts[1:] - stops[:-1] > max_gap) | (windows[1:] != windows[:-1])
    bounds = [0, *(np.flatnonzero(is_new) + 1).tolist(), len(starts)]
    for low, high in pairwise(bounds):
        yield slice(low, high)
