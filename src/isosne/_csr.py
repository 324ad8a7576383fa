"""Check the structure of sparse matrices before a compiled loop follows their indices.

SciPy checks only the lengths of the arrays when a matrix is made, and nothing when they are changed
later. Its own conversions follow the indices too, so they are checked before a conversion.
"""

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from isosne._types import Array
from isosne.errors import DataError


def valid_csr(X: Any, name: str) -> csr_array:
    """Return a sparse matrix as CSR whose structure is valid; the matrix itself is not changed."""
    if X.ndim != 2:
        raise DataError(
            f"{name} must be two-dimensional, one point in each row; got shape {X.shape}. "
            "Reshape it."
        )
    if X.format == "csr":
        return csr_from_arrays((X.data, X.indices, X.indptr), X.shape, name)
    if X.format == "csc":
        columns = csr_from_arrays((X.data, X.indices, X.indptr), X.shape[::-1], name)
        return csr_array(columns.T)
    if X.format == "lil" and [*map(len, X.rows)] != [*map(len, X.data)]:  # SciPy would crash
        raise refuse_structure(name, "every row must have one value per index")
    try:
        entries = X.tocoo()
        return csr_array(coo_array((entries.data, entries.coords), shape=X.shape))  # both check
    except (ValueError, IndexError) as error:
        raise refuse_structure(name, str(error)) from error


def csr_from_arrays(
    parts: tuple[Array, Array, Array], shape: tuple[int, int], name: str
) -> csr_array:
    """Return the CSR matrix of data, indices and indptr, without what follows the last entry."""
    data, indices, indptr = parts
    check_indptr(indptr, shape[0], len(indices), name)
    n_entries = int(indptr[-1])
    check_indices(indices[:n_entries], shape[1], name)
    if data.ndim != 1 or len(data) < n_entries:
        rule = f"data must have {n_entries} values, one per index"
        raise refuse_structure(name, f"{rule}; got shape {data.shape}")
    return csr_array((data[:n_entries], indices[:n_entries], indptr), shape=shape)


def check_indptr(indptr: Array, n_rows: int, n_entries: int, name: str) -> None:
    """Raise an error unless ``indptr`` divides at most n_entries entries into n_rows rows."""
    if indptr.shape != (n_rows + 1,) or indptr.dtype.kind not in "iu":
        got = f"{indptr.dtype} of shape {indptr.shape}"
        raise refuse_structure(name, f"indptr must have {n_rows + 1} integers; got {got}")
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise refuse_structure(name, "indptr must start at 0 and never decrease")
    if indptr[-1] > n_entries:
        rule = f"indptr must end at {n_entries}, the number of indices"
        raise refuse_structure(name, f"{rule}; got {indptr[-1]}")


def check_indices(indices: Array, n_columns: int, name: str) -> None:
    """Raise an error unless ``indices`` are integers from 0 up to n_columns."""
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        got = f"{indices.dtype} of shape {indices.shape}"
        raise refuse_structure(name, f"indices must be integers; got {got}")
    low, high = (int(indices.min()), int(indices.max())) if len(indices) else (0, -1)
    if low < 0 or high >= n_columns:
        rule = f"indices must be from 0 to {n_columns - 1}"
        raise refuse_structure(name, f"{rule}; got {low if low < 0 else high}")


def refuse_structure(name: str, reason: str) -> DataError:
    """Return the error of a sparse matrix whose arrays do not fit together."""
    return DataError(
        f"{name} must be a valid sparse matrix: {reason}. "
        "Build the matrix again from its rows, columns and values, as with scipy.sparse.coo_array."
    )
