"""Files that the browser sends and receives: maps, rows, pictures, pages, models.

Both go through private temporary folders, and through the readers and writers of all commands.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne import plots  # which imports matplotlib when a picture is saved
from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError, IsosneError
from isosne.explorer.data import Data, plain_values
from isosne.explorer.session import Session
from isosne.pages import write_page
from isosne.plots.paint import Paint
from isosne.rows import Map, MapWriter, read_map
from isosne.rows.columns import as_text, is_numbering
from isosne.rows.map_writer import encode_parquet
from isosne.rows.maps import READABLE, match_rows
from isosne.rows.text import encode_csv


def upload_map(content: bytes, name: str, data: Data) -> tuple[NDArray[np.float32], str]:
    """Return the positions of the rows in a map that was sent, and how the file was read."""
    ending = Path(name).suffix.lower()
    if ending not in READABLE:
        raise DataError(
            f"A map must end in one of {', '.join(READABLE)}; got {name}. Choose another file."
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"map{ending}"
        path.write_bytes(content)
        try:  # notes and errors name the file as the user does
            drawn = read_map(path)
            notes = [*drawn.notes, *_other_table(drawn, data)]
            return place_rows(drawn, data), " ".join(notes).replace(str(path), name)
        except IsosneError as error:
            raise DataError(str(error).replace(str(path), name)) from None


def _other_table(drawn: Map, data: Data) -> list[str]:
    """Return a note if the map was made from another table than the one shown."""
    try:
        if data.origin is not None:
            drawn.check_table(data.origin)
    except DataError:
        made_from = drawn.recorded("input").get("source")
        return [f"This map was made from another table or with other columns: {made_from}."]
    return []


def place_rows(drawn: Map, data: Data) -> NDArray[np.float32]:
    """Return the position of each row in a map of all rows."""
    ids = None if is_numbering(data.ids) else data.ids
    rows = match_rows(drawn, ids, data.n_rows, data.source)
    if rows is None:
        return drawn.embedding
    if len(rows) != data.n_rows or len(np.unique(rows)) != data.n_rows:
        raise DataError(
            f"A map must have one point for each of the {data.n_rows:,} rows of {data.source}; it "
            f"has {len(rows):,} points. Pass a map of all rows."
        )
    Y = np.empty_like(drawn.embedding)
    Y[rows] = drawn.embedding
    return Y


def tabulate(session: Session, rows: Array) -> dict[str, Array]:
    """Return some rows as columns: identifiers, labels, columns, names and positions."""
    data = session.rows
    columns: dict[str, Array] = {"id": data.ids[rows]}
    if data.labels is not None:
        columns[data.label_name] = data.labels[rows]
    for column in data.columns:
        columns.setdefault(column.name, plain_values(column, rows))
    named = session.names_column()
    if named is not None:
        columns["selection"] = plain_values(named, rows)
    for m, shown in enumerate(session.maps):
        for axis, values in zip("xy", shown.Y[rows].T, strict=True):
            columns[f"map {m + 1} {axis}"] = values.astype(np.float64)
    return columns


def save_rows(session: Session, rows: Array, kind: str) -> bytes:
    """Return rows as a file of a kind, "csv" or "parquet"."""
    columns = tabulate(session, rows)
    return encode_csv(columns) if kind == "csv" else encode_parquet(columns)


def save_picture(Y: Array, paint: Paint, corners: Array, kind: str) -> bytes:
    """Return the part of a map between two corners as a picture, "png" or "svg"."""
    placed = _placed(Y)

    def write(path: Path) -> None:
        axes: Any = plots.plot_map(Y[placed], paint and paint.part(placed))
        (left, bottom), (right, top) = corners
        axes.set(xlim=(left, right), ylim=(bottom, top))
        plots.save_figure(axes, path)

    return _through_file(f"map.{kind}", write)


def save_page(session: Session, m: int) -> bytes:
    """Return a map as a self-contained HTML page."""
    data, shown = session.rows, session.maps[m]
    placed = _placed(shown.Y)
    table = tabulate(session, placed)
    told: dict[str, Any] = {"title": shown.title}
    told["labels"] = table.pop(data.label_name) if data.labels is not None else None
    told["columns"] = {name: v for name, v in table.items() if not name.startswith("map ")}
    return _through_file("map.html", lambda path: write_page(path, shown.Y[placed], **told))


def save_map(session: Session, m: int) -> bytes:
    """Return a map as a Parquet file that other commands of isosne read."""
    data, Y = session.rows, session.maps[m].Y
    placed = _placed(Y)
    about = {"version": __version__, "command": "explore", "made by": session.command(m)}

    def write(path: Path) -> None:
        labels = None if data.labels is None else _storable(data.labels[placed])
        with MapWriter(path, _storable(data.ids[placed]), 2, about, labels=labels) as writer:
            writer.write(Y[placed])

    return _through_file("map.parquet", write)


def save_model(session: Session, m: int) -> bytes:
    """Return the model of a map that was computed here."""
    shown = session.maps[m]
    if shown.model is None or not shown.status.has_model:
        raise DataError(
            "Only a map that was computed here, and whose run has ended, has a model to save. "
            "Wait for the end of the run, or stop it."
        )
    return _through_file("model.isosne", shown.model.save)


def _placed(Y: Array) -> Array:
    return np.flatnonzero(np.isfinite(Y).all(axis=1))


def _storable(values: Array) -> Array:
    return values if values.dtype.kind in "ui" else as_text(values)


def _through_file(name: str, write: Callable[[Path], Any]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
