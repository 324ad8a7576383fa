"""Step 1 of the paper: the isolation kernel (Eq. 6 and 7).

Owns the estimator: parameters, what is drawn at fit, and what step 2 and the plan ask of a kernel.
`forms` compares points: by cells, found in `voronoi` and `forest` and counted in `counts`, or in
the closed form of `exact`. Making probabilities of it is step 2.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from isosne._checks import check_count, check_for_metric
from isosne._random import RandomState, as_generator
from isosne._types import Array, Neighbors, NeighborSimilarity, Points, SimilarityLayers
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.closed_form import ClosedForm
from isosne.kernels.costs import KernelCosts, isolation_costs
from isosne.kernels.counts import CellIndex
from isosne.kernels.drawn import CellRows, DrawnForm, Partitions
from isosne.kernels.forest import ForestPartitions
from isosne.kernels.form import FormRows
from isosne.kernels.psi import auto_partitions, resolve_psi
from isosne.kernels.voronoi import VoronoiPartitions
from isosne.neighbors.distances import Metric


class IsolationKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MetricKernel):
    """Measure how often random partitions of space put two points in one cell.

    Each partitioning draws `psi` of the fitted points; a cell is the part of space nearer to one
    of them than to the others. Cells are small where points are dense, so the similarity adapts
    to the density without any search for a bandwidth.

    Parameters
    ----------
    psi : int, float, sequence of these, or "auto", default="auto"
        Number of cells, the paper's psi: an integer from 2 to n_samples, or a share of n_samples
        between 0 and 1. Larger is sharper. A sequence asks for several scales. "auto" is three
        scales, 0.8, 0.2 and 0.05 of n_samples; above 20 000 points one, a tenth.
    n_partitions : int, "exact" or "auto", default="auto"
        Number of random partitionings, the paper's t; "exact" computes the limit of infinitely
        many in closed form, without any randomness. "auto" is 200, and "exact" above 10 000 points
        if cells hold 30 of them or fewer on average.
    partition : {"voronoi", "forest"}, default="voronoi"
        Cells of nearest sampled points, or leaves of axis-parallel isolation trees.
    metric : str, default="euclidean"
        Distance that makes Voronoi cells: euclidean, manhattan, minkowski, cosine or precomputed.
    p : float, default=2.0
        Power of the Minkowski distance.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples; 0 is a seed.

    Attributes
    ----------
    psi_ : tuple of int
        Number of cells at each scale.
    partitions_ : list
        Partitionings of each scale; their ``samples`` are the points drawn. Empty if exact.
    X_fit_ : array or CSR
        The fitted points (not a copy).
    pool_ : array or CSR
        The points that samples were drawn from: the fitted ones, unless `fit_pool` had others.

    Notes
    -----
    Implements Eq. 7, and for "exact" the expectation in Eq. 6. With several scales, `similarity`
    is their mean; step 2 normalizes each one first.

    Departures from the paper: psi = 1, which is in its search grid, is refused: one cell holds
    everything and the kernel is constant. Ties in distance, which the paper leaves open, go to the
    point with the lower index.

    Cost: `fit` draws the samples; finding the cells of n points takes O(n m d) for m distinct
    sampled points (m is at most n_samples), `similarity` O(n^2) bytes and at most O(n^2 t) time.

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the samples that make the partitionings.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; with ``metric="precomputed"``, their distances (n_samples, n_samples).
        y : None
            Ignored.

        Returns
        -------
        IsolationKernel
            The fitted kernel.
        """
        return self._fit_points(self._check_fit(X))._remember_names(X)

    def _fit_points(self, points: Points) -> Self:
        return self._draw_from(points, points)

    def _fit_pool(self, pool: Points, points: Points) -> Self:
        """Fit to points that stand for more: samples are drawn from the pool.

        psi may be a share of the number of points; the closed form ranks by the points alone.
        """
        self._check_comparable(points)
        check_for_metric(pool, self.metric, name="pool")
        return self._draw_from(pool, points)

    def _draw_from(self, pool: Points, points: Points) -> Self:
        n = points.shape[0]
        self._check_parameters(n)
        psis = resolve_psi(self.psi, n)
        rng = as_generator(self.random_state)
        n_drawn = self._n_to_draw(n)
        partitions = [self._draw(pool, psi, n_drawn, rng) for psi in psis if n_drawn]
        return self._remember(points, psi_=psis, partitions_=partitions, pool_=pool)

    def _restore(self, points: Points, pool: Points, partitions: list[Partitions]) -> Self:
        """Take over the points and partitionings of a fit that was kept in a file."""
        points = self._check_fit(points)
        psis = tuple(part.psi for part in partitions)
        return self._remember(points, psi_=psis, partitions_=partitions, pool_=pool)

    def _in_closed_form(self) -> Self | None:
        """Return the exact kernel with the same psi; None for trees, which have no closed form."""
        if not self.partitions_:
            return self
        if self.partition == "forest":
            return None
        twin: Self = clone(self).set_params(psi=self.psi_, n_partitions="exact")
        return twin._fit_points(self.X_fit_)

    def _check_parameters(self, n_points: int) -> None:
        super()._check_parameters(n_points)
        resolve_psi(self.psi, n_points)
        if self.partition not in ("voronoi", "forest"):
            raise ParameterError(
                "partition", "be 'voronoi' or 'forest'", self.partition, "Choose one of the two."
            )
        if self.partition == "forest" and self.metric != "euclidean":
            raise ParameterError(
                "metric",
                f"be left out with {keyword('partition', 'forest')}, which splits attributes and "
                "uses no distance",
                self.metric,
                f"Leave it out, or choose {keyword('partition', 'voronoi')}.",
            )
        if self.partition == "forest" and self.n_partitions == "exact":
            raise ParameterError(
                "n_partitions",
                f"be a number with {keyword('partition', 'forest')}: isolation trees have no "
                "closed form",
                self.n_partitions,
                "Pass 200, which is the default.",
            )
        if self.n_partitions not in ("exact", "auto"):
            hint = "Pass 200, or 'exact' for the closed form."
            check_count(self.n_partitions, "n_partitions", low=1, hint=hint)

    def _resolved(self, n_points: int, *, must_draw: bool = False) -> Self:
        """Return an unfitted copy with psi and n_partitions as numbers."""
        own = super()._resolved(n_points)
        psis = resolve_psi(self.psi, n_points)
        n_partitions = self.n_partitions
        if n_partitions == "auto":
            can = self.partition == "voronoi" and not must_draw
            n_partitions = auto_partitions(psis, n_points, has_closed_form=can)
        own.set_params(psi=psis if len(psis) > 1 else psis[0], n_partitions=n_partitions)
        return own

    def _n_to_draw(self, n_points: int) -> int:
        """Return how many partitionings each scale draws for n points; 0: the closed form."""
        n_partitions = self._resolved(n_points).n_partitions
        return 0 if n_partitions == "exact" else int(n_partitions)

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return list lengths and bytes for a number of points, before `fit`.

        Parameters
        ----------
        n_points, n_features : int
            Number of points and of their attributes.

        Returns
        -------
        KernelCosts
            What the plan compares.
        """
        psis = resolve_psi(self.psi, n_points)
        return isolation_costs(psis, self._n_to_draw(n_points), n_points, n_features)

    @property
    def _form(self) -> DrawnForm | ClosedForm:
        """How points are compared: nothing drawn at fit means the closed form."""
        check_is_fitted(self)
        if self.partitions_:
            return DrawnForm(self.X_fit_, self.partitions_)
        return ClosedForm(self.X_fit_, self.metric_, self.psi_)

    def _draw(self, points: Points, psi: int, n_drawn: int, rng: np.random.Generator) -> Partitions:
        n = points.shape[0]
        draws = [rng.choice(n, psi, replace=False, shuffle=False) for _ in range(n_drawn)]
        samples = np.stack(draws)
        samples.sort(axis=1)
        if self.partition == "forest":
            return ForestPartitions(samples, points, rng)
        return VoronoiPartitions(samples, points, Metric(self.metric, self.p))

    def cells_at_scales(self, A: Any = None) -> list[Array]:
        """Return the cell of each point in each partitioning, scale by scale.

        Parameters
        ----------
        A : array, CSR or data frame of shape (n, n_features), default=None
            Any points; None: the fitted ones.

        Returns
        -------
        list of arrays of unsigned integers, shape (n, n_partitions)
            Ids in the smallest type that fits; a scale with psi cells has ids below psi.
        """
        points = self._check_query(A)
        if not self.partitions_:
            raise ParameterError(
                "n_partitions",
                "be a number for cells, counts and feature maps",
                "exact",
                "Use similarity, or pass a number of partitionings.",
            )
        return self._form.describe(points)

    def cells(self, A: Any = None) -> Array:
        """Return the cell of each point in each partitioning.

        Parameters
        ----------
        A : array, CSR or data frame of shape (n, n_features), default=None
            Any points; None: the fitted ones.

        Returns
        -------
        array of unsigned integers, shape (n, n_scales * n_partitions)
            Ids in the smallest type that fits, scale by scale. Two points are similar in proportion
            to the columns on which their rows agree.
        """
        return np.hstack(self.cells_at_scales(A))

    def transform(self, A: Any) -> csr_array:
        """Return the feature map: a one in the column of each cell that holds the point.

        Parameters
        ----------
        A : array, CSR or data frame of shape (n, n_features)
            Any points.

        Returns
        -------
        CSR of float32, shape (n, n_partitions * sum of psi)
            Inner products divided by the number of ones in a row are the similarity.
        """
        scales = self.cells_at_scales(A)
        offset = 0
        columns = []
        for psi, cells in zip(self.psi_, scales, strict=True):
            columns.append(cells + offset + psi * np.arange(cells.shape[1], dtype=np.int64))
            offset += psi * cells.shape[1]
        indices = np.hstack(columns)
        n, n_ones = indices.shape
        index_dtype = np.int32 if max(n * n_ones, offset) < 2**31 else np.int64
        return csr_array(
            (
                np.ones(n * n_ones, np.float32),
                indices.ravel().astype(index_dtype),
                np.arange(0, n * n_ones + 1, n_ones, dtype=index_dtype),
            ),
            shape=(n, offset),
        )

    @property
    def _n_features_out(self) -> int:
        return sum(part.samples.size for part in self.partitions_)

    def counts(self, A: Any = None, B: Any = None, *, scale: int = 0) -> Array:
        """Return in how many partitionings two points share a cell: bytes, for t below 256.

        Parameters
        ----------
        A, B : array, CSR or data frame, default=None
            Any points; None stands for the fitted ones.
        scale : int, default=0
            Which of several psi.

        Returns
        -------
        array of unsigned integers, shape (n, m)
            The similarity at this scale, times n_partitions.
        """
        left = self.cells_at_scales(A)[scale]
        right = left if A is None and B is None else self.cells_at_scales(B)[scale]
        return CellIndex(right, self.psi_[scale]).count(left)

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the similarity of each row of A to each row of B.

        Parameters
        ----------
        A, B : array, CSR or data frame, default=None
            Any points; None stands for the fitted ones.

        Returns
        -------
        array of float32, shape (n, m)
            Values from 0 to 1; the mean over the scales if there are several.
        """
        form = self._form
        left = form.describe(self._check_query(A))
        is_same = A is None and B is None
        right = left if is_same else form.describe(self._check_query(B))
        similarity: NDArray[np.float32] = form.compare(left, form.index(right)).mean(axis=0)
        return similarity

    def rows(self) -> CellRows | FormRows:
        """Return the fitted points' similarity, to be read in blocks of rows."""
        return self._form.rows()

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return the similarity of each fitted point to its nearest neighbors.

        Parameters
        ----------
        neighbors : Neighbors
            Lists of the fitted points, as from `isosne.nearest_neighbors`. The exact
            kernel also ranks by them: lists of about 8 n / psi leave an error below 1e-3.
        n_partners : int or None, default=None
            How many of the nearest to compare with; None: all that are listed.

        Returns
        -------
        array of float32, shape (n_scales, n, k)
            Layer by layer, in the order of ``neighbors.indices``.
        """
        partners = self._check_neighbors(neighbors, n_partners).indices
        return self._form.between(neighbors, partners)

    def toward_neighbors(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Return a function that compares further points with fitted points near to them.

        Parameters
        ----------
        neighbors : Neighbors
            Lists of the fitted points.

        Returns
        -------
        callable
            From points (m, n_features), and the fitted points nearest to each with their distances
            (m, L), to the similarity (n_scales, m, L).
        """
        self._check_neighbors(neighbors)
        return self._form.toward(neighbors)

    def _toward_fitted(self) -> SimilarityLayers:
        """Return a function from new points to their similarity to the fitted ones.

        The cells (or lists) of the fitted points are found once, here. No row is empty: a point
        shares a cell with the fitted point that made it.
        """
        form = self._form
        fitted = form.index(form.describe(self.X_fit_))
        return lambda points: form.compare(form.describe(points), fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
