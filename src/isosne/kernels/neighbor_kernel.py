"""What the kernels of App. D share: the k nearest neighbors of each fitted point."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._types import Neighbors, Points
from isosne.errors import ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.costs import KernelCosts
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import find_neighbors, nearest


class NeighborKernel(MetricKernel):
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
            The points; with ``metric="precomputed"``, their distances. A sparse matrix of distances
            stores those of each point to its neighbors.
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
