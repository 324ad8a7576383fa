"""The rows of the results of a job, counted by pixel and class for a picture."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError
from isosne.place.parts import Part, PartReader, list_parts
from isosne.rows.map_writer import AXES

PIXELS = 800
"""Pixels along a side of the square that is counted: 5.6 inches at about 140 dpi."""
MARGIN = 0.02
"""Margin on each side of the square, relative to the longer side of the map; by eye."""
MOST_CLASSES = 60
"""Largest number of classes: there are as many colors."""
UNLABELED = ""
"""The class of rows without a label."""


class RowCounts(NamedTuple):
    """The number of rows in each pixel of a map, by class.

    ``extent`` has left, right, bottom and top of the pixels; ``classes`` their counts, the lowest
    row of pixels first, in the order of the legend. Without a label, the only class is "".
    """

    extent: tuple[float, float, float, float]
    label: str | None
    classes: dict[str, NDArray[np.uint32]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(int(counts.sum()) for counts in self.classes.values())


def count_rows(folder: str | Path, label: str | None = None) -> RowCounts:
    """Count the rows of a folder of results by pixel, and by a column that they have.

    Reads the results twice, in blocks: for the extent, then for the counts.
    """
    parts = list_parts(Path(folder))
    lows, highs = [], []
    for Y, _ in _read_coordinates(parts, None):
        lows.append(Y.min(axis=0))
        highs.append(Y.max(axis=0))
    if not lows:
        raise DataError(f"The results must have at least one row; {folder} has none. Place rows.")
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    side = (1 + 2 * MARGIN) * (float((high - low).max()) or 1.0)  # all at the same place
    left, bottom = ((low + high - side) / 2).tolist()
    classes: dict[str, NDArray[np.uint32]] = {}
    for Y, column in _read_coordinates(parts, label):
        pixels = np.minimum((Y - (left, bottom)) * (PIXELS / side), PIXELS - 1).astype(np.int64)
        names, numbers = _distinct(column, len(Y))
        if len(classes.keys() | names) > MOST_CLASSES:  # before an array is made for each
            raise DataError(
                f"The label must have at most {MOST_CLASSES} classes; {label!r} has more. "
                "Choose another column, or merge rare classes."
            )
        for c, name in enumerate(names):
            columns, rows = pixels[numbers == c].T
            counts = classes.setdefault(name, np.zeros((PIXELS, PIXELS), np.uint32))
            np.add.at(counts, (rows, columns), 1)
    extent = left, left + side, bottom, bottom + side
    return RowCounts(extent, label, {name: classes[name] for name in sorted(classes, key=_order)})


def _order(name: str) -> tuple[int, float, str]:
    """Return the key that sorts numbers by value, then other names, then rows without a label."""
    try:
        return 0, float(name), ""
    except ValueError:
        return (2 if name == UNLABELED else 1), 0.0, name


def _read_coordinates(parts: list[Part], label: str | None) -> Iterator[tuple[Array, Any]]:
    """Yield the first two coordinates of rows, and the column of their labels."""
    reader = PartReader(AXES[:2], () if label is None else (label,))
    for part in parts:
        for X, columns, _ in reader.blocks(part):
            if X.shape[0]:
                yield np.asarray(X[:, :2], np.float64), columns[0] if columns else None


def _distinct(column: Any, n_rows: int) -> tuple[list[str], Array]:
    """Return the distinct entries of a column as text, and for each row which of them it has."""
    if column is None:
        return [UNLABELED], np.zeros(n_rows, np.int64)
    if isinstance(column, np.ndarray):
        entries, numbers = np.unique(column, return_inverse=True)
        return [str(entry) for entry in entries.tolist()], numbers
    encoded = column.dictionary_encode("encode")  # null is an entry, too
    names = [UNLABELED if v is None or v != v else str(v) for v in encoded.dictionary.to_pylist()]
    return names, encoded.indices.to_numpy(zero_copy_only=False)
