"""A map in memory, the rows that its points belong to, and maps read from files."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._files import is_there
from isosne._types import Array
from isosne.errors import DataError, IsosneError, IsosneWarning, ParameterError, keyword
from isosne.rows.archives import NpzFile, obsm_shapes, split_key
from isosne.rows.columns import (
    N_LISTED,
    Request,
    as_text,
    check_column,
    is_numbering,
    is_text,
    is_unique,
    parse_integers,
)
from isosne.rows.formats import open_path
from isosne.rows.map_writer import AXES, COLUMNS, read_provenance
from isosne.rows.rows import Rows
from isosne.rows.table_reader import STDIN, check_exists, save_stdin
from isosne.rows.text import UNNAMED, TextRows, restore_formulas

TABLES = (".parquet", ".csv", ".tsv", ".txt", ".feather", ".arrow")
READABLE = (*TABLES, ".npy", ".npz", ".h5ad")
ID_NAMES = ("id", "index", "__index_level_0__")
"""Names of columns of ids, in lower case; the last is what pandas writes to Parquet."""
LABEL_NAMES = ("label", "labels", "y", "target", "class", "cluster")
"""Names of columns of classes, in lower case, and of arrays of .npz files."""
NUMBERED = re.compile(r"(.*?)[ ._-]*([xyz]|\d+)")

Columns = Mapping[str, Callable[[], Array]]


@dataclass(frozen=True, eq=False)
class Map:
    """A map with the ids and labels of its points.

    Parameters
    ----------
    embedding : array of float32, shape (n_samples, n_components)
        Coordinates of the points.
    ids : array of int or str, shape (n_samples,)
        Unique identifier of each point.
    labels : array of int or str, shape (n_samples,), or None
        Class of each point.
    provenance : dict
        How the map was made. Empty for a map of another program.
    has_ids : bool, default=True
        Whether the file has identifiers. If not, ``ids`` counts the points, and they are in the
        order of the rows of their table.
    notes : tuple of str, default=()
        Sentences about the columns that were chosen, for a map of another program.
    columns : dict from str to array, default={}
        Further columns of numbers that isosne wrote, such as clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import Map
    >>> found = Map(np.zeros((2, 2), np.float32), np.array(["a", "b"]), None, {})
    >>> found.ids.tolist(), found.has_ids
    (['a', 'b'], True)
    """

    embedding: NDArray[np.float32]
    ids: Array
    labels: Array | None
    provenance: dict[str, Any]
    has_ids: bool = True
    notes: tuple[str, ...] = ()
    columns: dict[str, Array] = field(default_factory=dict)

    def check_table(self, rows: Rows, *, is_later: bool = False) -> None:
        """Raise an error if rows are not those of the table that the map records.

        A map of another program records none, and one that was extended only that of its new rows.

        Parameters
        ----------
        rows : Rows
            Rows of the table, not scaled.
        is_later : bool, default=False
            Whether the table may be a later version of the recorded one, whose rows are matched by
            their identifiers: only the number of columns is compared.

        Raises
        ------
        DataError
            If shape or content differ.
        """
        shape, fingerprint = map(self.recorded("input").get, ("shape", "fingerprint"))
        match shape:
            case [int(n_rows), int(n_columns)] if fingerprint is not None:
                is_whole = n_rows >= len(self.embedding)
            case _:
                return
        if is_later and n_columns != rows.shape[1]:
            raise self.wrong_table(
                rows.describe(), f"it has {rows.shape[1]:,} columns, not {n_columns:,}"
            )
        is_same = shape == list(rows.shape) and fingerprint == rows.fingerprint()
        if is_later or is_same or not is_whole:
            return
        has, had = (f"{n:,} rows and {d:,} columns" for n, d in (rows.shape, shape))
        but = f"it has {has}, not {had}" if has != had else "its content differs"
        raise self.wrong_table(rows.describe(), but)

    def recorded(self, part: str) -> dict[str, Any]:
        """Return a part of the provenance: "input", "table" or "parameters"; empty if unknown."""
        known = self.provenance.get(part)
        return known if isinstance(known, dict) else {}

    def wrong_table(self, source: str, but: str) -> DataError:
        """Return the error that a table is not the one of the map; ``but``: how it differs."""
        name = self.recorded("input").get("source")
        return DataError(
            f"{source} must be the table that the map was made from, {name}; {but}. Pass that "
            "table and the options with which it was read, or "
            f"{keyword('force', True)} to go on."
        )


def match_rows(drawn: Map, ids: Array | None, n_rows: int, source: str) -> NDArray[np.intp] | None:
    """Return the row of a table for each point of a map; None: all rows, in order.

    ``ids`` identify the rows of the table; None: the row numbers. Errors call it ``source``.
    """
    known, wanted = np.arange(n_rows) if ids is None else ids, drawn.ids
    if not drawn.has_ids and len(wanted) != n_rows:
        raise DataError(
            "A map without row identifiers must have one point for each row of the table; it has "
            f"{len(wanted):,} points, and {source} has {n_rows:,} rows. "
            "Pass the table that the map was made from, or add a column id to the map."
        )
    if not drawn.has_ids or np.array_equal(known, wanted):
        return None
    if ids is None and is_text(wanted):
        rule = f"name the column of {source} with the row identifiers of the map, such as "
        hint = f"Add {keyword('id')} COLUMN."
        raise ParameterError("id", f"{rule}{str(wanted[0])!r}", None, hint)
    if is_text(known) != is_text(wanted):
        known, wanted = as_text(known), as_text(wanted)
    row_of = {value: row for row, value in enumerate(known.tolist())}
    rows = [row_of.get(value, -1) for value in wanted.tolist()]
    unknown = [value for row, value in zip(rows, wanted.tolist(), strict=True) if row < 0]
    if unknown:
        raise DataError(
            f"Every point of the map must be a row of the table; {len(unknown):,} of "
            f"{len(wanted):,} are not in {source}, such as {str(unknown[0])!r}. "
            f"Pass the table that the map was made from, and its identifiers with {keyword('id')}."
        )
    return np.array(rows, dtype=np.intp)


def read_map(path: str | Path) -> Map:
    """Read a map from a file that isosne or another program wrote.

    Parameters
    ----------
    path : path or "-"
        A file that ends in .parquet, .csv, .tsv, .txt, .feather, .arrow, .npy, .npz or .h5ad; for
        .h5ad, the array of obsm can follow after a colon: "cells.h5ad:X_umap". "-" reads CSV or
        Parquet from standard input.

    Returns
    -------
    Map
        Coordinates, ids, labels and provenance, in memory.

    Raises
    ------
    ParameterError
        If the file does not exist, or has another extension.
    DataError
        If the file has no coordinates, or was written by a later version.

    Notes
    -----
    A table of another program has its coordinates in the columns x and y (and z), in the first two
    or three columns with a common name and x, y, z or numbers, such as UMAP1 and UMAP2, or else in
    the first two numeric columns that are neither ids nor labels, if there are at most three. A
    column "id" or without a name, or the first text column without repeated values, identifies the
    points; otherwise they are in the order of the rows of their table. Labels are in a column with
    a name such as "label" or "cluster". An array has one to three columns of coordinates.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from isosne.rows import read_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/umap.npy", np.zeros((2, 2)))
    ...     read_map(f"{folder}/umap.npy").ids.tolist()
    [0, 1]
    """
    if str(path) == STDIN:
        folder, saved = save_stdin()
        with folder:
            return read_map(saved)
    path, key = split_key(path)
    extension = path.suffix.lower()
    if extension not in READABLE:
        rule = f"be '-' or a file that ends in one of {', '.join(READABLE)}"
        raise ParameterError("path", rule, str(path), "Pass a map, or convert it.")
    check_exists(path, "path")
    return _read_table(path) if extension in TABLES else _read_array(path, key)


def find_provenance(path: Path) -> dict[str, Any]:
    """Return how isosne made a map; empty if a file is anything else, or cannot be read."""
    if path.suffix.lower() in TABLES and is_there(path) and path.is_file():
        with suppress(IsosneError), warnings.catch_warnings():
            warnings.simplefilter("ignore", IsosneWarning)  # of a map that has changed
            return read_provenance(path)
    return {}


def _read_table(path: Path) -> Map:
    """Read a map from a table with a row per point: one of `MapWriter` if it has id and x."""
    provenance = read_provenance(path)
    known = open_path(path, Request(text_columns="leave_out", needs_numbers=False))
    axes = _find_axes(known)
    rows = open_path(path, Request(columns=axes, text_columns="leave_out"))
    is_own = "id" in rows.side and axes[0] == AXES[0]
    id_name = "id" if is_own else _find_ids(rows.side)
    ids = None if id_name is None else rows.side[id_name]()
    labels = _read_labels(rows.side, ("label",) if is_own else LABEL_NAMES)
    if is_own and isinstance(rows, TextRows):
        ids, labels = restore_formulas(ids), restore_formulas(labels)
    what = f"the columns {', '.join(map(repr, axes))}"
    drawn = _make_map(rows, ids, labels, what, f"the column {id_name!r}")
    return replace(
        drawn,
        provenance=provenance,
        has_ids=drawn.has_ids or (ids is not None and bool(provenance)),
        notes=() if is_own else drawn.notes,
        columns=_read_further(provenance, rows.side, path),
    )


def _read_further(provenance: dict[str, Any], side: Columns, path: Path) -> dict[str, Array]:
    """Return the further columns that a map was written with, as numbers."""
    names = provenance.get(COLUMNS)
    names = [name for name in names if name in side] if isinstance(names, list) else []
    columns = {name: side[name]() for name in names}
    for name, column in columns.items():
        try:  # fractions are read as text
            columns[name] = column if column.dtype.kind in "ui" else column.astype(np.float64)
        except ValueError:
            raise DataError(
                f"The column {name!r} of the map {path} must hold numbers; got text. "
                "Compute the map again, or remove the column."
            ) from None
    return columns


def _read_array(path: Path, key: str | None) -> Map:
    """Read a map from an array with a row per point."""
    key = _find_array(path, key)
    rows = open_path(path, Request(key=key))
    if not 1 <= rows.shape[1] <= len(AXES):
        raise DataError(
            f"A map must have one to three columns of coordinates; {path} has shape {rows.shape}. "
            "Pass a map, not the data."
        )
    is_cells = path.suffix.lower() == ".h5ad"
    ids = parse_integers(rows.side["index"]()) if is_cells else None
    what = "the array" if key is None else f"the array {key!r}"
    return _make_map(rows, ids, _read_labels(rows.side, LABEL_NAMES), what, "the names of obs")


def _find_array(path: Path, key: str | None) -> str | None:
    """Return the name of the array with the coordinates; None if the file has no names."""
    if path.suffix.lower() == ".npy":
        return None
    if path.suffix.lower() == ".npz":
        shapes = {name: header.shape for name, header in NpzFile(path).headers.items()}
    else:
        shapes = obsm_shapes(path)
    if key is not None:
        key = key.removeprefix("obsm/")
        check_column(key, list(shapes), "path", str(path), what="an array of obsm")
        return key
    fitting = [name for name, shape in shapes.items() if len(shape) == 2 and 2 <= shape[1] <= 3]
    if len(fitting) != 1:
        raise DataError(
            "A map must be named if a file has not one array with two or three columns; "
            f"{path} has {', '.join(map(repr, fitting)) or 'none'}. Name an array of obsm, as in "
            "cells.h5ad:X_umap, or save the coordinates alone."
        )
    return fitting[0]


def _make_map(rows: Rows, ids: Array | None, labels: Array | None, what: str, column: str) -> Map:
    """Return a map of another program; ids that only count the points are not ids."""
    values: Any = rows.read(slice(None))
    with np.errstate(over="ignore"):
        embedding = np.asarray(values.toarray() if rows.is_sparse else values, dtype=np.float32)
    if not np.isfinite(embedding).all():
        raise DataError("Coordinates of a map must be finite in float32. Divide them by a factor.")
    has_ids = ids is not None and not is_numbering(ids)
    note = (
        f"The coordinates are {what} of {rows.describe()}; points are matched with rows by "
        f"{column if has_ids else 'their order'}."
    )
    ids = np.arange(len(embedding)) if ids is None else ids
    return Map(embedding, ids, labels, {}, has_ids, (note,))


def _find_axes(rows: Rows) -> tuple[str, ...]:
    """Return the columns of coordinates among the numeric columns."""
    others = (*ID_NAMES, *LABEL_NAMES)
    names = [name for name in rows.column_names or () if not name.startswith(UNNAMED)]
    if AXES[0] in names:
        return tuple(axis for axis in AXES if axis in names)
    groups: dict[str, list[str]] = {}
    for name in names:
        if parts := NUMBERED.fullmatch(name.lower()):
            groups.setdefault(parts[1], []).append(name)
    alike = [group for group in groups.values() if 2 <= len(group) <= len(AXES)]
    plain = [name for name in names if name.lower() not in others]
    chosen = alike[0] if alike else plain[:2]
    if len(chosen) < 2 or (not alike and len(plain) > len(AXES)):
        listed = list(dict.fromkeys([*(rows.column_names or ()), *rows.side]))
        more = ", ..." if len(listed) > N_LISTED else ""
        raise DataError(
            "A map must have the columns x and y, or two or three columns of coordinates; "
            f"{rows.describe()} has {', '.join(listed[:N_LISTED])}{more}. "
            "Rename the columns of the coordinates to x and y, or pass the map if this is a table."
        )
    return tuple(chosen)


def _find_ids(columns: Columns) -> str | None:
    """Return the column of ids: by its name, or the first text column without repeated values."""
    named = [n for n in columns if n.lower() in ID_NAMES or n.startswith(UNNAMED)]
    for name in dict.fromkeys([*named, *columns]):
        values = columns[name]()
        if (name in named or is_text(values)) and is_unique(values):
            return name
    return None


def _read_labels(columns: Columns, names: Sequence[str]) -> Array | None:
    name = next((name for name in columns if name.lower() in names), None)
    return None if name is None else columns[name]()
