"""The kNN kernel of App. D: the k nearest neighbors of each point."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.kernels.neighbor_kernel import NeighborKernel
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import nearest


class KNNKernel(NeighborKernel):
    """kNN kernel: similarity 1 to the k nearest neighbors, 0 to all other points.

    Parameters
    ----------
    k : int, default=7
        Number of neighbors, from 1 to n_samples - 1.
    metric : str, default="euclidean"
        euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis (with the covariance of the
        fitted points), hamming (the fraction of columns that differ), gower (of points from
        `isosne.tables.gower_points`) or precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.

    Attributes
    ----------
    neighbors_ : Neighbors
        The k nearest neighbors of each fitted point.
    X_fit_ : array or CSR
        The fitted points (not a copy).

    Notes
    -----
    Implements the indicator of App. D: 1 if y is among the k nearest neighbors of x. Not symmetric.
    Departures from the paper: a point is similar to itself; for new points, y is a neighbor of x if
    it is no farther away than the k-th nearest fitted point. Cost: O(n^2 d) time to find neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import KNNKernel
    >>> KNNKernel(k=1).fit(np.array([[0.0], [1.0], [3.0]])).similarity()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 1., 1.]], dtype=float32)
    """

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the similarity of each row of A to each row of B.

        Parameters
        ----------
        A, B : array, CSR or data frame, default=None
            Points; None is the fitted points.

        Returns
        -------
        array of float32, shape (n, m)
            Zeros and ones.
        """
        points = self._check_query(A)
        if B is not None:
            # Distances (float64) and radii (float32) are rounded differently; the k-th neighbor
            # must count. 1e-6 exceeds the float32 rounding of a squared radius (2.4e-7).
            reach = self.radii(A) ** 2 * (1 + 1e-6)
            sq = self._sq_distance_matrix(A, B)
            return np.where(sq <= reach[:, None], np.float32(1), np.float32(0))
        if A is None:
            (K,) = self.rows().block(slice(None))
            return np.asarray(K, dtype=np.float32)
        K = self._layers(points)[0]
        return np.asarray(K, dtype=np.float32)

    def _layers(self, points: Points) -> NDArray[np.float32]:
        ids, _ = nearest(points, search_set(self.X_fit_, self.metric_), self._k)
        K = np.zeros((1, len(ids), self.X_fit_.shape[0]), np.float32)
        np.put_along_axis(K[0], ids, 1, axis=1)
        return K

    def rows(self) -> "KNNRows":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        self._check_query(None)
        return KNNRows(self.neighbors_)

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return 1 for the k nearest neighbors of each fitted point, 0 for the others.

        Parameters
        ----------
        neighbors : Neighbors
            Neighbor lists of the fitted points, nearest first.
        n_partners : int or None, default=None
            Number of neighbors per point to use; None uses all.

        Returns
        -------
        array of float32, shape (1, n, k)
            Ones in the first ``k`` columns.
        """
        return self._among_nearest(self._check_neighbors(neighbors, n_partners).indices)

    def toward_neighbors(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that marks the k fitted points nearest to each new point.

        Parameters
        ----------
        neighbors : Neighbors
            Neighbor lists of the fitted points.

        Returns
        -------
        callable
            Takes new points, the indices of the fitted points nearest to each, and their distances
            (m, k); returns the similarity (1, m, k).
        """
        self._check_neighbors(neighbors)
        return lambda points, ids, distances: self._among_nearest(ids)

    def _among_nearest(self, ids: Array) -> NDArray[np.float32]:
        among = np.arange(ids.shape[1]) < self._k
        return np.broadcast_to(among, ids.shape).astype(np.float32, order="C")[None]


class KNNRows:
    """Rows of similarity of a kNN kernel."""

    n_scales = 1

    def __init__(self, neighbors: Neighbors) -> None:
        self._neighbors = neighbors
        self.n_points = len(neighbors.indices)

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (1, n_rows, n_points) of a block of points to all points."""
        first, last, _ = rows.indices(self.n_points)
        K = np.zeros((1, last - first, self.n_points), np.float32)
        np.put_along_axis(K[0], self._neighbors.indices[rows], 1, axis=1)
        K[0, np.arange(last - first), np.arange(first, last)] = 1  # a point is similar to itself
        return K
