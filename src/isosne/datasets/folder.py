"""The data folder: where it is, and how a set is read from it.

A dense set is ``<name>.npz`` with arrays X, y and classes; a sparse one is ``<name>.X.npz``
(`scipy.sparse.save_npz`) with ``<name>.y.npy``. ``MANIFEST.json``, if there is one, adds notes,
the names of classes and checksums. Nothing is unpickled. What a set should look like is the
business of `registry`.
"""

import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError

MANIFEST = "MANIFEST.json"
LARGEST_HASHED_BYTES = 50_000_000
"""Files above this size are not checked against their sha256."""
UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy and SciPy raise on a file that is damaged or of another kind."""


@dataclass(frozen=True, eq=False, repr=False)
class DataSet:
    """A data set with its labels.

    Parameters
    ----------
    name : str
        The name it was asked for by.
    X : array or csr_array of shape (n_samples, n_features)
        Raw attribute values. The paper scales each attribute to [0, 1] first.
    y : array of int, shape (n_samples,)
        Class of each point, an index into `classes`.
    classes : array of str
        Names of the classes.
    notes : str
        How the set differs from the paper's, and what else one should know; may be empty.
    """

    name: str
    X: Points
    y: NDArray[np.int64]
    classes: NDArray[np.str_]
    notes: str = ""

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"<{self.name}: {n} points, {d} attributes, {len(self.classes)} classes>"


def cache_folder() -> Path:
    """Return the folder of this user in which isosne keeps data sets."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "isosne"


def find_folder(folder: str | Path | None = None) -> Path:
    """Return the data folder: the argument, else ISOSNE_DATA, else the user's cache folder.

    A folder that was named must exist; the cache folder need not.
    """
    by_variable = os.environ.get("ISOSNE_DATA")
    if folder is None and not by_variable:
        return cache_folder()
    named = Path(folder if folder is not None else str(by_variable))
    if not named.is_dir():
        origin = "folder" if folder is not None else "The environment variable ISOSNE_DATA"
        raise ParameterError(
            f"{origin} must name a folder that exists; got {str(named)!r}. "
            "Correct the path, or leave it out to fetch the sets from OpenML."
        )
    return named


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the folder's records by set name; none if it has no manifest."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        return {str(name): dict(entry) for name, entry in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            f"{path} must be JSON with an object 'datasets'; it could not be read as such. "
            "Copy the file again, or remove it to load the sets unchecked."
        ) from None


def read_set(folder: Path, name: str) -> DataSet | None:
    """Return the set as it is stored, or None if the folder does not hold it."""
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
            f"{path} must have the sha256 that {MANIFEST} lists, {expected}; got {found}. "
            "The file is damaged or was changed: copy it again."
        )


def _read_dense(path: Path) -> tuple[Array, Array, Array]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return stored["X"], stored["y"], stored["classes"]
    except UNREADABLE as error:
        raise _unreadable(path, "an npz file with arrays X, y and classes", error) from error


def _read_sparse(path: Path) -> csr_array:
    try:
        with path.open("rb") as file:
            return csr_array(load_npz(file))
    except UNREADABLE as error:
        raise _unreadable(path, "a file of scipy.sparse.save_npz", error) from error


def _read_labels(path: Path) -> Array:
    try:
        with path.open("rb") as file:
            return np.asarray(np.load(file, allow_pickle=False))
    except UNREADABLE as error:
        raise _unreadable(path, "an npy file with one label for each row", error) from error


def _unreadable(path: Path, what: str, error: Exception) -> DataError:
    return DataError(
        f"{path} must be {what}, without pickled objects; reading it failed with "
        f"{type(error).__name__}: {error}. Write the file again, or fetch it anew."
    )


def _check_labels(name: str, X: Points, y: Array, classes: Array) -> None:
    fits = X.ndim == 2 and y.shape == X.shape[:1] and y.dtype.kind in "ui"
    if not (fits and (len(y) == 0 or (y.min() >= 0 and y.max() < len(classes)))):
        raise DataError(
            f"The set {name} must have one label for each row of X, an index into its "
            f"{len(classes)} classes; got X of shape {X.shape} and y of {y.dtype} and shape "
            f"{y.shape}. Number the classes from 0 and write the file again."
        )
