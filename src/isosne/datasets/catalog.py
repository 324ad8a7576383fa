"""Load data sets by name: from the data folder, from scikit-learn or from OpenML.

A data set of the paper must have its shape there. A known stand-in is loaded with a note. In the
folder, a dense data set is ``<name>.npz`` with arrays X, y and classes; a sparse one is
``<name>.X.npz`` (`scipy.sparse.save_npz`) with ``<name>.y.npy``. Nothing is unpickled. Downloads of
OpenML are kept in the user's cache.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy.sparse import load_npz

from isosne._csr import valid_csr
from isosne._files import whole_file
from isosne._types import Array, Points
from isosne.datasets.records import RECORDS, OpenML
from isosne.errors import DataError, ParameterError, suggest
from isosne.rows import Table, open_rows
from isosne.rows.columns import as_integers_or_text
from isosne.rows.table_reader import list_notes
from isosne.rows.text import encode_csv

EXAMPLES: dict[str, Callable[[], Any]] = {
    "breast_cancer": sklearn.datasets.load_breast_cancer,
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
}
"""Data sets that are part of scikit-learn: nothing is downloaded."""
LOADERS = EXAMPLES | {"wdbc": sklearn.datasets.load_breast_cancer}
"""Also by the name in the paper: wdbc and wine have the same rows there, in the same order."""


@dataclass(frozen=True, eq=False, repr=False)
class DataSet:
    """A data set with its labels.

    Parameters
    ----------
    name : str
        Name of the data set.
    X : array or csr_array of shape (n_samples, n_features)
        Attribute values, not scaled. The paper scales each attribute to [0, 1] first.
    y : array of int, shape (n_samples,)
        Class of each point, an index into `classes`.
    classes : array of str
        Names of the classes.
    notes : str
        Differences from the paper and other remarks; may be empty.
    features : tuple of str
        Names of the attributes; empty if they are not known.

    Examples
    --------
    >>> from isosne.datasets import load
    >>> wine = load("wine")
    >>> wine.classes[wine.y[:2]].tolist()
    ['class_0', 'class_0']
    """

    name: str
    X: Points
    y: NDArray[np.int64]
    classes: NDArray[np.str_]
    notes: str = ""
    features: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"<{self.name}: {n} points, {d} attributes, {len(self.classes)} classes>"


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
    if name in LOADERS:
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
    features = dict(zip(example.features, example.X.T, strict=True))
    columns = {"id": np.arange(len(example.y)), **features, "target": example.classes[example.y]}
    with whole_file(target, force=force) as file:
        file.write(encode_csv(columns))
    return target


def _read_example(name: str) -> DataSet:
    loaded = LOADERS[name]()
    classes = np.asarray(loaded.target_names).astype(np.str_)
    features = tuple(map(str, loaded.feature_names))
    return DataSet(name, loaded.data, loaded.target.astype(np.int64), classes, features=features)


def _file_names(name: str) -> list[str]:
    """Return the names that the files may have: that of the data set, then that of a stand-in."""
    other = RECORDS[name].stand_in if name in RECORDS else None
    return [name] if other is None or other.origin in (name, "openml") else [name, other.origin]


def _find_origin(name: str, folder: Path) -> str:
    for origin in _file_names(name):
        if file := find_file(folder, origin):
            return f"folder: {file.name}"
    if name in LOADERS:
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


def cache_folder() -> Path:
    """Return the folder in the user's cache where isosne keeps data sets."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "isosne"


def find_folder(folder: str | Path | None = None) -> Path:
    """Return the data folder: the argument, else ISOSNE_DATA, else the user's cache folder."""
    name = "ISOSNE_DATA" if folder is None else "folder"
    given = folder or os.environ.get("ISOSNE_DATA")
    if not given:
        return cache_folder()
    if not Path(given).is_dir():
        hint = "Correct the path, or leave it out to download data sets from OpenML."
        raise ParameterError(name, "be a folder that exists", str(given), hint)
    return Path(given)


