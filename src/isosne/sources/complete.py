"""Rows of another source without those that lack a value."""

from functools import partial
from typing import Any

import numpy as np

from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError
from isosne.sources.base import BLOCK_BYTES, blocks
from isosne.sources.stored import Indices, StoredRows, find_not_finite

MISSING = ("refuse", "drop")


class CompleteRows(StoredRows):
    """Some rows of another source; ``kept`` has their numbers there, in order."""

    def __init__(self, rows: StoredRows, kept: Indices) -> None:
        shape = len(kept), rows.shape[1]
        super().__init__(rows.watched, shape, rows.dtype, column_names=rows.column_names)
        self.row_bytes, self.is_sparse = rows.row_bytes, rows.is_sparse
        self.left_out = rows.left_out
        self.side = {name: partial(self._side_column, name) for name in rows.side}
        self.kept = kept
        self._rows = rows

    def note(self) -> str:
        """Return in words how many rows are left out, and where the first of them is."""
        n_kept, n_rows = self.shape[0], self._rows.shape[0]
        first = int(np.searchsorted(self.kept - np.arange(n_kept), 1))
        return (
            f"Left out {n_rows - n_kept:,} of {n_rows:,} rows, which lack a value; first in "
            f"{self._rows._where(first)}."
        )

    def _read(self, start: int, stop: int) -> Points:
        if self.is_sparse or start == stop:
            return self._take(np.arange(start, stop))
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        # Begun where the row before ends, so that consecutive reads are consecutive in the source.
        first = int(self.kept[start - 1]) + 1 if start else 0
        last = int(self.kept[stop - 1]) + 1
        step = max(1, BLOCK_BYTES // self.row_bytes)
        for place in range(first, last, step):
            until = min(place + step, last)
            low, high = np.searchsorted(self.kept, [place, until])
            block = self._rows._read(place, until)
            out[low - start : high - start] = block[self.kept[low:high] - place]
        return out

    def _take(self, wanted: Indices) -> Points:
        return self._rows._take(self.kept[wanted])

    def _side_column(self, name: str) -> Array:
        return self._rows.side[name]()[self.kept]

    def _where(self, row: int) -> str:
        return self._rows._where(int(self.kept[row]))

    def _digest(self, digest: Any) -> None:
        digest.update(self._rows.fingerprint().encode())
        digest.update(self.kept.tobytes())


def check_missing(missing: str) -> None:
    """Refuse what is not a way to treat rows that lack a value."""
    if missing not in MISSING:
        raise ParameterError(
            f"missing must be one of {', '.join(MISSING)}; got {missing!r}. "
            "'drop' leaves out the rows that lack a value."
        )


def drop_incomplete(rows: StoredRows) -> StoredRows:
    """Return the rows in which every value is finite; reads all of them once, in blocks."""
    lost = [np.empty(0, np.int64)]
    per_column = np.zeros(rows.shape[1], np.int64)
    for part in blocks(rows) if rows.can_lack_values else ():
        with rows.watched.reading():
            block = rows._read(part.start, part.stop)
        bad_rows, bad_columns = find_not_finite(block)
        lost.append(np.unique(bad_rows) + part.start)
        per_column += np.bincount(bad_columns, minlength=rows.shape[1])
    kept = np.delete(np.arange(rows.shape[0]), np.concatenate(lost))
    if len(kept) == 0:
        worst = int(per_column.argmax())
        raise DataError(
            f"At least one row must have all its values; each of the {rows.shape[0]:,} rows of "
            f"{rows.describe()} lacks one, {per_column[worst]:,} of them in {rows._column(worst)}. "
            "Exclude that column, or impute such values."
        )
    return rows if len(kept) == rows.shape[0] else CompleteRows(rows, kept)
