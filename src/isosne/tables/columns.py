"""The kind of each column of a table, and tables as arrays of numbers.

Numbers, dates and ordered categories become numbers, which have an order; categories become codes,
which have none. Missing values are NaN. Text that consists of numbers is read as numbers.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from typing import Any, NamedTuple
from zlib import crc32

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from isosne._checks import as_names
from isosne._tables import (
    as_array,
    as_frame,
    check_container,
    check_real,
    check_simple,
    check_two_dimensional,
    is_missing,
)
from isosne._types import Array
from isosne.errors import DataError, ParameterError, suggest

EPOCH = date(1970, 1, 1)
"""Day of a time without a date, so that its seconds count from midnight."""
RANGE = 2**32
"""Codes of categories, and hashes, are integers from 0 to RANGE - 1."""
DISTINCT_SHARE, FEW = 0.5, 20
"""A text column is an identifier if more than this share of its values, and more than FEW of them,
are distinct: random subsets of such values say nothing about rows (chosen)."""
CATEGORIES = (nw.Categorical, nw.Enum)
"""Types whose values are categories, also if these are numbers."""


def is_gap(value: Any) -> bool:
    """Return whether an object stands for a missing value; NaN and empty text do."""
    return is_missing(value) or value == "" or (isinstance(value, float) and value != value)


def count_gaps(values: Array) -> int:
    """Return the number of missing values of a column."""
    if values.dtype.kind in "fmM":
        return int(np.isnan(values).sum())
    return 0 if values.dtype.kind in "bui" else sum(map(is_gap, values.tolist()))


def as_numbers(values: Array) -> NDArray[np.float64] | None:
    """Return values as numbers with NaN for missing ones; None if some are not numbers."""
    if values.dtype.kind in "buif":
        return values.astype(np.float64)
    if values.dtype.kind in "mMc":
        return None
    try:
        return np.array([np.nan if is_gap(value) else float(value) for value in values.tolist()])
    except (TypeError, ValueError, OverflowError):
        return None


def as_seconds(values: Array) -> NDArray[np.float64] | None:
    """Return dates, times or durations as seconds, NaN if missing; None if some are neither."""
    if values.dtype.kind not in "mM":
        try:
            values = np.array([_as_moment(value) for value in values.tolist()], "datetime64[us]")
        except (TypeError, ValueError, OverflowError):
            return None
    unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    times = values.astype(unit)
    rest = (values - times) / np.timedelta64(1, "s")  # below a microsecond; missing values are NaN
    return np.asarray(times.astype(np.int64) / 1e6 + rest)


def _as_moment(value: Any) -> Any:
    """Return a date, a time of day or text in ISO format as NumPy reads it, in UTC."""
    if is_gap(value):
        return None
    if isinstance(value, time_of_day):
        value = datetime.combine(EPOCH, value)
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


class Column(NamedTuple):
    """A column of a table, and how it is treated.

    Attributes
    ----------
    name : str or int
        Name, or index if the columns have no names.
    kind : str
        "number", "boolean", "date", "ordered" (categories in order), "category" or "identifier"
        (text with mostly distinct values, which is left out).
    categories : tuple of str
        Categories of a column that has them.
    n_missing : int
        Number of missing values at fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from isosne import TableForest
    >>> table = pd.DataFrame({"size": [1.0, None, 9.0], "color": ["red", "red", "blue"]})
    >>> [str(column) for column in TableForest(leaf_size=2, n_trees=3).fit(table).columns_]
    ['size number, 1 missing', 'color category (2)']
    """

    name: Any
    kind: str
    categories: tuple[str, ...] = ()
    n_missing: int = 0

    def __str__(self) -> str:
        notes = [self.kind]
        if self.categories:
            notes[0] += f" ({len(self.categories):,})"
        if not self.is_used:
            notes.append("left out")
        if self.n_missing:
            notes.append(f"{self.n_missing:,} missing")
        return f"{self.name} {', '.join(notes)}"

    @property
    def is_used(self) -> bool:
        """Whether trees may split on the column."""
        return self.kind != "identifier"

    def encode(self, values: Array) -> NDArray[np.float64]:
        """Return values of the column as numbers; missing values are NaN."""
        if self.kind in ("category", "ordered"):
            return self._as_codes(values)
        numbers = as_seconds(values) if self.kind == "date" else as_numbers(values)
        if numbers is None or np.isinf(numbers).any():
            what = "dates" if self.kind == "date" else "finite numbers"
            raise DataError(
                f"Column {self.name!r} must hold {what} or missing values; it holds others. "
                "Convert the column, or declare it as categorical."
            )
        return numbers

    def _as_codes(self, values: Array) -> NDArray[np.float64]:
        """Return the position of each category; a new one has a code of its own, unless ordered."""
        positions = {category: float(i) for i, category in enumerate(self.categories)}
        room = RANGE - len(positions)  # trees hash codes below RANGE
        codes = np.full(len(values), np.nan)
        for i, value in enumerate(values.tolist()):
            if not is_gap(value):
                text = str(value)
                codes[i] = positions.get(text, np.nan)
                if self.kind == "category" and text not in positions:
                    codes[i] = len(positions) + crc32(text.encode()) % room
        return codes


def read_columns(
    data: Any, categorical: Collection[Any] | None = None, name: str = "X"
) -> tuple[list[Column], NDArray[np.float64]]:
    """Return the columns of a table, and the table as numbers (n, number of used columns).

    categorical: names or indices of columns that are categories whatever they hold.
    """
    given = list(_given(data, name))
    labels = [column.name for column, _ in given]
    chosen = () if categorical is None else as_names(categorical, "categorical")
    for label in chosen:
        if label not in labels:
            hint = suggest(label, labels, f"The table has {len(labels)} columns.")
            raise ParameterError("categorical", "name columns of the table", label, hint)
    columns = [_describe(column, values, column.name in chosen) for column, values in given]
    return columns, _stack(columns, [values for _, values in given], name)


def encode_columns(data: Any, columns: Sequence[Column], name: str = "X") -> NDArray[np.float64]:
    """Return another table with the same columns as numbers; names may be in another order."""
    given = {column.name: values for column, values in _given(data, name)}
    wanted = [column.name for column in columns]
    if len(given) == len(wanted) and not any(isinstance(label, str) for label in given):
        given = dict(zip(wanted, given.values(), strict=True))  # an array: by position
    if given.keys() != set(wanted):
        absent = [label for label in wanted if label not in given]
        other = [label for label in given if label not in wanted]
        what = f"{absent[0]!r} is missing" if absent else f"{other[0]!r} is not one of them"
        raise DataError(
            f"{name} must have the {len(wanted)} columns of the fitted table: "
            f"{name} has {len(given)} features, but TableForest is expecting {len(wanted)} "
            f"features as input, and {what}. Pass a table with the same columns."
        )
    return _stack(columns, [given[label] for label in wanted], name)


def is_mixed(data: Any) -> bool:
    """Return whether data are a frame with columns that are not numbers, or with missing values."""
    check_container(data, "X")
    frame = as_frame(data, "X") if hasattr(data, "columns") else None
    if frame is None or len(frame) == 0:
        return False
    return any(
        count_gaps(values) or column.dtype in CATEGORIES or as_numbers(values) is None
        for column, values in ((c, _values(check_simple(c, "X"))) for c in frame.iter_columns())
    )


def _given(data: Any, name: str) -> Iterator[tuple[Column, Array]]:
    """Yield the columns, of the kind that their type determines or "", and their values."""
    frame = as_frame(data, name)
    if frame is not None:
        for label, column in zip(frame.columns, frame.iter_columns(), strict=True):
            order = _ordered_categories(column)
            kind = "ordered" if order else _kind_of_type(check_simple(column, name))
            yield Column(label, kind, order), _values(column)
        return
    if issparse(data):
        raise DataError(f"{name} must be dense; got a sparse matrix. Pass {name}.toarray().")
    values = check_two_dimensional(as_array(data, name), name)
    if values.dtype.kind == "c":
        check_real(values, name)  # raises the error
    for c in range(values.shape[1]):
        yield Column(c, ""), values[:, c]


def _values(column: nw.Series[Any]) -> Array:
    """Return the values of a column; missing numbers are NaN."""
    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), np.float64)
    if column.dtype in CATEGORIES:
        return np.array(column.to_list(), object)  # pyarrow's own conversion drops nulls
    return np.asarray(column.to_numpy())


def _kind_of_type(column: nw.Series[Any]) -> str:
    dtype = column.dtype
    kinds = {"boolean": dtype == nw.Boolean, "number": dtype.is_numeric()}
    kinds |= {"date": dtype.is_temporal(), "category": dtype in CATEGORIES}
    return next((kind for kind, is_kind in kinds.items() if is_kind), "")


def _ordered_categories(column: nw.Series[Any]) -> tuple[str, ...]:
    """Return the categories of a column in their order; none if the type has no order."""
    if isinstance(column.dtype, nw.Enum):
        return tuple(map(str, column.dtype.categories))
    native = column.to_native()
    if getattr(getattr(native, "type", None), "ordered", False):  # a dictionary of pyarrow
        whole = native.unify_dictionaries().combine_chunks()
        return tuple(map(str, whole.dictionary.to_pylist()))
    return ()


def _describe(column: Column, values: Array, is_categorical: bool) -> Column:
    """Return a column with its kind, which its values decide where the type leaves it open."""
    n_missing = count_gaps(values)
    kind = "category" if is_categorical else column.kind
    if not kind and as_numbers(values) is not None:
        kind = "number"
    elif not kind and as_seconds(values) is not None:
        kind = "date"  # also as text, such as 2024-05-31
    if kind not in ("", "category"):
        return column._replace(kind=kind, n_missing=n_missing)
    texts = tuple(sorted({str(value) for value in values.tolist() if not is_gap(value)}))
    if not kind and len(texts) > max(FEW, DISTINCT_SHARE * (len(values) - n_missing)):
        return Column(column.name, "identifier", (), n_missing)
    return Column(column.name, "category", texts, n_missing)


def _stack(columns: Sequence[Column], values: list[Array], name: str) -> NDArray[np.float64]:
    pairs = zip(columns, values, strict=True)
    used = [column.encode(part) for column, part in pairs if column.is_used]
    if used:
        return np.column_stack(used)
    n_rows = len(values[0]) if values else 0
    raise DataError(
        f"{name} must have at least one column besides identifiers; found 0 feature(s) "
        f"(shape=({n_rows}, {len(values)})) while a minimum of 1 is required. "
        "Declare the columns to use as categorical."
    )
