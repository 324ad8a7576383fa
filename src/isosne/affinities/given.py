"""Joint probabilities from precomputed affinities: symmetrized and scaled to sum to 1."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._types import DenseMatrix, Points, SparseMatrix
from isosne.errors import DataError


def given_affinities(
    affinities: Points, *, as_dense: bool
) -> tuple[DenseMatrix | SparseMatrix, NDArray[np.int64]]:
    """Return p_ij = (a_ij + a_ji) / sum with zero diagonal, and the points without affinities.

    affinities (n, n), dense or CSR, not negative. Only repulsion acts on a point without
    affinities.
    """
    if as_dense:
        return _dense(affinities)
    return _sparse(csr_array(affinities, dtype=np.float64, copy=False))


def _dense(affinities: Points) -> tuple[DenseMatrix, NDArray[np.int64]]:
    full = affinities.toarray() if isinstance(affinities, csr_array) else affinities
    P = np.add(full, full.T, dtype=np.float64)
    np.fill_diagonal(P, 0)
    P /= _positive(float(P.sum()))
    isolated = np.flatnonzero(~P.any(axis=1))
    return DenseMatrix(P.astype(np.float32), np.full(len(P), 0.5, np.float32)), isolated


def _sparse(affinities: csr_array) -> tuple[SparseMatrix, NDArray[np.int64]]:
    P = csr_array(affinities + affinities.T)
    P.sort_indices()
    n = P.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(P.indptr))
    is_pair = (P.indices != rows) & (P.data != 0)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows[is_pair], minlength=n), out=indptr[1:])
    data = P.data[is_pair]
    data /= _positive(float(data.sum()))
    isolated = np.flatnonzero(np.diff(indptr) == 0)
    indices = P.indices[is_pair].astype(np.int32, copy=False)
    return SparseMatrix(indptr, indices, data.astype(np.float32)), isolated


def _positive(total: float) -> float:
    if total <= 0:
        raise DataError(
            "Precomputed affinities must be positive for at least one pair of different points; "
            "all are zero. Pass similarities."
        )
    return total
