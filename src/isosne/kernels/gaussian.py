"""The Gaussian kernel with a bandwidth per point, set by the perplexity (Eq. 1, 4 and 5).

This is the standard kernel of t-SNE. Bandwidths are computed row by row when rows are read; `fit`
only stores the points and validates the parameters.
"""

import math
import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._blocks import for_each_block
from isosne._checks import as_scales, is_number
from isosne._portable import each_log
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.errors import DataError, DegenerateRowsWarning, ParameterError
from isosne.kernels.bandwidths import add_gaussian_rows, fill_rows, find_precisions
from isosne.kernels.base import MetricKernel
from isosne.kernels.costs import KernelCosts
from isosne.neighbors.distances import exact_set, sq_distances

ROWS = 64
"""Rows per block; all columns of a block are in memory (chosen; not measured)."""


class GaussianKernel(MetricKernel):
    """Gaussian kernel with a bandwidth per point, set by the perplexity.

    Parameters
    ----------
    perplexity : float, sequence of floats or "auto", default="auto"
        Effective number of neighbors, from 1 to n_samples - 1. A sequence combines several scales.
        "auto": 30, or a third of the other points (of the stored distances) if this is less.
    metric : str, default="euclidean"
        euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis (with the covariance of the
        fitted points), hamming (the fraction of columns that differ), gower (of points from
        `isosne.tables.gower_points`) or precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.

    Attributes
    ----------
    perplexity_ : array of shape (n_scales,)
        The perplexity of each scale.
    X_fit_ : array or CSR
        The fitted points (not a copy).

    Notes
    -----
    Implements Eq. 1, 4 and 5: the bandwidth of a row is found by bisection until the entropy is
    within 5e-5 nats of log(perplexity).

    Departures from the paper: if a point has more than `perplexity` others at its smallest distance
    (usually duplicates), no bandwidth gives that perplexity. These others then get equal weight,
    which is the limit, and a warning gives the number of such points.

    Cost: O(n^2 d) time and O(n) memory for the bandwidths of n points.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import GaussianKernel
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> GaussianKernel(perplexity=2).fit(X).bandwidths().round(2)
    array([[2.43, 1.86, 1.45, 2.6 ]])
    """

    def __init__(
        self, perplexity: Any = "auto", *, metric: str = "euclidean", p: float = 2.0
    ) -> None:
        self.perplexity = perplexity
        self.metric = metric
        self.p = p

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the points and check that the perplexity can be reached.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; with ``metric="precomputed"``, their distances. A sparse matrix of distances
            stores those of each point to its neighbors.
        y : None
            Ignored.

        Returns
        -------
        GaussianKernel
            The fitted kernel.
        """
        return self._fit_points(self._check_fit(X))._remember_names(X)

    def _fit_points(self, points: Points) -> Self:
        n_listed = self._n_listed(points)
        perplexity = check_perplexity(self.perplexity, points.shape[0], n_listed)
        return self._remember(points, perplexity_=perplexity)

    def _resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        """Return an unfitted copy with the perplexity as a number, or as it is."""
        own = super()._resolved(n_points)
        if isinstance(self.perplexity, str):
            (perplexity,) = check_perplexity(self.perplexity, n_points, n_listed).tolist()
            own.set_params(perplexity=perplexity)
        return own

    def _check_parameters(self, n_points: int) -> None:
        super()._check_parameters(n_points)
        check_perplexity(self.perplexity, n_points)

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        if check_perplexity(self.perplexity, n_points, n_listed).max() > n_listed:
            raise ParameterError(
                "perplexity",
                f"be at most {n_listed}, the smallest number of distances per row of X",
                self.perplexity,
                "Lower perplexity, or store more distances; three times the perplexity is usual.",
            )

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the list lengths and the memory for a number of points, before `fit`.

        Parameters
        ----------
        n_points, n_features : int
            Number of points and of features.

        Returns
        -------
        KernelCosts
            Lists hold three times the largest perplexity (van der Maaten 2014).
        """
        # The largest scale needs the longest lists; all scales share them.
        scales = check_perplexity(self.perplexity, n_points)
        n_listed = math.ceil(3.0 * scales.max())
        return KernelCosts(n_listed, n_listed, n_scales=len(scales), compares_squares=True)

    def bandwidths(self, A: Any = None) -> NDArray[np.float64]:
        """Return the bandwidth (standard deviation) of each point at each scale.

        Parameters
        ----------
        A : array, CSR or data frame, default=None
            Points whose neighbors are the fitted points. None is the fitted points; a point is not
            its own neighbor.

        Returns
        -------
        array of shape (n_scales, n)
            The bandwidths; zero where there is none (see the class Notes).
        """
        with np.errstate(divide="ignore"):
            sigma: NDArray[np.float64] = np.sqrt(0.5 / self._precisions(A))
        return sigma

    def _precisions(self, A: Any) -> NDArray[np.float64]:
        """Return 1 / (2 sigma^2); infinite where there is no bandwidth."""
        return self._precisions_of(self._check_query(A), own=0 if A is None else -1)

    def _precisions_of(self, points: Points, *, own: int) -> NDArray[np.float64]:
        """Return the precisions of validated points; own = 0 if they are the fitted points."""
        search = exact_set(self.X_fit_, self.metric_)
        precisions = np.empty((len(self.perplexity_), points.shape[0]))

        def work(rows: slice) -> None:
            # Float64: the exponent amplifies rounding of the squared distance.
            sq = sq_distances(points, rows, search, self.metric_)
            find_precisions(
                sq, rows.start if own == 0 else -1, each_log(self.perplexity_), precisions[:, rows]
            )

        for_each_block(points.shape[0], ROWS, work)
        _warn_of_degenerate_rows(precisions)
        return precisions

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return exp(-d^2 / (2 sigma^2)) with the bandwidth of the row (Eq. 1).

        Parameters
        ----------
        A, B : array, CSR or data frame, default=None
            Points; None is the fitted points.

        Returns
        -------
        array of float32, shape (n, m)
            Values from 0 to 1, not symmetric; the mean over the scales if there are several.
        """
        sq = self._sq_distance_matrix(A, B)
        precisions = self._precisions(A)
        K = np.zeros(sq.shape, np.float32)  # summed scale by scale to limit memory
        for scale in precisions:
            for_each_block(len(K), ROWS, partial(_add_block, sq, scale, K))
        K /= np.float32(len(precisions))
        return K

    def _layers(self, points: Points) -> NDArray[np.float32]:
        """Return the similarity of new points to the fitted points; 1 for the nearest."""
        sq = self._sq_distances(points, self.X_fit_)
        precisions = self._precisions_of(points, own=-1)
        K = np.empty((len(precisions), *sq.shape), np.float32)
        fill_rows(sq, -1, precisions, K)
        return K

    def rows(self) -> "GaussianRows":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        return GaussianRows(self)

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return the similarity of each fitted point to its neighbors; other points are ignored.

        Parameters
        ----------
        neighbors : Neighbors
            Neighbor lists of the fitted points, usually three times the perplexity long.
        n_partners : int or None, default=None
            Number of neighbors per point to use; None uses all.

        Returns
        -------
        array of float32, shape (n_scales, n, k)
            Scaled so that the nearest neighbor has similarity 1.
        """
        return self._near_similarity(self._check_neighbors(neighbors, n_partners).distances)

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
            (m, k); returns the similarity (n_scales, m, k).
        """
        self._check_neighbors(neighbors)
        return lambda points, ids, distances: self._near_similarity(distances)

    def _near_similarity(self, distances: Array) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) at distances (n, k) to the nearest points."""
        n, k = distances.shape
        if k < self.perplexity_.max():
            raise DataError(
                "neighbors must list at least perplexity "
                f"({self.perplexity_.max():g}) neighbors per point; got {k}. "
                "Pass longer lists; three times the perplexity is usual."
            )
        K = np.empty((len(self.perplexity_), n, k), np.float32)
        precisions = np.empty((len(self.perplexity_), n))

        def work(rows: slice) -> None:
            sq = distances[rows].astype(np.float64) ** 2
            find_precisions(sq, -1, each_log(self.perplexity_), precisions[:, rows])
            fill_rows(sq, -1, precisions[:, rows], K[:, rows])

        for_each_block(n, 1024, work)
        _warn_of_degenerate_rows(precisions)
        return K


