"""Load data sets by name: from the data folder, from scikit-learn or from OpenML.

A data set of the paper must have its shape there. A known stand-in is loaded with a note.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from isosne._files import whole_file
from isosne.datasets.folder import DataSet, fetch_set, find_folder, read_set, stored_names
from isosne.datasets.records import RECORDS
from isosne.errors import DataError, ParameterError, suggest
from isosne.rows import Table, open_rows
from isosne.rows.columns import as_integers_or_text
from isosne.rows.table_reader import list_notes

EXAMPLES: dict[str, Callable[[], Any]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
"""Data sets that are part of scikit-learn: nothing is downloaded."""
PAPER_NAMES = {"wdbc": "breast_cancer", "wine": "wine"}
"""Data sets of the paper that scikit-learn has, with the same rows in the same order."""


def names() -> list[str]:
    """Return the names of the paper's 21 data sets, in the order of its table of results.

    Examples
    --------
    >>> from isosne.datasets import names
    >>> names()[:3]
    ['wine', 'dermatology', 'forest_type']
    """
    return list(RECORDS)


def load(name: str, *, folder: str | Path | None = None) -> DataSet:
    """Load a data set of the paper, or an example of scikit-learn.

    Parameters
    ----------
    name : str
        One of `names`, another data set in the data folder, or "breast_cancer", "digits" or "iris".
    folder : path or None, default=None
        Data folder. None uses the environment variable ISOSNE_DATA, or ``~/.cache/isosne`` if it
        is not set. A data set that is not in the folder is taken from scikit-learn if it has it;
        otherwise it is downloaded from OpenML and kept in ``~/.cache/isosne``.

    Returns
    -------
    DataSet
        A data set with ``X``, ``y``, ``classes``, ``notes`` and ``name``. X is not scaled; sparse
        data are CSR.

    Raises
    ------
    ParameterError
        If the name is unknown, or the folder does not exist.
    DataError
        If a file is damaged, the shape differs from the paper, or the data cannot be downloaded.

    Examples
    --------
    >>> from isosne.datasets import load
    >>> load("wine")
    <wine: 178 points, 13 attributes, 3 classes>
    """
    data_folder = find_folder(folder)
    known = [*RECORDS, *EXAMPLES, *stored_names(data_folder)]
    if not isinstance(name, str) or name not in known:
        hint = "List the names with isosne.datasets.names() or the command isosne datasets."
        rule = "be a data set of the paper, of scikit-learn or of the data folder"
        raise ParameterError("name", rule, name, suggest(name, known, hint))
    for origin in _file_names(name):
        stored = read_set(data_folder, origin)
        if stored is not None:
            return _check_shape(name, stored, origin) if name in RECORDS else stored
    if name not in RECORDS or name in PAPER_NAMES:
        return _read_example(name)
    return _check_shape(name, _fetch(name, data_folder), "openml")


def load_table(
    name: str,
    *,
    id: str | None = None,  # noqa: A002  the name of the option
    label: str | None = None,
    missing: str = "refuse",
    **_: Any,
) -> Table:
    """Load a data set as a table with its own labels; options for columns of files are ignored."""
    for role, column in (("id", id), ("label", label)):
        if column is not None:
            raise ParameterError(
                role,
                "be left out for a data set, which has its own labels",
                column,
                f"Leave it out, or pass a file instead of {name!r}.",
            )
    loaded = load(name)
    rows = open_rows(loaded.X, missing=missing)
    kept, labels = getattr(rows, "kept", None), as_integers_or_text(loaded.classes)[loaded.y]
    labels = labels if kept is None else labels[kept]
    notes = (loaded.notes,) if loaded.notes else ()
    return Table(rows, kept, labels, loaded.features or None, notes + list_notes(rows, None))


def describe(*, folder: str | Path | None = None) -> str:
    """Return a table of the paper's data sets and their origins.

    Parameters
    ----------
    folder : path or None, default=None
        Data folder, as for `load`.

    Returns
    -------
    str
        A line per data set: name, numbers of points, attributes and classes in the paper, and
        where `load` would get it from; "by hand" if it must be downloaded manually.

    Examples
    --------
    >>> from isosne.datasets import describe
    >>> print(describe().splitlines()[0])
    name            points  attributes  classes  from
    """
    data_folder = find_folder(folder)
    rows: list[tuple[str, ...]] = [("name", "points", "attributes", "classes", "from")]
    for name, record in RECORDS.items():
        rows.append((name, *map(str, record.sizes), _find_origin(name, data_folder)))
    return "\n".join(f"{a:<14}  {b:>6}  {c:>10}  {d:>7}  {e}" for a, b, c, d, e in rows)


def export(name: str, path: str | Path | None = None, *, force: bool = False) -> Path:
    """Write an example data set to a CSV file.

    Parameters
    ----------
    name : {"breast_cancer", "digits", "iris", "wine"}
        A data set that is part of scikit-learn.
    path : path or None, default=None
        File to write, which ends in .csv. None: the name with ".csv", in the current folder.
    force : bool, default=False
        Whether to replace an existing file.

    Returns
    -------
    Path
        The file. Its columns are id, the number of the row; the features; and target, the name of
        the class.

    Raises
    ------
    ParameterError
        If there is no such data set, or the file has another extension.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.datasets import export
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export("iris", f"{folder}/iris.csv").read_text().splitlines()[1]
    '0,5.1,3.5,1.4,0.2,setosa'
    """
    if name not in EXAMPLES:
        hint = suggest(name, EXAMPLES, "These data sets need no download.")
        raise ParameterError("name", f"be one of {', '.join(EXAMPLES)}", name, hint)
    target = Path(f"{name}.csv") if path is None else Path(path)
    if target.suffix.lower() != ".csv":
        raise ParameterError("path", "end in .csv", str(target), "Choose another name.")
    example = _read_example(name)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", *example.features, "target"])
    for row, (values, label) in enumerate(zip(example.X.tolist(), example.y, strict=True)):
        writer.writerow([row, *values, example.classes[label]])
    with whole_file(target, force=force) as file:
        file.write(text.getvalue().encode())
    return target


def _read_example(name: str) -> DataSet:
    """Return a data set of scikit-learn by its name here or in the paper."""
    loaded = EXAMPLES[PAPER_NAMES.get(name, name)]()
    classes = np.asarray(loaded.target_names).astype(np.str_)
    features = tuple(map(str, loaded.feature_names))
    return DataSet(name, loaded.data, loaded.target.astype(np.int64), classes, features=features)


def _file_names(name: str) -> list[str]:
    """Return the names that the files may have: that of the data set, then that of a stand-in."""
    other = RECORDS[name].stand_in if name in RECORDS else None
    return [name] if other is None or other.origin in (name, "openml") else [name, other.origin]


def _find_origin(name: str, folder: Path) -> str:
    for origin in _file_names(name):
        for file in (f"{origin}.npz", f"{origin}.X.npz"):
            if (folder / file).is_file():
                return f"folder: {file}"
    if name in PAPER_NAMES:
        return "scikit-learn"
    openml = RECORDS[name].openml
    return f"OpenML {openml.data_id}" if openml else "by hand"


def _fetch(name: str, folder: Path) -> DataSet:
    record = RECORDS[name]
    if record.openml is None:
        raise DataError(
            f"The data set {name} must be in the data folder, as OpenML does not have it; "
            f"{folder} has no file {name}.npz. Get it from {record.source} and save it there with "
            f"np.savez_compressed({name + '.npz'!r}, X=X, y=y, classes=classes)."
        )
    try:
        return fetch_set(name, record.openml)
    except (OSError, ValueError, HTTPException) as error:
        raise DataError(
            f"The data set {name} must be in the data folder or come from OpenML; {folder} has no "
            f"file {name}.npz, and downloading OpenML {record.openml.data_id} failed with "
            f"{type(error).__name__}: {error}. Connect to the network, or set ISOSNE_DATA to a "
            "folder that has the file."
        ) from error


def _check_shape(name: str, data: DataSet, origin: str) -> DataSet:
    """Return a data set with its note, if it has the shape of the paper or of a stand-in."""
    record, sizes = RECORDS[name], (*data.X.shape, len(data.classes))
    if sizes == record.sizes:
        return replace(data, name=name, notes=record.note)
    if record.stand_in and (origin, sizes) == record.stand_in[:2]:
        return replace(data, name=name, notes=record.stand_in.note)
    words = "{} points, {} attributes and {} classes"
    where = "OpenML" if origin == "openml" else f"the files named {origin}"
    raise DataError(
        f"The data set {name} must have {words.format(*record.sizes)}, as in the paper; got "
        f"{words.format(*sizes)} from {where}. Get the data set from {record.source}."
    )
