"""The adaptive Gaussian kernel of App. D, scaled by the k-th nearest neighbors."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.errors import DegenerateRowsWarning
from isosne.kernels.bandwidths import fill_adaptive_rows
from isosne.kernels.neighbor_kernel import NeighborKernel
from isosne.neighbors.distances import exact_set, sq_distances

ROWS = 64
"""Rows per block; all columns of a block are in memory (chosen; not measured)."""


class AdaptiveGaussianKernel(NeighborKernel):
    """Gaussian kernel whose bandwidths are the distances to the k-th nearest neighbors.

    Parameters
    ----------
    k : int, default=7
        Neighbor whose distance sets the bandwidth, from 1 to n_samples - 1.
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
    Implements ``exp(-d(x, y)^2 / (sigma_x sigma_y))`` of App. D (Zelnik-Manor and Perona 2004).

    Departures from the paper: a point with k duplicates has sigma = 0. It is similar only to its
    duplicates, which is the limit, and a warning gives the number of such points. Cost: O(n^2 d)
    time to find the neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import AdaptiveGaussianKernel
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> AdaptiveGaussianKernel(k=1).fit(X).similarity().round(3)
    array([[1.   , 0.368, 0.011],
           [0.368, 1.   , 0.135],
           [0.011, 0.135, 1.   ]], dtype=float32)
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
            Values from 0 to 1.
        """
        sq = self._sq_distance_matrix(A, B)
        return _adaptive_gaussian(sq, self._radii_with_warning(A), self.radii(B))

    def _layers(self, points: Points) -> NDArray[np.float32]:
        radii = _warn_of_zero_radii(self._radii_of(points), self._k)
        sq = self._sq_distances(points, self.X_fit_)
        return _adaptive_gaussian(sq, radii, self.radii())[None]

    def rows(self) -> "AdaptiveGaussianRows":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        return AdaptiveGaussianRows(self)

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return the similarity of each fitted point to its neighbors.

        Parameters
        ----------
        neighbors : Neighbors
            Neighbor lists of the fitted points.
        n_partners : int or None, default=None
            Number of neighbors per point to use; None uses all.

        Returns
        -------
        array of float32, shape (1, n, k)
            In the order of ``neighbors.indices``.
        """
        ids, distances = self._check_neighbors(neighbors, n_partners)
        radii, K = self._radii_with_warning(None), np.empty((1, *ids.shape), np.float32)

        def work(rows: slice) -> None:
            sq = distances[rows].astype(np.float64) ** 2
            K[0, rows] = _adaptive_gaussian(sq, radii[rows], radii[ids[rows]])

        for_each_block(len(ids), 1024, work)
        return K

    def toward_neighbors(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares new points with the fitted points nearest to them.

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
        radii = self.radii()

        def compare(points: Points, ids: Array, distances: Array) -> NDArray[np.float32]:
            sq = distances.astype(np.float64) ** 2
            own = distances[:, self._k - 1].astype(np.float64)  # lists are longer than k
            return _adaptive_gaussian(sq, own, radii[ids])[None]

        return compare

    def _radii_with_warning(self, A: Any) -> NDArray[np.float64]:
        return _warn_of_zero_radii(self.radii(A), self._k)


def _warn_of_zero_radii(radii: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the radii, with a warning if some are zero."""
    n_zero = int(np.count_nonzero(radii == 0))
    if n_zero:
        warnings.warn(
            f"{n_zero} of {len(radii)} points have k={k} or more duplicates, so that their "
            "bandwidth is zero; they are similar only to their duplicates. Remove duplicate "
            "points, or raise k.",
            DegenerateRowsWarning,
            stacklevel=4,
        )
    return radii


class AdaptiveGaussianRows:
    """Rows of similarity of an adaptive Gaussian kernel."""

    n_scales = 1

    def __init__(self, kernel: AdaptiveGaussianKernel) -> None:
        self._kernel = kernel
        self._points = kernel._check_query(None)
        self._radii = kernel._radii_with_warning(None)
        self._search = exact_set(self._points, kernel.metric_)
        self.n_points = self._points.shape[0]

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (1, n_rows, n_points) of a block of points to all points."""
        first, last, _ = rows.indices(self.n_points)
        K = np.empty((1, last - first, self.n_points), np.float32)

        def work(part: slice) -> None:
            here = slice(first + part.start, first + part.stop)
            sq = sq_distances(self._points, here, self._search, self._kernel.metric_)
            K[0, part] = _adaptive_gaussian(sq, self._radii[here], self._radii)

        for_each_block(last - first, ROWS, work)
        return K


def _adaptive_gaussian(sq: Array, row_radii: Array, column_radii: Array) -> NDArray[np.float32]:
    """Return exp(-d^2 / (sigma_x sigma_y)); 1 at distance zero, whatever the bandwidths.

    column_radii: one per column, or (n, m) if those of each row differ.
    """
    K = np.empty(sq.shape, np.float32)
    shared = column_radii[None] if column_radii.ndim == 1 else None

    def work(rows: slice) -> None:
        columns = column_radii[rows] if shared is None else shared
        fill_adaptive_rows(sq[rows], row_radii[rows], columns, K[rows])

    for_each_block(len(K), ROWS, work)
    return K
