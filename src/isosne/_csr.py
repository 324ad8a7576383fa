"""Check the structure of sparse matrices before a compiled loop follows their indices.

SciPy checks only the lengths of the arrays when a matrix is made, and nothing when they are changed
later. Its own conversions follow the indices too, so they are checked before a conversion.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isosne._types import Array
from isosne.errors import DataError


def valid_csr(X: Any, name: str) -> csr_array:
    """Return a sparse matrix as CSR whose structure is valid; the matrix itself is not changed."""
    if X.ndim != 2:
        raise DataError(
            f"{name} must be two-dimensional, one point in each row; got shape {X.shape}. "
            "Reshape it."
        )
    if X.format in ("dia", "dok"):
        X = X.tocoo()  # by NumPy, which checks
    if X.format == "coo":
        _check_coordinates(X, name)
    elif X.format == "lil":
        _check_lists(X, name)
    else:
        _check_compressed(X, name)
    converted = csr_array(X)
    n_entries = int(converted.indptr[-1])
    if len(converted.indices) > n_entries or len(converted.data) > n_entries:
        converted.prune()  # drops unused capacity of this object, not of the user's
    return converted


def csr_from_arrays(
    parts: tuple[Array, Array, Array], shape: tuple[int, int], name: str
) -> csr_array:
    """Return the CSR matrix of stored arrays: data, indices and indptr."""
    data, indices, indptr = parts
    check_indptr(indptr, shape[0], len(indices), name)
    check_indices(indices, shape[1], name)
    _check_length(data, len(indices), name)
    return csr_array((data, indices, indptr), shape=shape)


def _check_coordinates(X: Any, name: str) -> None:
    for indices, length in zip(X.coords, X.shape, strict=True):
        check_indices(indices, length, name)
        _check_length(X.data, len(indices), name)


def _check_lists(X: Any, name: str) -> None:
    if [*map(len, X.rows)] != [*map(len, X.data)] or len(X.rows) != X.shape[0]:
        raise refuse_structure(name, "every row must have one value per index")
    check_indices(np.array([i for row in X.rows for i in row], np.int64), X.shape[1], name)


def _check_compressed(X: Any, name: str) -> None:
    n_major, n_minor = X.shape[::-1] if X.format == "csc" else X.shape
    if X.format == "bsr":
        blocks = X.data.shape[1:]
        if X.data.ndim != 3 or min(blocks) < 1 or n_major % blocks[0] or n_minor % blocks[1]:
            raise refuse_structure(
                name, f"its shape {X.shape} must be a multiple of its blocks; got {blocks}"
            )
        n_major, n_minor = n_major // blocks[0], n_minor // blocks[1]
    check_indptr(X.indptr, n_major, len(X.indices), name)
    check_indices(X.indices, n_minor, name)
    _check_length(X.data, int(X.indptr[-1]), name, n_dims=X.data.ndim)


def check_indptr(indptr: Array, n_rows: int, n_entries: int, name: str) -> None:
    """Raise an error unless ``indptr`` divides at most n_entries entries into n_rows rows."""
    if indptr.shape != (n_rows + 1,) or indptr.dtype.kind not in "iu":
        raise refuse_structure(
            name,
            f"indptr must have {n_rows + 1} integers; got {indptr.dtype} of shape {indptr.shape}",
        )
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise refuse_structure(name, "indptr must start at 0 and never decrease")
    if indptr[-1] > n_entries:
        raise refuse_structure(
            name, f"indptr must end at {n_entries}, the number of indices; got {indptr[-1]}"
        )


def check_indices(indices: Array, n_columns: int, name: str) -> None:
    """Raise an error unless ``indices`` are integers from 0 up to n_columns."""
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise refuse_structure(
            name, f"indices must be integers; got {indices.dtype} of shape {indices.shape}"
        )
    if len(indices) == 0:
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= n_columns:
        raise refuse_structure(
            name,
            f"indices must be from 0 to {n_columns - 1}; got {low if low < 0 else high}",
        )


def _check_length(data: Array, n_entries: int, name: str, *, n_dims: int = 1) -> None:
    if data.ndim != n_dims or len(data) < n_entries:
        raise refuse_structure(
            name, f"data must have {n_entries} values, one per index; got shape {data.shape}"
        )


def refuse_structure(name: str, reason: str) -> DataError:
    """Return the error of a sparse matrix whose arrays do not fit together."""
    return DataError(
        f"{name} must be a valid sparse matrix: {reason}. "
        "Build the matrix again from its rows, columns and values, as with scipy.sparse.coo_array."
    )
