"""What a session can be saved as: rows, pictures, pages, maps, models, as the bytes of files."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError
from isosne.explorer.data import Data
from isosne.explorer.measuring import Measurer
from isosne.explorer.session import DENSITY, SELECTIONS, TRUST, Session
from isosne.files import MapWriter
from isosne.files.row_table import encode_csv, encode_parquet
from isosne.pages import write_page
from isosne.plots import plot_map, save_figure
from isosne.plots.paint import as_paint
from isosne.studies.point_columns import Column

View = tuple[tuple[float, float], tuple[float, float]]
"""Limits of the axes of a view: of x, and of y."""


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
        _, Y = shown.frame(data.n_rows)
        for axis, values in zip("xy", Y[rows].T, strict=True):
            columns[f"map {m + 1} {axis}"] = values.astype(np.float64)
    return columns


def plain_values(column: Column, rows: Array) -> Array:
    """Return the values of some rows: numbers, or text."""
    values = column.data[rows]
    return values if column.words is None else np.array(column.words, dtype=np.str_)[values]


def save_rows(session: Session, rows: Array, kind: str) -> bytes:
    """Return rows as a file of a kind, "csv" or "parquet"."""
    columns = tabulate(session, rows)
    return encode_csv(columns) if kind == "csv" else encode_parquet(columns)


def find_color(session: Session, m: int, measurer: Measurer) -> tuple[Array | None, str]:
    """Return what the points of a map are colored by, and its kind as in `plot_map`."""
    data, color = session.rows, session.color
    if color == data.label_name and data.labels is not None:
        return data.labels, "auto"
    if color == TRUST:
        found = measurer.of(session.maps[m])
        return (None, "auto") if found is None else (found.trust, "trust")
    if color == DENSITY and measurer.density is not None:
        return measurer.density, "values"
    columns = [column for column in data.columns if column.name == color]
    named = session.names_column()
    if color == SELECTIONS and named is not None:
        columns = [named]
    if not columns:
        return None, "auto"
    return plain_values(columns[0], np.arange(data.n_rows)), "auto"


def save_picture(Y: Array, color: tuple[Array | None, str], view: View, kind: str) -> bytes:
    """Return the part of a map within a view as a picture, "png" or "svg"."""
    values, meaning = color
    try:
        as_paint(values, len(Y), kind=meaning)
    except DataError:  # too many classes: not colored, as in the page
        values, meaning = None, "auto"

    def write(path: Path) -> None:
        placed = np.isfinite(Y).all(axis=1)
        axes: Any = plot_map(Y[placed], None if values is None else values[placed], kind=meaning)
        axes.set_xlim(*view[0])
        axes.set_ylim(*view[1])
        save_figure(axes, path)

    return _through_file(f"map.{kind}", write)


def save_page(session: Session, m: int) -> bytes:
    """Return a map as a self-contained HTML page."""
    data = session.rows
    _, Y = session.maps[m].frame(data.n_rows)
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    table = tabulate(session, placed)
    labels = table.pop(data.label_name) if data.labels is not None else None
    columns = {name: v for name, v in table.items() if not name.startswith("map ")}
    return _through_file(
        "map.html",
        lambda path: write_page(
            path, Y[placed], columns=columns, labels=labels, title=session.maps[m].title
        ),
    )


def save_map(session: Session, m: int) -> bytes:
    """Return a map as a Parquet file that other commands of isosne read."""
    data, shown = session.rows, session.maps[m]
    _, Y = shown.frame(data.n_rows)
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    about = {"version": __version__, "command": "explore", "made by": session.command(m)}

    def write(path: Path) -> None:
        labels = None if data.labels is None else _as_labels(data, placed)
        with MapWriter(path, _as_ids(data, placed), 2, about, labels=labels) as writer:
            writer.write(Y[placed])

    return _through_file("map.parquet", write)


def save_model(session: Session, m: int) -> bytes:
    """Return the model of a map that was computed here."""
    model = session.maps[m].fitted()
    if model is None:
        raise DataError(
            "Only a map that was computed here, and whose run has ended, has a model to save. "
            "Wait for the end of the run, or stop it."
        )
    return _through_file("model.isosne", model.save)


def _as_ids(data: Data, rows: Array) -> Array:
    ids = data.ids[rows]
    return ids if ids.dtype.kind in "uiU" else ids.astype(np.str_)


def _as_labels(data: Data, rows: Array) -> Array:
    assert data.labels is not None
    labels = data.labels[rows]
    return labels if labels.dtype.kind in "uiU" else labels.astype(np.str_)


def _through_file(name: str, write: Callable[[Path], Any]) -> bytes:
    """Return what a function writes to a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()
