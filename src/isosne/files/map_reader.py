"""Read a map that isosne wrote, or another program."""

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError, IsosneError, IsosneWarning, ParameterError
from isosne.files.foreign_maps import read_foreign_array, read_foreign_table
from isosne.files.formula_cells import restore_formulas
from isosne.files.h5ad_maps import read_h5ad_map, split_key
from isosne.files.maps import Map, is_numbering, list_columns
from isosne.files.pipes import piped_file
from isosne.files.provenance_json import COMMENT, KEY, decode_provenance
from isosne.files.sidecar import read_sidecar
from isosne.files.sinks import AXES
from isosne.files.table_reader import STDIN, check_exists
from isosne.sources.column_selection import ColumnRequest
from isosne.sources.formats import OpenOptions, open_path
from isosne.sources.npz import NpzFile
from isosne.sources.source_files import SourceFiles
from isosne.sources.text_dialect import find_dialect

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
    >>> from isosne.files import MapWriter, read_map
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
            line = _read_text_head(path).line
            if line is None:
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
        is_text = head is None
        head = head or _read_text_head(path)
        is_plain = is_text and head.line is None
        provenance = read_sidecar(path) if is_plain else {}
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


def _read_text_head(path: Path) -> _Head:
    dialect = find_dialect(path)
    lines = [c.removeprefix(COMMENT) for c in dialect.comments if c.startswith(COMMENT)]
    return _Head(lines[0] if lines else None, list(dialect.names))


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
