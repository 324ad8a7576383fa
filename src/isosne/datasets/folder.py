"""Find the data folder, and read data sets from it.

A dense data set is ``<name>.npz`` with arrays X, y and classes; a sparse one is ``<name>.X.npz``
(`scipy.sparse.save_npz`) with ``<name>.y.npy``. An optional ``MANIFEST.json`` adds notes, names of
classes and checksums. Nothing is unpickled. `catalog` checks the shapes.
"""

import json
import os
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from isosne._csr import valid_csr
from isosne._files import DAMAGE_ERRORS
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError

MANIFEST = "MANIFEST.json"
LARGEST_HASHED_BYTES = 50_000_000
"""Files of this size and above are not checked against their sha256. Chosen, not measured: hashing
should not take longer than a moment."""
UNREADABLE = (*DAMAGE_ERRORS, OSError, TypeError, NotImplementedError)
"""Exceptions of NumPy and SciPy for files that are damaged or have another format."""


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
    >>> import numpy as np
    >>> from isosne.datasets import DataSet
    >>> mine = DataSet("mine", np.eye(2), np.array([0, 1]), np.array(["a", "b"]), "")
    >>> mine.classes[mine.y].tolist()
    ['a', 'b']
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
    """Return the data folder: the argument, else ISOSNE_DATA, else the user's cache folder.

    A folder that is given must exist; the cache folder need not.
    """
    variable = os.environ.get("ISOSNE_DATA")
    if folder is None and not variable:
        return cache_folder()
    given = Path(folder if folder is not None else str(variable))
    if not given.is_dir():
        raise ParameterError(
            "folder" if folder is not None else "ISOSNE_DATA",
            "be a folder that exists",
            str(given),
            "Correct the path, or leave it out to download data sets from OpenML.",
        )
    return given


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of the manifest by name; empty if the folder has no manifest."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        return {str(name): dict(entry) for name, entry in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            f"{path} must be JSON with an object 'datasets'; it is not. "
            "Copy the file again, or remove it to load data sets without checks."
        ) from None


def read_set(folder: Path, name: str) -> DataSet | None:
    """Return a data set as it is stored, or None if the folder does not have it."""
    dense, sparse = folder / f"{name}.npz", folder / f"{name}.X.npz"
    if not (dense.is_file() or sparse.is_file()):
        return None
    entry = read_manifest(folder).get(name, {})
    if dense.is_file():
        _check_hash(dense, entry.get("sha256"))
        X, y, classes = _read_dense(dense)
    else:
        labels = folder / f"{name}.y.npy"
        _check_hash(sparse, entry.get("sha256"))
        _check_hash(labels, entry.get("labels_sha256"))
        X, y = _read_sparse(sparse), _read_labels(labels)
        classes = np.array(entry.get("classes") or np.unique(y), dtype=np.str_)
    _check_labels(name, X, y, classes)
    notes = str(entry.get("notes", ""))
    return DataSet(name, X, y.astype(np.int64), classes.astype(np.str_), notes)


def _check_hash(path: Path, expected: str | None) -> None:
    if expected is None or not path.is_file() or path.stat().st_size >= LARGEST_HASHED_BYTES:
        return
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise DataError(
            f"{path} must have the sha256 {expected}, as listed in {MANIFEST}; got {found}. "
            "The file is damaged or has changed: copy it again."
        )


def _read_dense(path: Path) -> tuple[Array, Array, Array]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return stored["X"], stored["y"], stored["classes"]
    except UNREADABLE as error:
        raise _unreadable(path, "an .npz file with arrays X, y and classes", error) from error


def _read_sparse(path: Path) -> csr_array:
    try:
        with path.open("rb") as file:
            return valid_csr(load_npz(file), "the matrix")
    except UNREADABLE as error:
        raise _unreadable(path, "a file written by scipy.sparse.save_npz", error) from error


def _read_labels(path: Path) -> Array:
    try:
        with path.open("rb") as file:
            return np.asarray(np.load(file, allow_pickle=False))
    except UNREADABLE as error:
        raise _unreadable(path, "an .npy file with one label per row", error) from error


def _unreadable(path: Path, what: str, error: Exception) -> DataError:
    return DataError(
        f"{path} must be {what}, without pickled objects; reading it failed with "
        f"{type(error).__name__}: {error}. Write or copy the file again."
    )


def _check_labels(name: str, X: Points, y: Array, classes: Array) -> None:
    fits = X.ndim == 2 and y.shape == X.shape[:1] and y.dtype.kind in "ui"
    if not (fits and (len(y) == 0 or (y.min() >= 0 and y.max() < len(classes)))):
        raise DataError(
            f"The data set {name} must have one label per row of X, an index into its "
            f"{len(classes)} classes; got X of shape {X.shape} and y of {y.dtype} and shape "
            f"{y.shape}. Number the classes from 0 and write the file again."
        )
