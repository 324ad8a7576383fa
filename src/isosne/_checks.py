"""Input validation: public functions validate their arguments here, once.

Errors state the rule, the value received, and what to do. Some contain phrases that scikit-learn's
estimator checks look for.
"""

import math
import os
import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isosne._csr import valid_csr
from isosne._tables import as_array, as_compiled, as_numeric, check_real
from isosne._types import Array, Points
from isosne.errors import (
    DataError,
    MissingValuesError,
    ParameterError,
    PrecisionWarning,
    keyword,
    suggest,
)

METRICS = (
    *("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis"),
    *("hamming", "jaccard", "gower", "precomputed"),
)
MANTISSA = 53
"""Binary digits of a float64."""
LARGEST = 1e150
"""Largest absolute value; its inverse is the smallest. Their squares, summed over columns, neither
overflow nor underflow in float64, which ends at 1e308."""
SYMMETRY = 1e-6
"""Largest asymmetry and diagonal of a distance matrix relative to its largest entry: float32
rounding of a computed distance stays below it."""
STORED_SYMMETRY = 1e-2
"""The same of a sparse matrix. Distances from matrix products in float32 differ by up to 5e-4 (of
faiss, for columns whose mean is 30 times their deviation); nothing needs them to be equal."""


def check_points(X: Any, *, name: str = "X", min_rows: int = 1) -> Points:
    """Return X as a finite, real, two-dimensional array, or as CSR with sorted indices.

    Data are copied or converted only if necessary; integers stay integers, booleans become uint8.
    """
    X, names = (_as_csr(X, name), None) if issparse(X) else as_numeric(X, name)
    n_rows, n_columns = X.shape
    if n_columns == 0:
        raise DataError(
            f"{name} must have at least one column; found 0 feature(s) (shape=({n_rows}, 0)) while "
            "a minimum of 1 is required. Pass points with at least one attribute."
        )
    if n_rows < min_rows:
        raise DataError(
            f"{name} must have at least {min_rows} row(s); got n_samples={n_rows}. "
            "Pass more points, one in each row."
        )
    _check_finite(X, name, names)
    values = X.data if issparse(X) else X
    _check_size(values, name)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        _warn_of_lost_digits(values, name)
    return X


def _as_csr(X: Any, name: str) -> csr_array:
    X = valid_csr(X, name)
    check_real(X.data, name)
    values = as_compiled(X.data)
    if values is not X.data:
        X = csr_array((values, X.indices, X.indptr), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()  # do not modify the user's arrays
        X.sum_duplicates()
    return X


def _check_finite(X: Points, name: str, names: Sequence[Any] | None = None) -> None:
    values = X.data if isinstance(X, csr_array) else X
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):  # a finite sum proves that all are finite
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    n_nan, n_inf = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    if n_nan + n_inf == 0:
        return
    first, is_missing = int(np.argmin(np.isfinite(values))), False
    if isinstance(X, csr_array):
        row, column = np.searchsorted(X.indptr, first, side="right") - 1, X.indices[first]
    else:
        row, column = np.unravel_index(first, X.shape)
        is_missing = n_inf == 0
    label = column if names is None else repr(names[column])
    raise (MissingValuesError if is_missing else DataError)(
        f"{name} must be finite; got {n_nan} NaN and {n_inf} infinite value(s), the first in "
        f"row {row} (counting from 0), column {label}. Leave out or impute the rows that hold them."
    )


def _check_size(values: Array, name: str) -> None:
    if values.dtype.kind != "f" or values.dtype.itemsize <= 4 or values.size == 0:
        return
    largest = max(-values.min(), values.max())
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise DataError(
            f"The largest value of {name} must be between 1e-150 and 1e150 in size, so that "
            f"squared distances are finite; got {largest:g}. Multiply the data by a constant."
        )


def _warn_of_lost_digits(values: Array, name: str) -> None:
    """Warn of integers that differ only in digits that float64 does not have."""
    largest = max(-int(values.min()), int(values.max()))
    n_lost = (largest - 1).bit_length() - MANTISSA  # 2^53 itself is exact
    if n_lost > 0 and (values & values.dtype.type(2**n_lost - 1)).any():
        warnings.warn(
            f"{name} has integers of up to {largest:.2g}, computed in float64: values that differ "
            f"by less than {2**n_lost:,} may become equal. Subtract a constant from such columns, "
            "or leave them out if they are identifiers.",
            PrecisionWarning,
            stacklevel=3,
        )


