"""Match the rows of two tables or maps by their identifiers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword


def as_ids(ids: Any) -> Array:
    """Return identifiers as an array of integers or strings."""
    given = np.asarray(ids)
    return given if given.dtype.kind in "iu" else _as_text(given)


def _as_text(values: Array) -> Array:
    """Return Python strings: a NumPy string array would take the width of the longest for all."""
    texts = [str(value) for value in values.ravel().tolist()]
    return np.array(texts, dtype=object).reshape(values.shape)


def check_ids(ids: Any, n_rows: int, name: str) -> Array:
    """Return unique identifiers, one for each row, as numbers or strings."""
    found = as_ids(ids)
    if found.shape != (n_rows,):
        rule = f"have one identifier for each of {n_rows:,} rows; got shape {found.shape}"
        raise ParameterError(name, rule, hint="Pass the identifiers of all rows, in their order.")
    values, counts = np.unique(found, return_counts=True)
    if len(values) < n_rows:
        example = values[counts.argmax()]
        raise DataError(
            f"{keyword(name)} must be unique; {n_rows - len(values):,} of {n_rows:,} are repeated, "
            f"such as {str(example)!r}. Pass a different identifier for each row."
        )
    return found


def match_ids(ids: Array, others: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows, ascending, whose identifier is among the others, and its row there.

    Identifiers are unique. Numbers and strings are compared as strings.
    """
    if (ids.dtype.kind in "iu") != (others.dtype.kind in "iu"):
        ids, others = _as_text(ids), _as_text(others)
    _, rows, found = np.intersect1d(ids, others, assume_unique=True, return_indices=True)
    order = np.argsort(rows)
    return rows[order].astype(np.int64), found[order].astype(np.int64)
