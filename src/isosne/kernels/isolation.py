"""The isolation kernel (Eq. 6 and 7): the public estimator, and rules for its parameters.

`monte_carlo` and `closed_form` compare points; step 2 computes probabilities.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isosne._checks import (
    as_scales,
    check_count,
    check_for_metric,
    is_integer,
    is_number,
    is_one_of,
)
from isosne._random import RandomState, as_generator
from isosne._types import (
    Array,
    Layers,
    Neighbors,
    NeighborSimilarity,
    Points,
    SimilarityLayers,
    SimilarityRows,
)
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import KernelCosts, MetricKernel
from isosne.kernels.closed_form import ClosedForm
from isosne.kernels.monte_carlo import DrawnForm, count_shared, draw_partitions
from isosne.neighbors.distances import refuse_all_pairs

AUTO_SHARES = (0.8, 0.2, 0.05)
"""psi as fractions of n_samples, one per scale (measured: docs/decisions/0004)."""
AUTO_LIMIT = 20_000
"""Number of points above which a single scale is used, to keep neighbor lists short
(docs/decisions/0004 and 0006)."""
LARGE_SHARE = 0.1
"""psi as a fraction of n_samples above AUTO_LIMIT (measured: docs/decisions/0006)."""
AUTO_PARTITIONS = 200
"""The paper's t (section 5)."""
MOST_PARTITIONS = 1_000_000
"""Largest number of partitionings: their sampling error is then 0.0005 (chosen)."""
EXACT_FROM, EXACT_CELL = 10_000, 30
"""The closed form is used above 10,000 points (where affinities become sparse, docs/decisions/0006)
if a cell holds at most 30 points on average, so that lists have at most 240 (chosen)."""
RANKED = 8.0
"""Neighbors to rank, in units of n / psi, the mean cell size. With probability 1 - e^-8 one of them
is sampled; the measured error of a similarity is 2e-4 (docs/decisions/0006)."""
COMPARED = 5.0
"""Neighbors with a similarity, in units of n / psi. They hold about two thirds of a row's
similarity (measured: docs/decisions/0006)."""


