"""Attraction along lists of pairs: neighbors that are kept, or partners that are drawn anew."""

import numpy as np
from numpy.typing import NDArray

from isosne._numba import parallel_kernel, prange
from isosne._types import Array, Scalar, SparseMatrix
from isosne.layout._pairs import map_similarity, minus_log_similarity


class ListedAttraction:
    """Pull along the pairs of a sparse matrix.

    Parameters
    ----------
    joint : SparseMatrix
        Joint probabilities.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.
    """

    def __init__(self, joint: SparseMatrix, dof: Scalar = 1.0) -> None:
        self.joint = joint
        self.n_points = len(joint.indptr) - 1
        self._dof = np.float32(dof)
        p = joint.data.astype(np.float64)
        self.negative_entropy = float((p * np.log(p)).sum())

    def prepare(self, iteration: int) -> None:
        """Do nothing: the pairs stay the same."""

    def pull(self, Y: NDArray[np.float32], pull: NDArray[np.float32]) -> None:
        """Fill pull (3, n) at the map Y (3, n)."""
        pull_listed(*self.joint, Y, self._dof, pull)

    def loss(self, Y: NDArray[np.float32]) -> float:
        """Return minus the sum of p log w at the map Y (3, n)."""
        sums = np.empty(self.n_points)
        loss_listed(*self.joint, Y, self._dof, sums)
        return float(sums.sum())


@parallel_kernel
def pull_listed(
    indptr: Array, indices: Array, data: Array, Y: Array, dof: Scalar, pull: Array
) -> None:
    """Fill pull[:, i] = sum_j p u (y_i - y_j) over the listed pairs. O(number of pairs)."""
    for i in prange(Y.shape[1]):
        p0 = p1 = p2 = np.float32(0)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            d0, d1, d2 = Y[0, i] - Y[0, j], Y[1, i] - Y[1, j], Y[2, i] - Y[2, j]
            _, u = map_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
            p0 += data[e] * u * d0
            p1 += data[e] * u * d1
            p2 += data[e] * u * d2
        pull[0, i], pull[1, i], pull[2, i] = p0, p1, p2


@parallel_kernel
def loss_listed(
    indptr: Array, indices: Array, data: Array, Y: Array, dof: Scalar, sums: Array
) -> None:
    """Fill sums[i] = -sum_j p log w over the listed pairs."""
    for i in prange(Y.shape[1]):
        total = np.float32(0)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            d0, d1, d2 = Y[0, i] - Y[0, j], Y[1, i] - Y[1, j], Y[2, i] - Y[2, j]
            total += data[e] * minus_log_similarity(d0 * d0 + d1 * d1 + d2 * d2, dof)
        sums[i] = total
