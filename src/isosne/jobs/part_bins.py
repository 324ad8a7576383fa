"""Count the rows of a part by pixel and class, from its result and columns of its input."""

import io
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._files import whole_file, writing_to
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.jobs.landmark_trust import LandmarkTrust
from isosne.jobs.part_columns import ColumnReader, Roles, TextColumns, empty_columns
from isosne.jobs.part_rows import PartReader, open_result
from isosne.jobs.parts import Part, Result
from isosne.sources import blocks
from isosne.sources.row_source import RowSource
from isosne.tiles.bins import Bins, add_up, bin_rows, bin_type, write_bins
from isosne.tiles.grid import Grid
from isosne.tiles.tile_map import UNLABELED

MOST_CLASSES = 100
"""Largest number of classes of tiles: about as many as a figure can tell apart."""
BLOCK_BYTES = 2**22
"""Bytes of coordinates that are counted at a time: half a million rows. Chosen."""


class PartBinner(NamedTuple):
    """Counts the rows of parts.

    ``label`` and ``values`` are columns of the input; ``trust`` is None if it is not wanted.
    """

    grid: Grid
    reader: PartReader
    label: str | None
    values: tuple[str, ...]
    trust: LandmarkTrust | None

    @property
    def n_values(self) -> int:
        """Number of columns whose means are kept; trust is the last of them."""
        return len(self.values) + (self.trust is not None)

    def count_part(
        self, part: Part, placed: Path, target: Path, renew: Callable[[], None]
    ) -> Result:
        """Write the bins of a part, whose result is `placed`."""
        classes = _ClassNumbers(part)
        bins: Bins = np.empty(0, bin_type(self.n_values))
        n_rows = n_inside = 0
        rows, columns = self._open(part)
        for first, Y in _read_coordinates(placed):
            found = dict(zip(self._roles(), columns.next(len(Y)), strict=True))
            pixels, inside = self.grid.pixels_of(Y)
            numbers = np.zeros(len(Y), np.uint16)
            if self.label is not None:
                numbers = classes.of_rows(found[self.label])
            values = [_as_numbers(found[name], name, part) for name in self.values]
            if self.trust is not None and rows is not None:
                values.append(self.trust.of_rows(rows, first, Y))
            table = np.column_stack(values) if values else np.empty((len(Y), 0))
            bins = add_up([bins, bin_rows(pixels, numbers[inside], table[inside])])
            n_rows, n_inside = n_rows + len(Y), n_inside + len(pixels)
            renew()
        notes = {"n_outside": n_rows - n_inside, "classes": classes.names}
        return _write(target, bins, self.grid.n_tiles, n_rows, notes)

    def _roles(self) -> Roles:
        """Return the columns that are counted, and the parameters that name them."""
        label: Roles = {} if self.label is None else {self.label: "label"}
        return label | dict.fromkeys(self.values, "values")

    def _open(self, part: Part) -> tuple[RowSource | None, ColumnReader]:
        """Open the rows and the columns of a part, unless only its result is needed."""
        if self.trust is None and not self._roles():
            return None, TextColumns([])
        rows, columns, _ = self.reader.open(part, self._roles())
        return rows, columns


def _write(target: Path, bins: Bins, n_tiles: int, n_rows: int, notes: dict[str, Any]) -> Result:
    content = io.BytesIO()
    write_bins(content, bins, n_tiles)
    with writing_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target, force=True) as file:
        file.write(content.getbuffer())
    digest = sha256(content.getbuffer()).hexdigest()
    return Result(n_rows, content.tell(), digest, notes)


def _read_coordinates(placed: Path) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield the first row and the coordinates of each block of a result."""
    if empty_columns(placed, {}) is not None:
        return
    rows = open_result(placed, 2)
    for block in blocks(rows, BLOCK_BYTES):
        yield block.start, np.asarray(rows.read(block), np.float32)


class _ClassNumbers:
    """Numbers of the classes of a part, in the order in which they appear."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._numbers: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The names of the classes, by number."""
        return list(self._numbers)

    def of_rows(self, column: Any) -> NDArray[np.uint16]:
        """Return the class of each row."""
        names, where = _distinct(column)
        for name in names:
            self._numbers.setdefault(name, len(self._numbers))
        check_n_classes(len(self._numbers), str(self._part))
        return np.array([self._numbers[name] for name in names], np.uint16)[where]


def check_n_classes(n: int, where: str) -> None:
    """Raise an error if there are too many classes."""
    if n > MOST_CLASSES:
        raise DataError(
            f"The label must have at most {MOST_CLASSES} classes; {where} has more. "
            "Choose another column, or merge rare classes."
        )


def _distinct(column: Any) -> tuple[list[str], Array]:
    """Return the distinct entries of a column as text, and for each row which of them it has."""
    if isinstance(column, np.ndarray):
        found, where = np.unique(column, return_inverse=True)
        return [str(entry) for entry in found.tolist()], where
    encoded = column.combine_chunks().dictionary_encode()
    names = [UNLABELED if v != v else str(v) for v in encoded.dictionary.to_pylist()]
    where = encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
    return [*names, *[UNLABELED] * bool(column.null_count)], where


def _as_numbers(column: Any, name: str, part: Part) -> NDArray[np.float64]:
    """Return a column as numbers; NaN where there is none."""
    try:
        if not isinstance(column, np.ndarray):
            column = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        if column.dtype.kind == "U":
            column = np.where(column == "", "nan", column)
        return np.asarray(column, np.float64)
    except ValueError:  # also of Arrow
        raise ParameterError(
            "values", f"name numeric columns; {part} has text", name, "Choose another column."
        ) from None
