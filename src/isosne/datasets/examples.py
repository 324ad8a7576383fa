"""Data sets that are part of scikit-learn: nothing is downloaded."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from isosne.datasets.folder import DataSet

EXAMPLES: dict[str, Callable[[], Any]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
PAPER_NAMES = {"wdbc": "breast_cancer", "wine": "wine"}
"""Data sets of the paper that scikit-learn has, with the same rows in the same order."""


def read_example(name: str) -> DataSet | None:
    """Return a data set by its name here or in the paper; None if scikit-learn does not have it."""
    load = EXAMPLES.get(PAPER_NAMES.get(name, name))
    if load is None:
        return None
    found = load()
    classes = np.asarray(found.target_names).astype(np.str_)
    features = tuple(map(str, found.feature_names))
    return DataSet(name, found.data, found.target.astype(np.int64), classes, features=features)
