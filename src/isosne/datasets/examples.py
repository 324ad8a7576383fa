"""Examples for a first try: four data sets that are part of scikit-learn; nothing is downloaded."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._files import whole_file
from isosne.errors import ParameterError, suggest
from isosne.rows import Table, open_rows
from isosne.rows.columns import as_text
from isosne.rows.text import encode_csv

NAMES = ("breast_cancer", "digits", "iris", "wine")


@dataclass(frozen=True, eq=False, repr=False)
class DataSet:
    """A data set with its labels.

    Parameters
    ----------
    name : str
        Name of the data set.
    X : array of shape (n_samples, n_features)
        Attribute values, not scaled.
    y : array of int, shape (n_samples,)
        Class of each point, an index into `classes`.
    classes : array of str
        Names of the classes.
    features : tuple of str
        Names of the attributes.

    Examples
    --------
    >>> from isosne.datasets import load
    >>> wine = load("wine")
    >>> wine.classes[wine.y[:2]].tolist()
    ['class_0', 'class_0']
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: NDArray[np.str_]
    features: tuple[str, ...]

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"<{self.name}: {n} points, {d} attributes, {len(self.classes)} classes>"


def names() -> list[str]:
    """Return the names of the examples.

    Examples
    --------
    >>> from isosne.datasets import names
    >>> names()
    ['breast_cancer', 'digits', 'iris', 'wine']
    """
    return list(NAMES)


def load(name: str) -> DataSet:
    """Load an example of scikit-learn.

    Parameters
    ----------
    name : {"breast_cancer", "digits", "iris", "wine"}
        Name of the data set.

    Returns
    -------
    DataSet
        A data set with ``X``, ``y``, ``classes``, ``features`` and ``name``. X is not scaled.

    Raises
    ------
    ParameterError
        If there is no such data set.

    Examples
    --------
    >>> from isosne.datasets import load
    >>> load("wine")
    <wine: 178 points, 13 attributes, 3 classes>
    """
    if not isinstance(name, str) or name not in NAMES:
        hint = suggest(name, NAMES, "Choose one of these names; other data are read from files.")
        raise ParameterError("name", f"be one of {', '.join(NAMES)}", name, hint)
    from sklearn import datasets  # which imports much of scikit-learn

    loaded = getattr(datasets, f"load_{name}")()
    classes = np.asarray(loaded.target_names).astype(np.str_)
    features = tuple(map(str, loaded.feature_names))
    return DataSet(name, loaded.data, loaded.target.astype(np.int64), classes, features)


def load_table(
    name: str,
    *,
    id: str | None = None,  # noqa: A002  the name of the option
    label: str | None = None,
    group: str | None = None,
    **_: Any,
) -> Table:
    """Load an example as a table with its own labels; other options for files are ignored."""
    for role, column in (("id", id), ("label", label), ("group", group)):
        if column is not None:
            raise ParameterError(
                role,
                "be left out for a data set, which has its own labels",
                column,
                f"Leave it out, or pass a file instead of {name!r}.",
            )
    loaded = load(name)
    labels = as_text(loaded.classes)[loaded.y]
    return Table(open_rows(loaded.X), None, labels, loaded.features)


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
    example = load(name)
    target = Path(f"{name}.csv") if path is None else Path(path)
    if target.suffix.lower() != ".csv":
        raise ParameterError("path", "end in .csv", str(target), "Choose another name.")
    features = dict(zip(example.features, example.X.T, strict=True))
    columns = {"id": np.arange(len(example.y)), **features, "target": example.classes[example.y]}
    with whole_file(target, force=force) as file:
        file.write(encode_csv(columns))
    return target
