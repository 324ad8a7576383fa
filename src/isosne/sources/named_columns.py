"""Rows of batches whose columns have names: dictionaries of arrays, and Arrow record batches."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._tables import NUMERIC, as_frame
from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.column_selection import ColumnRequest, select_columns, string_names
from isosne.sources.memory import ArrayRows
from isosne.sources.side_columns import as_integers_or_text
from isosne.sources.source_files import SourceFiles


def as_table(source: Any) -> Any:
    """Return an Arrow record batch as a table, which is a data frame; others are unchanged."""
    kind = type(source)
    if kind.__name__ != "RecordBatch" or kind.__module__.partition(".")[0] != "pyarrow":
        return source
    return require("pyarrow", "files", "Reading a record batch").Table.from_batches([source])


def names_of(source: Any) -> list[Any] | None:
    """Return the column names of a dictionary or data frame in memory; None if it has none."""
    if isinstance(source, Mapping):
        return list(source)
    frame = as_frame(source, "X")
    return None if frame is None else list(frame.columns)


def count_rows(source: Any) -> int:
    """Return the number of rows of a batch in memory."""
    if isinstance(source, Mapping):
        return max(map(len, source.values()), default=0)
    return int(source.shape[0]) if hasattr(source, "shape") else len(source)


def open_columns(columns: Mapping[str, Any], request: ColumnRequest) -> ArrayRows:
    """Return the rows of a dictionary of columns; those that are not selected may be anything."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    names = list(arrays)
    types = [_describe_type(array) for array in arrays.values()]
    selection = select_columns(names, types, request, "X")
    features = {name: arrays[name] for name in selection.names}
    _check_lengths(features)
    values = np.column_stack(list(features.values()))
    rows = ArrayRows(SourceFiles("X"), values, column_names=string_names(selection.names))
    rows.left_out = selection.left_out
    rows.side = {name: partial(as_integers_or_text, arrays[name]) for name in selection.others}
    return rows


def _describe_type(array: Array) -> str | None:
    """Return None for a column of numbers, and what it is otherwise."""
    if array.ndim != 1:
        return f"array of shape {array.shape}"
    return None if array.dtype.kind in NUMERIC else str(array.dtype)


def _check_lengths(columns: Mapping[str, Array]) -> None:
    lengths = {name: len(array) for name, array in columns.items()}
    first = next(iter(lengths))
    other = next((name for name in lengths if lengths[name] != lengths[first]), None)
    if other is not None:
        raise DataError(
            "All columns must have the same number of rows; "
            f"{first!r} has {lengths[first]} and {other!r} has {lengths[other]}. "
            "Pass columns of the same rows."
        )
