"""The base class of all kernels: metric, fitted points, and what the other steps call.

Users call PUBLIC_METHODS, which validate their arguments. The other methods serve the plan
(`costs`, `resolved`), the fit, step 2 and new points, and may change in any version; they expect
validated points. A method that overrides one of these is documented here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._blocks import for_each_block
from isosne._checks import (
    as_graph,
    check_for_metric,
    check_metric,
    check_points,
    check_square_distances,
    check_width,
)
from isosne._types import (
    Array,
    FarPartners,
    Layers,
    Neighbors,
    NeighborSimilarity,
    Points,
    SimilarityLayers,
    SimilarityRows,
)
from isosne.errors import DataError, keyword
from isosne.neighbors.distances import exact_set, n_stored, search_set, sq_distances
from isosne.neighbors.exact import nearest
from isosne.neighbors.metric import Metric

PUBLIC_METHODS = ("bandwidths", "cells", "fit", "fit_transform", "similarity", "transform")
ROWS = 64
"""Rows per block of squared distances; all columns of a block are in memory (chosen)."""


class KernelCosts(NamedTuple):
    """List lengths per point, and memory, of a kernel for a number of points."""

    n_relevant: int  # neighbors that the similarity depends on; 0 if lists cannot be used
    n_partners: int  # neighbors that get a probability when affinities are sparse
    n_placed: int | None = None  # neighbors that a new point is compared with; None: n_partners
    n_far: int = 0  # partners besides neighbors, at scales too broad for neighbor lists
    needs_lists_only: bool = False  # a similarity follows from lists: sparse loses little
    pair_bytes: int = 4  # bytes per pair when affinities are dense
    n_partitions: int = 0  # partitionings per scale; 0 if none are drawn
    psis: tuple[int, ...] = ()  # cells per partitioning at each scale, if there are cells or ranks
    has_labels: bool = False  # labels have a share of each row, which needs lists
    has_trees: bool = False  # partitionings are trees, which do not store the sampled points

    @property
    def n_draws(self) -> int:
        """Number of points drawn, over all partitionings and scales."""
        return self.n_partitions * sum(self.psis)

    def within(self, n_listed: int) -> "KernelCosts":
        """Return the costs with lists of at most n_listed neighbors."""
        n_relevant, n_partners = min(self.n_relevant, n_listed), min(self.n_partners, n_listed)
        return self._replace(n_relevant=n_relevant, n_partners=n_partners)


class MetricKernel(BaseEstimator, ABC):
    """Base class of kernels over points that are compared by ``metric`` (and ``p``).

    A subclass validates everything before it calls `_remember`, so that a failed fit leaves the
    estimator unchanged.
    """

    metric: str
    p: float
    metric_: Metric
    X_fit_: Points

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel to the points.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; with ``metric="precomputed"``, their distances (n_samples, n_samples), all
            of them or in a sparse matrix those of each point to its neighbors; or a pair of arrays
            (n_samples, k), the indices and the distances of the neighbors.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted kernel.
        """
        check_metric(self.metric, self.p)
        X = as_graph(X) if self.takes_pairs else X
        self.fit_checked(check_points(X, min_rows=2))
        validate_data(self, X, reset=True, skip_check_array=True)  # stores the column names
        return self

    @property
    def takes_pairs(self) -> bool:
        """Whether the input holds values of pairs of points instead of points."""
        return self.metric == "precomputed"

    @abstractmethod
    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the similarity of each row of A to each row of B.

        Parameters
        ----------
        A, B : array, CSR or data frame, default=None
            Points; None is the fitted points.

        Returns
        -------
        array of float32, shape (n, m)
            Values from 0 to 1; the mean over the scales if there are several.
        """

    def rows(self) -> SimilarityRows:
        """Return the similarity among the fitted points, computed in blocks of rows."""
        check_is_fitted(self)
        return self._rows_of(None)

    def _rows_of(self, new: Points | None) -> SimilarityRows:
        """Return rows of similarity to the fitted points, of these (None) or of new points."""
        raise NotImplementedError  # kernels that override `rows` and `toward_fitted` have none

    def neighbor_similarity(self, neighbors: Neighbors, n_partners: int | None = None) -> Layers:
        """Return the similarity (n_scales, n, k) of each fitted point to its nearest neighbors.

        n_partners: number of neighbors to compare with; None is all. The others may serve to rank.
        """
        return self._near_similarity(*(part[:, :n_partners] for part in neighbors))

    def _near_similarity(self, ids: Array, distances: Array) -> Layers:
        """Return the similarity (n_scales, n, k) to the nearest fitted points, of any points."""
        raise NotImplementedError  # the plan compares all pairs: n_relevant is 0

    def far_partners(self) -> FarPartners | None:
        """Return partners of the fitted points at scales too broad for neighbor lists, or None."""
        return None

    @property
    def reads_lists(self) -> bool:
        """Whether `read_lists` must be called before any similarity is computed."""
        return False

    def read_lists(self, neighbors: Neighbors) -> None:
        """Learn what a kernel needs to know from the neighbor lists of the fitted points."""

    def read_labels(self, y: Any) -> None:
        """Take the labels of the fitted points, if the kernel uses labels."""

    @property
    def uses_fitted_lists(self) -> bool:
        """Whether `toward_neighbors` needs the neighbor lists of the fitted points."""
        return False

    def toward_neighbors(self, neighbors: Neighbors | None = None) -> NeighborSimilarity:
        """Return a function that compares new points with the fitted points nearest to them.

        neighbors: the lists of the fitted points, if the kernel `uses_fitted_lists`.
        """
        return lambda points, ids, distances: self._near_similarity(ids, distances)

    def toward_fitted(self) -> SimilarityLayers:
        """Return a function from new points to their similarity to the fitted points."""
        return lambda points: self._rows_of(points).block(slice(None))

    @abstractmethod
    def costs(self, n_points: int) -> KernelCosts:
        """Return the list lengths and the memory for a number of points, before `fit`."""

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest neighbor of each fitted point in ``ids`` among the other points."""
        # Two candidates: a point is usually its own nearest, unless a duplicate has a lower index.
        found, _ = nearest(self.X_fit_[ids], search_set(self.X_fit_, self.metric_), 2)
        return np.where(found[:, 0] == ids, found[:, 1], found[:, 0])

    def find_copies(self, points: Points) -> NDArray[np.int32]:
        """Return, for each point, the lowest index of a fitted point at distance zero, or -1."""
        found, keys = nearest(points, search_set(self.X_fit_, self.metric_), 1)
        return np.where(keys[:, 0] == 0, found[:, 0], np.int32(-1))

    def check_parameters(self, n_points: int) -> None:
        """Raise an error if a parameter is invalid for a fit on n_points points."""
        check_metric(self.metric, self.p)

    def resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        """Return an unfitted copy with "auto" parameters resolved for n_points points.

        `local_scaling` of the owner kernel stays "auto": `read_lists` decides it.

        must_draw: an isolation kernel must draw partitionings, not use the closed form. n_listed:
        the number of neighbors per point that are known; None if all distances can be computed.
        """
        own: Self = clone(self)
        return own

    def fit_checked(self, points: Points) -> Self:
        """Fit to points that `check_points` has validated."""
        self.check_comparable(points)
        return self._fit_points(points)

    @abstractmethod
    def _fit_points(self, points: Points) -> Self:
        """Fit to points that are validated, also for the metric."""

    def fit_pool(self, pool: Points, points: Points) -> Self:
        """Fit to landmarks (`points`); a kernel that draws samples draws them from the pool."""
        return self.fit_checked(points)

    def restore(self, points: Points, metric: Metric | None = None, **fitted: Any) -> Self:
        """Set the points, metric and random draws of a fit that was read from a file."""
        self.check_comparable(points)
        return self._remember(points, metric, **fitted)

    def in_closed_form(self) -> "MetricKernel | None":
        """Return a kernel for the same points that needs only neighbor lists, or None."""
        return self

    def check_comparable(self, points: Points) -> None:
        """Raise an error if points cannot be compared by the metric, or know too few neighbors."""
        check_for_metric(points, self.metric)
        if self.metric == "precomputed":
            check_square_distances(points)
        n_listed = self.n_listed(points)
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

    def n_listed(self, points: Points | None = None) -> int | None:
        """Return how many neighbors per point are known (None: all), of these or fitted points."""
        points = self.X_fit_ if points is None else points
        is_graph = self.metric == "precomputed" and isinstance(points, csr_array)
        return n_stored(points) if is_graph else None

    def _remember(self, points: Points, metric: Metric | None = None, **fitted: Any) -> Self:
        """Set the fitted attributes. metric: the fitted metric, if it is known already."""
        metric = metric or self.fit_metric(points)
        fitted |= {"X_fit_": points, "metric_": metric, "n_features_in_": points.shape[1]}
        self.__dict__.update(fitted)
        return self

    def fit_metric(self, points: Points) -> Metric:
        """Return the metric, with what it learns from the fitted points."""
        return Metric(self.metric, self.p).fitted(points)

    def _check_query(self, A: Any) -> Points:
        """Return validated new points; None returns the fitted points."""
        check_is_fitted(self)
        if A is None:
            return self.X_fit_
        A = as_graph(A, self.X_fit_.shape[1]) if self.takes_pairs else A
        points = check_points(A)
        check_width(points, self.X_fit_.shape[1], type(self).__name__)
        validate_data(self, A, reset=False, skip_check_array=True)
        check_for_metric(points, self.metric_.name)
        return points

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

        for_each_block(len(sq), ROWS, work)
        return sq

    def _by_distance(
        self, n_scales: int, fill: Callable[[Array, slice, Array], None], new: Points | None = None
    ) -> SimilarityRows:
        """Return rows of similarity to the fitted points, of these or of new points.

        fill(sq, rows, K) computes a part K (n_scales, n_rows, n) from squared distances.
        """
        points = self.X_fit_ if new is None else new
        search = exact_set(self.X_fit_, self.metric_)

        def compute(rows: slice) -> Layers:
            K = np.empty((n_scales, rows.stop - rows.start, search.n_points), np.float32)

            def work(part: slice) -> None:
                here = slice(rows.start + part.start, rows.start + part.stop)
                fill(sq_distances(points, here, search, self.metric_), here, K[:, part])

            for_each_block(K.shape[1], ROWS, work)
            return K

        return SimilarityRows(points.shape[0], n_scales, compute)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.takes_pairs
        return tags
