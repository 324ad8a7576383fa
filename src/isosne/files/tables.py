"""A table as a person names it: a file, a pipe, or one of the known data sets."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.files.pipes import open_piped
from isosne.sources import Rows, open_rows
from isosne.sources.columns import as_wanted
from isosne.sources.complete import CompleteRows, check_missing
from isosne.sources.dialect import UNNAMED
from isosne.sources.formats import Options, open_path

STDIN = "-"


@dataclass(frozen=True, eq=False)
class Table:
    """Points with what belongs to them.

    Parameters
    ----------
    rows : Rows
        The points; in memory or not.
    ids : array of int or str, or None
        What each row is called; None: its number. Where rows were dropped and nothing names
        them, their numbers in the file.
    labels : array of int or str, or None
        Class of each row; empty text where there is none.
    names : tuple of str or None
        Names of the columns that are values.
    notes : tuple of str
        What one should know: columns and rows that were left out, missing labels, stand-ins.
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
    text_columns: str = "refuse",
    missing: str = "refuse",
    columns: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    key: str | None = None,
    header: bool | None = None,
    memory_limit: int | None = None,
) -> Table:
    """Open a table by its path, "-" for standard input, or the name of a data set.

    Parameters
    ----------
    source : path or str
        A file or folder as `isosne.sources.open_rows` takes it; "-"; or a name that
        `isosne.datasets.load` knows.
    id : str or None, default=None
        Column that says what each row is called; its values differ.
    label : str or None, default=None
        Column that holds the class of each row. Of .npz files, a member; of .h5ad files, a column
        of obs. Data sets bring their labels along.
    text_columns : {"refuse", "leave_out"}, default="refuse"
        What to do about further columns that are not numeric.
    missing : {"refuse", "drop"}, default="refuse"
        What to do about rows in which a value is missing or infinite.
    columns, exclude : list of str, default=None and ()
        Columns that are values, and columns that are not.
    key : str or None, default=None
        Array of a file that holds several.
    header : bool or None, default=None
        Whether a text table begins with names. None: found out.
    memory_limit : int or None, default=None
        Bytes up to which a compressed .npz may be loaded. None: what is free.

    Returns
    -------
    Table
        The points stay where they are until they are read; ids and labels are in memory.

    Raises
    ------
    ParameterError
        If there is no such table or column; the nearest name is suggested.
    DataError
        If ids repeat, or labels all differ.
    """
    check_missing(missing)
    name = str(source)
    if name != STDIN and not Path(source).exists() and _looks_like_a_set(name):
        return _load_set(name, id, label, missing)
    roles = tuple((role, c) for role, c in (("id", id), ("label", label)) if c is not None)
    wanted = as_wanted(columns, exclude, text_columns)._replace(roles=roles)
    options = Options(wanted, key, header, memory_limit, missing)
    if name == STDIN:
        rows = open_piped(options)
    else:
        check_exists(Path(source), "A table")
        rows = open_path(Path(source), options)
    ids = _kept(rows) if id is None else _check_ids(rows.side[id](), id)
    labels = None if label is None else _check_labels(rows.side[label](), label)
    return Table(rows, ids, labels, rows.column_names, _notes(rows, labels))


def with_roles(
    table: Table,
    *,
    id: str | None = None,  # noqa: A002  the name of the option
    label: str | None = None,
) -> Table:
    """Return a table with ids and labels of its further columns; notes name what it lacks.

    Parameters
    ----------
    table : Table
        What `read_table` returned.
    id, label : str or None, default=None
        Columns that are not values. None: ids or labels stay as they are.

    Returns
    -------
    Table
        The same rows. Ids that repeat are left out too, and labels may all differ: the columns
        were chosen for another table.
    """
    source, side, notes = table.rows.describe(), table.rows.side, []
    found: dict[str, Array] = {}
    for role, name in (("ids", id), ("labels", label)):
        if name is None:
            continue
        if name in side:
            found[role] = side[name]()
        else:
            notes.append(f"{source} has no column {name!r}, which the model has for {role}.")
    if "ids" in found and len(np.unique(found["ids"])) < len(found["ids"]):
        del found["ids"]
        notes.append(f"Column {id!r} of {source} repeats values; rows are called by their numbers.")
    return replace(table, **found, notes=(*table.notes, *notes))  # type: ignore[arg-type]


def _looks_like_a_set(name: str) -> bool:
    return Path(name).name == name and not Path(name).suffix


def _kept(rows: Rows) -> Array | None:
    """Return the numbers of the rows in their source, if some were dropped."""
    return rows.kept if isinstance(rows, CompleteRows) else None


def _load_set(name: str, id: str | None, label: str | None, missing: str) -> Table:  # noqa: A002
    for role, column in (("id", id), ("label", label)):
        if column is not None:
            raise ParameterError(
                f"{role} must be left out for a data set, which brings its labels along; "
                f"got {column!r} with {name!r}. Leave it out, or name a file."
            )
    from isosne import datasets  # brings scikit-learn along, which files do without

    found = datasets.load(name)
    notes = (found.notes,) if found.notes else ()
    rows = open_rows(found.X, missing=missing)
    kept, labels = _kept(rows), found.classes[found.y]
    labels = labels if kept is None else labels[kept]
    return Table(rows, kept, labels, None, notes + _notes(rows, None))


def check_exists(path: Path, what: str) -> None:
    """Refuse a name that stands for no file; suggest the nearest one."""
    if path.exists():
        return
    folder = path.parent
    there = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    close = get_close_matches(path.name, there, n=1)
    advice = f"Did you mean {str(folder / close[0])!r}?" if close else "Correct the path."
    raise ParameterError(f"{what} must be a file that exists; there is no {str(path)!r}. {advice}")


def _check_ids(ids: Array, column: str) -> Array:
    found, counts = np.unique(ids, return_counts=True)
    if len(found) < len(ids):
        often = found[int(counts.argmax())]
        raise DataError(
            f"id must name a column whose values all differ; {column!r} has {str(often)!r} "
            f"{int(counts.max())} times. Name another column, or leave id out to number the rows."
        )
    return ids


def _check_labels(labels: Array, column: str) -> Array:
    n_rows = len(labels)
    if n_rows > 1 and len(np.unique(labels)) == n_rows:
        raise DataError(
            f"label must name a column of classes; {column!r} has {n_rows:,} different values in "
            f"{n_rows:,} rows. Name another column, or pass this one as id."
        )
    return labels


def _notes(rows: Rows, labels: Array | None) -> tuple[str, ...]:
    notes = [rows.note()] if isinstance(rows, CompleteRows) else []
    if rows.left_out:
        listed = ", ".join(map(repr, rows.left_out))
        notes.append(f"Left out, as not numeric: {listed}.")
    unnamed = [name for name in rows.column_names or () if name.startswith(UNNAMED)]
    if unnamed:
        listed = ", ".join(map(repr, unnamed))
        notes.append(f"Columns without a name are values: {listed}. Exclude what numbers the rows.")
    if labels is not None and labels.dtype.kind == "U" and np.any(labels == ""):
        notes.append(f"{int(np.sum(labels == '')):,} row(s) have no label.")
    return tuple(notes)
