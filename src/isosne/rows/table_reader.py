"""Open a table with its ids and labels, by its path or from standard input."""

import shutil
import sys
import weakref
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from isosne._files import is_there, writing_to
from isosne._types import Array
from isosne.errors import DataError, ParameterError, find_similar, keyword
from isosne.rows.archives import H5AD
from isosne.rows.columns import is_numbering, is_text, is_unique, make_request, parse_integers
from isosne.rows.formats import open_path
from isosne.rows.grouped import group_rows
from isosne.rows.rows import Rows
from isosne.rows.scaled import CompleteRows
from isosne.rows.text import UNNAMED

STDIN = "-"
LEFT_OUT = "Left out columns that are not numeric"
"""Beginning of the note on text columns."""
ROLE_BYTES = 100
"""Bytes of an identifier or a label in memory, of short texts. Chosen."""
PARQUET = b"PAR1"
"""First bytes of a Parquet file."""


@dataclass(frozen=True, eq=False)
class Table:
    """Points with their ids and labels, integers or text, and the names of the features.

    ``ids`` None: the index of the row. If rows were dropped, ids are the indices of the remaining
    rows in the file, and for .h5ad files the names of the rows, if they are unique. A missing label
    is "". ``notes``: sentences about what was left out or is missing.
    """

    rows: Rows
    ids: Array | None
    labels: Array | None
    names: tuple[str, ...] | None
    notes: tuple[str, ...] = ()


def read_table(
    source: str | Path,
    *,
    id: str | None = None,  # noqa: A002  the name of the option
    label: str | None = None,
    group: str | None = None,
    text_columns: str = "refuse",
    missing: str = "refuse",
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    **others: Any,
) -> Table:
    """Open a table, as `open_rows` does, with its ids and labels; "-" is standard input.

    ``id``, ``label`` and ``group`` name columns: for .npz files arrays, for .h5ad files columns of
    obs. With groups, a row of the table is a group. ``needs_numbers=False`` allows a table without
    numeric features.
    """
    named = (("id", id), ("label", label), ("group", group))
    roles = tuple((role, column) for role, column in named if column is not None)
    request = make_request(columns, exclude, text_columns, missing, roles=roles, **others)
    if str(source) == STDIN:
        folder, path = save_stdin()
        try:
            rows = open_path(path, request)
        except BaseException:
            folder.cleanup()
            raise
        weakref.finalize(rows, folder.cleanup)
    else:
        check_exists(Path(source), "source")
        rows = open_path(Path(source), request)
    _check_roles_fit(rows, roles, request.memory_limit)
    ids = _default_ids(rows, str(source)) if id is None else _check_ids(rows.side[id](), id)
    labels = None if label is None else _check_labels(rows.side[label](), label)
    notes = list_notes(rows, labels)
    if group is not None:
        rows, ids, labels, note = group_rows(rows, rows.side[group](), labels, group)
        notes = (*notes, note)
    return Table(rows, ids, labels, rows.column_names, notes)


def with_roles(
    table: Table,
    *,
    id: str | None = None,  # noqa: A002  the name of the option
    label: str | None = None,
) -> Table:
    """Return a table with ids and labels from its other columns, where it has them.

    The columns were chosen for another table, so a column that does not exist, or ids that are not
    unique, add a note instead of raising an error.
    """
    source, notes = table.rows.describe(), list(table.notes)
    for role, name in (("ids", id), ("labels", label)):
        if name is None:
            continue
        values = table.rows.side[name]() if name in table.rows.side else None
        if values is None:
            notes.append(f"{source} has no column {name!r}, which the model uses for {role}.")
        elif role == "ids" and not is_unique(values):
            why = "has repeated values; rows are identified by their index"
            notes.append(f"Column {name!r} of {source} {why}.")
        else:
            table = replace(table, **{role: values})  # type: ignore[arg-type]
    return replace(table, notes=tuple(notes))


def names_data_set(source: str | Path) -> bool:
    """Return whether a source can only be the name of a data set: no file is there."""
    name = str(source)
    is_bare = name != STDIN and Path(name).name == name and not Path(name).suffix
    return is_bare and not is_there(Path(name))


