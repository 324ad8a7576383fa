"""Step 2 for neighbor lists: joint probabilities of the pairs that a list names, as CSR."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._types import Kernel, Neighbors, SparseMatrix
from isosne.affinities.conditional import conditional_rows


def sparse_affinities(
    kernel: Kernel, neighbors: Neighbors
) -> tuple[SparseMatrix, NDArray[np.int64]]:
    """Return the joint probabilities of neighbors, and the points that had an empty row.

    What is farther than the neighbors counts as zero. An empty row gets its nearest neighbor.
    """
    n, k = neighbors.indices.shape
    rows = conditional_rows(kernel.neighbor_similarity(neighbors))
    isolated = np.flatnonzero(~rows.any(axis=1))
    rows[isolated, 0] = 1
    indptr = np.arange(0, n * k + 1, k, dtype=np.int64)
    conditional = csr_array((rows.ravel(), neighbors.indices.ravel(), indptr), shape=(n, n))
    joint = (conditional + conditional.T) * np.float32(0.5 / n)
    joint.eliminate_zeros()
    joint.sort_indices()
    return (
        SparseMatrix(joint.indptr.astype(np.int64), joint.indices.astype(np.int32), joint.data),
        isolated,
    )
