"""The interface of every source of rows, and iteration over a source in blocks."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from isosne._types import Array, Points

LAZY_PACKAGES = ("dask", "zarr")
"""Packages whose collections are read in parts."""
BLOCK_BYTES = 64_000_000
"""Default size of a block of rows. Chosen, not measured: small next to the memory of a laptop,
and large enough that the cost of a read does not depend on the number of blocks."""


class Rows(Protocol):
    """Points that need not be in memory at once.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of features.
    dtype : dtype
        Type of the values that `read` and `take` return.
    column_names : tuple of str or None
        Names of the features, if the source has names.
    row_bytes : int
        Average size of a row in memory.
    side : mapping of str to callable
        For each column that is not a feature, such as ids and labels, a function that reads it.
    left_out : tuple of str
        Columns that are not features only because they are not numeric.
    is_sparse : bool
        Whether rows are returned as CSR.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import open_rows
    >>> rows = open_rows(np.eye(3))
    >>> rows.shape, rows.read(slice(1))
    ((3, 3), array([[1., 0., 0.]]))
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    column_names: tuple[str, ...] | None
    row_bytes: int
    side: Mapping[str, Callable[[], Array]]
    left_out: tuple[str, ...]
    is_sparse: bool

    def read(self, rows: slice) -> Points:
        """Return consecutive rows; all values are finite. The result must not be modified."""
        ...

    def take(self, indices: Any, *, allow_missing: bool = False) -> Points:
        """Return rows by index, in any order and with repetitions.

        Reads as little as the format allows. All values are finite, except that missing values
        are NaN if `allow_missing` is true.
        """
        ...

    def apply(self, function: Callable[[Points], Array], n_bytes: int) -> Iterator[Array]:
        """Yield the results of a function on blocks of about `n_bytes`, in order.

        Sources that compute their rows on a cluster run the function there.
        """
        ...

    def describe(self) -> str:
        """Return the name of the source in messages."""
        ...

    def fingerprint(self) -> str:
        """Return a hash of samples of the content, which changes when the source changes."""
        ...


def blocks(rows: Rows, n_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield consecutive slices that cover all rows.

    Parameters
    ----------
    rows : Rows
        The source.
    n_bytes : int, default=64000000
        Approximate size of a block in memory. A block has at least one row.

    Yields
    ------
    slice
        The rows of the next block.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import blocks, open_rows
    >>> rows = open_rows(np.zeros((5, 2)))
    >>> list(blocks(rows, n_bytes=32))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n_rows = rows.shape[0]
    step = max(1, n_bytes // rows.row_bytes)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def is_stored(source: Any) -> bool:
    """Return whether an object gives access to rows that need not be in memory.

    Parameters
    ----------
    source : object
        Anything that may be passed as data.

    Returns
    -------
    bool
        True for a path, for `Rows`, and for Dask and zarr collections.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import is_stored
    >>> is_stored("big.npy"), is_stored(np.eye(3))
    (True, False)
    """
    package = type(source).__module__.partition(".")[0]
    return (
        isinstance(source, str | Path)
        or (hasattr(source, "fingerprint") and hasattr(source, "read"))
        or package in LAZY_PACKAGES
    )
