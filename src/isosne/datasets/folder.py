"""Data sets of the data folder, and of OpenML, whose downloads are kept in the user's cache.

A dense data set is ``<name>.npz`` with arrays X, y and classes; a sparse one is ``<name>.X.npz``
(`scipy.sparse.save_npz`) with ``<name>.y.npy``. An optional ``MANIFEST.json`` adds notes and names
of classes. Nothing is unpickled.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy.sparse import load_npz

from isosne._csr import valid_csr
from isosne._types import Array, Points
from isosne.datasets.records import OpenML
from isosne.errors import DataError, ParameterError

MANIFEST = "MANIFEST.json"


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
    dense, sparse = folder / f"{name}.npz", folder / f"{name}.X.npz"
    if not (dense.is_file() or sparse.is_file()):
        return None
    entry = _read_manifest(folder).get(name, {})
    path = dense if dense.is_file() else sparse
    try:
        X, y, classes = _read_dense(dense) if path is dense else _read_sparse(sparse, entry)
    except Exception as error:  # NumPy, SciPy and zipfile raise anything for damaged files
        raise DataError(
            f"{path} must be an .npz file with arrays X, y and classes, or of a sparse matrix with "
            f"labels in {name}.y.npy, without pickled objects; reading it failed with "
            f"{type(error).__name__}: {error}. Write or copy the file again."
        ) from error
    _check_labels(name, X, y, classes)
    notes = str(entry.get("notes", ""))
    return DataSet(name, X, y.astype(np.int64), classes.astype(np.str_), notes)


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


def _read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of the manifest by name; empty if the folder has no manifest."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        return {str(name): dict(entry) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            f"{path} must be JSON with an object 'datasets'; it is not. "
            "Copy the file again, or remove it to load data sets without notes."
        ) from None


def _read_dense(path: Path) -> tuple[Array, Array, Array]:
    with np.load(path, allow_pickle=False) as stored:
        return stored["X"], stored["y"], stored["classes"]


def _read_sparse(path: Path, entry: dict[str, Any]) -> tuple[Points, Array, Array]:
    X = valid_csr(load_npz(path), "the matrix")
    y = np.asarray(np.load(path.with_name(path.name.replace(".X.npz", ".y.npy"))))
    return X, y, np.array(entry.get("classes") or np.unique(y), dtype=np.str_)


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
