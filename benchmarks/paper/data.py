"""Load the paper's data sets by name: from the data folder, from scikit-learn or from OpenML.

A data set of the paper must have its shape there. A known stand-in is loaded with a note. In the
folder, a dense data set is ``<name>.npz`` with arrays X, y and classes; a sparse one is
``<name>.X.npz`` (`scipy.sparse.save_npz`) with ``<name>.y.npy``. Nothing is unpickled. Downloads of
OpenML are kept in the user's cache.
"""

import os
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from benchmarks.paper.records import RECORDS, OpenML
from isosne import datasets
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError, suggest

EXAMPLES = {name: name for name in datasets.names()} | {"wdbc": "breast_cancer"}
"""Data sets of scikit-learn: wine and wdbc have the same rows as in the paper, in its order."""


class PaperSet(NamedTuple):
    """Points, not scaled, with the index of the class of each.

    ``notes`` says how they differ from the paper's; it may be empty.
    """

    name: str
    X: Points
    y: NDArray[np.int64]
    classes: NDArray[np.str_]
    notes: str = ""


def names() -> list[str]:
    """Return the names of the paper's 21 data sets, in the order of its table of results."""
    return list(RECORDS)


def load(name: str, folder: str | Path | None = None) -> PaperSet:
    """Load a data set of the paper, of the data folder, or an example of scikit-learn.

    Parameters
    ----------
    name : str
        One of `names`, another data set in the data folder, or an example of `isosne.datasets`.
    folder : path or None, default=None
        Data folder. None uses the environment variable ISOSNE_DATA, or ``~/.cache/isosne`` if it
        is not set. A data set that is not in the folder is taken from scikit-learn if it has it;
        otherwise it is downloaded from OpenML and kept in ``~/.cache/isosne``.

    Raises
    ------
    ParameterError
        If the name is unknown, or the folder does not exist.
    DataError
        If the shape differs from the paper, or the data cannot be downloaded.
    """
    data_folder = find_folder(folder)
    stored_names = [
        p.name.removesuffix(".npz").removesuffix(".X") for p in data_folder.glob("*.npz")
    ]
    known = [*RECORDS, *EXAMPLES, *stored_names]
    if name not in known:
        hint = suggest(name, known, "List the names with python -m benchmarks.paper --list-sets.")
        rule = "be a data set of the paper, of scikit-learn or of the data folder"
        raise ParameterError("name", rule, name, hint)
    for origin in _file_names(name):
        stored = read_set(data_folder, origin)
        if stored is not None:
            return _check_shape(name, stored, origin) if name in RECORDS else stored
    if name in EXAMPLES:
        example = datasets.load(EXAMPLES[name])
        return PaperSet(name, example.X, example.y, example.classes)
    return _check_shape(name, _download(name, data_folder), "openml")


def describe(folder: str | Path | None = None) -> str:
    """Return a line per data set: its sizes in the paper, and where `load` would get it from."""
    data_folder = find_folder(folder)
    rows: list[tuple[str, ...]] = [("name", "points", "attributes", "classes", "from")]
    for name, record in RECORDS.items():
        rows.append((name, *map(str, record.sizes), _find_origin(name, data_folder)))
    return "\n".join(f"{a:<14}  {b:>6}  {c:>10}  {d:>7}  {e}" for a, b, c, d, e in rows)


def find_folder(folder: str | Path | None = None) -> Path:
    """Return the data folder: the argument, else ISOSNE_DATA, else the user's cache folder."""
    given = folder or os.environ.get("ISOSNE_DATA")
    if not given:
        return cache_folder()
    if not Path(given).is_dir():
        name = "ISOSNE_DATA" if folder is None else "folder"
        hint = "Correct the path, or leave it out to download data sets from OpenML."
        raise ParameterError(name, "be a folder that exists", str(given), hint)
    return Path(given)


def cache_folder() -> Path:
    """Return the folder in the user's cache where downloads are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "isosne"


def read_set(folder: Path, name: str) -> PaperSet | None:
    """Return a data set as it is stored, or None if the folder does not have it."""
    path = _find_file(folder, name)
    if path is None:
        return None
    if path.name == f"{name}.npz":
        with np.load(path) as stored:
            X, y, classes = stored["X"], stored["y"], stored["classes"]
    else:
        X, y = csr_array(load_npz(path)), np.load(folder / f"{name}.y.npy")
        classes = np.unique(y)
    return PaperSet(name, X, y.astype(np.int64), classes.astype(np.str_))


def fetch_set(name: str, origin: OpenML) -> PaperSet:
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
    return PaperSet(name, X, y, classes)


def _download(name: str, folder: Path) -> PaperSet:
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


def _check_shape(name: str, data: PaperSet, origin: str) -> PaperSet:
    """Return a data set with its note, if it has the shape of the paper or of a stand-in."""
    record, sizes = RECORDS[name], (*data.X.shape, len(data.classes))
    if sizes == record.sizes:
        return data._replace(name=name, notes=record.note)
    if record.stand_in and (origin, sizes) == record.stand_in[:2]:
        return data._replace(name=name, notes=record.stand_in.note)
    words = "{} points, {} attributes and {} classes"
    where = "OpenML" if origin == "openml" else f"the files named {origin}"
    raise DataError(
        f"The data set {name} must have {words.format(*record.sizes)}, as in the paper; got "
        f"{words.format(*sizes)} from {where}. Get the data set from {record.source}."
    )


def _find_origin(name: str, folder: Path) -> str:
    for origin in _file_names(name):
        if file := _find_file(folder, origin):
            return f"folder: {file.name}"
    if name in EXAMPLES:
        return "scikit-learn"
    openml = RECORDS[name].openml
    return f"OpenML {openml.data_id}" if openml else "by hand"


def _file_names(name: str) -> list[str]:
    """Return the names that the files may have: that of the data set, then that of a stand-in."""
    other = RECORDS[name].stand_in if name in RECORDS else None
    return [name] if other is None or other.origin in (name, "openml") else [name, other.origin]


def _find_file(folder: Path, name: str) -> Path | None:
    """Return the file with X of a data set; None if the folder does not have it."""
    paths = folder / f"{name}.npz", folder / f"{name}.X.npz"
    return next((path for path in paths if path.is_file()), None)


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
