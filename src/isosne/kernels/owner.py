"""The owner kernel, the one-sided form of the isolation kernel: parameters and estimator.

`ownership` has the closed form and the broad scales.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone

from isosne._checks import check_number, is_number, is_one_of
from isosne._random import RandomState, as_generator
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
from isosne.errors import ParameterError
from isosne.kernels.base import KernelCosts, MetricKernel
from isosne.kernels.copies import CopyLaw
from isosne.kernels.hubs import FULL, HUBNESS, MILD, Spreads, hubness
from isosne.kernels.labels import as_labels, label_groups
from isosne.kernels.ownership import (
    AUTO_SIZES,
    LISTED,
    LONGEST_LIST,
    N_FAR,
    PLACED,
    SPANNING_SHARES,
    Subsets,
    draw_subsets,
    far_partners,
    mean_law,
    n_cells,
    owner_law,
    resolve_sizes,
    split_scales,
    weigh_smoothly,
)
from isosne.neighbors.search import make_search, usual_method

LARGEST_SHARE = 0.9
"""Largest share of a row for labels: with more, little of the data is left (chosen)."""
MOST_LABELED = LONGEST_LIST + N_FAR * len(SPANNING_SHARES)
"""Partners with the same label, at most."""


class OwnerKernel(MetricKernel):
    """Owner kernel: the probability that a point owns the cell of another point.

    As for `IsolationKernel`, a partitioning samples some of the fitted points, and every point
    belongs to the cell of the nearest sampled point, its owner. The similarity of i to j is the
    probability that j owns the cell of i. It depends on the rank of j among the neighbors of i
    only, and is known in closed form. It is not symmetric; each row sums to 1. It is the default
    kernel of `TSNE`, with ranks by locally scaled distances.

    Parameters
    ----------
    cell_size : float, sequence of floats, or "auto", default="auto"
        Mean number of points per cell, n_samples / psi, from 1 to n_samples; or a fraction of
        n_samples between 0 and 1. A sequence combines several scales with equal weights. "auto":
        2, 3, 4, 6, 8, 12, 16, 24, and 1/16 of n_samples if this exceeds 24, at most 200; without
        those above 1/4 of n_samples. Of more than 200,000 samples, 1/1000, 1/100 and 1/10 instead.
    metric : str, default="euclidean"
        euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis (with the covariance of the
        fitted points), hamming (the fraction of columns that differ), jaccard (of the columns that
        are not zero), gower (of points from `isosne.tables.gower_points`) or precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.
    local_scaling : float or "auto", default="auto"
        How strongly neighbors are ranked by locally scaled distances, from 0 (plain distances) to 1
        (local scaling). "auto": 1/4, which gives purer clusters; 1 if there are strong hubs (points
        that are near to nearly all others), that is, if a neighbor is among the 10 nearest of more
        than 50 points on average.
    label_weight : float, default=0.0
        Share of each row that goes to points with the same label, from 0 to 0.9: the labels y of
        ``TSNE.fit(X, y)`` guide the map. 0 ignores them. See docs/labels.md.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the subsets in which `TSNE` computes large cells.

    Attributes
    ----------
    psi_ : tuple of int
        Number of cells per partitioning, one value per scale.
    spreads_ : Spreads or None
        Power of the spread of each point, by which squared distances to it are divided; None
        without local scaling.
    labels_ : array or None
        Classes as integers (-1: unknown) or numbers (NaN: unknown), if `label_weight` is not 0.
    weights_ : array or None
        Number of copies that each point stands for, of ``TSNE.fit(X, sample_weight=...)``. They
        enter the affinities of the map and `transform`; `similarity` counts each point once.
    X_fit_ : array or CSR
        The fitted points (not a copy).

    Notes
    -----
    Not part of the paper, whose kernel asks whether two points share a cell. docs/owner-kernel.md
    derives the closed form: C(n - 1 - a, psi - 1) / C(n, psi) for the point of rank a. With local
    scaling, neighbors are ranked by d(i, j)^2 / s(j)^p, where s(j) is the mean distance of j to its
    own neighbors and p is `local_scaling`; the row of a point is then no longer that of a random
    partitioning by the metric, but has the same numbers in another order.

    Cost: `similarity` takes O(n^2 (d + log n)) time. A `TSNE` with sparse affinities needs neighbor
    lists only.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import OwnerKernel
    >>> X = np.array([[0.0], [0.1], [5.0], [9.0]])
    >>> OwnerKernel(cell_size=2, local_scaling=0).fit(X).similarity().round(2)
    array([[0.5 , 0.33, 0.17, 0.  ],
           [0.33, 0.5 , 0.17, 0.  ],
           [0.  , 0.17, 0.5 , 0.33],
           [0.  , 0.17, 0.33, 0.5 ]], dtype=float32)
    """

    psi_: tuple[int, ...]
    subsets_: list[Subsets]
    spreads_: Spreads | None
    labels_: Array | None
    weights_: NDArray[np.float64] | None

    def __init__(
        self,
        cell_size: Any = "auto",
        *,
        metric: str = "euclidean",
        p: float = 2.0,
        local_scaling: float | str = "auto",
        label_weight: float = 0.0,
        random_state: RandomState = None,
    ) -> None:
        self.cell_size = cell_size
        self.metric = metric
        self.p = p
        self.local_scaling = local_scaling
        self.label_weight = label_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        super().fit(X, y)
        if self.reads_lists:
            n = self.X_fit_.shape[0]
            k = min(split_scales(self.psi_, n).n_listed, self.n_listed() or n - 1)
            self.read_lists(make_search(self.X_fit_, self.metric_, "exact").neighbors(k))
        return self

    def _fit_points(self, points: Points) -> Self:
        n = points.shape[0]
        self.check_parameters(n)
        n_listed = self.n_listed(points)
        psis = self.psis(n, n_listed)
        rng = as_generator(self.random_state)
        metric = self.fit_metric(points)
        # All random numbers are drawn here, so a fitted kernel is deterministic.
        far = () if n_listed is not None else split_scales(psis, n).far
        subsets = [draw_subsets(psi, n, rng) for psi in far]
        fitted = {"psi_": psis, "subsets_": subsets, "spreads_": None}
        fitted |= {"labels_": None, "weights_": None}
        return self._remember(points, metric, **fitted)

    @property
    def reads_lists(self) -> bool:
        return bool(self.local_scaling)

    def read_lists(self, neighbors: Neighbors) -> None:
        exponent = self.local_scaling
        if exponent == "auto":
            exponent = FULL if hubness(neighbors.indices) > HUBNESS else MILD
        distances: Array = neighbors.distances
        if self.weights_ is not None:
            distances = CopyLaw(self.weights_, self._near).mean_distances(neighbors)[:, None]
        self.spreads_ = Spreads.of(distances, float(exponent)) if exponent else None

    def read_weights(self, weights: NDArray[np.float64]) -> None:
        """Take the weights of the fitted points, and draw subsets of their copies."""
        self.weights_, rng = weights, as_generator(self.random_state)
        self.subsets_ = [draw_subsets(psi, len(weights), rng, weights) for psi in self._far]

    def read_labels(self, y: Any) -> None:
        if self.label_weight:
            self.labels_ = as_labels(y, self.X_fit_.shape[0])

    def psis(self, n_points: int, n_listed: int | None = None) -> tuple[int, ...]:
        """Return the number of cells at each scale for n_points points.

        n_listed: the number of neighbors per point that are known, if not all are.
        """
        sizes = resolve_sizes(self.cell_size, n_points, n_listed)
        return tuple(n_cells(size, n_points) for size in sizes)

    def check_parameters(self, n_points: int) -> None:
        super().check_parameters(n_points)
        resolve_sizes(self.cell_size, n_points)
        value: Any = self.local_scaling
        if not is_one_of(value, ("auto",)) and not (is_number(value) and 0 <= value <= 1):
            hint = "0 ranks by plain distances, 1 has the strongest effect."
            raise ParameterError("local_scaling", "be 'auto' or from 0 to 1", value, hint)
        hint = "0 ignores labels; 0.1 to 0.5 is usual."
        check_number(self.label_weight, "label_weight", low=0, high=LARGEST_SHARE, hint=hint)
        if self.label_weight and is_one_of(self.metric, ("precomputed",)):
            rule = "be 0 with precomputed distances: neighbors within a class are found by points"
            raise ParameterError("label_weight", rule, self.label_weight, "Pass points.")

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        sizes = resolve_sizes(self.cell_size, n_points, n_listed)
        largest = max(size * (n_points if size < 1 else 1) for size in sizes)
        if LISTED * largest > max(n_listed, LISTED * AUTO_SIZES[0]):
            raise ParameterError(
                "cell_size",
                f"be at most {n_listed / LISTED:.3g} with {n_listed} distances in a row of X",
                self.cell_size,
                "Lower it, or store more distances: twice the cell size or more.",
            )

    def resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        own = super().resolved(n_points)
        sizes = resolve_sizes(self.cell_size, n_points, n_listed)
        own.set_params(cell_size=sizes if len(sizes) > 1 else sizes[0])
        return own

    def costs(self, n_points: int) -> KernelCosts:
        psis = self.psis(n_points)
        scales = split_scales(psis, n_points)
        return KernelCosts(
            scales.n_listed,
            scales.n_listed,
            n_placed=min(PLACED, scales.n_listed),
            n_far=N_FAR * len(scales.far) + (MOST_LABELED if self.label_weight else 0),
            needs_lists_only=True,
            has_labels=bool(self.label_weight),
        )

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the probability that each row of B owns the cell of each row of A.

        None is the fitted points; points in B are ranked as if they were fitted. The rows of
        ``similarity(A)`` sum to 1.
        """
        points = self._check_query(A)
        if B is not None:
            return self._toward(self._sq_distances(points, self.X_fit_), A, B)
        own = np.arange(points.shape[0]) if A is None else None
        mean: NDArray[np.float32] = self._by_rank(points, own).mean(axis=0)
        return mean

    def rows(self) -> SimilarityRows:
        points = self._check_query(None)

        def compute(rows: slice) -> Layers:
            own = np.arange(rows.start, rows.stop)
            return self._by_rank(points[own], own)

        return SimilarityRows(points.shape[0], len(self.psi_), compute)

    def neighbor_similarity(self, neighbors: Neighbors, n_partners: int | None = None) -> Layers:
        # The mean over the scales with neighbor lists, each normalized: the same law in all rows.
        ids = neighbors.indices[:, :n_partners]
        ranks = slice(1, ids.shape[1] + 1)  # the point itself has rank 0
        law = mean_law(self._near, self.X_fit_.shape[0], ranks).astype(np.float32)
        rows = np.broadcast_to(law, ids.shape).copy()
        if self.spreads_ is not None:
            self.spreads_.fill_rows(neighbors, law, rows)
        return rows[None]

    def copy_rows(self, neighbors: Neighbors) -> FarPartners:
        """Return the partners, near and far, of a copy of each point, and their probabilities."""
        assert self.weights_ is not None
        spreads = self.spreads_ and self.spreads_.values
        rows = CopyLaw(self.weights_, self._near).near_rows(neighbors, spreads)
        near, broad = FarPartners(neighbors.indices, rows), self.far_partners()
        return near if broad is None else _joined(near, broad)

    def far_partners(self) -> FarPartners | None:
        broad = self._broad_partners()
        return broad if self.labels_ is None else _joined(broad, self._labeled_partners())

    def _broad_partners(self) -> FarPartners | None:
        """Return the partners in cells too large for neighbor lists."""
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

    def _labeled_partners(self) -> FarPartners:
        """Return the partners with the same label: rows of an owner kernel among these points."""
        labels = self.labels_
        assert labels is not None
        n_points = len(labels)
        ids = np.zeros((n_points, MOST_LABELED), np.int32)
        shares = np.zeros((n_points, MOST_LABELED), np.float32)
        longest = 1
        for members, part in label_groups(labels):
            if len(members) > 1:
                lists, rows = self._among(members)
                own, k = members[part], lists.shape[1]
                ids[own, :k], shares[own, :k] = members[lists[part]], rows[part]
                longest = max(longest, k)
        return FarPartners(ids[:, :longest], shares[:, :longest] * np.float32(self.label_weight))

    def _among(self, members: Array) -> FarPartners:
        """Return the rows of a kernel with automatic cells that is fitted to some points only."""
        kernel: OwnerKernel = clone(self)
        kernel.set_params(cell_size="auto", label_weight=0, random_state=0)
        kernel._fit_points(self.X_fit_[members])
        kernel.metric_ = self.metric_  # that of all points
        return kernel.whole_rows()

    def whole_rows(self) -> FarPartners:
        """Return all partners of the fitted points, near and far, and their probabilities."""
        points, n = self.X_fit_, self.X_fit_.shape[0]
        method = usual_method(n, self.metric, is_sparse=isinstance(points, csr_array))
        search = make_search(points, self.metric_, method)
        neighbors = search.neighbors(split_scales(self.psi_, n).n_listed)
        if self.reads_lists:
            self.read_lists(neighbors)
        near = FarPartners(neighbors.indices, self.neighbor_similarity(neighbors)[0])
        broad = self.far_partners()
        return near if broad is None else _joined(near, broad)

    def toward_neighbors(self, neighbors: Neighbors | None = None) -> NeighborSimilarity:
        # Ranks of new points are smoothed, so that the similarity is continuous in them.
        def compare(points: Points, ids: Array, distances: Array) -> Layers:
            law = mean_law(self._near, self.X_fit_.shape[0], slice(0, ids.shape[1]))
            weights = np.empty((1, *ids.shape), np.float32)
            lengths = np.ascontiguousarray(distances, np.float64)
            if self.spreads_ is not None:
                lengths = np.sqrt(self.spreads_.scale(lengths**2, ids))
            if self.weights_ is not None:
                return CopyLaw(self.weights_, self._near).toward(lengths, ids)[None]
            weigh_smoothly(lengths, law, weights[0])
            return weights

        return compare

    @property
    def _far(self) -> tuple[int, ...]:
        return split_scales(self.psi_, self.X_fit_.shape[0]).far if self.subsets_ else ()

    @property
    def _near(self) -> tuple[int, ...]:
        return tuple(psi for psi in self.psi_ if psi not in self._far)

    def toward_fitted(self) -> SimilarityLayers:
        return lambda points: self._by_rank(points, None)

    def _by_rank(self, points: Points, own: Array | None) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, n_samples) of points to the fitted points.

        own: indices of the points, if they are fitted points; a point is the nearest to itself.
        """
        sq = self._sq_distances(points, self.X_fit_)
        if own is not None:
            sq[np.arange(len(sq)), own] = -1
        order = np.argsort(sq, axis=1, kind="stable")  # stable: ties go to the lower index
        if self.spreads_ is not None:
            first = 0 if own is None else 1
            nearest = order[:, first : first + self.spreads_.n_ranked]
            scaled = self.spreads_.scale(np.take_along_axis(sq, nearest, axis=1), nearest)
            again = np.argsort(scaled, axis=1, kind="stable")
            nearest[:] = np.take_along_axis(nearest, again, axis=1)
        layers = np.empty((len(self.psi_), *sq.shape), np.float32)
        for layer, psi in zip(layers, self.psi_, strict=True):
            law = owner_law(psi, sq.shape[1], sq.shape[1]).astype(np.float32)
            np.put_along_axis(layer, order, law[None], axis=1)
        return layers

    def _toward(self, fitted: Array, A: Any, B: Any) -> NDArray[np.float32]:
        """Return the mean similarity of A to B; fitted: squared distances of A to all points."""
        sq = self._sq_distance_matrix(A, B)
        ranks = _insertion_ranks(fitted, sq)
        if self.spreads_ is not None:
            k = self.spreads_.n_ranked
            nearest = np.argsort(fitted, axis=1, kind="stable")[:, :k]
            scaled = self.spreads_.scale(np.take_along_axis(fitted, nearest, axis=1), nearest)
            to_fitted = np.sqrt(np.sort(self._sq_distance_matrix(B, None), axis=1)[:, : k + 1])
            # A fitted point among B is no neighbor of itself.
            others = np.where(to_fitted[:, :1] == 0, to_fitted[:, 1:], to_fitted[:, :-1])
            own = Spreads.of(others, self.spreads_.exponent).values
            again = _insertion_ranks(scaled, sq / own * BEFORE)
            ranks = np.where(ranks < k, again, ranks)
        n = fitted.shape[1]
        laws = [np.r_[owner_law(psi, n, n), 0.0][ranks] for psi in self.psi_]
        mean: NDArray[np.float32] = np.mean(laws, axis=0).astype(np.float32)
        return mean


BEFORE = 1 - 1e-6
"""Factor by which a fitted point among B comes before itself, in spite of rounding."""


def _insertion_ranks(known: Array, new: Array) -> Array:
    """Return the number of known values (n, k) below each of the new values (n, m), by rows."""
    pairs = zip(np.sort(known, axis=1), new, strict=True)
    return np.stack([np.searchsorted(*pair) for pair in pairs])


def _joined(first: FarPartners | None, last: FarPartners) -> FarPartners:
    """Return partners of two kinds; what the last ones leave of a row goes to the first ones."""
    if first is None:
        return last
    left = 1 - last.probabilities.sum(axis=1, keepdims=True, dtype=np.float64)
    kept = first.probabilities * left.astype(np.float32)
    shares = np.concatenate([kept, last.probabilities], axis=1)
    return FarPartners(np.concatenate([first.indices, last.indices], axis=1), shares)
