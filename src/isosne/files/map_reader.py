"""Read a map that isosne wrote."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from numpy.typing import NDArray

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.files.formula_cells import restore_formulas
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

READABLE = (".parquet", ".csv", ".npz", ".feather", ".arrow")


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
        How the map was made. Empty for a CSV file without a record of it.
    """

    embedding: NDArray[np.float32]
    ids: Array
    labels: Array | None
    provenance: dict[str, Any]


class _Head(NamedTuple):
    """The provenance line and the column names of a file."""

    line: str | bytes | None
    names: list[str]


def read_map(path: str | Path) -> Map:
    """Read a map from a file that `MapWriter` wrote.

    Parameters
    ----------
    path : path or "-"
        A file that ends in .parquet, .csv, .npz, .feather or .arrow. "-" reads CSV, Parquet or
        Arrow from standard input.

    Returns
    -------
    Map
        Coordinates, ids, labels and provenance, in memory.

    Raises
    ------
    ParameterError
        If the file does not exist, or has another extension.
    DataError
        If the file was not written by isosne, or by a later version. A CSV file may come from
        anywhere, if it has the columns id, x, and y or y and z for further axes.

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


def _read_file(path: Path) -> Map:
    extension = path.suffix.lower()
    if extension == ".npy":
        raise DataError(
            f"A map must have ids and provenance; {path} has only coordinates. "
            "Write the map as .parquet, .csv or .npz."
        )
    if extension not in READABLE:
        rule = f"be '-' or a file that ends in one of {', '.join(READABLE)}"
        raise ParameterError("path", rule, str(path), "Pass a map that isosne wrote.")
    check_exists(path, "path")
    with SourceFiles(str(path), path).reading():
        if extension == ".npz":
            return _read_npz(path)
        head = _read_csv_head(path) if extension == ".csv" else _read_arrow_head(path, extension)
    is_plain = extension == ".csv" and head.line is None
    with SourceFiles(str(path), path).reading():
        provenance = read_sidecar(path) if is_plain else decode_provenance(head.line, str(path))
    axes = tuple(name for name in AXES if name in head.names)
    if not axes or "id" not in head.names:
        raise DataError(
            f"A map must have the columns id, x and up to two more axes; {path} has "
            f"{', '.join(head.names)}. Keep the columns as isosne wrote them."
        )
    rows = open_path(path, OpenOptions(ColumnRequest(columns=axes)))
    embedding = np.asarray(rows.read(slice(None)), dtype=np.float32)
    ids = rows.side["id"]()
    labels = rows.side["label"]() if "label" in rows.side else None
    if is_plain:
        ids = restore_formulas(ids)
        labels = None if labels is None else restore_formulas(labels)
    return Map(embedding, ids, labels, provenance)


def _read_csv_head(path: Path) -> _Head:
    dialect = find_dialect(path, header=True)
    lines = [c.removeprefix(COMMENT) for c in dialect.comments if c.startswith(COMMENT)]
    return _Head(lines[0] if lines else None, list(dialect.names))


def _read_arrow_head(path: Path, extension: str) -> _Head:
    if extension == ".parquet":
        schema = require("pyarrow.parquet", "files", f"Reading {path}").read_schema(path)
    else:
        ipc = require("pyarrow.ipc", "files", f"Reading {path}")
        with ipc.open_file(str(path)) as reader:
            schema = reader.schema
    return _Head((schema.metadata or {}).get(KEY.encode()), list(schema.names))


def _read_npz(path: Path) -> Map:
    npz = NpzFile(path, int(psutil.virtual_memory().available))
    line = npz.load(KEY).item() if KEY in npz.members else None
    provenance = decode_provenance(line, str(path))
    embedding, ids = npz.load("embedding"), npz.load("ids")
    labels = npz.load("labels") if "labels" in npz.members else None
    n_rows, n_axes = embedding.shape
    columns = [column for column in (ids, labels) if column is not None]
    is_map = 1 <= n_axes <= len(AXES) and np.isfinite(embedding).all()
    if not is_map or any(c.shape != (n_rows,) or c.dtype.kind not in "uiU" for c in columns):
        raise ValueError("its arrays do not fit together")
    return Map(embedding.astype(np.float32, copy=False), ids, labels, provenance)
