"""The owner kernel, the one-sided form of the isolation kernel: parameters and estimator.

`ownership` has the closed form, `subsets` broad scales, and `drawn_owners` the form by sampling.
"""

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import is_one_of
from isosne._random import RandomState, as_generator
from isosne._types import (
    Array,
    FarPartners,
    Neighbors,
    NeighborSimilarity,
    Points,
    SimilarityLayers,
)
from isosne.errors import ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.costs import KernelCosts
from isosne.kernels.drawn_owners import owner_frequencies
from isosne.kernels.monte_carlo import Partitions, draw_partitions
from isosne.kernels.ownership import (
    AUTO_SIZES,
    LISTED,
    N_FAR,
    PLACED,
    mean_law,
    n_cells,
    owner_law,
    resolve_sizes,
    split_scales,
    weigh_smoothly,
)
from isosne.kernels.psi import check_partitioning
from isosne.kernels.subsets import Subsets, draw_subsets, far_partners
from isosne.neighbors.metric import Metric


class OwnerKernel(MetricKernel):
    """Owner kernel: the probability that a point owns the cell of another point.

    As for `IsolationKernel`, a partitioning samples some of the fitted points, and every point
    belongs to the cell of the nearest sampled point, its owner. The similarity of i to j is the
    probability that j owns the cell of i. It depends on the rank of j among the neighbors of i
    only, and is known in closed form. It is not symmetric; each row sums to 1. It is the default
    kernel of `TSNE`.

    Parameters
    ----------
    cell_size : float, sequence of floats, or "auto", default="auto"
        Mean number of points per cell, n_samples / psi, from 1 to n_samples; or a fraction of
        n_samples between 0 and 1. A sequence combines several scales with equal weights. "auto":
        2, 3, 4, 6, 8, 12, 16, 24, and 1/16 of n_samples if this exceeds 24, at most 200; without
        those above 1/4 of n_samples.
    n_partitions : int or "exact", default="exact"
        "exact" is the closed form. A number draws that many partitionings.
    partition : {"voronoi", "forest"}, default="voronoi"
        Voronoi cells, or leaves of axis-parallel isolation trees, which need a number of
        partitionings. The owner of a leaf is its sampled point with the lowest index.
    metric : str, default="euclidean"
        euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis (with the covariance of the
        fitted points), hamming (the fraction of columns that differ), gower (of points from
        `isosne.tables.gower_points`) or precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the partitionings, and of the subsets in which `TSNE` computes large cells.

    Attributes
    ----------
    psi_ : tuple of int
        Number of cells per partitioning, one value per scale.
    partitions_ : list
        Partitionings, one item per scale. Empty if exact.
    X_fit_ : array or CSR
        The fitted points (not a copy).

    Notes
    -----
    Not part of the paper, whose kernel asks whether two points share a cell. docs/owner-kernel.md
    derives the closed form: C(n - 1 - a, psi - 1) / C(n, psi) for the point of rank a.

    Cost: `similarity` takes O(n^2 (d + log n)) time. A `TSNE` with sparse affinities needs neighbor
    lists only.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import OwnerKernel
    >>> X = np.array([[0.0], [0.1], [5.0], [9.0]])
    >>> OwnerKernel(cell_size=2).fit(X).similarity().round(2)
    array([[0.5 , 0.33, 0.17, 0.  ],
           [0.33, 0.5 , 0.17, 0.  ],
           [0.  , 0.17, 0.5 , 0.33],
           [0.  , 0.17, 0.33, 0.5 ]], dtype=float32)
    """

    psi_: tuple[int, ...]
    partitions_: list[Partitions]
    subsets_: list[Subsets]

    def __init__(
        self,
        cell_size: Any = "auto",
        *,
        n_partitions: int | str = "exact",
        partition: str = "voronoi",
        metric: str = "euclidean",
        p: float = 2.0,
        random_state: RandomState = None,
    ) -> None:
        self.cell_size = cell_size
        self.n_partitions = n_partitions
        self.partition = partition
        self.metric = metric
        self.p = p
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the points, and draw partitionings or subsets.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; with ``metric="precomputed"``, their distances. A sparse matrix of distances
            stores those of each point to its neighbors.
        y : None
            Ignored.

        Returns
        -------
        OwnerKernel
            The fitted kernel.
        """
        return self._fit_points(self._check_fit(X))._remember_names(X)

    def _fit_points(self, points: Points) -> Self:
        n = points.shape[0]
        self._check_parameters(n)
        n_listed = self._n_listed(points)
        psis = self._cells(n, n_listed)
        rng = as_generator(self.random_state)
        metric = self._fit_metric(points)
        partitions: list[Partitions] = []
        subsets: list[Subsets] = []
        # All random numbers are drawn here, so a fitted kernel is deterministic.
        if not self._is_exact:
            draw = partial(draw_partitions, points, metric=metric, rng=rng)
            shapes = [(int(self.n_partitions), psi) for psi in psis]
            partitions = [draw(shape, partition=self.partition) for shape in shapes]
        elif n_listed is None:
            subsets = [draw_subsets(psi, n, rng) for psi in split_scales(psis, n).far]
        return self._remember(points, metric, psi_=psis, partitions_=partitions, subsets_=subsets)

    def _restore(self, points: Points, metric: Metric, **draws: Any) -> Self:
        """Set the points and random draws of a fit that was read from a file."""
        self._check_comparable(points)
        return self._remember(points, metric, **draws)

    @property
    def _is_exact(self) -> bool:
        return isinstance(self.n_partitions, str)

    def _cells(self, n_points: int, n_listed: int | None = None) -> tuple[int, ...]:
        sizes = resolve_sizes(self.cell_size, n_points, n_listed)
        return tuple(n_cells(size, n_points) for size in sizes)

    def _check_parameters(self, n_points: int) -> None:
        super()._check_parameters(n_points)
        resolve_sizes(self.cell_size, n_points)
        check_partitioning(self.partition, self.n_partitions, self.metric)
        if is_one_of(self.n_partitions, ("auto",)):
            hint = "'exact' is the closed form."
            raise ParameterError("n_partitions", "be 'exact' or a number", "auto", hint)
        if not self._is_exact and n_points < 3:
            hint = "Pass more points."
            raise ParameterError(
                "n_partitions", "be 'exact' for two points", self.n_partitions, hint
            )

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        if not self._is_exact:
            rule = "be 'exact' for a sparse matrix of distances, in which samples are out of reach"
            hint = "Leave it out, or pass a dense matrix of distances."
            raise ParameterError("n_partitions", rule, self.n_partitions, hint)
        sizes = resolve_sizes(self.cell_size, n_points, n_listed)
        largest = max(size * (n_points if size < 1 else 1) for size in sizes)
        if LISTED * largest > max(n_listed, LISTED * AUTO_SIZES[0]):
            raise ParameterError(
                "cell_size",
                f"be at most {n_listed / LISTED:.3g} with {n_listed} distances in a row of X",
                self.cell_size,
                "Lower it, or store more distances: twice the cell size or more.",
            )

    def _resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        """Return an unfitted copy with cell sizes as numbers."""
        own = super()._resolved(n_points)
        sizes = resolve_sizes(self.cell_size, n_points, n_listed)
        own.set_params(cell_size=sizes if len(sizes) > 1 else sizes[0])
        return own

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the list lengths and the memory for a number of points, before `fit`.

        Parameters
        ----------
        n_points, n_features : int
            Number of points and of features.

        Returns
        -------
        KernelCosts
            Lists hold twice the largest cell that is not computed in subsets.
        """
        psis = self._cells(n_points)
        if not self._is_exact:
            return KernelCosts(
                0,
                0,
                n_scales=len(psis),
                n_partitions=int(self.n_partitions),
                psis=psis,
                has_trees=self.partition == "forest",
            )
        scales = split_scales(psis, n_points)
        return KernelCosts(
            scales.n_listed,
            scales.n_listed,
            n_placed=min(PLACED, scales.n_listed),
            n_far=N_FAR * len(scales.far),
            needs_lists_only=True,
            n_scales=len(psis),
            compares_squares=True,
        )

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the probability that each row of B owns the cell of each row of A.

        Parameters
        ----------
        A, B : array, CSR or data frame, default=None
            Points; None is the fitted points. Points in B are ranked as if they were fitted.

        Returns
        -------
        array of float32, shape (n, m)
            Values from 0 to 1; the mean over the scales if there are several. The rows of
            ``similarity(A)`` sum to 1.
        """
        points = self._check_query(A)
        if B is not None:
            return self._toward(points, self._sq_distance_matrix(A, B))
        own = np.arange(points.shape[0]) if A is None else None
        mean: NDArray[np.float32] = self._by_rank(points, own).mean(axis=0)
        return mean

    def rows(self) -> "OwnerRows":
        """Return the similarity among the fitted points, computed in blocks of rows."""
        self._check_query(None)
        return OwnerRows(self)

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return the similarity of each fitted point to its nearest neighbors.

        Parameters
        ----------
        neighbors : Neighbors
            Neighbor lists of the fitted points, as from `isosne.nearest_neighbors`.
        n_partners : int or None, default=None
            Number of neighbors per point to use; None uses all.

        Returns
        -------
        array of float32, shape (1, n, k)
            The same in all rows: the mean over the scales with neighbor lists, each normalized.
        """
        if not self._is_exact:
            raise self._compares_all_pairs()
        ids = self._check_neighbors(neighbors, n_partners).indices
        ranks = slice(1, ids.shape[1] + 1)  # the point itself has rank 0
        law = mean_law(self._near, self.X_fit_.shape[0], ranks)
        return np.broadcast_to(law.astype(np.float32), ids.shape)[None].copy()

    def far_partners(self) -> FarPartners | None:
        """Return partners of the fitted points at scales too broad for neighbor lists.

        Returns
        -------
        FarPartners or None
            Partners from random subsets, and their probabilities; None if there is no such scale.
        """
        self._check_query(None)
        if not self.subsets_:
            return None
        lists = [far_partners(self.X_fit_, self.metric_, part) for part in self.subsets_]
        laws = [
            mean_law((psi,), subsets.members.shape[1], slice(0, partners.shape[1]))
            for psi, subsets, partners in zip(self._far, self.subsets_, lists, strict=True)
        ]
        row = np.concatenate(laws) / len(self.psi_)
        ids = np.concatenate(lists, axis=1)
        return FarPartners(ids, np.broadcast_to(row.astype(np.float32), ids.shape))

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
            (m, k), nearest first; returns the similarity (1, m, k), with ranks smoothed so that it
            is continuous in the distances.
        """
        self._check_neighbors(neighbors)

        def compare(points: Points, ids: Array, distances: Array) -> NDArray[np.float32]:
            law = mean_law(self._near, self.X_fit_.shape[0], slice(0, ids.shape[1]))
            weights = np.empty((1, *ids.shape), np.float32)
            weigh_smoothly(np.ascontiguousarray(distances, np.float64), law, weights[0])
            return weights

        return compare

    @property
    def _far(self) -> tuple[int, ...]:
        return split_scales(self.psi_, self.X_fit_.shape[0]).far if self.subsets_ else ()

    @property
    def _near(self) -> tuple[int, ...]:
        return tuple(psi for psi in self.psi_ if psi not in self._far)

    def _toward_fitted(self) -> SimilarityLayers:
        return lambda points: self._by_rank(points, None)

    def _by_rank(self, points: Points, own: Array | None) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, n_samples) of points to the fitted points.

        own: indices of the points, if they are fitted points; a point is the nearest to itself.
        """
        if self.partitions_:
            return owner_frequencies(self.partitions_, self.X_fit_, points)
        sq = self._sq_distances(points, self.X_fit_)
        if own is not None:
            sq[np.arange(len(sq)), own] = -1
        order = np.argsort(sq, axis=1, kind="stable")  # stable: ties go to the lower index
        layers = np.empty((len(self.psi_), *sq.shape), np.float32)
        for layer, psi in zip(layers, self.psi_, strict=True):
            law = owner_law(psi, sq.shape[1], sq.shape[1]).astype(np.float32)
            np.put_along_axis(layer, order, law[None], axis=1)
        return layers

    def _toward(self, points: Points, sq: Array) -> NDArray[np.float32]:
        """Return the mean similarity of points to others at squared distances sq (n, m)."""
        if self.partitions_:
            hint = "Leave B out, or pass n_partitions='exact'."
            raise ParameterError("B", "be None: only fitted points own drawn cells", hint=hint)
        fitted = np.sort(self._sq_distances(points, self.X_fit_), axis=1)
        ranks = np.stack([np.searchsorted(*pair) for pair in zip(fitted, sq, strict=True)])
        n = fitted.shape[1]
        laws = [np.r_[owner_law(psi, n, n), 0.0][ranks] for psi in self.psi_]
        mean: NDArray[np.float32] = np.mean(laws, axis=0).astype(np.float32)
        return mean


class OwnerRows:
    """Rows of similarity of an owner kernel."""

    def __init__(self, kernel: OwnerKernel) -> None:
        self._kernel = kernel
        self.n_points = kernel.X_fit_.shape[0]
        self.n_scales = len(kernel.psi_)

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of a block of points to all points."""
        own = np.arange(*rows.indices(self.n_points))
        return self._kernel._by_rank(self._kernel.X_fit_[own], own)
