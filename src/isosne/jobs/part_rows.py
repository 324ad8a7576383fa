"""Open a part of the input: its features, other columns, and the rows without missing values."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from isosne.errors import DataError, ParameterError
from isosne.files.sinks import AXES
from isosne.jobs.part_columns import (
    ArrowColumns,
    ColumnReader,
    CompleteColumns,
    NoColumns,
    Roles,
    TextColumns,
    empty_columns,
)
from isosne.jobs.parts import NAMED, Part
from isosne.sources.arrow import ArrowRows
from isosne.sources.column_selection import ColumnRequest, check_column
from isosne.sources.complete_rows import CompleteRows, find_complete
from isosne.sources.formats import OpenOptions, open_path
from isosne.sources.row_source import Indices, RowSource

NO_ROWS = np.empty(0, np.int64)


class OpenedPart(NamedTuple):
    """An opened part.

    ``rows`` are the features of the rows to place, None if there are none; ``columns`` reads other
    columns of the same rows; ``dropped`` are the rows of the part that are left out.
    """

    rows: RowSource | None
    columns: ColumnReader
    dropped: Indices


class PartReader(NamedTuple):
    """Opens parts for a model.

    ``features`` are the names of its columns, if it has any; otherwise all columns are features
    except for ``excluded``. ``missing`` is the treatment of rows with missing values: "refuse" or
    "drop".
    """

    features: tuple[str, ...] | None
    excluded: Roles
    missing: str

    def open(self, part: Part, columns: Roles) -> OpenedPart:
        """Open a part, and the other columns that are named."""
        names = tuple(columns)
        if isinstance(part.source, Path):
            empty = empty_columns(part.source, columns)
            if empty is not None:
                return OpenedPart(None, NoColumns(empty), NO_ROWS)
        rows = self._open_features(part)
        for name, parameter in columns.items():
            check_column(name, [*(rows.column_names or ()), *rows.side], parameter, str(part))
        reader = self._open_columns(part, rows, names)
        if self.missing == "refuse":
            return OpenedPart(rows, reader, NO_ROWS)
        kept, _ = find_complete(rows)
        if len(kept) == rows.shape[0]:
            return OpenedPart(rows, reader, NO_ROWS)
        dropped = np.delete(np.arange(rows.shape[0]), kept)
        complete = CompleteRows(rows, kept) if len(kept) else None
        return OpenedPart(complete, CompleteColumns(reader, kept), dropped)

    def _open_features(self, part: Part) -> RowSource:
        """Open the features; they are found by their names at fit, if both have names."""
        if not isinstance(part.source, Path):
            return part.source
        if self.features is None or part.extension not in NAMED:
            return open_path(part.source, _options(None, self.excluded))
        others = {name: role for name, role in self.excluded.items() if name not in self.features}
        try:
            return open_path(part.source, _options(self.features, others))
        except ParameterError as error:
            if error.parameter != "columns" or not isinstance(error.value, list):
                raise
            raise DataError(
                f"Every part must have all columns of the model; {part} has no "
                f"{error.value[0]!r}. {error.hint}"
            ) from None

    def _open_columns(self, part: Part, rows: RowSource, names: tuple[str, ...]) -> ColumnReader:
        """Open other columns, which may be features."""
        if isinstance(part.source, Path) and isinstance(rows, ArrowRows):
            again = self._open_features(part)  # each reads the file from its start
            assert isinstance(again, ArrowRows)
            return ArrowColumns(again, names)
        if isinstance(part.source, Path) and not set(names) <= set(rows.side):
            rows = open_path(part.source, _options(None, dict.fromkeys(names, "keep"), "leave_out"))
        return TextColumns([rows.side[name]() for name in names])


def open_result(path: Path, n_components: int) -> RowSource:
    """Open the coordinates of a result, which has rows."""
    is_named = path.suffix.lower() in NAMED
    return open_path(path, _options(AXES[:n_components] if is_named else None, {}))


def _options(
    columns: tuple[str, ...] | None, others: Roles, text_columns: str = "refuse"
) -> OpenOptions:
    roles = tuple((parameter, name) for name, parameter in others.items())
    return OpenOptions(ColumnRequest(columns, text_columns=text_columns, roles=roles))
