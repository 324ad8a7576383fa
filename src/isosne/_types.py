"""Types of the values passed between the steps, and the protocols that connect the steps."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[Any]
Scalar = Any
"""A number in a compiled function, where its type (float32 or float64) matters."""
Points: TypeAlias = Array | csr_array
"""Validated data, one point per row: a real ndarray, or CSR with sorted indices."""
Layers: TypeAlias = NDArray[np.float32]
"""Similarities (n_scales, n, m) of points, one layer per scale. Rows may have any scale: step 2
normalizes those of each layer, and averages the layers."""


class Neighbors(NamedTuple):
    """The nearest neighbors of each point, nearest first, without the point itself.

    ``indices`` (n, k) int32; ``distances`` (n, k) float32. Ties go to the lower index.
    """

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]


class FarPartners(NamedTuple):
    """Partners of each point besides its neighbors, at scales too broad for neighbor lists.

    ``indices`` (n, m) int32, which may repeat; ``probabilities`` (n, m) float32: shares of the
    whole row, of which neighbors get the rest.
    """

    indices: NDArray[np.int32]
    probabilities: NDArray[np.float32]


NeighborSimilarity = Callable[[Points, Array, Array], Layers]
"""Takes new points (m, d), the indices of the fitted points nearest to each, and their distances
(m, k), nearest first; returns the similarity (n_scales, m, k)."""

SimilarityLayers = Callable[[Points], Layers]
"""Takes new points (m, d); returns their similarity to the fitted points (n_scales, m, n)."""


class SimilarityRows(NamedTuple):
    """The similarity among the fitted points, computed in blocks of rows."""

    n_points: int
    n_scales: int
    compute: Callable[[slice], Layers]  # as `block`, for a slice with bounds
    counts: Callable[[], Array] | None = None
    """Return counts of shared cells (n_points, n_points), if the one scale is a share of cells."""

    def block(self, rows: slice) -> Layers:
        """Return the similarity (n_scales, n_rows, n_points) of a block of points to all points."""
        return self.compute(slice(*rows.indices(self.n_points)[:2]))


class Kernel(Protocol):
    """Methods of a fitted kernel (step 1) that step 2 uses."""

    def rows(self) -> SimilarityRows:
        """Return the similarity among the fitted points, computed in blocks of rows."""

    def neighbor_similarity(self, neighbors: Neighbors, n_partners: int | None = None) -> Layers:
        """Return the similarity (n_scales, n, n_partners) of each fitted point to neighbors."""

    def far_partners(self) -> FarPartners | None:
        """Return partners at scales too broad for neighbor lists, or None."""

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest neighbor of each fitted point in ``ids`` among the other points."""


class PartitionKernel(Protocol):
    """A kernel whose similarity is the fraction of partitionings with a shared cell."""

    psi_: tuple[int, ...]  # number of cells per partitioning, one value per scale

    def cells_at_scales(self) -> list[Array]:
        """Return the cells (n, t) of the fitted points, one array per scale."""

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest neighbor of each fitted point in ``ids`` among the other points."""


class DenseMatrix(NamedTuple):
    """Joint probabilities of all pairs: p_ij = values_ij (factors_i + factors_j).

    ``values`` (n, n) is symmetric with zero diagonal: counts of shared cells with factors
    1 / (2n row sum), or float32 probabilities with factors 1/2. ``factors`` (n,) float32.
    """

    values: Array
    factors: NDArray[np.float32]


class Masses(NamedTuple):
    """Weights of points that stand for several copies each, divided by their mean."""

    values: NDArray[np.float32]
    within: NDArray[np.float64]  # pairs of copies of the same point, divided by the squared mean
    kept: NDArray[np.float64]  # joint probabilities of these pairs, which exert no force

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> "Masses":
        """Return the masses of points with weights; nothing is kept yet."""
        mean = math.fsum(weights) / len(weights)
        within = weights * np.maximum(weights - 1, 0) / mean**2
        return cls((weights / mean).astype(np.float32), within, np.zeros(len(weights)))


class SparseMatrix(NamedTuple):
    """Joint probabilities of some pairs as CSR; symmetric, zero diagonal; sum 1, but for masses."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    masses: Masses | None = None


class Partners(NamedTuple):
    """Partners of each point and their weights: a random estimate of the joint probabilities.

    ``indices`` (n, k) uint32; ``weights`` (n, k) float32.
    """

    indices: NDArray[np.uint32]
    weights: NDArray[np.float32]


class PartnerSource(Protocol):
    """Joint probabilities that are not stored; partners of each point are drawn at random."""

    n_points: int

    def draw(self, number: int) -> Partners:
        """Return the partners of draw `number`; the same number gives the same partners.

        A weighted sum over the partners has the expectation of the sum over all points with p_ij.
        """

    def mean_log_p(self, partners: Partners) -> float:
        """Return an estimate of the sum of p log p from drawn partners."""


Joint = DenseMatrix | SparseMatrix | PartnerSource
