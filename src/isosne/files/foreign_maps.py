"""Maps of other programs: tables and arrays with two or three columns of coordinates.

The columns are chosen by their names where possible: x, y, z; or a common name with numbers, such
as UMAP1 and UMAP2. Otherwise they are the columns that have fractions.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import psutil

from isosne._types import Array
from isosne.errors import DataError
from isosne.files.maps import Map, is_numbering
from isosne.sources.column_selection import N_LISTED, ColumnRequest
from isosne.sources.formats import OpenOptions, open_path
from isosne.sources.npz import NpzFile
from isosne.sources.row_source import RowSource
from isosne.sources.text_dialect import UNNAMED

AXES = ("x", "y", "z")
ID_NAMES = ("id", "index", "__index_level_0__")
"""Names of columns of ids, in lower case; the last is what pandas writes to Parquet."""
LABEL_NAMES = ("label", "labels", "y", "target", "class", "cluster")
"""Names of columns of classes, in lower case, and of arrays of .npz files."""
NUMBERED = re.compile(r"(.*?)[ ._-]*(\d+)")
COUNTS = ([1, 2], [1, 2, 3], [0, 1], [0, 1, 2])
"""Numbers of the axes of a map."""
MOST_COLUMNS = 12
"""Largest number of numeric columns that are read to find those of coordinates (chosen)."""

Columns = Mapping[str, Callable[[], Array]]


def read_foreign_table(path: Path) -> Map:
    """Read a map from a table with a row per point."""
    known = open_path(path, OpenOptions(ColumnRequest(text_columns="leave_out")))
    axes = _find_axes(known)
    rows = open_path(path, OpenOptions(ColumnRequest(columns=axes, text_columns="leave_out")))
    ids_name = _find_ids(rows.side)
    others = {name: read for name, read in rows.side.items() if name != ids_name}
    label_name = _find_labels(others, numeric=set(known.column_names or ()))
    ids = None if ids_name is None else rows.side[ids_name]()
    by = "their order" if ids is None or is_numbering(ids) else f"the column {ids_name!r}"
    note = (
        f"The coordinates are the columns {', '.join(map(repr, axes))} of {path}; points are "
        f"matched with rows by {by}."
    )
    labels = None if label_name is None else rows.side[label_name]()
    return make_foreign(rows.read(slice(None)), ids, labels, (note,))


def read_foreign_array(path: Path) -> Map:
    """Read a map from an array with a row per point, of an .npy or .npz file."""
    rows = open_path(path, OpenOptions(key=_find_array(path)))
    if not 1 <= rows.shape[1] <= len(AXES):
        raise DataError(
            f"A map must have one to three columns of coordinates; {path} has {rows.shape[1]:,}. "
            "Pass a map, not the data."
        )
    name = next((name for name in LABEL_NAMES if name in rows.side), None)
    labels = None if name is None else rows.side[name]()
    note = f"Points of {path} are matched with rows by their order."
    return make_foreign(rows.read(slice(None)), None, labels, (note,))


def make_foreign(
    coordinates: Array, ids: Array | None, labels: Array | None, notes: tuple[str, ...]
) -> Map:
    """Return a map without provenance; ids that only count the points are not ids."""
    with np.errstate(over="ignore"):
        embedding = np.asarray(coordinates, dtype=np.float32)
    if not np.isfinite(embedding).all():
        raise DataError("Coordinates of a map must be finite in float32. Divide them by a factor.")
    has_ids = ids is not None and not is_numbering(ids)
    if ids is None or not has_ids:
        ids = np.arange(len(embedding))
    return Map(embedding, ids, labels, {}, has_ids=has_ids, notes=notes)


def _find_array(path: Path) -> str | None:
    """Return the name of the array with the coordinates; None for an .npy file."""
    if path.suffix.lower() == ".npy":
        return None
    npz = NpzFile(path, int(psutil.virtual_memory().available))
    if "embedding" in npz.members:
        return "embedding"
    shapes = {name: npz.read_header(name)[0].shape for name in npz.members}
    fitting = [name for name, shape in shapes.items() if len(shape) == 2 and 2 <= shape[1] <= 3]
    if len(fitting) != 1:
        listed = ", ".join(map(repr, shapes)) or "no arrays"
        raise DataError(
            f"A map must be the array 'embedding', or the only array with two or three columns; "
            f"{path} has {listed}. Save the coordinates as the array 'embedding'."
        )
    return fitting[0]


def _find_axes(rows: RowSource) -> tuple[str, ...]:
    """Return the columns of coordinates among the numeric columns."""
    names = [name for name in rows.column_names or () if not _is_index(name)]
    lower = {name.lower(): name for name in names}
    if "x" in lower:
        return tuple(lower[axis] for axis in AXES if axis in lower)
    numbered = _find_numbered(names)
    if numbered is not None:
        return numbered
    candidates = [name for name in names if name.lower() not in LABEL_NAMES]
    if 2 <= len(candidates) <= MOST_COLUMNS:
        chosen = _with_fractions(rows, candidates)
        chosen = chosen or (candidates if len(candidates) <= len(AXES) else [])
        if 2 <= len(chosen) <= len(AXES):
            return tuple(chosen)
    every = list(dict.fromkeys([*(rows.column_names or ()), *rows.side]))
    more = ", ..." if len(every) > N_LISTED else ""
    raise DataError(
        "A map must have the columns x and y, or two or three columns of coordinates; "
        f"{rows.describe()} has {', '.join(every[:N_LISTED])}{more}. "
        "Rename the columns of the coordinates to x and y."
    )


def _is_index(name: str) -> bool:
    return name.lower() in ID_NAMES or name.startswith(UNNAMED)


def _find_numbered(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns with a common name and the numbers of axes, if there is one such name."""
    groups: dict[str, dict[int, str]] = {}
    for name in names:
        found = NUMBERED.fullmatch(name)
        if found:
            groups.setdefault(found[1].lower(), {})[int(found[2])] = name
    fitting = [group for group in groups.values() if sorted(group) in COUNTS]
    if len(fitting) != 1:
        return None
    (group,) = fitting
    return tuple(group[number] for number in sorted(group))


def _with_fractions(rows: RowSource, candidates: Sequence[str]) -> list[str]:
    """Return the columns in which some value is not an integer."""
    values = np.asarray(rows.take(np.arange(rows.shape[0]), allow_missing=True))
    place = {name: c for c, name in enumerate(rows.column_names or ())}
    is_whole = (np.isnan(values) | (values == np.round(values))).all(axis=0)
    return [name for name in candidates if not is_whole[place[name]]]


def _find_ids(columns: Columns) -> str | None:
    """Return the column of ids: by its name, or the first text column without repeated values."""
    named = [name for name in columns if _is_index(name)]
    return next((name for name in [*named, *columns] if _are_ids(columns[name](), name)), None)


def _are_ids(values: Array, name: str) -> bool:
    is_possible = values.dtype.kind == "U" or (values.dtype.kind in "iu" and _is_index(name))
    return is_possible and len(np.unique(values)) == len(values)


def _find_labels(columns: Columns, numeric: set[str]) -> str | None:
    """Return the column of classes: by its name, or the only text column."""
    named = [name for name in columns if name.lower() in LABEL_NAMES]
    texts = [name for name in columns if name not in numeric and not _is_index(name)]
    found = named or (texts if len(texts) == 1 else [])
    return found[0] if found else None
