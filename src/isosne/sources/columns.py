"""Which columns of a table are the points' values, by name and by type."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from isosne._types import Array
from isosne.errors import DataError, ParameterError

TEXT_COLUMNS = ("refuse", "leave_out")
N_LISTED = 10
"""Names that a message lists at most."""


class Wanted(NamedTuple):
    """What a caller asked of the columns.

    ``roles`` has further columns that are not values, each after what it is: ("label", "species").
    """

    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    text_columns: str = "refuse"
    roles: tuple[tuple[str, str], ...] = ()

    @property
    def not_values(self) -> list[tuple[str, str]]:
        """All columns that are not values, each after its role."""
        return [("exclude", name) for name in self.exclude] + list(self.roles)


class Choice(NamedTuple):
    """Columns that are values, by their place in the table and by name; and the others.

    ``left_out`` are those of the others that nobody excluded: they are not numeric.
    """

    places: tuple[int, ...]
    names: tuple[str, ...]
    others: tuple[str, ...]
    left_out: tuple[str, ...]


def as_wanted(columns: Iterable[str] | None, exclude: Iterable[str], text_columns: str) -> Wanted:
    """Check what a caller asked of the columns."""
    if text_columns not in TEXT_COLUMNS:
        raise ParameterError(
            f"text_columns must be one of {', '.join(TEXT_COLUMNS)}; got {text_columns!r}. "
            "'leave_out' goes on without them."
        )
    for name, value in (("columns", columns), ("exclude", exclude)):
        if isinstance(value, str):
            raise ParameterError(
                f"{name} must be a list of column names; got {value!r}. Pass [{value!r}]."
            )
    return Wanted(None if columns is None else tuple(columns), tuple(exclude), text_columns)


def choose_columns(
    names: Sequence[str], kinds: Sequence[str | None], wanted: Wanted, source: str
) -> Choice:
    """Choose the columns that are values.

    ``kinds`` is None for a numeric column, and a word for what another one holds.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"Column names must differ; {source} has {repeated[0]!r} more than once. "
            "Rename one of the columns."
        )
    for role, name in [("columns", name) for name in wanted.columns or ()] + wanted.not_values:
        check_column(name, names, role, source)
    kind = dict(zip(names, kinds, strict=True))
    asked_for = names if wanted.columns is None else wanted.columns
    not_values = {name for _, name in wanted.not_values}
    kept = [name for name in asked_for if name not in not_values]
    not_numeric = tuple(name for name in kept if kind[name] is not None)
    if not_numeric and wanted.text_columns == "refuse":
        listed = ", ".join(f"{name!r} ({kind[name]})" for name in not_numeric[:N_LISTED])
        raise DataError(
            f"Every column must be numeric; {source} has others: {listed}. Exclude them "
            f"(exclude={list(not_numeric[:N_LISTED])}), or pass text_columns='leave_out'."
        )
    kept = [name for name in kept if kind[name] is None]
    if not kept:
        raise DataError(
            f"{source} must have at least one numeric column; got {len(names)} column(s), of which "
            "none is left. Exclude fewer of them, or encode text as numbers."
        )
    place = {name: place for place, name in enumerate(names)}
    is_kept = set(kept)
    others = tuple(name for name in names if name not in is_kept)
    return Choice(tuple(place[name] for name in kept), tuple(kept), others, not_numeric)


def names_in_words(names: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return names if all of them are words; numbers, as pandas gives by itself, are none."""
    return names if all(isinstance(name, str) for name in names) else None


def check_column(
    name: str, names: Sequence[str], role: str, source: str, *, what: str = "a column"
) -> None:
    """Refuse the name of a column that the table does not have; suggest the nearest one."""
    if name in names:
        return
    close = get_close_matches(str(name), list(map(str, names)), n=1, cutoff=0.5)
    if close:
        advice = f"Did you mean {close[0]!r}?"
    elif names:
        more = ", ..." if len(names) > N_LISTED else ""
        advice = f"There are {', '.join(map(repr, names[:N_LISTED]))}{more}."
    else:
        advice = "It has no names for them."
    raise ParameterError(f"{role} must name {what} of {source}; got {name!r}. {advice}")


def check_side(wanted: Wanted, side: Sequence[str], source: str) -> None:
    """Refuse names where values have none; ids and labels beside them may be excluded."""
    for name in wanted.columns or ():
        check_column(name, (), "columns", source)
    for role, name in wanted.not_values:
        check_column(name, side, role, source)


def plain_column(values: Array) -> Array:
    """Return integers as they are, and everything else as text; what is missing is empty."""
    if values.dtype.kind in "uiU":
        return values
    if values.dtype.kind == "S":
        return np.char.decode(values, "latin-1")
    texts = ["" if v is None or v != v else str(v) for v in values.tolist()]
    return np.array(texts, dtype=np.str_)


def read_integers(texts: Array) -> Array:
    """Return texts as integers if all of them are written as such."""
    try:
        numbers = texts.astype(np.int64)
    except (ValueError, OverflowError):
        return texts
    return numbers if np.array_equal(numbers.astype(texts.dtype), texts) else texts
