"""Files that the browser sends and receives: tables and maps, rows, pictures, pages, models.

Both go through private temporary folders, and through the readers and writers of all commands.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError, IsosneError, MissingValuesError
from isosne.explorer.data import Data, from_table, plain_values
from isosne.explorer.session import Session
from isosne.pages import write_page
from isosne.plots import plot_map, save_figure
from isosne.plots.paint import Paint
from isosne.rows import Map, MapWriter, Table, read_map, read_table
from isosne.rows.columns import as_text, is_numbering
from isosne.rows.map_writer import encode_parquet
from isosne.rows.maps import READABLE, match_rows
from isosne.rows.scaled import Scale, ScaledRows
from isosne.rows.text import encode_csv
from isosne.tables.mixed import as_mixed, find_dominant, find_numbering

TABLES = (".csv", ".tsv", ".parquet", ".feather", ".npy", ".npz", ".h5ad")
MAPS = READABLE  # tables and maps that can be sent
OPTION = " Or tick the box for missing values."


def upload_table(
    content: bytes,
    name: str,
    *,
    label: str | None = None,
    identifier: str | None = None,
    scale: str = "none",
    is_mixed: bool = False,
) -> tuple[Data, str]:
    """Return the rows of a table that was sent, and notes on columns that distort its map.

    ``is_mixed``: text, categories, dates and missing values are features too, and columns are not
    scaled.
    """
    words = [name, *(["--mixed"] if is_mixed else ["--text-columns", "leave_out"])]
    words += ["--label", label] if label else []
    words += ["--id", identifier] if identifier else []
    with _as_file(content, name, "table", TABLES) as path:
        unscaled = table = read_table(
            path,
            id=identifier,
            label=label,
            text_columns="leave_out",
            needs_numbers=not is_mixed,
        )
        if is_mixed:
            roles = [role for role in (identifier, label) if role]
            unscaled = table = as_mixed(table, exclude=roles)
        elif scale != "none":
            words += ["--scale", scale]
            rows = ScaledRows(table.rows, Scale.of(scale, table.rows))
            table = replace(table, rows=rows)
        data = from_table(table, unscaled, name, (identifier, label), tuple(words))
        return data, " ".join(_notes(unscaled, table))


def _notes(unscaled: Table, table: Table) -> Iterator[str]:
    """Yield sentences about columns that number the rows, or dominate the distances."""
    for name in find_numbering(unscaled):
        yield (
            f"The column {name!r} numbers the rows, and is used as a feature. Open the table "
            "again, with this column as the row identifier, to leave it out."
        )
    dominant = find_dominant(table)
    if dominant is not None:
        name, ratio = dominant
        yield (
            f"The column {name!r} dominates the distances: its standard deviation is {ratio:,.0f} "
            "times that of the median column. Open the table again, with scaled columns."
        )


def upload_map(content: bytes, name: str, data: Data) -> tuple[NDArray[np.float32], str]:
    """Return the positions of the rows in a map that was sent, and how the file was read."""
    with _as_file(content, name, "map", MAPS) as path:
        drawn = read_map(path)
        notes = " ".join(drawn.notes).replace(str(path), name)
        return place_rows(drawn, data), notes


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


@contextmanager
def _as_file(content: bytes, name: str, kind: str, endings: tuple[str, ...]) -> Iterator[Path]:
    """Give the path of a file with some content; errors name the file as the user does."""
    ending = Path(name).suffix.lower()
    if ending not in endings:
        raise DataError(
            f"A {kind} must end in one of {', '.join(endings)}; got {name}. Choose another file."
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}{ending}"
        path.write_bytes(content)
        try:
            yield path
        except IsosneError as error:
            hint = OPTION if isinstance(error, MissingValuesError) else ""
            raise DataError(f"{str(error).replace(str(path), name)}{hint}") from None


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
        axes: Any = plot_map(Y[placed], paint and paint.part(placed))
        (left, bottom), (right, top) = corners
        axes.set(xlim=(left, right), ylim=(bottom, top))
        save_figure(axes, path)

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
    """Return the rows that have a position."""
    return np.flatnonzero(np.isfinite(Y).all(axis=1))


def _storable(values: Array) -> Array:
    return values if values.dtype.kind in "ui" else as_text(values)


def _through_file(name: str, write: Callable[[Path], Any]) -> bytes:
    """Return what a function writes to a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
