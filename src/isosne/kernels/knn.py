"""The adaptive Gaussian and the kNN kernel of App. D, scaled by the k-th nearest neighbor."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._checks import check_count
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.errors import DegenerateRowsWarning
from isosne.kernels.base import MetricKernel
from isosne.kernels.costs import KernelCosts
from isosne.neighbors.distances import exact_set, search_set, sq_distances
from isosne.neighbors.exact import find_neighbors, nearest

ROWS = 64
"""Rows per block; all columns of a block are in memory (chosen; not measured)."""


class _NeighborKernel(MetricKernel):
    """Base class of kernels that store the k nearest neighbors of each fitted point."""

    k: int
    neighbors_: Neighbors

    def __init__(self, k: int = 7, *, metric: str = "euclidean", p: float = 2.0) -> None:
        self.k = k
        self.metric = metric
        self.p = p

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the k nearest neighbors of each point.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; with ``metric="precomputed"``, their distances.
        y : None
            Ignored.

        Returns
        -------
        The fitted kernel.
        """
        return self._fit_points(self._check_fit(X))._remember_names(X)

    def _fit_points(self, points: Points) -> Self:
        k = self._check_k(points.shape[0])
        metric = self._fit_metric(points)
        return self._remember(points, metric, neighbors_=find_neighbors(points, k, metric))

    def _check_parameters(self, n_points: int) -> None:
        super()._check_parameters(n_points)
        self._check_k(n_points)

    def _check_k(self, n_points: int) -> int:
        hint = "Lower k, or pass more points."
        return check_count(self.k, "k", low=1, high=n_points - 1, hint=hint)

    @property
    def _k(self) -> int:
        """Number of neighbors at fit."""
        return int(self.neighbors_.indices.shape[1])

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the list lengths and the memory for a number of points, before `fit`.

        Parameters
        ----------
        n_points, n_features : int
            Number of points and of features.

        Returns
        -------
        KernelCosts
            Lists hold 3 k neighbors, as for a perplexity of k (van der Maaten 2014).
        """
        return KernelCosts(3 * int(self.k), 3 * int(self.k))

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


class AdaptiveGaussianKernel(_NeighborKernel):
    """Gaussian kernel whose bandwidths are the distances to the k-th nearest neighbors.

    Parameters
    ----------
    k : int, default=7
        Neighbor whose distance sets the bandwidth, from 1 to n_samples - 1.
    metric : str, default="euclidean"
        euclidean, manhattan, minkowski, cosine or precomputed.
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
        return _adaptive_gaussian(self._sq_distances(points, self.X_fit_), radii, self.radii())[
            None
        ]

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
        neighbors = self._check_neighbors(neighbors, n_partners)
        radii = self._radii_with_warning(None)
        sq = neighbors.distances.astype(np.float64) ** 2
        return _adaptive_gaussian(sq, radii, radii[neighbors.indices])[None]

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
    """Return exp(-d^2 / (sigma_x sigma_y)); 1 at distance zero, whatever the bandwidths."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = sq / (row_radii[:, None] * column_radii)
    K: NDArray[np.float32] = np.exp(-np.where(sq == 0, 0, exponent)).astype(np.float32)
    return K


class KNNKernel(_NeighborKernel):
    """kNN kernel: similarity 1 to the k nearest neighbors, 0 to all other points.

    Parameters
    ----------
    k : int, default=7
        Number of neighbors, from 1 to n_samples - 1.
    metric : str, default="euclidean"
        euclidean, manhattan, minkowski, cosine or precomputed.
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
