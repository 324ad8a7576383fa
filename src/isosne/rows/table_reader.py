"""Open a table with its ids and labels, by its path or from standard input."""

import shutil
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isosne._files import is_there, writing_to
from isosne._types import Array
from isosne.errors import DataError, ParameterError, find_similar, keyword
from isosne.rows.archives import H5AD
from isosne.rows.columns import is_numbering, is_text, is_unique, make_request, parse_integers
from isosne.rows.formats import open_path
from isosne.rows.rows import Rows
from isosne.rows.scaled import CompleteRows
from isosne.rows.text import UNNAMED

STDIN = "-"
LEFT_OUT = "Left out columns that are not numeric"
"""Beginning of the note on text columns."""
PARQUET = b"PAR1"
"""First bytes of a Parquet file."""


@dataclass(frozen=True, eq=False)
class Table:
    """Points with their ids and labels.

    Parameters
    ----------
    rows : Rows
        The points, in memory or not.
    ids : array of int or str, shape (n_samples,), or None
        Unique identifier of each row. None if no column was named: the index of the row. If rows
        were dropped, the indices of the remaining rows in the file. For .h5ad files, the names of
        the rows, if they are unique.
    labels : array of int or str, shape (n_samples,), or None
        Class of each row; "" if it is missing.
    names : tuple of str or None
        Names of the features.
    notes : tuple of str
        Sentences about columns and rows that were left out, missing labels, and data sets that
        differ from those of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.rows import Table, open_rows
    >>> table = Table(open_rows(np.eye(2)), None, np.array(["a", "b"]), None)
    >>> table.labels.tolist()
    ['a', 'b']
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
    needs_numbers: bool = True,
) -> Table:
    r"""Open a table with its ids and labels.

    Parameters
    ----------
    source : path or str
        A file or folder, as for `isosne.rows.open_rows`, or "-" for standard input.
    id : str or None, default=None
        Column with a unique identifier of each row.
    label : str or None, default=None
        Column with the class of each row: for .npz files an array, for .h5ad files a column of
        obs.
    text_columns, missing, columns, exclude, key, header, memory_limit
        As for `isosne.rows.open_rows`.
    needs_numbers : bool, default=True
        Whether to raise an error if no numeric feature is left.

    Returns
    -------
    Table
        The table. Ids and labels are in memory; points are read on demand.

    Raises
    ------
    ParameterError
        If there is no such file or column; the most similar name is suggested.
    DataError
        If the file cannot be read, ids are not unique, or every row has a different label.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isosne.rows import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "wine.csv"
    ...     _ = path.write_text("bottle,kind,ash\n7,red,2\n9,white,3\n4,red,4\n")
    ...     table = read_table(path, id="bottle", label="kind")
    >>> table.ids.tolist(), table.labels.tolist(), table.names
    ([7, 9, 4], ['red', 'white', 'red'], ('ash',))
    """
    roles = tuple((role, c) for role, c in (("id", id), ("label", label)) if c is not None)
    options: dict[str, Any] = {"key": key, "header": header, "memory_limit": memory_limit}
    options |= {"roles": roles, "needs_numbers": needs_numbers}
    request = make_request(columns, exclude, text_columns, missing, **options)
    if str(source) == STDIN:
        rows = _open_piped(request)
    else:
        check_exists(Path(source), "source")
        rows = open_path(Path(source), request)
    ids = _default_ids(rows, str(source)) if id is None else _check_ids(rows.side[id](), id)
    labels = None if label is None else _check_labels(rows.side[label](), label)
    return Table(rows, ids, labels, rows.column_names, list_notes(rows, labels))


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
    raise ParameterError(parameter, "be a file that exists", str(path), _suggest(path))


def _suggest(path: Path) -> str:
    names: list[str] = []
    with suppress(OSError, ValueError):  # no folder, or one that cannot be listed
        if path.is_symlink():
            return "It is a symbolic link that leads nowhere. Correct the link."
        names = [p.name for p in path.parent.iterdir()]
    # The name without its ending decides: "map.csv" is not meant by "new.csv".
    near = find_similar(path.name, [n for n in names if find_similar(path.stem, [Path(n).stem])])
    return f"Did you mean {str(path.parent / near)!r}?" if near else "Correct the path."


def _check_ids(ids: Array, column: str) -> Array:
    if not is_unique(ids):
        often, count = Counter(ids.tolist()).most_common(1)[0]
        raise DataError(
            f"{keyword('id')} must name a column of unique values; {column!r} has {str(often)!r} "
            f"{count} times. Name another column, or leave out {keyword('id')} to use "
            "row numbers."
        )
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
    unnamed = [name for name in rows.column_names or () if name.startswith(UNNAMED)]
    if unnamed:
        listed = ", ".join(map(repr, unnamed))
        notes.append(
            f"Columns without a name are used as features: {listed}. "
            "Exclude them if they number the rows."
        )
    if labels is not None and is_text(labels) and np.any(labels == ""):
        notes.append(f"{int(np.sum(labels == '')):,} row(s) have no label.")
    return tuple(notes)


def _open_piped(request: Any) -> Rows:
    """Open standard input; the temporary file is removed when the rows are no longer in use."""
    with writing_to("a temporary file"):
        folder = Path(tempfile.mkdtemp(prefix="isosne-"))
    try:
        rows = open_path(_save_stdin(folder), request)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(rows, shutil.rmtree, folder, ignore_errors=True)
    return rows


@contextmanager
def piped_file() -> Iterator[Path]:
    """Save standard input to a temporary file, which is removed at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="isosne-") as folder:
        yield _save_stdin(Path(folder))


def _save_stdin(folder: Path) -> Path:
    """Write standard input to a file with the extension of its format: text or Parquet."""
    if sys.stdin is None:
        raise DataError("Cannot read standard input: it is closed. Pipe a table into it.")
    with writing_to(folder):
        start = sys.stdin.buffer.read(len(PARQUET))
        if not start:
            raise DataError(
                "Cannot read standard input: it is empty. Pipe a table in CSV or Parquet into it."
            )
        path = folder / ("stdin.parquet" if start == PARQUET else "stdin.csv")
        with path.open("wb") as file:
            file.write(start)
            shutil.copyfileobj(sys.stdin.buffer, file)
    return path
