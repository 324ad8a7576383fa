"""Read a map that isosne wrote, or another program.

The columns of a map of another program are chosen by their names where possible: x, y, z; or a
common name with numbers, such as UMAP1 and UMAP2. Otherwise they are those that have fractions.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError, IsosneError, IsosneWarning, ParameterError
from isosne.rows.arrays import NpzFile
from isosne.rows.columns import (
    N_LISTED,
    ColumnRequest,
    as_integers_or_text,
    check_column,
    is_text,
    is_unique,
    parse_integers,
)
from isosne.rows.formats import OpenOptions, open_path
from isosne.rows.h5ad import open_hdf5
from isosne.rows.maps import Map, is_numbering, list_columns
from isosne.rows.pipes import piped_file
from isosne.rows.provenance import KEY, decode_provenance, read_sidecar
from isosne.rows.row_source import RowSource
from isosne.rows.sinks import AXES, restore_formulas
from isosne.rows.source_files import SourceFiles
from isosne.rows.table_reader import STDIN, check_exists
from isosne.rows.text_dialect import UNNAMED, find_dialect

TABLES = (".parquet", ".csv", ".tsv", ".txt", ".feather", ".arrow")
READABLE = (*TABLES, ".npy", ".npz", ".h5ad")


class _Head(NamedTuple):
    """The provenance line and the column names of a file."""

    line: str | bytes | None
    names: list[str]


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
    extension = path.suffix.lower()
    if extension not in (*TABLES, ".npz") or not path.is_file():
        return {}
    with suppress(IsosneError), SourceFiles(str(path), path).reading(), warnings.catch_warnings():
        warnings.simplefilter("ignore", IsosneWarning)  # of a map that has changed
        if extension == ".npz":
            npz = NpzFile(path, int(psutil.virtual_memory().available))
            line = npz.load(KEY).item() if KEY in npz.members else None
        elif head := _read_arrow_head(path, extension):
            line = head.line
        else:
            return read_sidecar(path)
        return {} if line is None else decode_provenance(line, str(path))
    return {}


def _read_file(path: Path) -> Map:
    path, key = split_key(path)
    extension = path.suffix.lower()
    if extension not in READABLE:
        rule = f"be '-' or a file that ends in one of {', '.join(READABLE)}"
        raise ParameterError("path", rule, str(path), "Pass a map, or convert it.")
    check_exists(path, "path")
    with SourceFiles(str(path), path).reading():
        if extension == ".h5ad":
            return read_h5ad_map(path, key)
        if extension in (".npy", ".npz"):
            return _read_array(path)
        head = _read_arrow_head(path, extension)
        is_plain = head is None
        provenance = read_sidecar(path) if is_plain else {}
        head = head or _Head(None, list(find_dialect(path).names))
        if head.line is not None:
            provenance = decode_provenance(head.line, str(path))
    axes = tuple(name for name in AXES if name in head.names)
    if not axes or "id" not in head.names:
        return read_foreign_table(path)
    rows = open_path(path, OpenOptions(ColumnRequest(columns=axes)))
    embedding = np.asarray(rows.read(slice(None)), dtype=np.float32)
    others = list_columns(provenance, rows.side)
    columns = {name: _as_numbers(rows.side[name](), name, path) for name in others}
    ids = rows.side["id"]()
    labels = rows.side["label"]() if "label" in rows.side else None
    if is_plain:
        ids = restore_formulas(ids)
        labels = None if labels is None else restore_formulas(labels)
    has_ids = bool(provenance) or not is_numbering(ids)
    return Map(embedding, ids, labels, provenance, has_ids=has_ids, columns=columns)


def _read_arrow_head(path: Path, extension: str) -> _Head | None:
    """Return the head of a Parquet or Arrow file; None for text."""
    if extension == ".parquet":
        schema = require("pyarrow.parquet", "files", f"Reading {path}").read_schema(path)
    elif extension in (".feather", ".arrow"):
        ipc = require("pyarrow.ipc", "files", f"Reading {path}")
        with ipc.open_file(str(path)) as reader:
            schema = reader.schema
    else:
        return None
    return _Head((schema.metadata or {}).get(KEY.encode()), list(schema.names))


def _read_array(path: Path) -> Map:
    """Read an .npy or .npz file."""
    if path.suffix.lower() == ".npy":
        return read_foreign_array(path)
    npz = NpzFile(path, int(psutil.virtual_memory().available))
    if KEY not in npz.members:
        return read_foreign_array(path)
    provenance = decode_provenance(npz.load(KEY).item(), str(path))
    embedding, ids = npz.load("embedding"), npz.load("ids")
    labels = npz.load("labels") if "labels" in npz.members else None
    n_rows, n_axes = embedding.shape
    columns = [column for column in (ids, labels) if column is not None]
    is_map = 1 <= n_axes <= len(AXES) and np.isfinite(embedding).all()
    if not is_map or any(c.shape != (n_rows,) or c.dtype.kind not in "uiU" for c in columns):
        raise ValueError("its arrays do not fit together")
    others = {name: npz.load(name) for name in list_columns(provenance, npz.members)}
    if any(c.shape != (n_rows,) or c.dtype.kind not in "uif" for c in others.values()):
        raise ValueError("its columns do not fit the map")
    embedding = embedding.astype(np.float32, copy=False)
    ids = as_integers_or_text(ids)
    labels = None if labels is None else as_integers_or_text(labels)
    return Map(embedding, ids, labels, provenance, columns=others)


def _as_numbers(column: Array, name: str, path: Path) -> Array:
    """Return a column as numbers: fractions are read as text."""
    try:
        return column if column.dtype.kind in "ui" else column.astype(np.float64)
    except ValueError:
        raise DataError(
            f"The column {name!r} of the map {path} must hold numbers; got text. "
            "Compute the map again, or remove the column."
        ) from None


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
    return (is_text(values) or _is_index(name)) and is_unique(values)


def _find_labels(columns: Columns, numeric: set[str]) -> str | None:
    """Return the column of classes: by its name, or the only text column."""
    named = [name for name in columns if name.lower() in LABEL_NAMES]
    texts = [name for name in columns if name not in numeric and not _is_index(name)]
    found = named or (texts if len(texts) == 1 else [])
    return found[0] if found else None


EXTENSION = ".h5ad"
OWN = f"X_{KEY}"
"""Name of the map that isosne writes."""


def split_key(path: str | Path) -> tuple[Path, str | None]:
    """Return the path and the array of "cells.h5ad:X_umap"; None if no array is named."""
    name, mark, key = str(path).rpartition(f"{EXTENSION}:")
    return (Path(f"{name}{EXTENSION}"), key) if mark and key else (Path(path), None)


def is_h5ad(path: str | Path) -> bool:
    """Return whether a path, with or without an array, is that of an AnnData file."""
    return split_key(path)[0].suffix.lower() == EXTENSION


def read_obs(path: str | Path) -> Any:
    """Return obs of an AnnData file as a data frame of pandas."""
    with _opened(split_key(path)[0]) as file:
        return _read(file["obs"], path)


def find_features(path: str | Path) -> str:
    """Return the array of an AnnData file to read for its columns: X, or the map if it has none."""
    file_path, key = split_key(path)
    with _opened(file_path) as file:
        return "X" if "X" in file else f"obsm/{_choose(file, file_path, key)}"


def read_h5ad_map(path: Path, key: str | None) -> Map:
    """Read an array of obsm as a map, with the labels of the column that the map names."""
    with _opened(path) as file:
        key = _choose(file, path, key)
        values = np.asarray(_read(file[f"obsm/{key}"], path))
        obs = _read(file["obs"], path)
        stored = file.get(f"uns/{KEY}/provenance") if key == OWN else None
        line = None if stored is None else stored.asstr()[()]
    if values.ndim != 2 or not 1 <= values.shape[1] <= 3:
        raise DataError(
            f"A map must have one to three columns of coordinates; obsm/{key} of {path} has "
            f"shape {values.shape}. Name another array, as in {path}:X_umap."
        )
    provenance = {} if line is None else decode_provenance(line, str(path))
    table = provenance.get("table")
    name = table.get("label") if isinstance(table, dict) else None
    name = name if name in obs else "label" if "label" in obs else None
    labels = None if name is None else _as_column(obs[name])
    ids = _as_column(obs.index)
    note = f"The map is the array {key!r} of {path}."
    drawn = make_foreign(values, ids, labels, () if provenance else (note,))
    columns = {name: np.asarray(obs[name]) for name in list_columns(provenance, obs)}
    return replace(drawn, provenance=provenance, columns=columns)


def _as_column(values: Any) -> Array:
    return parse_integers(as_integers_or_text(np.asarray(values)))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with SourceFiles(str(path), path).reading(), open_hdf5(path) as file:
        yield file


def _choose(file: Any, path: Path, key: str | None) -> str:
    names = [str(name) for name in file.get("obsm", ())]
    if key is not None:
        key = key.removeprefix("obsm/")
        check_column(key, names, "path", str(path), what="an array of obsm")
        return key
    if OWN in names:
        return OWN
    fitting = [name for name in names if _has_width_of_map(file[f"obsm/{name}"])]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(map(repr, fitting)) or "none"
    raise DataError(
        f"A map must be named if obsm has not one array with two or three columns; {path} has "
        f"{listed}. Pass, for example, {path}:{fitting[-1] if fitting else 'X_umap'}."
    )


def _has_width_of_map(element: Any) -> bool:
    shape: tuple[int, ...] = getattr(element, "shape", ())
    return len(shape) == 2 and 2 <= shape[1] <= 3


def _read(element: Any, path: str | Path) -> Any:
    return require("anndata.io", "anndata", f"Reading {path}").read_elem(element)
