"""What all kernels share: a metric, the fitted points, and the checks at the door."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._blocks import for_each_block
from isosne._checks import (
    check_for_metric,
    check_metric,
    check_points,
    check_square_distances,
    check_width,
)
from isosne._types import Array, Neighbors, Points
from isosne.errors import DataError
from isosne.neighbors.distances import Metric, search_set, sq_distances
from isosne.neighbors.exact import nearest


class MetricKernel(BaseEstimator):
    """A kernel over points compared by ``metric`` (and ``p``).

    A subclass checks everything before it calls ``_remember``, so a fit that fails leaves the
    estimator as it was.
    """

    metric: str
    p: float
    metric_: Metric
    X_fit_: Points

    def check_parameters(self, n_points: int) -> None:
        """Refuse parameters that no fit to so many points can use.

        Parameters
        ----------
        n_points : int
            Number of points.
        """
        check_metric(self.metric, self.p)

    def fit_pool(self, pool: Points, X: Any) -> Self:
        """Fit to points that stand for more: what is drawn at random is drawn from a pool.

        Parameters
        ----------
        pool : array or CSR
            Points that stand for all, more of them than X.
        X : array or CSR
            The points to be compared.

        Returns
        -------
        MetricKernel
            The kernel, fitted to X alone: it draws nothing.
        """
        fitted: Self = self.fit(X)
        return fitted

    def in_closed_form(self) -> Self | None:
        """Return a kernel for the same points whose similarity needs only lists of neighbors.

        Returns
        -------
        MetricKernel or None
            The kernel itself.
        """
        return self

    def _check_fit(self, X: Any) -> Points:
        check_metric(self.metric, self.p)
        points = check_points(X, min_rows=2)
        check_for_metric(points, self.metric)
        if self.metric == "precomputed":
            check_square_distances(points)
        return points

    def _remember(self, X: Any, points: Points, **fitted: Any) -> Self:
        validate_data(self, X, reset=True, skip_check_array=True)
        self.X_fit_ = points
        self.metric_ = Metric(self.metric, self.p)
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def _check_query(self, A: Any) -> Points:
        """Return other points, or the fitted ones for None."""
        check_is_fitted(self)
        if A is None:
            return self.X_fit_
        points = check_points(A)
        check_width(points, self.X_fit_.shape[1], type(self).__name__)
        validate_data(self, A, reset=False, skip_check_array=True)
        check_for_metric(points, self.metric_.name)
        return points

    def _check_neighbors(self, neighbors: Neighbors, n_listed: int | None = None) -> Neighbors:
        """Return the first n_listed of all lists."""
        check_is_fitted(self)
        n = self.X_fit_.shape[0]
        if len(neighbors.indices) != n:
            raise DataError(
                "neighbors must hold one list for each fitted point; "
                f"got {len(neighbors.indices)} lists for {n} points. "
                "Compute them on the points that the kernel was fitted on."
            )
        return Neighbors(neighbors.indices[:, :n_listed], neighbors.distances[:, :n_listed])

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest other fitted point of each of the fitted points named.

        Parameters
        ----------
        ids : array of int
            Indices of fitted points.

        Returns
        -------
        array of int
            One index for each; of equally near points the lowest.
        """
        points = self._check_query(None)
        found, _ = nearest(points[ids], search_set(points, self.metric_), 2)
        return np.where(found[:, 0] == ids, found[:, 1], found[:, 0])

    def find_copies(self, A: Any) -> Array:
        """Return the fitted point that each point is a copy of, or -1.

        Parameters
        ----------
        A : array, CSR or data frame
            Any points.

        Returns
        -------
        array of int, shape (n,)
            Index of the fitted point at distance zero, the lowest if there are several.
        """
        points = self._check_query(A)
        found, keys = nearest(points, search_set(self.X_fit_, self.metric_), 1)
        return np.where(keys[:, 0] == 0, found[:, 0], -1)

    def pair_bytes(self, n_points: int) -> int:
        """Return the bytes that the similarity of a pair takes when all pairs are held.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            4, for float32.
        """
        return 4

    def cell_bytes(self, n_points: int) -> int:
        """Return the bytes that a point's cells take to draw from.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            0: there are no cells.
        """
        return 0

    def drawn_bytes(self, n_points: int, n_features: int) -> int:
        """Return the bytes of all that is drawn at fit, with the cells of the fitted points.

        Parameters
        ----------
        n_points, n_features : int
            Number of points and of their attributes.

        Returns
        -------
        int
            0: nothing is drawn.
        """
        return 0

    def has_approximate_neighbors(self) -> bool:
        """Return whether neighbors can be found without looking at all distances.

        Returns
        -------
        bool
            True for dense points under the Euclidean or cosine distance, or before `fit`.
        """
        is_sparse = isinstance(getattr(self, "X_fit_", None), csr_array)
        return self.metric in ("euclidean", "cosine") and not is_sparse

    def n_partners(self, n_points: int) -> int:
        """Return how many neighbors of a point get a probability where only neighbors do.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            As many as the similarity depends on.
        """
        return int(self.n_relevant(n_points))

    def toward_fitted(self) -> Callable[[Points], NDArray[np.float32]]:
        """Return a function from points to probabilities of the fitted points.

        Returns
        -------
        callable
            From points (n, n_features) to rows (n, n_samples) that sum to one: each scale
            normalized, then their mean, as step 2 does for the fitted points. Where the
            similarity vanishes, the nearest point has it all.
        """

        def rows(points: Points) -> NDArray[np.float32]:
            layers = self._similarity_layers(points)
            sums = layers.sum(axis=2, keepdims=True)
            layers = np.divide(layers, sums, out=np.zeros_like(layers), where=sums > 0)
            mean: NDArray[np.float32] = layers.sum(axis=0)
            empty = np.flatnonzero(~mean.any(axis=1))
            if len(empty):
                search = search_set(self.X_fit_, self.metric_)
                found, _ = nearest(points[empty], search, 1)
                mean[empty, found[:, 0]] = 1
            mean /= mean.sum(axis=1, keepdims=True)
            return mean

        return rows

    def _similarity_layers(self, points: Points) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, n_samples) of points to the fitted ones."""
        K: NDArray[np.float32] = self.similarity(points)
        return K[None]

    def _sq_distance_matrix(self, A: Any, B: Any) -> Array:
        """Return the squared distances (n, m) of two sets of points, in float64."""
        left, right = self._check_query(A), self._check_query(B)
        if self.metric_.name == "precomputed" and B is not None:
            raise DataError(
                "With metric='precomputed' the distances between two new sets of points are not "
                "known; got B. Leave B out: A holds distances to the fitted points."
            )
        search = search_set(right, self.metric_, precision=np.float64)
        sq = np.empty((left.shape[0], search.n_points))

        def work(rows: slice) -> None:
            sq[rows] = sq_distances(left, rows, search, self.metric_)

        for_each_block(len(sq), 64, work)
        return sq

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
