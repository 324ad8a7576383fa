"""The values of one column: what is missing, what is a number, what is a time."""

from datetime import UTC, date, datetime
from datetime import time as time_of_day
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._tables import is_missing
from isosne._types import Array

EPOCH = date(1970, 1, 1)
"""Day of a time without a date, so that its seconds count from midnight."""
LONGEST = 30
"""Largest number of characters of a value in a message (chosen)."""


def is_gap(value: Any) -> bool:
    """Return whether an object stands for a missing value; NaN and empty text do."""
    return is_missing(value) or value == "" or (isinstance(value, float) and value != value)


def count_gaps(values: Array) -> int:
    """Return the number of missing values of a column."""
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    if values.dtype.kind in "mM":
        return int(np.isnat(values).sum())
    return 0 if values.dtype.kind in "bui" else sum(map(is_gap, values.tolist()))


def as_numbers(values: Array) -> NDArray[np.float64] | None:
    """Return values as numbers with NaN for missing ones; None if some are not numbers."""
    if values.dtype.kind in "buif":
        return values.astype(np.float64)
    if values.dtype.kind in "mMc":
        return None
    numbers = np.empty(len(values))
    for i, value in enumerate(values.tolist()):
        try:
            numbers[i] = np.nan if is_gap(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            return None
    return numbers


def as_seconds(values: Array) -> NDArray[np.float64] | None:
    """Return dates, times or durations as seconds, NaN if missing; None if some are neither."""
    if values.dtype.kind not in "mM":
        try:
            values = np.array([_as_moment(value) for value in values.tolist()], "datetime64[us]")
        except (TypeError, ValueError, OverflowError):
            return None
    unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    times = values.astype(unit)
    seconds: NDArray[np.float64] = np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e6)
    return seconds


def _as_moment(value: Any) -> Any:
    """Return a date, a time of day or text in ISO format as NumPy reads it, in UTC."""
    if is_gap(value):
        return None
    if isinstance(value, time_of_day):
        value = datetime.combine(EPOCH, value)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            if not value[:1].isdigit():  # NumPy knows words such as "now"
                raise
            return np.datetime64(value)  # a month or a year
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def distinct_texts(values: Array) -> tuple[str, ...]:
    """Return the distinct values as text, sorted; missing values are left out."""
    return tuple(sorted({str(value) for value in values.tolist() if not is_gap(value)}))


def first_odd(values: Array) -> str:
    """Return the first value that is not a finite number, for a message."""
    for value in values.tolist():
        try:
            is_odd = not is_gap(value) and not np.isfinite(float(value))
        except (TypeError, ValueError, OverflowError):
            is_odd = True
        if is_odd:
            shown = repr(value)
            return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
    return "other values"
