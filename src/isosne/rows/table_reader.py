"""Open a table by its path, from standard input, or by the name of a data set."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isosne._files import is_there
from isosne._types import Array
from isosne.errors import DataError, ParameterError, find_similar, keyword
from isosne.rows.arrays import LABELS
from isosne.rows.columns import (
    N_LISTED,
    TextColumnsError,
    as_integers_or_text,
    is_text,
    is_unique,
    make_request,
    parse_integers,
)
from isosne.rows.formats import OpenOptions, open_path, open_rows
from isosne.rows.maps import is_numbering
from isosne.rows.pipes import open_piped
from isosne.rows.rows import Rows
from isosne.rows.scaled import CompleteRows, check_missing
from isosne.rows.text_dialect import UNNAMED

STDIN = "-"
LEFT_OUT = "Left out columns that are not numeric"
"""Beginning of the note on text columns."""
MOST_CLASSES = 60
"""Largest number of values of a text column that may be labels: there are as many colors."""
LARGEST_SEARCHED = 50_000_000
"""Largest file, in bytes, whose text columns are read for an error (chosen: about a second)."""


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
    >>> import tempfile
    >>> from isosne.datasets import export
    >>> from isosne.rows import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = read_table(export("wine", f"{folder}/wine.csv"), id="id", label="target")
    >>> table.names[:2]
    ('alcohol', 'malic_acid')
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
        A file or folder, as for `isosne.rows.open_rows`; "-" for standard input; or the name of
        a data set, as for `isosne.datasets.load`.
    id : str or None, default=None
        Column with a unique identifier of each row.
    label : str or None, default=None
        Column with the class of each row: for .npz files an array, for .h5ad files a column of
        obs. Data sets have their own labels. None uses the array y of an .npz file if it has
        classes and is not excluded.
    text_columns : {"refuse", "leave_out"}, default="refuse"
        What to do with other columns that are not numeric: raise an error, or leave them out.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing or infinite values: raise an error when they are
        read, or drop them.
    columns : list of str or None, default=None
        Columns to use as features, in this order. None uses all columns.
    exclude : list of str, default=()
        Columns that are not features.
    key : str or None, default=None
        Array to read from a file that contains several. None reads X, or the only array.
    header : bool or None, default=None
        Whether the first line of a text table has column names. None detects it.
    memory_limit : int or None, default=None
        Largest size in bytes of a compressed .npz file in memory. None uses the memory that is
        available.
    needs_numbers : bool, default=True
        Whether to raise an error if no numeric feature is left.

    Returns
    -------
    Table
        The table. Ids and labels are in memory; points are read on demand.

    Raises
    ------
    ParameterError
        If there is no such file, data set or column; the most similar name is suggested.
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
    check_missing(missing)
    name = str(source)
    if name != STDIN and not is_there(Path(source)) and _looks_like_a_set(name):
        return _load_set(name, id, label, missing)
    roles = tuple((role, c) for role, c in (("id", id), ("label", label)) if c is not None)
    request = make_request(columns, exclude, text_columns)
    request = request._replace(roles=roles, needs_numbers=needs_numbers)
    options = OpenOptions(request, key, header, memory_limit, missing)
    if name == STDIN:
        rows = open_piped(options)
    else:
        check_exists(Path(source), "source")
        rows = _open(Path(source), options)
    ids = _default_ids(rows, name) if id is None else _check_ids(rows.side[id](), id)
    notes: tuple[str, ...] = ()
    if label is not None:
        labels: Array | None = _check_labels(rows.side[label](), label)
    else:
        labels, notes = _find_labels(rows, name, request.exclude)
    return Table(rows, ids, labels, rows.column_names, notes + _collect_notes(rows, labels))


def with_roles(
    table: Table,
    *,
    id: str | None = None,  # noqa: A002  the name of the option
    label: str | None = None,
) -> Table:
    """Return a table with ids and labels from its other columns, where it has them.

    Parameters
    ----------
    table : Table
        A table from `read_table`.
    id, label : str or None, default=None
        Columns that are not features. None leaves the ids or labels of the table unchanged.

    Returns
    -------
    Table
        The same rows. The columns were chosen for another table, so a column that does not exist,
        or ids that are not unique, add a note instead of raising an error.
    """
    source, side, notes = table.rows.describe(), table.rows.side, []
    found: dict[str, Array] = {}
    for role, name in (("ids", id), ("labels", label)):
        if name is None:
            continue
        if name in side:
            found[role] = side[name]()
        else:
            notes.append(f"{source} has no column {name!r}, which the model uses for {role}.")
    if "ids" in found and not is_unique(found["ids"]):
        del found["ids"]
        notes.append(
            f"Column {id!r} of {source} has repeated values; rows are identified by their index."
        )
    return replace(table, **found, notes=(*table.notes, *notes))  # type: ignore[arg-type]


def _looks_like_a_set(name: str) -> bool:
    return Path(name).name == name and not Path(name).suffix


def _default_ids(rows: Rows, source: str) -> Array | None:
    """Return the ids of a table for which no column was named; None: the index of the row."""
    if source.lower().endswith(".h5ad"):
        names = parse_integers(rows.side["index"]())
        if not is_numbering(names) and is_unique(names):
            return names
    return _kept_rows(rows)


def _kept_rows(rows: Rows) -> Array | None:
    """Return the indices of the rows in their source, if some were dropped."""
    return rows.kept if isinstance(rows, CompleteRows) else None


def _load_set(name: str, id: str | None, label: str | None, missing: str) -> Table:  # noqa: A002
    for role, column in (("id", id), ("label", label)):
        if column is not None:
            raise ParameterError(
                role,
                "be left out for a data set, which has its own labels",
                column,
                f"Leave it out, or pass a file instead of {name!r}.",
            )
    from isosne import datasets  # imports scikit-learn, which files do not need

    found = datasets.load(name)
    notes = (found.notes,) if found.notes else ()
    rows = open_rows(found.X, missing=missing)
    kept, labels = _kept_rows(rows), as_integers_or_text(found.classes)[found.y]
    labels = labels if kept is None else labels[kept]
    return Table(rows, kept, labels, found.features or None, notes + _collect_notes(rows, None))


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
    near = find_similar(path.name, [name for name in names if _has_similar_stem(name, path.stem)])
    return f"Did you mean {str(path.parent / near)!r}?" if near else "Correct the path."


def _has_similar_stem(name: str, stem: str) -> bool:
    return find_similar(stem, [Path(name).stem]) is not None


def _open(path: Path, options: OpenOptions) -> Rows:
    """Open a file; an error for text columns names those that may be labels or ids."""
    try:
        return open_path(path, options)
    except TextColumnsError as error:
        offers: list[str] = []
        with suppress(DataError, OSError):
            offers = _offer_roles(path, options, error.columns)
        if not offers:
            raise
        advice = f"Otherwise, {error.advice[0].lower()}{error.advice[1:]}"
        raise DataError(" ".join([error.problem, *offers, advice])) from None


def _offer_roles(path: Path, options: OpenOptions, columns: Sequence[str]) -> list[str]:
    """Return hints to name a text column as labels or ids, if its values are like that."""
    if not path.is_file() or path.stat().st_size > LARGEST_SEARCHED:
        return []
    request = options.request._replace(text_columns="leave_out", needs_numbers=False)
    rows = open_path(path, options._replace(request=request))
    given, hints = {role for role, _ in options.request.roles}, []
    for name in columns[:N_LISTED]:
        n_different = len(set(rows.side[name]().tolist()))
        if "label" not in given and 2 <= n_different <= min(MOST_CLASSES, rows.shape[0] / 2):
            hints.append(f"Pass {keyword('label', name)} if {name!r} is the class of each row.")
            given.add("label")
        elif "id" not in given and n_different == rows.shape[0]:
            hints.append(f"Pass {keyword('id', name)} if {name!r} identifies the rows.")
            given.add("id")
    return hints


def _find_labels(
    rows: Rows, source: str, exclude: tuple[str, ...]
) -> tuple[Array | None, tuple[str, ...]]:
    """Return the labels that an .npz file has by its own account, and a note about them."""
    if not source.lower().endswith(".npz") or LABELS not in rows.side or LABELS in exclude:
        return None, ()
    labels = rows.side[LABELS]()
    classes = np.unique(labels)
    if not 1 < len(classes) < len(labels):
        return None, ()
    listed = ", ".join(map(str, classes[:N_LISTED].tolist()))
    more = ", ..." if len(classes) > N_LISTED else ""
    note = (
        f"The labels are the array {LABELS!r} of {source}, with {len(classes):,} classes: "
        f"{listed}{more}. Exclude {LABELS!r} if it is no label."
    )
    return labels, (note,)


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


def _collect_notes(rows: Rows, labels: Array | None) -> tuple[str, ...]:
    notes = [rows.note()] if isinstance(rows, CompleteRows) else []
    if rows.left_out:
        listed = ", ".join(map(repr, rows.left_out))
        notes.append(f"{LEFT_OUT}: {listed}.")
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
