"""Which row of a table each point of a map belongs to: by identifiers, or by order."""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.files.maps import Map


def match_rows(drawn: Map, ids: Array | None, n_rows: int, source: str) -> NDArray[np.intp] | None:
    """Return the row of a table for each point of a map; None: all rows, in order.

    ``ids`` identify the rows of the table; None: the row numbers. Errors call it ``source``.
    """
    if not drawn.has_ids:
        _check_count(drawn, n_rows, source)
        return None
    known = np.arange(n_rows) if ids is None else ids
    wanted = drawn.ids
    if len(wanted) == n_rows and np.array_equal(known, wanted):
        return None
    if ids is None and wanted.dtype.kind == "U":
        raise ParameterError(
            "id",
            f"name the column of {source} with the row identifiers of the map, "
            f"such as {str(wanted[0])!r}",
            None,
            f"Add {keyword('id')} COLUMN.",
        )
    if known.dtype.kind != wanted.dtype.kind:
        known, wanted = known.astype(str), wanted.astype(str)
    order = np.argsort(known)
    found: NDArray[np.intp] = order[
        np.searchsorted(known, wanted, sorter=order).clip(max=n_rows - 1)
    ]
    unknown = wanted[known[found] != wanted]
    if len(unknown):
        raise DataError(
            f"Every point of the map must be a row of the table; {len(unknown):,} of "
            f"{len(wanted):,} are not in {source}, such as {str(unknown[0])!r}. "
            f"Pass the table that the map was made from, and its identifiers with {keyword('id')}."
        )
    return found


def _check_count(drawn: Map, n_rows: int, source: str) -> None:
    """Refuse a map without identifiers that has not one point for each row."""
    if len(drawn.embedding) != n_rows:
        raise DataError(
            "A map without row identifiers must have one point for each row of the table; it has "
            f"{len(drawn.embedding):,} points, and {source} has {n_rows:,} rows. "
            "Pass the table that the map was made from, or add a column id to the map."
        )
