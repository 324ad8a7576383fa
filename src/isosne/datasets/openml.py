"""Download data sets from OpenML with scikit-learn, into the user's cache folder."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn.datasets

from isosne._types import Array
from isosne.datasets.folder import DataSet, cache_folder
from isosne.datasets.records import OpenML


def fetch_set(name: str, origin: OpenML) -> DataSet:
    """Return a data set as its record describes it; errors of the network are not caught."""
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
