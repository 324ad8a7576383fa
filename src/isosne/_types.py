"""Names for the values that travel between the steps, and the seams between them."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[Any]
Scalar = Any
"""A number inside a compiled loop; its width matters there, and Python has one float only."""
Points: TypeAlias = Array | csr_array
"""Checked data: rows are points; a real ndarray, or CSR with sorted indices."""


class Neighbors(NamedTuple):
    """The nearest neighbors of each point, nearest first, the point itself left out.

    ``indices`` (n, k) int32; ``distances`` (n, k) float32. Equal distances: lower index first.
    """

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]


NeighborSimilarity = Callable[[Points, Array, Array], NDArray[np.float32]]
"""From new points (m, d), and the fitted points nearest to each with their distances (m, k), to the
similarity (n_scales, m, k)."""

SimilarityLayers = Callable[[Points], NDArray[np.float32]]
"""From new points (m, d) to their similarity to the fitted points (n_scales, m, n). A row may be
scaled by any factor: step 2 normalizes it."""


class SimilarityRows(Protocol):
    """The fitted points' similarity to each other, a block of rows at a time.

    A kernel with several scales (several psi, several perplexities) has a layer for each. Step 2
    scales the rows of each layer to sum one and averages the layers, so a row counts only up to a
    factor.
    """

    n_points: int
    n_scales: int

    def block(self, rows: slice) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n_rows, n_points) of some points to all."""
        ...


@runtime_checkable
class CountRows(SimilarityRows, Protocol):
    """Similarity rows that are counts of shared cells at one scale, divided by a constant."""

    def counts(self, rows: slice) -> Array:
        """Return counts (n_rows, n_points) as unsigned integers."""
        ...


class Kernel(Protocol):
    """What step 2 asks of a fitted kernel of step 1."""

    def rows(self) -> SimilarityRows:
        """Return the fitted points' similarity, to be read in blocks."""
        ...

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, n_partners) of each fitted point to its nearest."""
        ...

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest other fitted point of each fitted point in ``ids``."""
        ...


class PartitionKernel(Protocol):
    """A kernel whose similarity is the share of partitionings in which two points share a cell."""

    psi_: tuple[int, ...]  # cells in a partitioning, at each scale

    def cells_at_scales(self) -> list[Array]:
        """Return the cells (n, t) of the fitted points at each scale."""
        ...

    def nearest_others(self, ids: Array) -> Array:
        """Return the nearest other fitted point of each fitted point in ``ids``."""
        ...


class DenseMatrix(NamedTuple):
    """Joint probabilities of all pairs: p_ij = values_ij (factors_i + factors_j).

    ``values`` (n, n) symmetric with zero diagonal: counts of shared cells in bytes, with each
    factor 1 / (2n row sum), or float32 probabilities, with factors 1/2. ``factors`` (n,) float32.
    """

    values: Array
    factors: NDArray[np.float32]


class SparseMatrix(NamedTuple):
    """Joint probabilities of the pairs that matter, as CSR; symmetric, no diagonal, sum 1."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]


class Partners(NamedTuple):
    """Partners of each point, with the weight of each pair: an estimate of a sparse matrix.

    ``indices`` (n, k) uint32; ``weights`` (n, k) float32.
    """

    indices: NDArray[np.uint32]
    weights: NDArray[np.float32]


class PartnerSource(Protocol):
    """Joint probabilities that are never held: partners of each point can be drawn."""

    n_points: int

    def draw(self, number: int) -> Partners:
        """Return partners drawn for a number; the same number, the same partners.

        Any sum over the partners, by their weights, is on average the sum over all points by p_ij.
        """
        ...

    def mean_log_p(self, partners: Partners) -> float:
        """Return an estimate of the sum of p log p from partners that were drawn."""
        ...


Joint = DenseMatrix | SparseMatrix | PartnerSource
