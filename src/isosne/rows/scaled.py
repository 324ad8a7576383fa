"""Views of another source: its columns scaled, or only its rows without missing values."""

from collections import Counter
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import LARGEST, is_one_of
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError, suggest
from isosne.rows.rows import Indices, Rows, blocks, find_not_finite

KINDS = ("none", "minmax", "standard")


class Scale(NamedTuple):
    """What is subtracted from each column, and the factor that it is multiplied by."""

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, kind: str, rows: Rows) -> Self:
        """Return the scale of a source, from one pass over its rows in blocks.

        "minmax" scales each column to the range from 0 to 1, "standard" to mean 0 and standard
        deviation 1. A constant column becomes 0.
        """
        if not is_one_of(kind, KINDS):
            hint = suggest(kind, KINDS, "The paper scales with 'minmax'.")
            raise ParameterError("scale", "be 'none', 'minmax' or 'standard'", kind, hint)
        if rows.is_sparse:
            hint = "Scale the data beforehand, or leave them as they are."
            raise ParameterError("scale", "be 'none' for sparse data", kind, hint)
        with np.errstate(all="ignore"):  # `_check_width` finds what overflows
            low, high, mean, deviation = _read_statistics(rows)
            shift, width = (low, high - low) if kind == "minmax" else (mean, deviation)
        _check_width(width, low, high, rows)
        factor = np.divide(1, width, out=np.zeros_like(width), where=width > 0)
        return cls(shift, factor)

    def apply(self, block: Points) -> Array:
        """Return scaled rows: float32, or float64 if the values are float64 or wide integers."""
        dtype = np.result_type(block.dtype, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values are refused later
            return ((block - self.shift) * self.factor).astype(dtype)


def _read_statistics(rows: Rows) -> tuple[Array, Array, Array, Array]:
    """Return minimum, maximum, mean and standard deviation of each column.

    Blocks are combined by the formula of Chan, Golub and LeVeque (1979) for pairwise sums of
    squares, which does not lose digits to a large mean.
    """
    low, high = np.full((2, rows.shape[1]), np.inf) * [[1], [-1]]
    mean, squares = np.zeros((2, rows.shape[1]))
    n_before = 0
    for part in blocks(rows):
        values = np.asarray(rows.read(part)).astype(np.float64)
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        n, own = n_before + len(values), values.mean(axis=0)
        gap = own - mean
        squares += ((values - own) ** 2).sum(axis=0) + gap**2 * n_before * len(values) / n
        mean, n_before = mean + gap * len(values) / n, n
    return low, high, mean, np.sqrt(squares / n_before)


def _check_width(width: Array, low: Array, high: Array, rows: Rows) -> None:
    """Raise an error if a column that varies has a width whose square is zero or infinite."""
    varies = np.isfinite(low) & np.isfinite(high) & (low < high)
    bad = np.flatnonzero(varies & ~((width >= 1 / LARGEST) & (width <= LARGEST)))
    if len(bad):
        c = int(bad[0])
        raise DataError(
            "Values of a column must differ by 1e-150 to 1e150 to be scaled; "
            f"{rows._column(c)} of {rows.describe()} has values from {low[c]:g} to "
            f"{high[c]:g}. Multiply the column by a constant, or leave it out."
        )


class ScaledRows(Rows):
    """The scaled rows of another source, with the types of `Scale.apply`."""

    def __init__(self, rows: Any, scale: Scale) -> None:
        if len(scale.shift) != rows.shape[1]:
            raise ParameterError(
                "columns",
                f"select the {len(scale.shift)} columns that the scale was computed from; "
                f"{rows.describe()} has {rows.shape[1]}",
                hint="Pass a table with the same columns.",
            )
        dtype = np.result_type(rows.dtype, np.float32)
        super().__init__(rows.files, rows.shape, dtype, column_names=rows.column_names)
        self.side, self.left_out = rows.side, rows.left_out
        self.unscaled, self.scale = rows, scale

    def _read(self, start: int, stop: int) -> Array:
        return self.scale.apply(self.unscaled.read(slice(start, stop)))

    def _take(self, indices: Indices) -> Array:
        return self.scale.apply(self.unscaled.take(indices))

    def _digest(self, digest: Any) -> None:
        digest.update(self.unscaled.fingerprint().encode())
        digest.update(np.array(self.scale).tobytes())


class CompleteRows(Rows):
    """Some rows of another source; ``kept`` has their indices there, in ascending order."""

    def __init__(self, rows: Rows, kept: Indices) -> None:
        shape = len(kept), rows.shape[1]
        super().__init__(rows.files, shape, rows.dtype, column_names=rows.column_names)
        self.row_bytes, self.is_sparse = rows.row_bytes, rows.is_sparse
        self.copies_read = rows.copies_read
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

    def _take(self, indices: Indices) -> Points:
        return self._rows._take(self.kept[indices])

    def _side_column(self, name: str) -> Array:
        return self._rows.side[name]()[self.kept]

    def _where(self, row: int) -> str:
        return self._rows._where(int(self.kept[row]))

    def _digest(self, digest: Any) -> None:
        digest.update(self._rows.fingerprint().encode())
        digest.update(self.kept.tobytes())


def drop_incomplete(rows: Rows) -> Rows:
    """Return the rows in which all values are finite; reads all rows once, in blocks."""
    dropped = [np.empty(0, np.int64)]
    n_missing: Counter[int] = Counter()  # by column; a sparse matrix can have any number of these
    for part in blocks(rows):
        with rows.files.reading():
            bad_rows, bad_columns = find_not_finite(rows._read(part.start, part.stop))
        dropped.append(np.unique(bad_rows) + part.start)
        n_missing.update(bad_columns.tolist())
    kept = np.delete(np.arange(rows.shape[0]), np.concatenate(dropped))
    if len(kept) == 0:
        worst = max(sorted(n_missing), key=n_missing.__getitem__)
        raise DataError(
            f"At least one row must have no missing value; all {rows.shape[0]:,} rows of "
            f"{rows.describe()} have one, {n_missing[worst]:,} of them in {rows._column(worst)}. "
            "Exclude that column, or impute the missing values."
        )
    return rows if len(kept) == rows.shape[0] else CompleteRows(rows, kept)
