"""Columns of additional data about the points, encoded for the browser, and their colors.

Numbers stay numbers; everything else becomes integer codes and a list of words.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.plots.paint import MAX_INTEGER_LABELS, NO_LABEL, Classes, Paint, Values, as_paint
from isosne.plots.palette import MAX_CLASSES
from isosne.quality import Trust
from isosne.quality.inputs import is_unlabeled

INT32 = np.iinfo(np.int32)  # integers beyond become text: Bokeh transfers no 64-bit integers


class Column(NamedTuple):
    """A column: ``data`` (n,) float64 or int32; for text, indices into ``words``."""

    name: str
    data: Array
    words: list[str] | None = None


def as_columns(columns: Any, n: int) -> list[Column]:
    """Convert a mapping or a data frame to columns of n rows."""
    if columns is None:
        return []
    frame = nw.from_native(columns, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [as_column(name, frame[name].to_numpy(), n) for name in frame.columns]
    if not isinstance(columns, Mapping):
        rule = f"be a mapping from names to arrays or a data frame, not {type(columns).__name__}"
        raise ParameterError("columns", rule, hint="Pass, for example, {'age': ages}.")
    return [as_column(str(name), values, n) for name, values in columns.items()]


def as_column(name: str, values: Any, n: int) -> Column:
    """Convert one column; integers beyond 32 bits, dates and objects become text."""
    array, name = np.asarray(values), well_formed(name)
    if array.shape != (n,):
        raise DataError(
            f"The column {name!r} must have one entry per point; "
            f"got shape {array.shape} for {n} points. "
            "Pass the values in the order of the rows of the map."
        )
    if array.dtype.kind == "f":
        return Column(name, array.astype(np.float64))
    if array.dtype.kind in "iu" and INT32.min <= array.min() and array.max() <= INT32.max:
        return Column(name, array.astype(np.int32))
    words, of_row = np.unique(as_texts(array), return_inverse=True)
    return Column(name, of_row.astype(np.int32), words.tolist())


def trust_columns(trust: Trust, title: str = "") -> list[Column]:
    """Return the trust and the coarse trust of each point of a map, NaN if unknown."""
    made = []
    for name, shares in (("trust", trust.agreement), ("coarse trust", trust.coarse)):
        numbers = np.full(len(trust.embedding), np.nan)
        numbers[trust.points] = shares
        made.append(Column(f"{name}, {title}" if title else name, numbers))
    return made


def as_texts(array: Array) -> Array:
    """Return values as Python strings, empty if they are missing; dates as they are written."""
    is_date = array.dtype.kind == "M"
    listed = np.datetime_as_string(array, "auto") if is_date else array
    texts = np.array([well_formed(str(value)) for value in listed.tolist()], dtype=object)
    if array.dtype.kind in "OM":
        texts[np.isnat(array) if is_date else is_unlabeled(array)] = ""
    return texts


def well_formed(text: str) -> str:
    """Return a text that files can have: names of files that are not UTF-8 become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def paint_labels(labels: Any, n: int, *, kind: str = "auto") -> Paint:
    """Return the colors of labels, or None without labels; check their number first."""
    if labels is None:
        return None
    as_column("labels", labels, n)
    return as_paint(labels, n, kind=kind)


def paint_column(column: Column) -> Classes | Values | None:
    """Return the paint of a column; None if it is constant or has too many classes."""
    if column.words is not None:
        words, of_row = column.words, column.data.astype(np.int64)
        if not 2 <= len(words) <= MAX_CLASSES:
            return None
        if words[0]:
            return Classes(words, of_row)
        # An empty word, which sorts first, means no label.
        return Classes([*words[1:], NO_LABEL], (of_row - 1) % len(words), has_rest=True)
    numbers = column.data.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    known = np.unique(numbers[~np.isnan(numbers)])
    if len(known) < 2:
        return None
    if column.data.dtype.kind == "i" and len(known) <= MAX_INTEGER_LABELS:
        names = [f"{number:.0f}" for number in known.tolist()]
        return Classes(names, np.searchsorted(known, numbers).astype(np.int64))
    return Values(numbers, float(known[0]), float(known[-1]))