def check_width(X: Points, n_features: int, owner: str) -> None:
    """Raise an error if the number of columns is not that of the fitted points."""
    if X.shape[1] != n_features:
        raise DataError(
            "The columns must be those of the fitted points: "
            f"X has {X.shape[1]} features, but {owner} is expecting {n_features} features as "
            "input. Pass points with the same attributes."
        )


def check_names(names: Sequence[str] | None, fitted: Sequence[str] | None) -> None:
    """Raise an error if both have column names and the names or their order differ."""
    if names is None or fitted is None or list(names) == list(fitted):
        return
    c = [name == other for name, other in zip(names, fitted, strict=True)].index(False)
    raise DataError(
        "The columns must be those of the fitted points, in the same order; "
        f"column {c} is {names[c]!r}, and was {fitted[c]!r} at fit. Put them in that order."
    )


def check_metric(metric: Any, p: Any) -> None:
    """Raise an error for an unknown metric or an invalid power."""
    if not is_one_of(metric, METRICS):
        given = keyword("metric", "precomputed")
        hint = f"For another metric compute the distances yourself and pass {given}."
        rule = f"be one of {', '.join(map(repr, METRICS))}"
        raise ParameterError("metric", rule, metric, suggest(metric, METRICS, hint))
    if metric == "minkowski" and not (is_number(p) and 1 <= p < np.inf):
        rule = f"be a finite number from 1 up with {keyword('metric', 'minkowski')}"
        limit = f"the limit of large p is {keyword('metric', 'chebyshev')}."
        raise ParameterError("p", rule, p, f"Below 1 the triangle inequality fails; {limit}")
    if not is_number(p):  # also where it is not used: a model file stores it
        hint = "It is the power of the Minkowski distance; 2 is the default."
        raise ParameterError("p", "be a number", p, hint)


def check_for_metric(X: Points, metric: str, *, name: str = "X") -> None:
    """Raise an error for points that the metric cannot compare."""
    if metric == "cosine":
        is_csr = isinstance(X, csr_array)
        nonzero = (X != 0).sum(axis=1) if is_csr else np.any(X, axis=1)
        n_zero = int(X.shape[0] - np.count_nonzero(nonzero))
        if n_zero:
            raise DataError(
                f"{keyword('metric', 'cosine')} needs rows that are not all zero; got {n_zero} "
                f"such row(s) in {name}. "
                f"Leave them out, or choose {keyword('metric', 'euclidean')}."
            )
    if metric in ("hamming", "gower", "chebyshev") and isinstance(X, csr_array):
        raise DataError(
            f"{keyword('metric', metric)} needs a dense array; got a sparse matrix in {name}. "
            f"Pass {name}.toarray(), or choose {keyword('metric', 'manhattan')}."
        )
    if metric == "gower" and not (((X >= 0) & (X <= 1)) | (X == -1) | (X >= 2)).all():
        raise DataError(
            f"{keyword('metric', 'gower')} needs points of a table: values from 0 to 1, categories "
            f"from 2 up, -1 if missing; got other values in {name}. "
            f"Pass isosne.tables.gower_points({name})."
        )
    if metric == "precomputed" and X.min() < 0:
        raise DataError(
            "Negative values in data: precomputed distances must be positive or zero; got "
            f"{X.min():g} in {name}. Pass distances, not similarities."
        )


def check_square_distances(D: Points) -> None:
    """Raise an error if a matrix is not square and symmetric with a zero diagonal.

    A sparse matrix must be symmetric where both entries of a pair are stored.
    """
    n_rows, n_columns = D.shape
    if n_rows != n_columns:
        raise DataError(
            "Precomputed distances must be a square distance matrix at fit; "
            f"got shape ({n_rows}, {n_columns}). Pass the distances of all points to all points."
        )
    largest = float(D.max())
    own = float(np.abs(D.diagonal()).max())
    if own > SYMMETRY * largest:
        raise DataError(
            "Precomputed distances must have a zero diagonal; "
            f"got {own:g} on it. Pass distances, not similarities."
        )
    is_sparse = isinstance(D, csr_array)
    gap = _stored_gap(D) if is_sparse else _gap(D)
    if gap > (STORED_SYMMETRY if is_sparse else SYMMETRY) * largest:
        raise DataError(
            f"Precomputed distances must be symmetric; got a difference of {gap:g} between D[i, j] "
            "and D[j, i]. Pass (D + D.T) / 2 if that is what you mean."
        )


def _gap(D: Array) -> float:
    """Return the largest difference between D[i, j] and D[j, i], tile by tile to save memory."""
    gap, tiles = 0.0, [slice(s, s + 256) for s in range(0, len(D), 256)]
    for i, rows in enumerate(tiles):
        for columns in tiles[: i + 1]:
            difference = np.subtract(D[rows, columns], D[columns, rows].T, dtype=np.float64)
            gap = max(gap, float(np.abs(difference).max()))
    return gap