def _default_ids(rows: Rows, source: str) -> Array | None:
    """Return the ids of a table for which no column was named; None: the index of the row."""
    if source.lower().endswith(H5AD):
        names = parse_integers(rows.side["index"]())
        if not is_numbering(names) and is_unique(names):
            return names
    return rows.kept if isinstance(rows, CompleteRows) else None


def check_exists(path: Path, parameter: str) -> None:
    """Raise an error if a file does not exist; suggest the most similar name in its folder."""
    if is_there(path):
        return
    names: list[str] = []
    with suppress(OSError, ValueError):  # no folder, or one that cannot be listed
        names = [p.name for p in path.parent.iterdir() if p.exists()]
    # The name without its ending decides: "map.csv" is not meant by "new.csv".
    near = find_similar(path.name, [n for n in names if find_similar(path.stem, [Path(n).stem])])
    hint = f"Did you mean {str(path.parent / near)!r}?" if near else "Correct the path."
    raise ParameterError(parameter, "be a file that exists", str(path), hint)


def _check_roles_fit(rows: Rows, roles: tuple[Any, ...], limit: int | None) -> None:
    needed = ROLE_BYTES * len(roles) * rows.shape[0]
    if limit is not None and needed > limit:
        named = " and ".join(keyword(role, name) for role, name in roles)
        rule = f"be at least {-(-needed // 10**6):,} MB for {named} of {rows.shape[0]:,} rows"
        hint = "Raise the limit, leave out these columns, or use a table with fewer rows."
        raise ParameterError("memory_limit", rule, hint=hint)


def _check_ids(ids: Array, column: str) -> Array:
    if not is_unique(ids):
        often, count = Counter(ids.tolist()).most_common(1)[0]
        rule = f"name a column of unique values; {column!r} has {str(often)!r} {count} times"
        hint = f"Name another column, or leave out {keyword('id')} to use row numbers."
        raise ParameterError("id", rule, hint=hint)
    return ids


def _check_labels(labels: Array, column: str) -> Array:
    n_rows = len(labels)
    if n_rows > 1 and is_unique(labels):
        raise DataError(
            f"{keyword('label')} must name a column of classes; {column!r} has {n_rows:,} "
            f"different values in {n_rows:,} rows. Name another column, or pass "
            f"{keyword('id', column)} if it identifies the rows."
        )
    return labels


def list_notes(rows: Rows, labels: Array | None) -> tuple[str, ...]:
    """Return sentences about rows and columns that were left out, and missing labels."""
    notes = [rows.note()] if isinstance(rows, CompleteRows) else []
    if rows.left_out:
        notes.append(f"{LEFT_OUT}: {', '.join(map(repr, rows.left_out))}.")
    unnamed = [repr(name) for name in rows.column_names or () if name.startswith(UNNAMED)]
    if unnamed:
        notes.append(
            f"Columns without a name are used as features: {', '.join(unnamed)}. "
            "Exclude them if they number the rows."
        )
    if labels is not None and is_text(labels) and np.any(labels == ""):
        notes.append(f"{int(np.sum(labels == '')):,} row(s) have no label.")
    return tuple(notes)


def save_stdin() -> tuple[TemporaryDirectory[str], Path]:
    """Write standard input to a file in a folder that the caller removes: text or Parquet."""
    if sys.stdin is None:
        raise DataError("Cannot read standard input: it is closed. Pipe a table into it.")
    start = sys.stdin.buffer.read(len(PARQUET))
    if not start:
        raise DataError(
            "Cannot read standard input: it is empty. Pipe a table in CSV or Parquet into it."
        )
    with writing_to("a temporary file"):
        folder = TemporaryDirectory(prefix="isosne-")
        path = Path(folder.name) / ("stdin.parquet" if start == PARQUET else "stdin.csv")
        try:
            with path.open("wb") as file:
                file.write(start)
                shutil.copyfileobj(sys.stdin.buffer, file)
        except BaseException:
            folder.cleanup()
            raise
    return folder, path