class IsolationKernel(  # type: ignore[call-arg]  # scikit-learn is untyped
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    MetricKernel,
    auto_wrap_output_keys=None,  # a sparse feature map cannot become a data frame
):
    """Isolation kernel: the fraction of random partitionings in which two points share a cell.

    Each partitioning samples `psi` of the fitted points and assigns every point to the cell of the
    nearest sampled point. Cells are small where the data are dense, so the similarity adapts to
    the local density without a search for bandwidths. It is the kernel of the paper; the default
    kernel of `TSNE` is `OwnerKernel`.

    Parameters
    ----------
    psi : int, float, sequence of these, or "auto", default="auto"
        Number of cells per partitioning: an integer from 2 to n_samples, or a fraction of n_samples
        between 0 and 1. A larger psi gives a narrower kernel. A sequence combines several scales.
        "auto": 0.8, 0.2 and 0.05 of n_samples; above 20,000 points, 0.1 of n_samples.
    n_partitions : int, "exact" or "auto", default="auto"
        Number of random partitionings, the paper's t. "exact" computes the limit of infinitely many
        in closed form. "auto": 200; in a `TSNE`, "exact" for more than 10,000 points in cells of 30
        or fewer.
    partition : {"voronoi", "forest"}, default="voronoi"
        Voronoi cells of the sampled points, or leaves of axis-parallel isolation trees.
    metric : str, default="euclidean"
        Metric of the Voronoi cells: euclidean, manhattan, chebyshev, minkowski, cosine,
        mahalanobis (with the covariance of the points), hamming, jaccard, gower or precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples.

    Attributes
    ----------
    psi_ : tuple of int
        Number of cells per partitioning, one value per scale.
    partitions_ : list
        Partitionings, one item per scale, with the sampled indices in ``samples``. Empty if exact.
    X_fit_ : array or CSR
        The fitted points (not a copy).
    pool_ : array or CSR
        The points that samples were drawn from: the fitted points, or with landmarks the pool.

    Notes
    -----
    Implements Eq. 7, and for "exact" the expectation in Eq. 6. With several scales, `similarity`
    is their mean; step 2 normalizes each scale first.

    Departures from the paper: psi = 1, part of its search grid, raises an error, because a single
    cell makes the kernel constant. Ties in distance go to the lower index.

    Cost: O(n m d) time for the cells of n points among m distinct sampled points (m <= n_samples);
    `similarity` takes at most O(n^2 t) time.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import IsolationKernel
    >>> X = np.array([[0.0], [0.1], [5.0], [9.0]])
    >>> IsolationKernel(psi=2, n_partitions="exact").fit(X).similarity().round(2)
    array([[1.  , 0.83, 0.17, 0.  ],
           [0.83, 1.  , 0.33, 0.17],
           [0.17, 0.33, 1.  , 0.83],
           [0.  , 0.17, 0.83, 1.  ]], dtype=float32)
    """

    def __init__(
        self,
        psi: Any = "auto",
        *,
        n_partitions: int | str = "auto",
        partition: str = "voronoi",
        metric: str = "euclidean",
        p: float = 2.0,
        random_state: RandomState = None,
    ) -> None:
        self.psi = psi
        self.n_partitions = n_partitions
        self.partition = partition
        self.metric = metric
        self.p = p
        self.random_state = random_state

    def fit_pool(self, pool: Points, points: Points) -> Self:
        self.check_comparable(points)
        check_for_metric(pool, self.metric, name="pool")
        return self._fit_points(points, pool)

    def _fit_points(self, points: Points, pool: Points | None = None) -> Self:
        pool, n = points if pool is None else pool, points.shape[0]
        self.check_parameters(n)
        # A TSNE resolves "auto" before it fits; a kernel of its own draws, to have a feature map.
        resolved = self.resolved(n, must_draw=True)
        psis, n_drawn = resolve_psi(resolved.psi, n), resolved._n_drawn
        rng, metric = as_generator(self.random_state), self.fit_metric(points)
        # All random numbers are drawn here, so a fitted kernel is deterministic.
        partitions = [
            draw_partitions(pool, (n_drawn, psi), metric, rng, self.partition)
            for psi in psis
            if n_drawn
        ]
        return self._remember(points, metric, psi_=psis, partitions_=partitions, pool_=pool)

    def in_closed_form(self) -> Self | None:
        if not self.partitions_:
            return self
        if self.partition == "forest":
            return None
        twin: Self = clone(self).set_params(psi=self.psi_, n_partitions="exact")
        return twin._fit_points(self.X_fit_)

    def check_parameters(self, n_points: int) -> None:
        super().check_parameters(n_points)
        resolve_psi(self.psi, n_points)
        if not is_one_of(self.partition, ("voronoi", "forest")):
            rule = "be 'voronoi' or 'forest'"
            raise ParameterError("partition", rule, self.partition, "Choose one of the two.")
        forest, is_forest = keyword("partition", "forest"), self.partition == "forest"
        if is_forest and self.metric != "euclidean":
            rule = f"be left out with {forest}: isolation trees use no distance"
            hint = f"Leave it out, or choose {keyword('partition', 'voronoi')}."
            raise ParameterError("metric", rule, self.metric, hint)
        if is_forest and is_one_of(self.n_partitions, ("exact",)):
            rule = f"be a number with {forest}: isolation trees have no closed form"
            hint = "Pass 200, which is the default."
            raise ParameterError("n_partitions", rule, self.n_partitions, hint)
        if not is_one_of(self.n_partitions, ("exact", "auto")):
            hint = "Pass 200, or 'exact' for the closed form."
            check_count(self.n_partitions, "n_partitions", low=1, high=MOST_PARTITIONS, hint=hint)

    def _check_listed(self, n_points: int, n_listed: int) -> None:
        raise refuse_all_pairs()  # samples are out of reach

    def resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        own = super().resolved(n_points)
        psis = resolve_psi(self.psi, n_points)
        n_partitions = self.n_partitions
        if n_partitions == "auto":
            has_closed_form = self.partition == "voronoi" and not must_draw
            has_small_cells = n_points / min(psis) <= EXACT_CELL
            is_exact = has_closed_form and has_small_cells and n_points > EXACT_FROM
            n_partitions = "exact" if is_exact else AUTO_PARTITIONS
        own.set_params(psi=psis if len(psis) > 1 else psis[0], n_partitions=n_partitions)
        return own

    @property
    def _n_drawn(self) -> int:
        """Number of partitionings per scale of a resolved kernel; 0 for the closed form."""
        return 0 if self.n_partitions == "exact" else int(self.n_partitions)

    def costs(self, n_points: int) -> KernelCosts:
        psis, n_drawn = resolve_psi(self.psi, n_points), self.resolved(n_points)._n_drawn
        cell_size = n_points / min(psis)
        is_count = n_drawn > 0 and len(psis) == 1  # several scales are averaged in float32
        return KernelCosts(
            n_relevant=math.ceil(RANKED * cell_size),
            n_partners=math.ceil(COMPARED * cell_size),
            pair_bytes=np.min_scalar_type(n_drawn).itemsize if is_count else 4,
            n_partitions=n_drawn,
            psis=psis,
            has_trees=self.partition == "forest",
        )

    @property
    def _form(self) -> DrawnForm | ClosedForm:
        """What compares points: the closed form if no partitionings were drawn."""
        check_is_fitted(self)
        if self.partitions_:
            return DrawnForm(self.X_fit_, self.partitions_)
        return ClosedForm(self.X_fit_, self.metric_, self.psi_)

    def cells_at_scales(self, A: Any = None) -> list[Array]:
        """Return the cells (n, n_partitions) of points, ids below psi, one array per scale."""
        points = self._check_query(A)
        self._has_cells()
        return self._form.describe(points)

    def cells(self, A: Any = None) -> Array:
        """Return the cell of each point in each partitioning.

        Parameters
        ----------
        A : array, CSR or data frame of shape (n, n_features), default=None
            Points; None is the fitted points.

        Returns
        -------
        array of unsigned integers, shape (n, n_scales * n_partitions)
            Cell ids, scale by scale. The similarity of two points is the fraction of columns on
            which their rows are equal.
        """
        return np.hstack(self.cells_at_scales(A))

    def _has_cells(self) -> bool:
        """Return True; raise an error for the closed form, which has no partitionings."""
        is_exact = isinstance(self.n_partitions, str) and self.n_partitions == "exact"
        if is_exact or not getattr(self, "partitions_", True):
            hint = "Use similarity, or pass a number of partitionings."
            rule = "be a number to compute cells or feature maps"
            raise ParameterError("n_partitions", rule, "exact", hint)
        return True

    @available_if(_has_cells)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def transform(self, A: Any) -> csr_array:
        """Return the feature map: one column per cell, with 1 for the cells of the point.

        Not available with ``n_partitions="exact"``, which has no cells.

        Parameters
        ----------
        A : array, CSR or data frame of shape (n, n_features)
            Points.

        Returns
        -------
        CSR of float32, shape (n, n_partitions * sum of psi)
            The similarity is the inner product divided by the number of ones per row.
        """
        scales = self.cells_at_scales(A)
        # The columns of a scale follow those of the previous one, partitioning by partitioning.
        ends = np.cumsum(np.repeat(self.psi_, scales[0].shape[1]))
        indices = np.hstack(scales) + np.r_[0, ends[:-1]]  # int64: columns exceed the type of cells
        dtype = np.int32 if max(indices.size, ends[-1]) < 2**31 else np.int64  # as SciPy does
        indptr = np.arange(0, indices.size + 1, indices.shape[1], dtype=dtype)
        parts = np.ones(indices.size, np.float32), indices.ravel().astype(dtype), indptr
        return csr_array(parts, shape=(len(indices), int(ends[-1])))

    @available_if(_has_cells)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def fit_transform(self, X: Any, y: Any = None) -> csr_array:
        """Draw the samples and return the feature map of the points, as from `transform`."""
        return self.fit(X).transform(X)

    @property
    def _n_features_out(self) -> int:
        return sum(part.samples.size for part in self.partitions_)

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        form = self._form
        left = form.describe(self._check_query(A))
        right = left if A is None and B is None else form.describe(self._check_query(B))
        return np.asarray(form.comparison(right)(left).mean(axis=0))

    def rows(self) -> SimilarityRows:
        form = self._form
        first, *_ = described = form.describe(self.X_fit_)
        compare = form.comparison(described)
        is_count = len(self.psi_) == len(self.partitions_) == 1
        return SimilarityRows(
            len(first),
            len(self.psi_),
            lambda rows: compare([part[rows] for part in described]),
            (lambda: count_shared(first, np.ascontiguousarray(first.T))) if is_count else None,
        )

    def neighbor_similarity(self, neighbors: Neighbors, n_partners: int | None = None) -> Layers:
        return self._form.between(neighbors, neighbors.indices[:, :n_partners])

    @property
    def uses_fitted_lists(self) -> bool:
        return not self.partitions_

    def toward_neighbors(self, neighbors: Neighbors | None = None) -> NeighborSimilarity:
        return self._form.toward(neighbors)

    def toward_fitted(self) -> SimilarityLayers:
        form = self._form
        compare = form.comparison(form.describe(self.X_fit_))
        return lambda points: compare(form.describe(points))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def resolve_psi(psi: Any, n_samples: int) -> tuple[int, ...]:
    """Return the number of cells at each scale as an integer from 2 to n_samples."""
    if isinstance(psi, str) and psi == "auto":
        shares = AUTO_SHARES if n_samples <= AUTO_LIMIT else (LARGE_SHARE,)
        return tuple(sorted({max(2, round(share * n_samples)) for share in shares}, reverse=True))
    return tuple(_resolve_one(value, n_samples) for value in as_scales(psi, "psi"))


def _resolve_one(psi: Any, n_samples: int) -> int:
    if is_number(psi) and 0 < psi < 1:
        return min(max(2, round(float(psi) * n_samples)), n_samples)
    if not is_integer(psi) or psi < 2:
        rule = "be 'auto', an integer from 2 to n_samples, or a share of n_samples between 0 and 1"
        hint = "A single cell would hold every point; choose a larger psi."
        raise ParameterError("psi", rule, psi, hint)
    if psi > n_samples:
        rule = f"be an integer from 2 to n_samples ({n_samples})"
        raise ParameterError("psi", rule, psi, "Lower psi, or fit the kernel on more points.")
    return int(psi)
