"""Notes on the columns of a table that distort a map: the one place where they are worded.

`table_notes` returns them. `TSNE.fit` warns of them, ``TSNE.plan_.notes`` keeps them, and commands,
reports and the explore page show them. Columns without names are not examined: a wide column of an
array may well be meant, such as the first principal component.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isosne._types import Array
from isosne.errors import keyword, shorten
from isosne.rows.arrays import DaskRows
from isosne.rows.columns import N_LISTED, string_names
from isosne.rows.rows import Rows
from isosne.rows.scaled import ScaledRows
from isosne.rows.text import UNNAMED
from isosne.tables.columns import Column, is_gap
from isosne.tables.coordinates import MixedRows

WIDE, N_EXAMINED = 30.0, 1000
"""A column dominates if its standard deviation is this many times the median of all columns, in the
first rows. Chosen, not measured."""
LEAST_ROWS = 10
"""Rows from which on consecutive integers are taken for row numbers. Chosen: integers of fewer rows
may have this order by chance."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+\s*")
"""Numbers as written in much of Europe: 3,14 or 1.234,5."""


def table_notes(
    table: Any,
    columns: Sequence[Column] | None = None,
    *,
    known: Collection[Any] = (),
    has_id: bool = False,
) -> tuple[str, ...]:
    """Return sentences about columns that distort a map of a table, or are left out of it.

    table: `Rows` or a data frame, scaled as they are mapped. columns: the kinds of a mixed table;
    None: those of `MixedRows`. known: columns that the user has named as features or categories,
    which may number the rows. has_id: whether a column that identifies the rows was named.

    Decimal commas come first, then identifiers, row numbers, and the one column that dominates the
    distances. Advice names options if a command runs, and what to do in Python otherwise.
    """
    kinds = getattr(table, "kinds", ()) if columns is None else columns
    commas = _find_commas(table, kinds)
    identifiers = [c.name for c in kinds if not c.is_used and c.name not in commas]
    unscaled = table.unscaled if isinstance(table, ScaledRows) else table
    notes = [_word_commas(commas)] if commas else []
    notes += [_word_identifiers(identifiers)] if identifiers else []
    for name, values in _find_numbering(unscaled).items():
        if name not in known:
            notes.append(_word_numbering(name, values, has_id=has_id))
    dominant = None if kinds else _find_dominant(table)
    return tuple(notes) if dominant is None else (*notes, _word_dominant(*dominant))


def _find_commas(table: Any, kinds: Sequence[Column]) -> dict[Any, str]:
    """Return the text columns whose values look like numbers with a decimal comma; an example."""
    texts = {column.name for column in kinds if column.kind in ("identifier", "category")}
    found = {}
    for column in _first_rows(table).iter_columns() if texts else ():
        values = [v for v in column.to_list() if not is_gap(v)] if column.name in texts else []
        if values and all(isinstance(v, str) and DECIMAL_COMMA.fullmatch(v) for v in values):
            found[column.name] = values[0]
    return found


def _find_numbering(table: Any) -> dict[str, Array]:
    """Return the features that number the rows, such as 0, 1, 2, ..., with their first values."""
    found = {}
    with np.errstate(invalid="ignore"):  # values that are not finite are refused later
        for name, given in _first_values(table).items():
            values = np.asarray(given, np.float64)
            if name.startswith(UNNAMED) or len(values) < LEAST_ROWS:
                continue
            if values[0] == np.rint(values[0]) and np.all(np.diff(values) == 1):
                found[name] = values
    return found


def _find_dominant(table: Any) -> tuple[str, float] | None:
    """Return the column that dominates distances, and its width in those of the median column."""
    first = _first_values(table)
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.array([values.std(dtype=np.float64) for values in first.values()])
    if not spread.any() or not np.isfinite(spread).all():
        return None
    widest, usual = int(spread.argmax()), float(np.median(spread[spread > 0]))
    ratio = float(spread[widest]) / usual
    return (list(first)[widest], ratio) if ratio > WIDE else None


def _first_values(table: Any) -> Mapping[str, Array]:
    """Return the first values of each feature that holds numbers, by name."""
    if isinstance(table, MixedRows) or not isinstance(table, Rows):
        columns = [c for c in _first_rows(table).iter_columns() if c.dtype.is_numeric()]
        return {c.name: c.cast(nw.Float64).to_numpy() for c in columns if isinstance(c.name, str)}
    names = string_names(table.column_names or ())
    if not names or table.is_sparse or isinstance(table, DaskRows):
        return {}  # rows of a Dask collection are expensive to compute
    first = table.take(np.arange(min(N_EXAMINED, table.shape[0])), allow_missing=True)
    return dict(zip(names, np.asarray(first).T, strict=True))


def _first_rows(table: Any) -> nw.DataFrame[Any]:
    """Return the first rows of a data frame, or of a mixed table."""
    native = table.frame if isinstance(table, MixedRows) else table
    frame: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    return frame[:N_EXAMINED]


def _word_commas(commas: Mapping[Any, str]) -> str:
    example = shorten(next(iter(commas.values())))
    advice = "Convert them to numbers, as pandas.read_csv does with decimal=','."
    if _is_option("decimal"):
        advice = f"Pass {keyword('decimal', ',')} to read them as numbers."
    return f"{_list(commas, 'holds', 'hold')} text such as {example!r}: decimal commas? {advice}"


def _word_identifiers(names: Sequence[Any]) -> str:
    advice = "convert it to a categorical type"
    if _is_option("categorical"):
        advice = f"pass {keyword('categorical', list(names[:1]))}"
    return (
        f"{_list(names, 'is', 'are')} left out: most texts are distinct, as identifiers are. "
        f"To use such a column, {advice}."
    )


def _word_numbering(name: str, values: Array, *, has_id: bool) -> str:
    advice = "Leave it out if it identifies the rows."
    if _is_option("exclude"):
        has_role = _is_option("id") and not has_id
        known = f"{keyword('id', name)} if it identifies the rows, or " if has_role else ""
        advice = f"Pass {known}{keyword('exclude', [name])} to leave it out."
    first = ", ".join(f"{value:.0f}" for value in values[:3])
    return f"Column {name!r} numbers the rows ({first}, ...), and is used as a feature. {advice}"


def _word_dominant(name: str, ratio: float) -> str:
    scaling = "Scale the columns, for example with MinMaxScaler of scikit-learn,"
    if _is_option("scale"):
        scaling = f"Pass {keyword('scale', 'minmax')}"
    return (
        f"Column {name!r} dominates the distances: its standard deviation is {ratio:,.0f} times "
        f"that of the median column. {scaling} to give all columns the same weight."
    )


def _is_option(name: str) -> bool:
    """Return whether a command with this option runs."""
    return keyword(name) != name


def _list(names: Collection[Any], singular: str, plural: str) -> str:
    """Return the subject of a sentence, and its verb."""
    listed = ", ".join(repr(name) for name in list(names)[:N_LISTED])
    more = f" and {len(names) - N_LISTED:,} more" if len(names) > N_LISTED else ""
    subject, verb = ("Column", singular) if len(names) == 1 else ("Columns", plural)
    return f"{subject} {listed}{more} {verb}"