def _stored_gap(D: csr_array) -> float:
    """Return the largest difference between D[i, j] and D[j, i] where both are stored."""
    there = csr_array((np.ones(D.nnz), D.indices, D.indptr), shape=D.shape)
    difference = (there * there.T).multiply(D.astype(np.float64) - D.T)
    return float(abs(difference).max()) if difference.nnz else 0.0


def as_graph(X: Any, n_points: int | None = None) -> Any:
    """Return a pair of indices and distances (n, k) of neighbors as CSR; other input unchanged.

    n_points: number of fitted points, if the rows are new ones. Those of a fit may list themselves.
    """
    if not isinstance(X, tuple | list) or len(X) != 2 or any(np.ndim(part) != 2 for part in X):
        return X
    ids, values = (as_array(part, "X") for part in X)
    if ids.dtype.kind == "f" and values.dtype.kind in "iu":  # faiss and scikit-learn
        ids, values = values, ids
    if ids.dtype.kind not in "iu" or ids.shape != values.shape:
        got = " and ".join(f"{part.dtype} of shape {part.shape}" for part in (ids, values))
        raise refuse_graph("two arrays of the same shape (n, k), one of them of integers", got)
    last = (len(ids) if n_points is None else n_points) - 1
    low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, 0)
    if low < -1 or high > last:
        got = f"the index {low if low < -1 else high}"
        raise refuse_graph(f"indices from 0 to {last}, or -1 for a missing neighbor", got)
    kept = ids >= 0
    if n_points is None:
        kept &= ids != np.arange(len(ids))[:, None]
    starts = np.append(0, np.cumsum(kept.sum(axis=1)))
    graph = csr_array((values[kept], ids[kept], starts), shape=(len(ids), last + 1))
    graph.sort_indices()
    if not graph.has_canonical_format:
        raise refuse_graph("different neighbors in each row", "a neighbor twice in one row")
    return graph


def refuse_graph(rule: str, got: str) -> DataError:
    """Return the error of a neighbor graph."""
    return DataError(
        f"The indices and distances of neighbors must be {rule}; got {got}. Pass both as the "
        "neighbor search returned them."
    )


def is_one_of(value: Any, names: Collection[str]) -> bool:
    """Return whether a value is one of the names; an array, which compares by element, is not."""
    return isinstance(value, str) and value in names


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; booleans and durations are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; booleans and durations are not."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def check_number(value: Any, name: str, *, low: float, high: float = math.inf, hint: str) -> None:
    """Raise an error unless the value is a finite number from low to high."""
    known = float(value) if isinstance(value, np.floating) else value  # half precision overflows
    if not is_number(value) or not low <= known <= high or math.isinf(known):
        span = f"from {low:g} up" if math.isinf(high) else f"from {low:g} to {high:g}"
        raise ParameterError(name, f"be a number {span}", value, hint)


def check_count(value: Any, name: str, *, low: int, high: int | None = None, hint: str) -> int:
    """Return an integer parameter; raise an error if it is not in its range."""
    if not is_integer(value) or value < low or (high is not None and value > high):
        span = f"from {low} up" if high is None else f"from {low} to {high}"
        raise ParameterError(name, f"be an integer {span}", value, hint)
    return int(value)


def as_scales(value: Any, name: str) -> tuple[Any, ...]:
    """Return one value or a sequence of values as a tuple; raise an error if it is empty."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str)
    scales = tuple(value) if is_sequence else (value,)
    if not scales:
        raise ParameterError(name, "have at least one value", value, "Pass one value.")
    return scales


def as_names(value: Any, name: str) -> tuple[Any, ...]:
    """Return a list of columns, also an index or an array, as a tuple without repetitions."""
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    names = list(value) if is_list and getattr(value, "ndim", 1) == 1 else None
    if names is None or not all(isinstance(entry, Hashable) for entry in names):
        hint = f"Pass {keyword(name, [value])}." if isinstance(value, str) else "Pass their names."
        raise ParameterError(name, "be a list of columns", value, hint)
    return tuple(dict.fromkeys(names))


def check_suffix(path: str | os.PathLike[str], suffixes: Sequence[str]) -> Path:
    """Return the path if it ends in one of the suffixes."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        hint = suggest(target.suffix, suffixes, "Use one of these suffixes.")
        raise ParameterError("path", f"end in {' or '.join(suffixes)}", str(target), hint)
    return target