class GaussianRows:
    """Rows of similarity of a Gaussian kernel, scaled so that the nearest neighbor has 1.

    In high dimensions exp(-d^2 / (2 sigma^2)) itself can underflow in float32.
    """

    def __init__(self, kernel: GaussianKernel) -> None:
        self._kernel = kernel
        self._points = kernel._check_query(None)
        self._search = exact_set(self._points, kernel.metric_)
        self.n_points = self._points.shape[0]
        self.n_scales = len(kernel.perplexity_)

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of a block of points to all points."""
        first, last, _ = rows.indices(self.n_points)
        K = np.empty((self.n_scales, last - first, self.n_points), np.float32)
        precisions = np.empty(K.shape[:2])
        log_perplexity = each_log(self._kernel.perplexity_)

        def work(part: slice) -> None:
            here = slice(first + part.start, first + part.stop)
            sq = sq_distances(self._points, here, self._search, self._kernel.metric_)
            find_precisions(sq, here.start, log_perplexity, precisions[:, part])
            fill_rows(sq, here.start, precisions[:, part], K[:, part])

        for_each_block(last - first, ROWS, work)
        _warn_of_degenerate_rows(precisions)
        return K


def check_perplexity(
    perplexity: Any, n_samples: int, n_listed: int | None = None
) -> NDArray[np.float64]:
    """Return the perplexity of each scale; raise an error if n_samples points cannot reach it.

    n_listed: the number of neighbors per point that are known, if not all are.
    """
    if isinstance(perplexity, str) and perplexity == "auto":
        # 30 is the default of scikit-learn and openTSNE. Lists hold 3 * perplexity neighbors
        # (van der Maaten 2014), so it is at most a third of the other points.
        n_others = n_samples - 1 if n_listed is None else n_listed
        return np.array([max(1.0, min(30.0, n_others / 3))])
    values = as_scales(perplexity, "perplexity")
    for value in values:
        if not is_number(value) or not 1 <= value <= n_samples - 1:
            raise ParameterError(
                "perplexity",
                f"be 'auto' or a number from 1 to n_samples - 1 ({n_samples - 1})",
                value,
                "Lower perplexity, or pass more points.",
            )
    return np.array(values, dtype=np.float64)


def _add_block(sq: Array, precisions: Array, K: Array, rows: slice) -> None:
    add_gaussian_rows(sq[rows], precisions[rows], K[rows])


def _warn_of_degenerate_rows(precisions: Array) -> None:
    n_degenerate = int(np.isinf(precisions).any(axis=0).sum())
    if n_degenerate:
        warnings.warn(
            f"{n_degenerate} of {precisions.shape[1]} points have more than perplexity neighbors "
            "at the same smallest distance, so that no bandwidth gives that perplexity; these "
            "neighbors get equal weight. Remove duplicate points, or raise perplexity.",
            DegenerateRowsWarning,
            stacklevel=3,
        )
