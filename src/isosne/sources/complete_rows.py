"""The rows of another source that have no missing values."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from isosne._checks import is_one_of
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError, keyword
from isosne.sources.row_source import Indices, RowSource, find_not_finite
from isosne.sources.rows import BLOCK_BYTES, blocks

TREATMENTS = ("refuse", "drop")
"""Values of the parameter `missing`."""


class CompleteRows(RowSource):
    """Some rows of another source; ``kept`` has their indices there, in ascending order."""

    def __init__(self, rows: RowSource, kept: Indices) -> None:
        shape = len(kept), rows.shape[1]
        super().__init__(rows.files, shape, rows.dtype, column_names=rows.column_names)
        self.row_bytes, self.is_sparse = rows.row_bytes, rows.is_sparse
        self.left_out = rows.left_out
        self.side = {name: partial(self._side_column, name) for name in rows.side}
        self.kept = kept
        self._rows = rows

    def note(self) -> str:
        """Return a sentence with the number of dropped rows and the location of the first."""
        n_kept, n_rows = self.shape[0], self._rows.shape[0]
        first = int(np.searchsorted(self.kept - np.arange(n_kept), 1))
        return (
            f"Dropped {n_rows - n_kept:,} of {n_rows:,} rows, which have missing or infinite "
            f"values; the first is {self._rows._where(first)}."
        )

    def _read(self, start: int, stop: int) -> Points:
        if self.is_sparse or start == stop:
            return self._take(np.arange(start, stop))
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        # Start after the previous row that was kept, not at the first row of this read:
        # consecutive reads are then consecutive in the source, which formats read faster.
        first = int(self.kept[start - 1]) + 1 if start else 0
        last = int(self.kept[stop - 1]) + 1
        step = max(1, BLOCK_BYTES // self.row_bytes)
        for begin in range(first, last, step):
            end = min(begin + step, last)
            low, high = np.searchsorted(self.kept, [begin, end])
            block = self._rows._read_of_type(begin, end)
            out[low - start : high - start] = block[self.kept[low:high] - begin]
        return out

    def _take(self, indices: Indices) -> Points:
        return self._rows._take(self.kept[indices])

    def _side_column(self, name: str) -> Array:
        return self._rows.side[name]()[self.kept]

    def _where(self, row: int) -> str:
        return self._rows._where(int(self.kept[row]))

    def _digest(self, digest: Any) -> None:
        digest.update(self._rows.fingerprint().encode())
        digest.update(self.kept.tobytes())


def check_missing(missing: str) -> None:
    """Raise an error if `missing` is not a known treatment of missing values."""
    if not is_one_of(missing, TREATMENTS):
        raise ParameterError(
            "missing",
            "be 'refuse' or 'drop'",
            missing,
            f"Pass {keyword('missing', 'drop')} to drop rows with missing values.",
        )


def drop_incomplete(rows: RowSource) -> RowSource:
    """Return the rows in which all values are finite; reads all rows once, in blocks."""
    kept, n_missing = find_complete(rows)
    if len(kept) == 0:
        worst = max(sorted(n_missing), key=n_missing.__getitem__)
        raise DataError(
            f"At least one row must have no missing value; all {rows.shape[0]:,} rows of "
            f"{rows.describe()} have one, {n_missing[worst]:,} of them in {rows._column(worst)}. "
            "Exclude that column, or impute the missing values."
        )
    return rows if len(kept) == rows.shape[0] else CompleteRows(rows, kept)


def find_complete(rows: RowSource) -> tuple[Indices, Counter[int]]:
    """Return the rows in which all values are finite, and the number of others by column.

    Reads all rows once, in blocks.
    """
    dropped = [np.empty(0, np.int64)]
    n_missing: Counter[int] = Counter()  # by column; a sparse matrix can have any number of these
    for part in blocks(rows) if rows.can_lack_values else ():
        with rows.files.reading():
            block = rows._read(part.start, part.stop)
        bad_rows, bad_columns = find_not_finite(block)
        dropped.append(np.unique(bad_rows) + part.start)
        columns, counts = np.unique(bad_columns, return_counts=True)
        n_missing.update(dict(zip(columns.tolist(), counts.tolist(), strict=True)))
    return np.delete(np.arange(rows.shape[0]), np.concatenate(dropped)), n_missing
