"""The base class of all kernels: metric, fitted points, and the interface to steps 2 and 3.

Public methods validate their arguments. Methods with a leading underscore are called from within
the package and expect validated points.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._blocks import for_each_block
from isosne._checks import (
    check_for_metric,
    check_metric,
    check_points,
    check_square_distances,
    check_width,
)
from isosne._types import (
    Array,
    FarPartners,
    Neighbors,
    NeighborSimilarity,
    Points,
    SimilarityLayers,
    SimilarityRows,
)
from isosne.errors import DataError, ParameterError, keyword
from isosne.kernels.costs import KernelCosts
from isosne.neighbors.distances import exact_set, search_set, sq_distances
from isosne.neighbors.exact import nearest
from isosne.neighbors.metric import Metric
from isosne.neighbors.stored import n_stored


class MetricKernel(BaseEstimator, ABC):
    """Base class of kernels over points that are compared by ``metric`` (and ``p``).

    A subclass validates everything before it calls `_remember`, so that a failed fit leaves the
    estimator unchanged.
    """

    metric: str
    p: float
    metric_: Metric
    X_fit_: Points

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel to the points."""

    @abstractmethod
    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the similarity of each row of A to each row of B; None is the fitted points."""

    @abstractmethod
    def rows(self) -> SimilarityRows:
        """Return the similarity among the fitted points, computed in blocks of rows."""

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of each fitted point to its nearest neighbors."""
        raise self._compares_all_pairs()

    def far_partners(self) -> FarPartners | None:
        """Return partners at scales too broad for neighbor lists, or None: there are none."""
        return None

    def toward_neighbors(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares new points with the fitted points nearest to them."""
        raise self._compares_all_pairs()

    def _compares_all_pairs(self) -> ParameterError:
        """Return the error of a kernel without neighbor lists, whose costs say so (n_relevant)."""
        return ParameterError(
            "affinities",
            f"be 'dense' with {type(self).__name__}, which compares all pairs",
            "sparse",
            f"Pass {keyword('affinities', 'dense')}.",
        )

    @abstractmethod
    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the list lengths and the memory for a number of points, before `fit`."""

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest neighbor of each fitted point in ``ids`` among the other points.

        Parameters
        ----------
        ids : array of int
            Indices of fitted points.

        Returns
        -------
        array of int
            One index per point; ties go to the lower index.
        """
        check_is_fitted(self)
        # Two candidates: a point is usually its own nearest, unless a duplicate has a lower index.
        found, _ = nearest(self.X_fit_[ids], search_set(self.X_fit_, self.metric_), 2)
        return np.where(found[:, 0] == ids, found[:, 1], found[:, 0])

    def _check_parameters(self, n_points: int) -> None:
        """Raise an error if a parameter is invalid for a fit on n_points points."""
        check_metric(self.metric, self.p)

    def _resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        """Return an unfitted copy with every "auto" parameter resolved for n_points points.

        must_draw: an isolation kernel must draw partitionings, not use the closed form. n_listed:
        the number of neighbors per point that are known; None if all distances can be computed.
        """
        own: Self = clone(self)
        return own

    def _fit_checked(self, points: Points) -> Self:
        """Fit to points that `check_points` has validated."""
        self._check_comparable(points)
        return self._fit_points(points)

    @abstractmethod
    def _fit_points(self, points: Points) -> Self:
        """Fit to points that are validated, also for the metric."""

    def _fit_pool(self, pool: Points, points: Points) -> Self:
        """Fit to landmarks (`points`); a kernel that draws samples draws them from the pool.

        This kernel draws none and ignores the pool.
        """
        return self._fit_checked(points)

    def _in_closed_form(self) -> "MetricKernel | None":
        """Return a kernel for the same points that needs only neighbor lists, or None."""
        return self

    def _toward_fitted(self) -> SimilarityLayers:
        """Return a function from new points to their similarity to the fitted points."""
        return self._layers

    def _layers(self, points: Points) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, n_samples) of new points to the fitted points."""
        K: NDArray[np.float32] = self.similarity(points)
        return K[None]

    def _find_copies(self, points: Points) -> NDArray[np.int32]:
        """Return, for each point, the lowest index of a fitted point at distance zero, or -1."""
        found, keys = nearest(points, search_set(self.X_fit_, self.metric_), 1)
        return np.where(keys[:, 0] == 0, found[:, 0], np.int32(-1))

    def _check_fit(self, X: Any) -> Points:
        check_metric(self.metric, self.p)
        points = check_points(X, min_rows=2)
        self._check_comparable(points)
        return points

    def _check_comparable(self, points: Points) -> None:
        check_for_metric(points, self.metric)
        if self.metric == "precomputed":
            check_square_distances(points)
        n_listed = self._n_listed(points)
        if n_listed == 0:
            raise DataError(
                "A sparse matrix of distances must store at least one distance to another point in "
                "each row; some rows store none. Store the distances of each point to its "
                "neighbors, or pass a dense matrix."
            )
        if n_listed is not None:
            self._check_listed(points.shape[0], n_listed)

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        """Raise an error if lists of n_listed neighbors are too short for the kernel."""

    def _n_listed(self, points: Points | None = None) -> int | None:
        """Return the number of neighbors per point that are known; None if all can be compared.

        points: the points of a fit; None is the fitted points.
        """
        points = self.X_fit_ if points is None else points
        is_graph = self.metric == "precomputed" and isinstance(points, csr_array)
        return n_stored(points, with_self=False) if is_graph else None

    def _remember(self, points: Points, metric: Metric | None = None, **fitted: Any) -> Self:
        """Set the fitted attributes. metric: the fitted metric, if it is known already."""
        metric = metric or self._fit_metric(points)
        self.n_features_in_ = points.shape[1]
        self.X_fit_ = points
        self.metric_ = metric
        for name, value in fitted.items():
            setattr(self, name, value)
        return self

    def _fit_metric(self, points: Points) -> Metric:
        """Return the metric, with what it learns from the fitted points."""
        return Metric(self.metric, self.p).fitted(points)

    def _remember_names(self, X: Any) -> Self:
        """Store the column names of the user's data, if there are any."""
        validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _check_query(self, A: Any) -> Points:
        """Return validated new points; None returns the fitted points."""
        check_is_fitted(self)
        if A is None:
            return self.X_fit_
        points = check_points(A)
        check_width(points, self.X_fit_.shape[1], type(self).__name__)
        validate_data(self, A, reset=False, skip_check_array=True)
        check_for_metric(points, self.metric_.name)
        return points

    def _check_neighbors(self, neighbors: Neighbors, n_listed: int | None = None) -> Neighbors:
        """Return the first n_listed entries of all lists."""
        check_is_fitted(self)
        n = self.X_fit_.shape[0]
        if len(neighbors.indices) != n:
            raise DataError(
                "neighbors must have one list per fitted point; "
                f"got {len(neighbors.indices)} lists for {n} points. "
                "Compute them on the points that the kernel was fitted on."
            )
        return Neighbors(neighbors.indices[:, :n_listed], neighbors.distances[:, :n_listed])

    def _sq_distance_matrix(self, A: Any, B: Any) -> Array:
        """Return the squared distances (n, m) between two sets of points, in float64."""
        left, right = self._check_query(A), self._check_query(B)
        if self.metric_.name == "precomputed" and B is not None:
            raise DataError(
                f"B must be None with {keyword('metric', 'precomputed')}: distances between two "
                "sets of new points are unknown. Leave B out; A holds the distances to the fitted "
                "points."
            )
        return self._sq_distances(left, right)

    def _sq_distances(self, left: Points, right: Points) -> Array:
        search = exact_set(right, self.metric_)
        sq = np.empty((left.shape[0], search.n_points))

        def work(rows: slice) -> None:
            sq[rows] = sq_distances(left, rows, search, self.metric_)

        for_each_block(len(sq), 64, work)  # 64 rows: a block of all columns stays small
        return sq

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


class MatrixRows:
    """Rows of a similarity matrix in memory."""

    n_scales = 1

    def __init__(self, K: NDArray[np.float32]) -> None:
        self._K = K
        self.n_points = len(K)

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (1, n_rows, n_points) of a block of points to all points."""
        return self._K[None, rows].copy()  # step 2 overwrites it
