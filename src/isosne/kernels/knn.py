"""The kernels of App. D: kNN and adaptive Gaussian, from the k nearest neighbors of each point."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isosne._blocks import for_each_block
from isosne._checks import check_count
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.errors import DegenerateRowsWarning, ParameterError
from isosne.kernels.base import BlockRows, KernelCosts, MetricKernel
from isosne.kernels.gaussian import fill_adaptive_rows
from isosne.neighbors.distances import exact_set, search_set, sq_distances
from isosne.neighbors.exact import find_neighbors, nearest


class NeighborKernel(MetricKernel):
    """Base class of kernels that store the k nearest neighbors of each fitted point."""

    k: int
    neighbors_: Neighbors

    def __init__(self, k: int = 7, *, metric: str = "euclidean", p: float = 2.0) -> None:
        self.k = k
        self.metric = metric
        self.p = p

    def _fit_points(self, points: Points) -> Self:
        k = self._check_k(points.shape[0])
        metric = self.fit_metric(points)
        return self._remember(points, metric, neighbors_=find_neighbors(points, k, metric))

    def check_parameters(self, n_points: int) -> None:
        super().check_parameters(n_points)
        self._check_k(n_points)

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        if self._check_k(n_points) > n_listed:
            raise ParameterError(
                "k",
                f"be at most {n_listed}, the smallest number of distances per row of X",
                self.k,
                "Lower k, or store more distances.",
            )

    def _check_k(self, n_points: int) -> int:
        hint = "Lower k, or pass more points."
        return check_count(self.k, "k", low=1, high=n_points - 1, hint=hint)

    @property
    def _k(self) -> int:
        """Number of neighbors at fit."""
        return int(self.neighbors_.indices.shape[1])

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        # As for a perplexity of k (van der Maaten 2014).
        return KernelCosts(3 * int(self.k), 3 * int(self.k), compares_squares=True)

    def radii(self, A: Any = None) -> NDArray[np.float64]:
        """Return the distance of each point to its k-th nearest neighbor.

        Parameters
        ----------
        A : array, CSR or data frame, default=None
            Points whose neighbors are the fitted points. None is the fitted points; a point is not
            its own neighbor.

        Returns
        -------
        array of shape (n,)
            Distances in the metric of the kernel.
        """
        points = self._check_query(A)
        if A is None:
            return self.neighbors_.distances[:, -1].astype(np.float64)
        return self._radii_of(points)

    def _radii_of(self, points: Points) -> NDArray[np.float64]:
        """Return the distance of each validated point to the k-th nearest fitted point."""
        search = search_set(self.X_fit_, self.metric_)
        _, keys = nearest(points, search, self._k)
        radii: NDArray[np.float64] = self.metric_.distances(keys[:, -1], search.scale)
        return radii


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
        points = self._check_query(A)
        if B is not None:
            # Distances (float64) and radii (float32) are rounded differently; the k-th neighbor
            # must count. 1e-6 exceeds the float32 rounding of a squared radius (2.4e-7).
            reach = self.radii(A) ** 2 * (1 + 1e-6)
            sq = self._sq_distance_matrix(A, B)
            return np.where(sq <= reach[:, None], np.float32(1), np.float32(0))
        layers = self.rows().block(slice(None)) if A is None else self._layers(points)
        K: NDArray[np.float32] = layers[0]
        return K

    def _layers(self, points: Points) -> NDArray[np.float32]:
        ids, _ = nearest(points, search_set(self.X_fit_, self.metric_), self._k)
        K = np.zeros((1, len(ids), self.X_fit_.shape[0]), np.float32)
        np.put_along_axis(K[0], ids, 1, axis=1)
        return K

    def rows(self) -> BlockRows:
        self._check_query(None)
        return BlockRows(len(self.neighbors_.indices), 1, self._block)

    def _block(self, rows: slice) -> NDArray[np.float32]:
        ids = self.neighbors_.indices[rows]
        K = np.zeros((1, len(ids), len(self.neighbors_.indices)), np.float32)
        np.put_along_axis(K[0], ids, 1, axis=1)
        own = np.arange(rows.start, rows.stop)
        K[0, own - rows.start, own] = 1  # a point is similar to itself
        return K

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        return self._among_nearest(self._check_neighbors(neighbors, n_partners).indices)

    def toward_neighbors(self, neighbors: Neighbors | None = None) -> NeighborSimilarity:
        check_is_fitted(self)
        return lambda points, ids, distances: self._among_nearest(ids)

    def _among_nearest(self, ids: Array) -> NDArray[np.float32]:
        among = np.arange(ids.shape[1]) < self._k
        return np.broadcast_to(among, ids.shape).astype(np.float32, order="C")[None]


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
        sq = self._sq_distance_matrix(A, B)
        return _adaptive_gaussian(sq, self._radii_with_warning(A), self.radii(B))

    def _layers(self, points: Points) -> NDArray[np.float32]:
        radii = _warn_of_zero_radii(self._radii_of(points), self._k)
        sq = self._sq_distances(points, self.X_fit_)
        return _adaptive_gaussian(sq, radii, self.radii())[None]

    def rows(self) -> BlockRows:
        points, radii = self._check_query(None), self._radii_with_warning(None)
        search, n = exact_set(points, self.metric_), points.shape[0]

        def block(rows: slice) -> NDArray[np.float32]:
            K = np.empty((1, rows.stop - rows.start, n), np.float32)

            def work(part: slice) -> None:
                here = slice(rows.start + part.start, rows.start + part.stop)
                sq = sq_distances(points, here, search, self.metric_)
                K[0, part] = _adaptive_gaussian(sq, radii[here], radii)

            for_each_block(K.shape[1], ROWS, work)
            return K

        return BlockRows(n, 1, block)

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        ids, distances = self._check_neighbors(neighbors, n_partners)
        radii, K = self._radii_with_warning(None), np.empty((1, *ids.shape), np.float32)

        def work(rows: slice) -> None:
            sq = distances[rows].astype(np.float64) ** 2
            K[0, rows] = _adaptive_gaussian(sq, radii[rows], radii[ids[rows]])

        for_each_block(len(ids), 1024, work)
        return K

    def toward_neighbors(self, neighbors: Neighbors | None = None) -> NeighborSimilarity:
        check_is_fitted(self)
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
