"""A map in memory, with what its file tells about its points, and the rows that they belong to."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.rows.columns import as_text, is_text, parse_integers
from isosne.rows.rows import Rows

COLUMNS = "columns"
"""Entry of the provenance that names the further columns of a map."""


@dataclass(frozen=True, eq=False)
class Map:
    """A map with the ids and labels of its points.

    Parameters
    ----------
    embedding : array of float32, shape (n_samples, n_components)
        Coordinates of the points.
    ids : array of int or str, shape (n_samples,)
        Unique identifier of each point.
    labels : array of int or str, shape (n_samples,), or None
        Class of each point.
    provenance : dict
        How the map was made. Empty for a map of another program.
    has_ids : bool, default=True
        Whether the file has identifiers. If not, ``ids`` counts the points, and they are in the
        order of the rows of their table.
    notes : tuple of str, default=()
        Sentences about the columns that were chosen, for a map of another program.
    columns : dict from str to array, default={}
        Further columns of numbers that `MapWriter` wrote, such as clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import Map
    >>> found = Map(np.zeros((2, 2), np.float32), np.array(["a", "b"]), None, {})
    >>> found.ids.tolist(), found.has_ids
    (['a', 'b'], True)
    """

    embedding: NDArray[np.float32]
    ids: Array
    labels: Array | None
    provenance: dict[str, Any]
    has_ids: bool = True
    notes: tuple[str, ...] = ()
    columns: dict[str, Array] = field(default_factory=dict)

    def check_table(self, rows: Rows) -> None:
        """Raise an error if rows are not those of the table that the map records.

        A map of another program records none, and one that was extended only that of its new rows.

        Parameters
        ----------
        rows : Rows
            Rows of the table, not scaled.

        Raises
        ------
        DataError
            If shape or content differ.
        """
        recorded = self.provenance.get("input")
        recorded = recorded if isinstance(recorded, dict) else {}
        shape, fingerprint = recorded.get("shape"), recorded.get("fingerprint")
        if fingerprint is None or not isinstance(shape, list) or shape[0] < len(self.embedding):
            return
        if shape == list(rows.shape) and fingerprint == rows.fingerprint():
            return
        has, had = (f"{n:,} rows and {d:,} columns" for n, d in (rows.shape, shape))
        but = f"it has {has}, not {had}" if has != had else "its content differs"
        raise DataError(
            f"{rows.describe()} must be the table that the map was made from, "
            f"{recorded.get('source')}; {but}. Pass that table and the options with which it was "
            f"read, or {keyword('force', True)} to go on."
        )


def list_columns(provenance: dict[str, Any], present: Collection[str]) -> list[str]:
    """Return the further columns that a map was written with, of those that are present."""
    names = provenance.get(COLUMNS)
    return [name for name in names if name in present] if isinstance(names, list) else []


def is_numbering(ids: Array) -> bool:
    """Return whether ids only count the points, from 0 or from 1; also as text."""
    numbers = parse_integers(ids) if is_text(ids) else ids
    return any(np.array_equal(numbers, np.arange(k, len(ids) + k)) for k in (0, 1))


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
    if ids is None and is_text(wanted):
        raise ParameterError(
            "id",
            f"name the column of {source} with the row identifiers of the map, "
            f"such as {str(wanted[0])!r}",
            None,
            f"Add {keyword('id')} COLUMN.",
        )
    if is_text(known) != is_text(wanted):
        known, wanted = as_text(known), as_text(wanted)
    row_of = {value: row for row, value in enumerate(known.tolist())}
    rows = [row_of.get(value, -1) for value in wanted.tolist()]
    unknown = [value for row, value in zip(rows, wanted.tolist(), strict=True) if row < 0]
    if unknown:
        raise DataError(
            f"Every point of the map must be a row of the table; {len(unknown):,} of "
            f"{len(wanted):,} are not in {source}, such as {str(unknown[0])!r}. "
            f"Pass the table that the map was made from, and its identifiers with {keyword('id')}."
        )
    return np.array(rows, dtype=np.intp)


def _check_count(drawn: Map, n_rows: int, source: str) -> None:
    """Refuse a map without identifiers that has not one point for each row."""
    if len(drawn.embedding) != n_rows:
        raise DataError(
            "A map without row identifiers must have one point for each row of the table; it has "
            f"{len(drawn.embedding):,} points, and {source} has {n_rows:,} rows. "
            "Pass the table that the map was made from, or add a column id to the map."
        )
