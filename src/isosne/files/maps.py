"""Read a map that isosne wrote."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.files.pipes import piped_file
from isosne.files.provenance import COMMENT, KEY, from_line
from isosne.files.sinks import AXES
from isosne.files.tables import STDIN, check_exists
from isosne.sources.columns import Wanted
from isosne.sources.dialect import find_dialect
from isosne.sources.formats import Options, open_path
from isosne.sources.watched import WatchedFiles

READABLE = (".parquet", ".csv", ".npz", ".feather", ".arrow")


@dataclass(frozen=True, eq=False)
class Map:
    """A map with what belongs to it.

    Parameters
    ----------
    embedding : array of float32, shape (n, n_components)
        Coordinates of the rows.
    ids : array of int or str
        What each row is called.
    labels : array of int or str, or None
        Class of each row.
    provenance : dict
        How the map was made.
    """

    embedding: NDArray[np.float32]
    ids: Array
    labels: Array | None
    provenance: dict[str, Any]


class _Head(NamedTuple):
    """What a file says before its rows."""

    line: str | bytes | None
    names: list[str]


def read_map(path: str | Path) -> Map:
    """Read a map from a file that `MapWriter` wrote.

    Parameters
    ----------
    path : path or "-"
        The file; .parquet, .csv, .npz, .feather or .arrow. "-" is standard input, as CSV, Parquet
        or Arrow.

    Returns
    -------
    Map
        Coordinates, ids, labels and provenance, in memory.

    Raises
    ------
    ParameterError
        If there is no such file.
    DataError
        If the file is of another origin or of a later version.
    """
    if str(path) == STDIN:
        with piped_file() as kept:
            return _read_file(kept)
    return _read_file(Path(path))


def _read_file(path: Path) -> Map:
    ending = path.suffix.lower()
    if ending == ".npy":
        raise DataError(
            f"A map must have ids and provenance; {path} holds coordinates alone. "
            "Write the map as .parquet, .csv or .npz."
        )
    if ending not in READABLE:
        raise ParameterError(
            f"A map must be a file that ends in one of {', '.join(READABLE)}; got {str(path)!r}. "
            "Pass the file that isosne wrote."
        )
    check_exists(path, "A map")
    watched = WatchedFiles(str(path), path)
    with watched.reading():
        if ending == ".npz":
            return _read_npz(path)
        head = _csv_head(path) if ending == ".csv" else _column_head(path, ending)
    provenance = from_line(head.line, str(path))
    axes = tuple(name for name in AXES if name in head.names)
    if not axes or "id" not in head.names:
        raise DataError(
            f"A map must have columns id, x and up to two more axes; {path} has "
            f"{', '.join(head.names)}. Leave the columns as isosne wrote them."
        )
    rows = open_path(path, Options(Wanted(columns=axes)))
    embedding = np.asarray(rows.read(slice(None)), dtype=np.float32)
    labels = rows.side["label"]() if "label" in rows.side else None
    return Map(embedding, rows.side["id"](), labels, provenance)


def _csv_head(path: Path) -> _Head:
    dialect = find_dialect(path, header=True)
    line = next((c for c in dialect.comments if c.startswith(COMMENT)), COMMENT)
    return _Head(line.removeprefix(COMMENT), list(dialect.names))


def _column_head(path: Path, ending: str) -> _Head:
    if ending == ".parquet":
        schema = require("pyarrow.parquet", "files", str(path)).read_schema(path)
    else:
        with require("pyarrow.ipc", "files", str(path)).open_file(str(path)) as reader:
            schema = reader.schema
    return _Head((schema.metadata or {}).get(KEY.encode()), list(schema.names))


def _read_npz(path: Path) -> Map:
    with np.load(path, allow_pickle=False) as archive:
        line = archive[KEY].item() if KEY in archive.files else None
        provenance = from_line(line, str(path))
        labels = archive["labels"] if "labels" in archive.files else None
        return Map(archive["embedding"], archive["ids"], labels, provenance)
