"""The rows that are explored: points in memory, identifiers, labels and columns to show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isosne._checks import check_points
from isosne._matching import check_ids
from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.files import Table
from isosne.sources import open_rows
from isosne.studies.point_columns import Column, as_column
from isosne.tables.columns import is_mixed
from isosne.tables.gower import gower_points
from isosne.tables.mixed_rows import MixedRows

MIN_POINTS = 4
"""Smallest number of rows: the R_NX curve needs four points."""
MAX_FEATURES = 100
"""Most features that are columns of their own; of wider tables, such as images, none is shown."""


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to explore.

    ``X`` are the points whose neighbors are known: those that are mapped, or for ``mixed`` columns
    points for Gower's distance. ``columns`` are shown, searched and compared; features come first,
    in their own units. ``words`` are the source and the options that read it, as they are typed
    after ``isosne embed``; empty for data from Python.
    """

    X: Points
    ids: Array
    labels: Array | None
    columns: tuple[Column, ...]
    source: str
    label_name: str = "label"
    words: tuple[str, ...] = ()
    fingerprint: str = field(default="", compare=False)
    mixed: MixedRows | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def described(self) -> tuple[Column, ...]:
        """Return what is known of the rows: the labels as a column of text, and the columns."""
        if self.labels is None:
            return self.columns
        texts = self.labels.astype(np.str_)
        return (as_column(self.label_name, texts, self.n_rows), *self.columns)

    def to_fit(self, rows: Array | None) -> Any:
        """Return what a map of all rows (None) or of some is fitted to."""
        if self.mixed is not None:
            return self.mixed if rows is None else self.mixed.subset(rows)
        return self.X if rows is None else self.X[rows]

    def to_preview(self, rows: Array | None) -> Points:
        """Return the points whose principal axes are shown before the first step."""
        points = self.X if self.mixed is None else self.mixed.start_points()
        return points if rows is None else points[rows]

    def texts(self, column: Column, rows: Array | slice) -> list[str]:
        """Return the values of a column as text; missing values are empty."""
        values = column.data[rows]
        if column.words is not None:
            return [column.words[code] for code in values.tolist()]
        return ["" if value != value else f"{value:.6g}" for value in values.tolist()]


def from_table(
    table: Table,
    unscaled: Table,
    source: str,
    roles: tuple[str | None, str | None],
    words: tuple[str, ...],
) -> Data:
    """Return the rows of a table; columns are taken from the table before it was scaled.

    ``roles`` are the columns of the identifiers and of the labels, which are not shown again.
    """
    rows = table.rows
    X = _check_enough(rows.read(slice(None)))
    n = X.shape[0]
    mixed = rows if isinstance(rows, MixedRows) else None
    if mixed is None:
        shown = _features(unscaled.rows.read(slice(None)), table.names)
    else:
        shown = mixed.columns()
    skipped = {*roles, *shown}
    for name, read in rows.side.items():
        if name not in skipped:
            shown[name] = read()
    ids = np.arange(n) if table.ids is None else table.ids
    return Data(
        X,
        ids,
        table.labels,
        tuple(as_column(name, values, n) for name, values in shown.items()),
        source,
        roles[1] or "label",
        words,
        rows.fingerprint(),
        mixed,
    )


def from_python(
    X: Any, labels: Any = None, ids: Any = None, columns: Mapping[str, Any] | None = None
) -> Data:
    """Return points, labels, identifiers and columns that were passed in Python."""
    mixed = None
    if is_mixed(X):
        points = _check_enough(gower_points(X))
        mixed = MixedRows(open_rows(points), X)
        features = mixed.columns()
    else:
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        points = _check_enough(check_points(X))
        features = _features(points, names)
    n = points.shape[0]
    shown = {**features, **dict(columns or {})}
    if labels is not None and len(labels) != n:
        raise DataError(
            f"labels must have one entry per row; got {len(labels)} for {n} rows. "
            "Pass them in the order of the rows."
        )
    return Data(
        points,
        np.arange(n) if ids is None else check_ids(ids, n, "ids"),
        None if labels is None else np.asarray(labels),
        tuple(as_column(name, values, n) for name, values in shown.items()),
        "data from Python",
        str(getattr(labels, "name", None) or "label"),
        fingerprint=open_rows(points).fingerprint(),
        mixed=mixed,
    )


def _check_enough(X: Points) -> Points:
    if X.shape[0] < MIN_POINTS:
        raise DataError(
            f"A table to explore must have at least {MIN_POINTS} rows; got {X.shape[0]}. "
            "Pass more rows."
        )
    return X


def _features(X: Points, names: Any) -> dict[str, Array]:
    """Return the features by name; none of a sparse or a very wide table."""
    if not isinstance(X, np.ndarray) or X.shape[1] > MAX_FEATURES:
        return {}
    names = names or [f"column {c}" for c in range(X.shape[1])]
    return {name: X[:, c].astype(np.float64) for c, name in enumerate(names)}
