"""A map in memory, with what its file tells about its points."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array

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
    >>> from isosne.files import Map
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


def list_columns(provenance: dict[str, Any], present: Collection[str]) -> list[str]:
    """Return the further columns that a map was written with, of those that are present."""
    names = provenance.get(COLUMNS)
    return [name for name in names if name in present] if isinstance(names, list) else []


def is_numbering(ids: Array) -> bool:
    """Return whether ids only count the points, from 0 or from 1; also as text."""
    counted = np.arange(len(ids))
    return any(np.array_equal(ids, (counted + k).astype(ids.dtype)) for k in (0, 1))
