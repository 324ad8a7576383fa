"""The columns of a table: which are features, by name and by type, and the values of the others."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from isosne._checks import as_names, is_one_of
from isosne._tables import is_missing
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword, suggest

N_LISTED = 10
"""Largest number of column names in a message. Chosen: it fits two lines of a terminal."""
SIMILARITY = 0.5
"""Smallest similarity of a suggested name. Chosen below 0.6 of difflib: names are short."""
LIST_PARAMETERS = ("columns", "exclude")


class Request(NamedTuple):
    """The parameters of `open_rows`, except for the source.

    ``roles`` has pairs of a parameter and the column that it names, such as ("label", "species").
    These columns are not features. ``needs_numbers``: whether a table without numeric features is
    an error.
    """

    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    text_columns: str = "refuse"
    roles: tuple[tuple[str, str], ...] = ()
    needs_numbers: bool = True
    key: str | None = None
    header: bool | None = None
    decimal: str = "."
    memory_limit: int | None = None
    missing: str = "refuse"

    @property
    def not_features(self) -> list[tuple[str, str]]:
        """Pairs of a parameter and a column that is not a feature."""
        return [("exclude", name) for name in self.exclude] + list(self.roles)


class ColumnSelection(NamedTuple):
    """The features, by index and by name; other columns; those left out for not being numeric."""

    indices: tuple[int, ...]
    names: tuple[str, ...]
    others: tuple[str, ...]
    left_out: tuple[str, ...]
    possible: tuple[str, ...]
    """Features and columns left out, in the order of the table."""


def make_request(
    columns: Iterable[str] | None,
    exclude: Iterable[str],
    text_columns: str,
    missing: str,
    **others: Any,
) -> Request:
    """Check the parameters that select columns and rows."""
    check_missing(missing)
    _check_choice(
        "text_columns", text_columns, ("refuse", "leave_out"), "skip columns that are not numeric"
    )
    if not is_one_of(others.get("decimal", "."), (".", ",")):
        hint = "It separates the fraction of the numbers of a text table."
        raise ParameterError("decimal", "be '.' or ','", others["decimal"], hint)
    chosen = None if columns is None else as_names(columns, "columns")
    left_out = as_names(exclude, "exclude")
    return Request(chosen, left_out, text_columns, missing=missing, **others)


def check_missing(missing: str) -> None:
    """Raise an error if `missing` is not a known treatment of missing values."""
    _check_choice("missing", missing, ("refuse", "drop"), "drop rows with missing values")


def _check_choice(name: str, value: str, choices: tuple[str, str], effect: str) -> None:
    if not is_one_of(value, choices):
        hint = f"Pass {keyword(name, choices[1])} to {effect}."
        raise ParameterError(name, "be {!r} or {!r}".format(*choices), value, hint)


def select_columns(
    names: Sequence[str], types: Sequence[str | None], request: Request, source: str
) -> ColumnSelection:
    """Select the columns that are features.

    ``types`` has None for a numeric column, and the name of the type for others.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"Column names must be unique; {source} has {repeated[0]!r} more than once. "
            "Rename one of the columns."
        )
    named = [("columns", name) for name in request.columns or ()] + request.not_features
    for parameter, name in named:
        check_column(name, names, parameter, source)
    type_of = dict(zip(names, types, strict=True))
    candidates = names if request.columns is None else request.columns
    not_features = {name for _, name in request.not_features}
    kept = [name for name in candidates if name not in not_features]
    possible, not_numeric = tuple(kept), tuple(name for name in kept if type_of[name] is not None)
    if not_numeric and request.text_columns == "refuse":
        raise _refuse_text(not_numeric, type_of, source)
    kept = [name for name in kept if type_of[name] is None]
    if not kept and request.needs_numbers:
        raise DataError(
            f"{source} must have at least one numeric column; none of its {len(names)} column(s) "
            "is left. Exclude fewer columns, or encode text as numbers."
        )
    index = {name: index for index, name in enumerate(names)}
    is_feature = set(kept)
    others = tuple(name for name in names if name not in is_feature)
    indices = tuple(index[name] for name in kept)
    return ColumnSelection(indices, tuple(kept), others, not_numeric, possible)


