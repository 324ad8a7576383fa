"""Start from a previous map: its points keep their places, and others start among their partners.

The place of a new point is the mean of its partners, weighted by the joint probabilities. It is
computed repeatedly, so that new points that know only each other are reached, too.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._types import Array, DenseMatrix, Joint, PartnerSource, SparseMatrix
from isosne.layout.eigenvectors import combine
from isosne.layout.principal import times_sparse
from isosne.layout.pull import Anchors

N_ROUNDS = 10
"""How often the mean of the partners is computed: long enough a chain of new points to reach what
has a place (chosen; the maps are no better than those from coordinates of `transform`)."""
JITTER = 0.01
"""Standard deviation of the noise that separates new points, in units of the map, where similarity
falls to one half at a distance of 1 (chosen)."""
BLOCK = 256
"""Rows of joint probabilities that are copied at a time, to save memory."""


def carried_map(anchors: Anchors, joint: Joint, noise: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the initial map (d, n): places of the anchors, and means of partners for new points.

    noise: standard normal numbers (n, d). A point without a path to an anchor starts at the center.
    """
    is_new = np.ones(len(noise), bool)
    is_new[anchors.rows] = False
    rows = np.flatnonzero(is_new)
    Y = np.repeat(anchors.places.mean(axis=0, dtype=np.float64)[None], len(noise), axis=0)
    Y[anchors.rows] = anchors.places
    has_place = np.where(is_new, 0.0, 1.0)
    P = joint if isinstance(joint, DenseMatrix) else listed_pairs(joint)
    for _ in range(N_ROUNDS if len(rows) else 0):
        # The last column sums the probabilities of the partners that have a place.
        sums = _partner_sums(P, rows, np.column_stack([has_place[:, None] * Y, has_place]))
        reached = sums[:, -1] > 0
        Y[rows[reached]] = sums[reached, :-1] / sums[reached, -1:]
        has_place[rows[reached]] = 1.0
    Y[rows] += JITTER * noise[rows]
    return np.ascontiguousarray(Y.T, np.float32)


def _partner_sums(P: DenseMatrix | csr_array, rows: Array, block: Array) -> NDArray[np.float64]:
    """Return rows of P times a block (n, b) of columns, in the same order on every machine."""
    sums = np.empty((len(rows), block.shape[1]))
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        if isinstance(P, DenseMatrix):
            factors = P.factors.astype(np.float64)
            found = combine(P.values[part] * (factors[part, None] + factors), block)
        else:
            found = times_sparse(P[part].astype(np.float64), block)
        sums[start : start + BLOCK] = found
    return sums


def listed_pairs(joint: SparseMatrix | PartnerSource) -> csr_array:
    """Return joint probabilities as CSR; of those that are not stored, the partners of a draw."""
    if isinstance(joint, SparseMatrix):
        n = len(joint.indptr) - 1
        return csr_array((joint.data, joint.indices, joint.indptr), shape=(n, n))
    indices, weights = joint.draw(0)
    n, k = indices.shape
    parts = weights.ravel(), indices.ravel().view(np.int32), np.arange(0, n * k + 1, k)
    return csr_array(parts, shape=(n, n))
