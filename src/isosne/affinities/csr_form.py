"""Joint probabilities of every form as one CSR matrix, for methods that need a graph."""

import numpy as np
from scipy.sparse import csr_array

from isosne._types import DenseMatrix, Joint, PartnerSource, SparseMatrix

NEGLIGIBLE = 0.01
"""Probability of a pair, relative to the mean over all pairs, below which a dense matrix loses it:
together at most 1 % of the sum."""
N_DRAWS = 4
"""Draws that are averaged for sampled affinities, of 64 partners per point each (chosen)."""


def as_sparse(joint: Joint, *, negligible: float = NEGLIGIBLE) -> SparseMatrix:
    """Return joint probabilities as CSR: without negligible pairs, or the mean of several draws.

    negligible: probability below which a pair of a dense matrix is left out, relative to the mean.
    """
    if isinstance(joint, SparseMatrix):
        return joint
    P = _from_dense(joint, negligible) if isinstance(joint, DenseMatrix) else _from_draws(joint)
    return SparseMatrix(P.indptr.astype(np.int64), P.indices.astype(np.int32), P.data)


def _from_dense(joint: DenseMatrix, negligible: float) -> csr_array:
    n = len(joint.factors)
    rows = []
    for values, factor in zip(joint.values, joint.factors, strict=True):
        p = values * (factor + joint.factors)
        p[p < negligible / n**2] = 0
        columns = np.flatnonzero(p)
        rows.append((columns.astype(np.int32), p[columns].astype(np.float32)))
    indices, data = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    indptr = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    return csr_array((data, indices, indptr), shape=(n, n))


def _from_draws(source: PartnerSource) -> csr_array:
    n = source.n_points
    total = csr_array((n, n), dtype=np.float32)
    for number in range(N_DRAWS):
        ids, weights = source.draw(number)
        indptr = np.arange(0, ids.size + 1, ids.shape[1])
        drawn = csr_array((weights.ravel(), ids.ravel().astype(np.int32), indptr), shape=(n, n))
        drawn.sum_duplicates()
        total = total + drawn
    P = csr_array((total + total.T) * np.float32(0.5 / N_DRAWS))
    P.setdiag(0)
    P.eliminate_zeros()
    return P
