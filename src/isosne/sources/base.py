"""What every source of rows offers, and how to walk through one in blocks."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from isosne._types import Array, Points

LAZY = ("dask", "zarr")
"""Packages whose collections are read piece by piece."""
BLOCK_BYTES = 64_000_000
"""Bytes of a block of rows, unless the caller asks for another size."""


class Rows(Protocol):
    """Points of any number, of which some are in memory at a time.

    ``dtype`` is that of the values that `read` and `take` return; ``row_bytes`` is what a row of
    them takes, on average. ``side`` has a reader for each column that is not a value of the
    points, such as ids and labels; ``left_out`` names those that were left out because they are
    not numeric. ``is_sparse`` says whether rows are CSR.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    column_names: tuple[str, ...] | None
    row_bytes: int
    side: Mapping[str, Callable[[], Array]]
    left_out: tuple[str, ...]
    is_sparse: bool

    def read(self, rows: slice) -> Points:
        """Return consecutive rows; every value is finite. Not to be written to."""
        ...

    def take(self, indices: Any, *, allow_missing: bool = False) -> Points:
        """Return any rows, in any order, repeated or not; reads as little as the format allows.

        Every value is finite, unless missing ones are allowed, which are NaN.
        """
        ...

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield what a function makes of blocks of about n_bytes, in the order of the rows.

        Where rows are computed elsewhere, the function goes there.
        """
        ...

    def describe(self) -> str:
        """Return the name by which messages call the source."""
        ...

    def fingerprint(self) -> str:
        """Return a hash that changes when the source does, from a few samples of its content."""
        ...


def blocks(rows: Rows, n_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield consecutive slices that cover all rows, each of about n_bytes, one row at least."""
    n_rows = rows.shape[0]
    step = max(1, n_bytes // rows.row_bytes)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def is_stored(source: Any) -> bool:
    """Return whether something holds rows that need not be in memory: a path, rows, Dask, zarr."""
    package = type(source).__module__.partition(".")[0]
    return (
        isinstance(source, str | Path)
        or (hasattr(source, "fingerprint") and hasattr(source, "read"))
        or package in LAZY
    )
