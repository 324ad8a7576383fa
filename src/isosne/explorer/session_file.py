"""A session in one file: maps, selections and names, but not the rows themselves."""

from pathlib import Path
from typing import Any

import numpy as np

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._types import Array
from isosne.explorer.session import MAX_MAPS, Session, ShownMap
from isosne.explorer.settings import CHOICES, Settings

KIND = "session"


def save_session(session: Session, path: Path) -> None:
    """Write a session; an existing file is replaced."""
    data = session.rows
    arrays: dict[str, Array] = {"selection": session.selection}
    maps: list[dict[str, Any]] = []
    for shown in session.maps:
        _, Y = shown.frame(data.n_rows)
        if np.isnan(Y).all():
            continue  # a run before its first step
        m = len(maps)
        arrays[f"map{m}"] = Y if shown.rows is None else Y[shown.rows]
        if shown.rows is not None:
            arrays[f"rows{m}"] = shown.rows
        settings = None if shown.settings is None else shown.settings.as_dict()
        about: dict[str, Any] = {"title": shown.title, "settings": settings}
        about |= {"is_warm": shown.is_warm, "is_described": shown.is_described}
        maps.append(about | {"n_steps": shown.count_steps()})
    for i, rows in enumerate(session.names.values()):
        arrays[f"name{i}"] = rows
    header = {
        "fingerprint": data.fingerprint,
        "source": data.source,
        "n_rows": data.n_rows,
        "maps": maps,
        "names": list(session.names),
        "asked": session.asked,
        "color": session.color,
    }
    write_archive(path, KIND, header, arrays)


def restore_session(session: Session, path: Path) -> None:
    """Restore maps, selections and names of the same rows from a file."""
    data = session.rows
    header, arrays = read_archive(path, KIND)
    with reading_archive(path, KIND):
        if header["fingerprint"] != data.fingerprint or header["n_rows"] != data.n_rows:
            raise RefusedError(
                f"The session {path} belongs to other rows: it was saved for {header['source']}, "
                f"with {header['n_rows']:,} rows, and {data.source} or the options that read it, "
                "such as --scale, differ. Open the table in the same way, or choose another "
                "session file."
            )
        maps = [_read_map(m, about, arrays, data.n_rows) for m, about in enumerate(header["maps"])]
        names = [str(name) for name in header["names"]]
        selections = [_check_rows(arrays[f"name{i}"], data.n_rows) for i in range(len(names))]
        selection = _check_rows(arrays["selection"], data.n_rows)
        asked = None if header["asked"] is None else int(header["asked"])
        if len(maps) > MAX_MAPS or (asked is not None and not 0 <= asked < data.n_rows):
            raise ValueError("its values do not fit together")
    session.close()
    session.maps, session.selection, session.asked = maps, selection, asked
    session.names = dict(zip(names, selections, strict=True))
    session.color = str(header["color"])
    session.changes.update(("maps", "selection", "asked", "names", "color"))


def _read_map(m: int, about: Any, arrays: dict[str, Array], n_rows: int) -> ShownMap:
    rows = _check_rows(arrays[f"rows{m}"], n_rows) if f"rows{m}" in arrays else None
    Y = arrays[f"map{m}"]
    n_mapped = n_rows if rows is None else len(rows)
    if Y.shape != (n_mapped, 2) or Y.dtype != np.float32 or not np.isfinite(Y).all():
        raise ValueError("the positions of a map do not fit the rows")
    settings = None if about["settings"] is None else Settings(**about["settings"])
    if settings is not None and settings.kernel not in CHOICES:
        raise ValueError("the kernel of a map is unknown")
    shown = ShownMap(str(about["title"]), settings, rows, fixed=Y, is_warm=bool(about["is_warm"]))
    shown.is_described = bool(about.get("is_described", True))
    n_steps = about.get("n_steps")
    shown.n_steps = None if n_steps is None else int(n_steps)
    return shown


def _check_rows(rows: Array, n_rows: int) -> Array:
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError("a selection is not a list of rows")
    if len(rows) and not (rows.min() >= 0 and rows.max() < n_rows):
        raise ValueError("a selection has rows that do not exist")
    return rows.astype(np.int64)
