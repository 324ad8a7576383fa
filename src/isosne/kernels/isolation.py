"""Step 1 of the paper: the isolation kernel (Eq. 6 and 7).

Owns the estimator: parameters, what is drawn at fit, and what step 2 and the plan ask of a kernel.
`forms` compares points: by cells, found in `voronoi` and `forest` and counted in `counts`, or in
the closed form of `exact`. Making probabilities of it is step 2.
"""

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from isosne._checks import check_count, check_for_metric, check_points, resolve_psi
from isosne._random import RandomState, as_generator
from isosne._types import Array, Neighbors, NeighborSimilarity, Points
from isosne.errors import ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.closed_form import ClosedForm
from isosne.kernels.counts import CellIndex, count_dtype
from isosne.kernels.drawn import CellRows, DrawnForm, Partitions
from isosne.kernels.forest import ForestPartitions
from isosne.kernels.form import FormRows
from isosne.kernels.voronoi import VoronoiPartitions, cell_dtype
from isosne.neighbors.distances import Metric

AUTO_PARTITIONS = 200
EXACT_FROM, EXACT_CELL = 10_000, 30
"""Points, and points in a cell on average, from and up to which the closed form is used by rule."""
RANKED, COMPARED = 8.0, 5.0
"""Neighbors that are ranked, and that get a similarity, for each point in a cell on average."""
MEMBER_BYTES = 34
"""Bytes of a sampled point in one partitioning: its id, its cell, and both the other way round."""


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
        points = self._check_fit(X)
        return self._fit(points, points, X)

    def fit_pool(self, pool: Points, X: Any) -> Self:
        """Draw the samples from a pool that stands for more points than are to be compared.

        Parameters
        ----------
        pool : array or CSR
            Points that stand for all; ``partitions_`` are samples of them. The closed form
            ranks by X alone.
        X : array or CSR
            The points to be compared; psi may be a share of their number.

        Returns
        -------
        IsolationKernel
            The kernel, fitted to X.
        """
        points = self._check_fit(X)
        pool = check_points(pool, name="pool", min_rows=points.shape[0])
        check_for_metric(pool, self.metric, name="pool")
        return self._fit(pool, points, X)

    def _fit(self, pool: Points, points: Points, X: Any) -> Self:
        n = points.shape[0]
        self.check_parameters(n)
        psis = resolve_psi(self.psi, n)
        rng = as_generator(self.random_state)
        n_drawn = self._n_to_draw(n)
        partitions = [self._draw(pool, psi, n_drawn, rng) for psi in psis if n_drawn]
        return self._remember(X, points, psi_=psis, partitions_=partitions, pool_=pool)

    def restore(self, X: Points, pool: Points, partitions: list[Partitions]) -> Self:
        """Take over points and partitionings of a fit that was kept in a file.

        Parameters
        ----------
        X : array or CSR
            The fitted points.
        pool : array or CSR
            The points that samples were drawn from.
        partitions : list
            Partitionings of each scale.

        Returns
        -------
        IsolationKernel
            The kernel, fitted.
        """
        points = self._check_fit(X)
        psis = tuple(part.psi for part in partitions)
        return self._remember(X, points, psi_=psis, partitions_=partitions, pool_=pool)

    def in_closed_form(self) -> Self | None:
        """Return a kernel for the same points whose similarity needs only lists of neighbors.

        Returns
        -------
        IsolationKernel or None
            The exact kernel with the same psi; None for trees, which have none.
        """
        if not self.partitions_:
            return self
        if self.partition == "forest":
            return None
        twin: Self = clone(self).set_params(psi=self.psi_, n_partitions="exact")
        return twin.fit(self.X_fit_)

    def check_parameters(self, n_points: int) -> None:
        """Refuse parameters that no fit to so many points can use.

        Parameters
        ----------
        n_points : int
            Number of points.
        """
        super().check_parameters(n_points)
        resolve_psi(self.psi, n_points)
        if self.partition not in ("voronoi", "forest"):
            raise ParameterError(
                f"partition must be 'voronoi' or 'forest'; got {self.partition!r}. "
                "Choose one of the two."
            )
        if self.partition == "forest" and self.metric != "euclidean":
            raise ParameterError(
                "partition='forest' splits attributes and uses no distance; "
                f"got metric={self.metric!r}. Leave metric out, or choose partition='voronoi'."
            )
        if self.partition == "forest" and self.n_partitions == "exact":
            raise ParameterError(
                "n_partitions='exact' needs partition='voronoi'; got partition='forest'. "
                "Isolation trees have no closed form: pass a number of partitions."
            )
        if self.n_partitions not in ("exact", "auto"):
            check_count(
                self.n_partitions, "n_partitions", low=1, hint="Pass 200, or 'exact' for no draws."
            )

    def _n_to_draw(self, n_points: int) -> int:
        """Return how many partitionings each scale draws for n points; 0: the closed form."""
        if self.n_partitions == "exact":
            return 0
        if self.n_partitions != "auto":
            return int(self.n_partitions)
        cell_size = n_points / min(resolve_psi(self.psi, n_points))
        many_small = n_points > EXACT_FROM and cell_size <= EXACT_CELL
        return 0 if many_small and self.partition == "voronoi" else AUTO_PARTITIONS

    def drawn_if_auto(self) -> int | str:
        """Return n_partitions, with "auto" replaced by the number of partitionings to draw.

        Returns
        -------
        int or str
            What `n_partitions` may be set to.
        """
        return AUTO_PARTITIONS if self.n_partitions == "auto" else self.n_partitions

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
                "Cells and feature maps need partitions that were drawn; got n_partitions='exact'. "
                "Ask for similarity, or pass a number of partitions."
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

    def pair_bytes(self, n_points: int) -> int:
        """Return the bytes that the similarity of a pair takes when all pairs are held.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            1 for up to 255 partitionings at one scale: a count fits in a byte.
        """
        n_drawn = self._n_to_draw(n_points)
        if n_drawn == 0 or len(resolve_psi(self.psi, n_points)) > 1:
            return 4
        return np.dtype(count_dtype(n_drawn)).itemsize

    def cell_bytes(self, n_points: int) -> int:
        """Return the bytes that a point's cells take to draw from.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            Ids of the cells, and places in the lists of their members; 0 for the exact kernel.
        """
        sizes = [np.dtype(cell_dtype(psi)).itemsize + 4 for psi in resolve_psi(self.psi, n_points)]
        return self._n_to_draw(n_points) * sum(sizes)

    def drawn_bytes(self, n_points: int, n_features: int) -> int:
        """Return the bytes of all that is drawn at fit, with the cells of the fitted points.

        Parameters
        ----------
        n_points, n_features : int
            Number of points and of their attributes.

        Returns
        -------
        int
            Samples with their lists of members, two copies of the sampled points for each scale,
            and cells.
        """
        psis, n_drawn = resolve_psi(self.psi, n_points), self._n_to_draw(n_points)
        n_sampled = sum(min(n_drawn * psi, n_points) for psi in psis)
        samples = MEMBER_BYTES * n_drawn * sum(psis)
        return samples + 8 * n_sampled * n_features + n_points * self.cell_bytes(n_points)

    def n_relevant(self, n_points: int) -> int:
        """Return how many neighbors the similarity of a point depends on.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            Eight times the mean number of points in the largest cells: what is left out is e^-8.
        """
        return self._mean_cells(RANKED, n_points)

    def n_partners(self, n_points: int) -> int:
        """Return how many neighbors of a point get a probability where only neighbors do.

        Parameters
        ----------
        n_points : int
            Number of points.

        Returns
        -------
        int
            Five times the mean number of points in the largest cells. They hold some two thirds of
            the similarity; the rest is spread thinly over many farther points.
        """
        return self._mean_cells(COMPARED, n_points)

    def _mean_cells(self, n_cells: float, n_points: int) -> int:
        return math.ceil(n_cells * n_points / min(resolve_psi(self.psi, n_points)))

    def toward_fitted(self) -> Callable[[Points], NDArray[np.float32]]:
        """Return a function from points to probabilities of the fitted points.

        The cells (or lists) of the fitted points are found once, here.

        Returns
        -------
        callable
            From points (n, n_features) to rows (n, n_samples) that sum to one: each scale
            normalized, then their mean, as step 2 does for the fitted points.
        """
        form = self._form
        fitted = form.index(form.describe(self.X_fit_))

        def rows(points: Points) -> NDArray[np.float32]:
            # A point always shares a cell with the fitted point that made it.
            layers = form.compare(form.describe(self._check_query(points)), fitted)
            layers /= layers.sum(axis=2, keepdims=True)
            mean: NDArray[np.float32] = layers.mean(axis=0)
            return mean

        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