def _refuse_text(
    not_numeric: tuple[str, ...], type_of: dict[str, str | None], source: str
) -> DataError:
    listed = not_numeric[:N_LISTED]
    described = ", ".join(f"{name!r} ({type_of[name]})" for name in listed)
    roles = ""
    if keyword("label") != "label":  # a command
        roles = "If one is the class or the identifier of each row, name it with "
        roles += f"{keyword('label')} or {keyword('id')}. "
    return DataError(
        f"Every column must be numeric; {source} has columns of other types: {described}. "
        f"{roles}Pass {keyword('exclude', list(listed))} to exclude them, or "
        f"{keyword('text_columns', 'leave_out')} to skip all columns that are not numeric. To use "
        "them, pass a data frame to TSNE, or --mixed on the command line."
    )


def string_names(names: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return names if all are strings; the default column numbers of pandas are not names."""
    return names if all(isinstance(name, str) for name in names) else None


def check_column(
    name: str, names: Sequence[str], parameter: str, source: str, *, what: str = "a column"
) -> None:
    """Raise an error if a table has no column of a name; suggest the most similar name."""
    if name in names:
        return
    more = ", ..." if len(names) > N_LISTED else ""
    listed = f"Available: {', '.join(map(repr, names[:N_LISTED]))}{more}."
    hint = listed if names else "Its columns have no names."
    value = [name] if parameter in LIST_PARAMETERS else name
    if parameter in LIST_PARAMETERS and "," in name:
        if set(name.split(",")) <= set(names):
            hint = f"Name each column on its own: {keyword(parameter, name.split(','))}."
    else:
        hint = suggest(name, names, hint, similarity=SIMILARITY)
    raise ParameterError(parameter, f"name {what} of {source}", value, hint)


def check_side_columns(request: Request, side: Sequence[str], source: str) -> None:
    """Check a request for a source whose features have no names; ``side`` lists other columns."""
    for name in request.columns or ():
        check_column(name, (), "columns", source)
    for parameter, name in request.not_features:
        check_column(name, side, parameter, source)


def as_integers_or_text(values: Array) -> Array:
    """Return integers unchanged, and other values as text; missing values become "".

    Texts are Python strings: a NumPy string array would take the width of the longest for all.
    """
    if values.dtype.kind in "ui":
        return values
    if values.dtype.kind == "S":
        return as_objects(text.decode("latin-1") for text in values.tolist())
    return as_objects("" if is_missing(v) or v != v else str(v) for v in values.tolist())


def as_text(values: Array) -> Array:
    """Return values as an array of Python strings."""
    return as_objects(map(str, values.tolist()))


def as_objects(texts: Iterable[str]) -> Array:
    """Return texts as an array of Python strings."""
    return np.array(list(texts), dtype=object)


def parse_integers(texts: Array) -> Array:
    """Return texts as integers if all are integers in their usual form, such as 12 but not 012."""
    listed = texts.tolist()
    try:
        numbers = [int(text) for text in listed]
        is_usual = all(str(n) == text for n, text in zip(numbers, listed, strict=True))
        return np.array(numbers, dtype=np.int64) if is_usual else texts
    except (ValueError, OverflowError):
        return texts


def is_text(values: Array) -> bool:
    """Return whether ids or labels are text, not integers."""
    return values.dtype.kind in "OU"


def is_unique(values: Array) -> bool:
    """Return whether no id or label is repeated."""
    return len(set(values.tolist())) == len(values)


def is_numbering(ids: Array) -> bool:
    """Return whether ids only count the points, from 0 or from 1; also as text."""
    numbers = parse_integers(ids) if is_text(ids) else ids
    return any(np.array_equal(numbers, np.arange(k, len(ids) + k)) for k in (0, 1))
