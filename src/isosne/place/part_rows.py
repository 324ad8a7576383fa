"""Read a part in blocks of rows: features, and beside them columns in their own types."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isosne._extras import require
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError
from isosne.place.parts import NAMED, Part
from isosne.rows import Rows, blocks, open_rows
from isosne.rows.columns import check_column
from isosne.rows.rows import find_not_finite, first_line

ARROW = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
"""Formats whose columns have types, as pyarrow.dataset names them, by extension."""
BLOCK_BYTES = 2**26
"""Approximate size of a block of rows: 64 MB, as in `TSNE.place`."""


class Block(NamedTuple):
    """Consecutive rows without missing values: features, other columns, and how many were dropped.

    Columns are arrays of NumPy, or of Arrow if the file has types.
    """

    X: Points
    columns: tuple[Any, ...]
    n_dropped: int


class PartReader(NamedTuple):
    """Reads parts.

    ``features`` are the names of the features; None: all columns except for those of ``keep``.
    ``missing`` is the treatment of rows with missing values: "refuse" or "drop".
    """

    features: tuple[str, ...] | None
    keep: tuple[str, ...] = ()
    missing: str = "refuse"

    def open(self, part: Part) -> Rows:
        """Open the features of the rows that `blocks` yields, to read them by index."""
        return self._open(part, part.source, self.missing)

    def blocks(self, part: Part) -> Iterator[Block]:
        """Yield the rows of a part in order; at least one block, which may be empty."""
        first = 0
        for X, columns in self._read(part):
            yield self._complete(part, first, X, columns)
            first += X.shape[0]
        part.check_unchanged()

    def _read(self, part: Part) -> Iterator[tuple[Points, tuple[Any, ...]]]:
        """Yield features, which may have missing values, and columns."""
        if part.extension in ARROW and isinstance(part.source, Path):
            yield from self._read_tables(part)
            return
        rows = self._open(part, part.source)
        names = rows.column_names or ()
        for name in self.keep:
            check_column(name, [*names, *rows.side], "keep", str(part))
        side = {name: rows.side[name]() for name in self.keep if name in rows.side}
        for block in blocks(rows, BLOCK_BYTES):
            X = rows.take(np.arange(block.start, block.stop), allow_missing=True)
            yield (
                X,
                tuple(
                    side[name][block] if name in side else X[:, names.index(name)]
                    for name in self.keep
                ),
            )

    def _read_tables(self, part: Part) -> Iterator[tuple[Points, tuple[Any, ...]]]:
        dataset = require("pyarrow.dataset", "files", f"Reading {part}")
        with _reading(part):
            file = dataset.dataset(part.source, format=ARROW[part.extension])
        for name in self.keep:
            check_column(name, file.schema.names, "keep", str(part))
        names = file.schema.names
        if self.features is not None and {*self.features} <= {*names}:
            names = list(dict.fromkeys((*self.features, *self.keep)))
        n_rows = 0
        for table in _tables(part, file, names):
            rows = self._open(part, table)
            n_rows += table.num_rows
            X = rows.take(np.arange(table.num_rows), allow_missing=True)
            yield X, tuple(table[name] for name in self.keep)
        if n_rows == 0:
            empty = file.schema.empty_table()
            yield np.empty((0, 0)), tuple(empty[name] for name in self.keep)

    def _open(self, part: Part, source: Any, missing: str = "refuse") -> Rows:
        """Open features by their names at fit, if both have names."""
        by_name = self.features is not None and part.extension in NAMED
        features = list(self.features or ()) if by_name else None
        others = [name for name in self.keep if name not in (features or ())]
        try:
            return open_rows(source, columns=features, exclude=others, missing=missing)
        except ParameterError as error:
            name = error.value[0] if isinstance(error.value, list) else error.value
            if error.parameter == "columns":
                raise DataError(
                    f"Every part must have all columns of the model; {part} has no {name!r}. "
                    f"{error.hint}"
                ) from None
            if error.parameter == "exclude":
                rule = f"name a column of {part}"
                raise ParameterError("keep", rule, name, error.hint) from None
            raise

    def _complete(self, part: Part, first: int, X: Points, columns: tuple[Any, ...]) -> Block:
        """Return the rows of a block that have no missing values; `first` is its first row."""
        incomplete = np.unique(find_not_finite(X)[0])
        if len(incomplete) == 0:
            return Block(X, columns, 0)
        if self.missing == "refuse":
            # Raises an error that tells where the value is.
            self._open(part, part.source).take([first + int(incomplete[0])])
        kept: Array = np.delete(np.arange(X.shape[0]), incomplete)
        return Block(X[kept], tuple(column.take(kept) for column in columns), len(incomplete))


def _tables(part: Part, file: Any, names: list[str]) -> Iterator[Any]:
    """Yield the rows of a file as Arrow tables of about `BLOCK_BYTES`."""
    pa = require("pyarrow", "files", f"Reading {part}")
    n_rows = max(1, BLOCK_BYTES // (8 * max(1, len(names))))
    held, n_held = [], 0
    for batch in _batches(part, file, columns=names, batch_size=n_rows):
        held.append(batch)
        n_held += batch.num_rows
        if n_held >= n_rows:
            yield pa.Table.from_batches(held)
            held, n_held = [], 0
    if n_held:
        yield pa.Table.from_batches(held)


def _batches(part: Part, file: Any, **settings: Any) -> Iterator[Any]:
    """Yield the record batches of a file once they are validated."""
    with _reading(part):
        pieces = list(file.get_fragments())
        if part.extension == ".parquet":  # otherwise Arrow keeps what it has read of the file
            pieces = [group for piece in pieces for group in piece.split_by_row_group()]
    for piece in pieces:
        with _reading(part):
            coming = piece.to_batches(**settings, batch_readahead=1)
        while True:
            with _reading(part):
                batch = next(coming, None)
                if batch is None:
                    break
                batch.validate(full=True)  # a damaged one leads outside of its memory
            yield batch


@contextmanager
def _reading(part: Part) -> Iterator[None]:
    """Convert errors of Arrow to `DataError`."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:
        part.check_unchanged()
        raise DataError(
            f"Cannot read {part}: the file is damaged, incomplete, or not of the format that its "
            f"extension names ({type(error).__name__}: {first_line(error)}). "
            "Write or copy it again."
        ) from error
