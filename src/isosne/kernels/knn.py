"""The kernels of App. D: kNN and adaptive Gaussian, from the k nearest neighbors of each point."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._checks import check_count
from isosne._numba import kernel
from isosne._portable import exp
from isosne._types import Array, Layers, Neighbors, NeighborSimilarity, Points, SimilarityRows
from isosne.errors import DegenerateRowsWarning, ParameterError
from isosne.kernels.base import ROWS, KernelCosts, MetricKernel
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import ExactSearch, nearest


class NeighborKernel(MetricKernel):
    """Base class of kernels that store the k nearest neighbors of each fitted point."""

    k: int
    neighbors_: Neighbors

    # k = 7 is the choice of Zelnik-Manor and Perona (2004), whose kernel App. D uses.
    def __init__(self, k: int = 7, *, metric: str = "euclidean", p: float = 2.0) -> None:
        self.k = k
        self.metric = metric
        self.p = p

    def _fit_points(self, points: Points) -> Self:
        k = self._check_k(points.shape[0])
        metric = self.fit_metric(points)
        return self._remember(points, metric, neighbors_=ExactSearch(points, metric).neighbors(k))

    def check_parameters(self, n_points: int) -> None:
        super().check_parameters(n_points)
        self._check_k(n_points)

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        if self._check_k(n_points) > n_listed:
            rule = f"be at most {n_listed}, the smallest number of distances per row of X"
            raise ParameterError("k", rule, self.k, "Lower k, or store more distances.")

    def _check_k(self, n_points: int) -> int:
        hint = "Lower k, or pass more points."
        return check_count(self.k, "k", low=1, high=n_points - 1, hint=hint)

    @property
    def _k(self) -> int:
        """Number of neighbors at fit."""
        return int(self.neighbors_.indices.shape[1])

    def costs(self, n_points: int) -> KernelCosts:
        # As for a perplexity of k (van der Maaten 2014).
        return KernelCosts(3 * int(self.k), 3 * int(self.k))

    def _radii(self, A: Any = None) -> NDArray[np.float64]:
        """Return the distance of each point (None: fitted point) to its k-th nearest neighbor."""
        if A is None:
            return self.neighbors_.distances[:, -1].astype(np.float64)
        search = search_set(self.X_fit_, self.metric_)
        _, keys = nearest(self._check_query(A), search, self._k)
        return self.metric_.distances(keys[:, -1], search.scale)


class KNNKernel(NeighborKernel):
    """kNN kernel: similarity 1 to the k nearest neighbors, 0 to all other points.

    Parameters
    ----------
    k : int, default=7
        Number of neighbors, from 1 to n_samples - 1.
    metric : str, default="euclidean"
        Metric of the points, as for `OwnerKernel`.
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
            reach = self._radii(A) ** 2 * (1 + 1e-6)
            sq = self._sq_distance_matrix(A, B)
            return np.where(sq <= reach[:, None], np.float32(1), np.float32(0))
        return np.asarray(self._rows_of(None if A is None else points).block(slice(None))[0])

    def _rows_of(self, new: Points | None) -> SimilarityRows:
        search = search_set(self.X_fit_, self.metric_)
        ids = self.neighbors_.indices if new is None else nearest(new, search, self._k)[0]

        def compute(rows: slice) -> Layers:
            K = np.zeros((1, rows.stop - rows.start, self.X_fit_.shape[0]), np.float32)
            np.put_along_axis(K[0], ids[rows], 1, axis=1)
            if new is None:
                np.fill_diagonal(K[0, :, rows.start :], 1)  # a point is similar to itself
            return K

        return SimilarityRows(len(ids), 1, compute)

    def _near_similarity(self, ids: Array, distances: Array) -> Layers:
        among = np.arange(ids.shape[1]) < self._k
        return np.broadcast_to(among, ids.shape).astype(np.float32, order="C")[None]


class AdaptiveGaussianKernel(NeighborKernel):
    """Gaussian kernel whose bandwidths are the distances to the k-th nearest neighbors.

    Parameters
    ----------
    k : int, default=7
        Neighbor whose distance sets the bandwidth, from 1 to n_samples - 1.
    metric : str, default="euclidean"
        Metric of the points, as for `OwnerKernel`.
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
        radii, others = self._checked_radii(self._radii(A)), self._radii(B)[None]
        K = np.empty(sq.shape, np.float32)

        def work(rows: slice) -> None:
            fill_adaptive_rows(sq[rows], radii[rows], others, K[rows])

        for_each_block(len(K), ROWS, work)
        return K

    def _rows_of(self, new: Points | None) -> SimilarityRows:
        radii, fitted = self._checked_radii(self._radii(new)), self._radii()[None]

        def fill(sq: Array, rows: slice, K: Array) -> None:
            fill_adaptive_rows(sq, radii[rows], fitted, K[0])

        return self._by_distance(1, fill, new)

    def neighbor_similarity(self, neighbors: Neighbors, n_partners: int | None = None) -> Layers:
        ids, distances = (part[:, :n_partners] for part in neighbors)
        return self._along_lists(self._checked_radii(self._radii()), ids, distances)

    def toward_neighbors(self, neighbors: Neighbors | None = None) -> NeighborSimilarity:
        def compare(points: Points, ids: Array, distances: Array) -> Layers:
            own = distances[:, self._k - 1].astype(np.float64)  # lists are longer than k
            return self._along_lists(own, ids, distances)

        return compare

    def _along_lists(self, own: Array, ids: Array, distances: Array) -> Layers:
        """Return the similarity (1, n, k) of points with radii own (n,) to listed fitted points."""
        radii, K = self._radii(), np.empty((1, *ids.shape), np.float32)

        def work(rows: slice) -> None:
            sq = distances[rows].astype(np.float64) ** 2
            fill_adaptive_rows(sq, own[rows], radii[ids[rows]], K[0, rows])

        for_each_block(len(ids), 1024, work)
        return K

    def _checked_radii(self, radii: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the radii, with a warning if some are zero."""
        n_zero = int(np.count_nonzero(radii == 0))
        if n_zero:
            warnings.warn(
                f"{n_zero} of {len(radii)} points have k={self._k} or more duplicates, so that "
                "their bandwidth is zero; they are similar only to their duplicates. Remove "
                "duplicate points, or raise k.",
                DegenerateRowsWarning,
                stacklevel=3,
            )
        return radii


@kernel
def fill_adaptive_rows(sq: Array, row_radii: Array, column_radii: Array, K: Array) -> None:
    """Fill K with exp(-d^2 / (sigma_x sigma_y)), 1 at distance zero; column_radii (n or 1, m)."""
    for i in range(sq.shape[0]):
        radius, radii = row_radii[i], column_radii[min(i, len(column_radii) - 1)]
        for j in range(sq.shape[1]):
            similarity = exp(-sq[i, j] / (radius * radii[j]))
            K[i, j] = similarity if sq[i, j] > 0.0 else 1.0
