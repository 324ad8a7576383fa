"""A map in memory, the rows that its points belong to, and maps read from files.

The columns of a map of another program are chosen by their names where possible: x, y, z; or a
common name with numbers, such as UMAP1 and UMAP2. Otherwise they are those that have fractions.
"""

import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError, IsosneError, IsosneWarning, ParameterError, keyword
from isosne.rows.archives import NpzFile, open_hdf5, read_element, split_key
from isosne.rows.columns import (
    N_LISTED,
    Request,
    as_integers_or_text,
    as_text,
    check_column,
    is_numbering,
    is_text,
    is_unique,
    parse_integers,
)
from isosne.rows.formats import open_path
from isosne.rows.map_writer import AXES, COLUMNS, KEY, decode_provenance, read_sidecar
from isosne.rows.rows import Rows, SourceFiles
from isosne.rows.table_reader import STDIN, check_exists, piped_file
from isosne.rows.text import UNNAMED, TextRows, restore_formulas

ARROW = (".feather", ".arrow")
TABLES = (".parquet", ".csv", ".tsv", ".txt", *ARROW)
READABLE = (*TABLES, ".npy", ".npz", ".h5ad")
OWN = f"X_{KEY}"
"""Name of the map that isosne writes in obsm."""
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
        Further columns of numbers that `MapWriter` wrote, such as clusters.

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

    def check_table(self, rows: Rows) -> None:
        """Raise an error if rows are not those of the table that the map records.

        A map of another program records none, and one that was extended only that of its new rows.

        Parameters
        ----------
        rows : Rows
            Rows of the table, not scaled.

        Raises
        ------
        DataError
            If shape or content differ.
        """
        recorded = self.provenance.get("input")
        recorded = recorded if isinstance(recorded, dict) else {}
        shape, fingerprint = recorded.get("shape"), recorded.get("fingerprint")
        if fingerprint is None or not isinstance(shape, list) or shape[0] < len(self.embedding):
            return
        if shape == list(rows.shape) and fingerprint == rows.fingerprint():
            return
        has, had = (f"{n:,} rows and {d:,} columns" for n, d in (rows.shape, shape))
        but = f"it has {has}, not {had}" if has != had else "its content differs"
        raise DataError(
            f"{rows.describe()} must be the table that the map was made from, "
            f"{recorded.get('source')}; {but}. Pass that table and the options with which it was "
            f"read, or {keyword('force', True)} to go on."
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
    if not drawn.has_ids:
        return None
    if len(wanted) == n_rows and np.array_equal(known, wanted):
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
    """Read a map from a file that `MapWriter` or another program wrote.

    Parameters
    ----------
    path : path or "-"
        A file that ends in .parquet, .csv, .tsv, .txt, .feather, .arrow, .npy, .npz or .h5ad; for
        .h5ad, the array of obsm can follow after a colon: "cells.h5ad:X_umap". "-" reads CSV,
        Parquet or Arrow from standard input.

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
    A table of another program has its coordinates in the columns x and y (and z), in columns with a
    common name and numbers, such as UMAP1 and UMAP2, or in the only two or three columns with
    fractions. A column "id" or without a name, or the first text column without repeated values,
    identifies the points; otherwise they are in the order of the rows of their table. An array has
    one to three columns of coordinates.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from isosne.rows import MapWriter, read_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with MapWriter(f"{folder}/map.npz", ["a", "b"], 2, {"seed": 0}) as writer:
    ...         writer.write(np.zeros((2, 2)))
    ...     read_map(f"{folder}/map.npz").provenance
    {'seed': 0}
    """
    if str(path) == STDIN:
        with piped_file() as kept:
            return _read_file(kept)
    return _read_file(Path(path))


def find_provenance(path: Path) -> dict[str, Any]:
    """Return how isosne made a map; empty if a file is anything else, or cannot be read.

    An .h5ad file is never a map only: it has the table, too.
    """
    if path.suffix.lower() in (*TABLES, ".npz") and path.is_file():
        with suppress(IsosneError), warnings.catch_warnings():
            warnings.simplefilter("ignore", IsosneWarning)  # of a map that has changed
            return _read_provenance(path) or {}
    return {}


def _read_provenance(path: Path) -> dict[str, Any] | None:
    """Return how isosne made a map; None or empty for a map of another program."""
    extension = path.suffix.lower()
    with SourceFiles(str(path), path).reading():
        line: str | bytes | None = None
        if extension == ".npz":
            npz = NpzFile(path)
            line = npz.load(KEY).item() if KEY in npz.headers else None
        elif extension == ".parquet":
            schema = require("pyarrow.parquet", "files", f"Reading {path}").read_schema(path)
            line = (schema.metadata or {}).get(KEY.encode())
        elif extension in ARROW:
            with require("pyarrow.ipc", "files", f"Reading {path}").open_file(str(path)) as file:
                line = (file.schema.metadata or {}).get(KEY.encode())
        elif extension in TABLES:
            return read_sidecar(path)
        return None if line is None else decode_provenance(line, str(path))


def _read_file(path: Path) -> Map:
    path, key = split_key(path)
    extension = path.suffix.lower()
    if extension not in READABLE:
        rule = f"be '-' or a file that ends in one of {', '.join(READABLE)}"
        raise ParameterError("path", rule, str(path), "Pass a map, or convert it.")
    check_exists(path, "path")
    if extension == ".h5ad":
        with SourceFiles(str(path), path).reading():
            return _read_h5ad(path, key)
    provenance = _read_provenance(path)
    if extension in TABLES:
        return _read_table(path, provenance or {})
    return _read_array(path, provenance)


def _read_table(path: Path, provenance: dict[str, Any]) -> Map:
    """Read a map from a table with a row per point: one of `MapWriter` if it has id and x."""
    known = open_path(path, Request(text_columns="leave_out", needs_numbers=False))
    axes = _find_axes(known)
    rows = open_path(path, Request(columns=axes, text_columns="leave_out"))
    id_name: str | None = "id"
    label_name = "label" if "label" in rows.side else None
    is_own = "id" in rows.side and axes[0] == AXES[0]
    if not is_own:
        id_name = _find_ids(rows.side)
        others = {name: read for name, read in rows.side.items() if name != id_name}
        label_name = _find_labels(others, numeric=set(known.column_names or ()))
    ids = None if id_name is None else rows.side[id_name]()
    labels = None if label_name is None else rows.side[label_name]()
    if is_own and isinstance(rows, TextRows):
        ids, labels = restore_formulas(ids), restore_formulas(labels)
    by = "their order" if ids is None or is_numbering(ids) else f"the column {id_name!r}"
    note = (
        f"The coordinates are the columns {', '.join(map(repr, axes))} of {path}; points are "
        f"matched with rows by {by}."
    )
    columns = _read_further(provenance, rows.side, path)
    notes = () if is_own else (note,)
    return _make_map(rows.read(slice(None)), ids, labels, notes, provenance, columns)


def _read_further(provenance: dict[str, Any], side: Columns, path: Path) -> dict[str, Array]:
    """Return the further columns that a map was written with, as numbers."""
    columns = {name: side[name]() for name in _further(provenance, side)}
    for name, column in columns.items():
        if column.dtype.kind not in "ui":  # fractions are read as text
            try:
                columns[name] = column.astype(np.float64)
            except ValueError:
                raise DataError(
                    f"The column {name!r} of the map {path} must hold numbers; got text. "
                    "Compute the map again, or remove the column."
                ) from None
    return columns


def _read_array(path: Path, provenance: dict[str, Any] | None) -> Map:
    """Read a map from an array with a row per point; with provenance, one of `MapWriter`."""
    rows = open_path(
        path, Request(key=_find_array(path) if path.suffix.lower() == ".npz" else None)
    )
    check_axes(rows.shape, str(path), "Pass a map, not the data.")
    named = ("labels",) if provenance is not None else LABEL_NAMES
    label_name = next((name for name in named if name in rows.side), None)
    labels = None if label_name is None else rows.side[label_name]()
    if provenance is None:
        notes = (f"Points of {path} are matched with rows by their order.",)
        return _make_map(rows.read(slice(None)), None, labels, notes, {}, {})
    if "ids" not in rows.side:
        raise DataError(f"The map {path} must have an id for each point. Compute the map again.")
    columns = _read_further(provenance, rows.side, path)
    return _make_map(rows.read(slice(None)), rows.side["ids"](), labels, (), provenance, columns)


def _find_array(path: Path) -> str:
    """Return the name of the array of an .npz file with the coordinates."""
    npz = NpzFile(path)
    shapes = {name: header.shape for name, header in npz.headers.items()}
    fitting = [name for name, shape in shapes.items() if len(shape) == 2 and 2 <= shape[1] <= 3]
    if "embedding" not in shapes and len(fitting) != 1:
        listed = ", ".join(map(repr, shapes)) or "no arrays"
        raise DataError(
            "A map must be the array 'embedding', or the only array with two or three columns; "
            f"{path} has {listed}. Save the coordinates as the array 'embedding'."
        )
    return "embedding" if "embedding" in shapes else fitting[0]


def _read_h5ad(path: Path, key: str | None) -> Map:
    """Read an array of obsm as a map, with the labels of the column that the map names."""
    with open_hdf5(path) as file:
        key = _choose(file, path, key)
        values = np.asarray(read_element(file[f"obsm/{key}"], path))
        obs = read_element(file["obs"], path)
        stored = file.get(f"uns/{KEY}/provenance") if key == OWN else None
        line = None if stored is None else stored.asstr()[()]
    check_axes(values.shape, f"obsm/{key} of {path}", f"Name another array, as in {path}:X_umap.")
    provenance = {} if line is None else decode_provenance(line, str(path))
    table = provenance.get("table")
    named = table.get("label") if isinstance(table, dict) else None
    name = next((name for name in (named, "label") if name in obs), None)
    labels = None if name is None else _as_column(obs[name])
    columns = {name: np.asarray(obs[name]) for name in _further(provenance, obs)}
    notes = () if provenance else (f"The map is the array {key!r} of {path}.",)
    drawn = _make_map(values, _as_column(obs.index), labels, notes, {}, columns)
    return replace(drawn, provenance=provenance)


def _as_column(values: Any) -> Array:
    return parse_integers(as_integers_or_text(np.asarray(values)))


def find_features(path: str | Path) -> str:
    """Return the array of an AnnData file to read for its columns: X, or the map if it has none."""
    path, key = split_key(path)
    with SourceFiles(str(path), path).reading(), open_hdf5(path) as file:
        return "X" if "X" in file else f"obsm/{_choose(file, path, key)}"


def _choose(file: Any, path: Path, key: str | None) -> str:
    names = [str(name) for name in file.get("obsm", ())]
    if key is not None:
        key = key.removeprefix("obsm/")
        check_column(key, names, "path", str(path), what="an array of obsm")
        return key
    if OWN in names:
        return OWN
    shapes: dict[str, tuple[int, ...]] = {
        name: getattr(file[f"obsm/{name}"], "shape", ()) for name in names
    }
    fitting = [name for name, shape in shapes.items() if len(shape) == 2 and 2 <= shape[1] <= 3]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(map(repr, fitting)) or "none"
    raise DataError(
        f"A map must be named if obsm has not one array with two or three columns; {path} has "
        f"{listed}. Pass, for example, {path}:{fitting[-1] if fitting else 'X_umap'}."
    )


def check_axes(shape: tuple[int, ...], source: str, advice: str) -> None:
    """Raise an error if an array is not the coordinates of a map."""
    if len(shape) != 2 or not 1 <= shape[1] <= len(AXES):
        raise DataError(
            f"A map must have one to three columns of coordinates; {source} has shape {shape}. "
            f"{advice}"
        )


def _further(provenance: dict[str, Any], present: Collection[str]) -> list[str]:
    """Return the further columns that a map was written with, of those that are present."""
    names = provenance.get(COLUMNS)
    return [name for name in names if name in present] if isinstance(names, list) else []


def _make_map(
    coordinates: Array,
    ids: Array | None,
    labels: Array | None,
    notes: tuple[str, ...],
    provenance: dict[str, Any],
    columns: dict[str, Array],
) -> Map:
    """Return a map; ids of another program that only count the points are not ids."""
    with np.errstate(over="ignore"):
        embedding = np.asarray(coordinates, dtype=np.float32)
    if not np.isfinite(embedding).all():
        raise DataError("Coordinates of a map must be finite in float32. Divide them by a factor.")
    has_ids = ids is not None and (bool(provenance) or not is_numbering(ids))
    if ids is None or not has_ids:
        ids = np.arange(len(embedding))
    return Map(embedding, ids, labels, provenance, has_ids, notes, columns)


def _find_axes(rows: Rows) -> tuple[str, ...]:
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
        values = np.asarray(rows.take(np.arange(rows.shape[0]), allow_missing=True))
        is_whole = (np.isnan(values) | (values == np.round(values))).all(axis=0)
        whole = dict(zip(rows.column_names or (), is_whole, strict=True))
        chosen = [name for name in candidates if not whole[name]] or candidates
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
        if parts := NUMBERED.fullmatch(name):
            groups.setdefault(parts[1].lower(), {})[int(parts[2])] = name
    fitting = [group for group in groups.values() if sorted(group) in COUNTS]
    return tuple(fitting[0][k] for k in sorted(fitting[0])) if len(fitting) == 1 else None


def _find_ids(columns: Columns) -> str | None:
    """Return the column of ids: by its name, or the first text column without repeated values."""
    for name in sorted(columns, key=_is_index, reverse=True):
        values = columns[name]()
        if (is_text(values) or _is_index(name)) and is_unique(values):
            return name
    return None


def _find_labels(columns: Columns, numeric: set[str]) -> str | None:
    """Return the column of classes: by its name, or the only text column."""
    named = [name for name in columns if name.lower() in LABEL_NAMES]
    texts = [name for name in columns if name not in numeric and not _is_index(name)]
    return named[0] if named else texts[0] if len(texts) == 1 else None
