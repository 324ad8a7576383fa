"""Columns of one scale: rows that are moved and stretched as they are read.

Imported when a table is to be scaled, as it brings NumPy along.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Points
from isosne.errors import ParameterError
from isosne.sources import Rows, blocks
from isosne.sources.stored import Indices, StoredRows

KINDS = ("none", "minmax", "standard")


class Scale(NamedTuple):
    """What is taken off each column, and what it is multiplied by then; (d,) each."""

    shift: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, kind: str, rows: Rows) -> Self:
        """Return the scale that takes each column to 0 and 1, or to mean 0 and deviation 1.

        Reads all rows once, in blocks. A constant column becomes 0.
        """
        if kind not in KINDS:
            raise ParameterError(
                f"scale must be one of {', '.join(KINDS)}; got {kind!r}. "
                "'minmax' is what the paper does."
            )
        sums = _Sums(rows.shape[1])
        for part in blocks(rows):
            sums.add(rows.read(part))
        shift, width = sums.bounds() if kind == "minmax" else sums.moments()
        factor = np.divide(1, width, out=np.zeros_like(width), where=width > 0)
        return cls(shift, factor)

    def apply(self, block: Points) -> Array:
        """Return rows in the scale; in single precision where they are in single or less."""
        dtype = np.result_type(block.dtype, np.float32)
        return ((block - self.shift) * self.factor).astype(dtype)


class _Sums:
    """Least and largest values, means and squared deviations of columns, block by block."""

    def __init__(self, n_columns: int) -> None:
        self._n = 0
        self._low, self._high = np.full((2, n_columns), np.inf) * [[1], [-1]]
        self._mean, self._squares = np.zeros((2, n_columns))

    def add(self, block: Points) -> None:
        """Count some rows."""
        if not isinstance(block, np.ndarray):
            raise ParameterError(
                "scale needs a table of columns; got sparse rows. Leave it out, or scale them "
                "before."
            )
        values = block.astype(np.float64)
        self._low = np.minimum(self._low, values.min(axis=0))
        self._high = np.maximum(self._high, values.max(axis=0))
        n, mean = self._n + len(values), values.mean(axis=0)
        gap = mean - self._mean
        self._squares += ((values - mean) ** 2).sum(axis=0) + gap**2 * self._n * len(values) / n
        self._mean, self._n = self._mean + gap * len(values) / n, n

    def bounds(self) -> tuple[Array, Array]:
        """Return the least value of each column, and the width of its values."""
        return self._low, self._high - self._low

    def moments(self) -> tuple[Array, Array]:
        """Return the mean and the standard deviation of each column."""
        return self._mean, np.sqrt(self._squares / self._n)


class ScaledRows(StoredRows):
    """Rows of another source, scaled; in single precision where that is in single or less."""

    def __init__(self, rows: Any, scale: Scale) -> None:
        if len(scale.shift) != rows.shape[1]:
            raise ParameterError(
                f"Rows must have {len(scale.shift)} columns, as those that the scale was taken "
                f"from; {rows.describe()} has {rows.shape[1]}. Name the columns with --columns."
            )
        dtype = np.result_type(rows.dtype, np.float32)
        super().__init__(rows.watched, rows.shape, dtype, column_names=rows.column_names)
        self.side, self.left_out = rows.side, rows.left_out
        self._rows, self.scale = rows, scale

    def _read(self, start: int, stop: int) -> Array:
        return self.scale.apply(self._rows.read(slice(start, stop)))

    def _take(self, wanted: Indices) -> Array:
        return self.scale.apply(self._rows.take(wanted))

    def _digest(self, digest: Any) -> None:
        digest.update(self._rows.fingerprint().encode())
        digest.update(np.array(self.scale).tobytes())