def stored_names(folder: Path) -> list[str]:
    """Return the names of the data sets in the folder."""
    return sorted(p.name.removesuffix(".npz").removesuffix(".X") for p in folder.glob("*.npz"))


def read_set(folder: Path, name: str) -> DataSet | None:
    """Return a data set as it is stored, or None if the folder does not have it."""
    path = find_file(folder, name)
    if path is None:
        return None
    try:
        if path.name == f"{name}.npz":
            with np.load(path, allow_pickle=False) as stored:
                X, y, classes = stored["X"], stored["y"], stored["classes"]
        else:
            X, y = valid_csr(load_npz(path), "the matrix"), np.load(folder / f"{name}.y.npy")
            classes = np.unique(y)
    except Exception as error:  # NumPy, SciPy and zipfile raise anything for damaged files
        raise DataError(
            f"{path} must be an .npz file with arrays X, y and classes, or of a sparse matrix with "
            f"labels in {name}.y.npy, without pickled objects; reading it failed with "
            f"{type(error).__name__}: {error}. Write or copy the file again."
        ) from error
    _check_labels(name, X, y, classes)
    return DataSet(name, X, y.astype(np.int64), classes.astype(np.str_))


def find_file(folder: Path, name: str) -> Path | None:
    """Return the file with X of a data set; None if the folder does not have it."""
    paths = folder / f"{name}.npz", folder / f"{name}.X.npz"
    return next((path for path in paths if path.is_file()), None)


def fetch_set(name: str, origin: OpenML) -> DataSet:
    """Download a data set as its record describes it; errors of the network are not caught."""
    # This parser needs no pandas. It returns codes for nominal attributes, and their categories.
    found = sklearn.datasets.fetch_openml(
        data_id=origin.data_id,
        data_home=str(cache_folder()),
        as_frame=False,
        parser="liac-arff",
    )
    X = _decode(found)[origin.first_row :]
    classes, y = _number_classes(np.asarray(found.target)[origin.first_row :])
    if origin.drop_column is not None:
        X = np.delete(X, origin.drop_column, axis=1)
    missing = np.isnan(X)
    if origin.fill_missing:
        X[missing] = np.broadcast_to(np.nanmean(X, axis=0), X.shape)[missing]
    else:
        complete = ~missing.any(axis=1)
        X, y = X[complete], y[complete]
    return DataSet(name, X, y, classes)


def _check_labels(name: str, X: Points, y: Array, classes: Array) -> None:
    fits = X.ndim == 2 and y.shape == X.shape[:1] and y.dtype.kind in "ui"
    if not (fits and (len(y) == 0 or (y.min() >= 0 and y.max() < len(classes)))):
        raise DataError(
            f"The data set {name} must have one label per row of X, an index into its "
            f"{len(classes)} classes; got X of shape {X.shape} and y of {y.dtype} and shape "
            f"{y.shape}. Number the classes from 0 and write the file again."
        )


def _decode(found: Any) -> Array:
    """Return the attributes as numbers; codes of categories that are numbers are replaced."""
    X = np.asarray(found.data, dtype=np.float64)
    for column, feature in enumerate(found.feature_names):
        values = _as_numbers(found.categories.get(feature) or ())
        if values is not None and len(values):
            known = ~np.isnan(X[:, column])
            X[known, column] = values[X[known, column].astype(np.int64)]
    return X


def _number_classes(target: Array) -> tuple[Array, Array]:
    """Return the names of the classes, numbers in ascending order, and the index per point."""
    classes, y = np.unique(target.astype(np.str_), return_inverse=True)
    numbers = _as_numbers(classes.tolist())
    order = np.arange(len(classes)) if numbers is None else np.argsort(numbers, kind="stable")
    return classes[order], np.argsort(order)[y].astype(np.int64)


def _as_numbers(values: Sequence[str]) -> Array | None:
    try:
        return np.array([float(value) for value in values])
    except ValueError:
        return None
