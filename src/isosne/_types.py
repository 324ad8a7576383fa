"""Names for the values that travel between the steps, and the seam between steps 1 and 2."""

from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[Any]
Points = Array | csr_array
"""Checked data: rows are points; a real ndarray, or CSR with sorted indices."""


class Neighbors(NamedTuple):
    """The nearest neighbors of each point, nearest first, the point itself left out.

    ``indices`` (n, k) int32; ``distances`` (n, k) float32. Equal distances: lower index first.
    """

    indices: NDArray[np.int32]
    distances: NDArray[np.float32]


class Kernel(Protocol):
    """What step 2 may ask of a fitted kernel of step 1.

    A kernel with several scales (several psi, several perplexities) returns one layer for each;
    step 2 normalizes the rows of each layer and averages them.
    """

    n_scales_: int

    def fit(self, X: Any) -> Self:
        """Learn from the points whatever the kernel needs."""
        ...

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the similarity of each row of A to each row of B."""
        ...

    def similarity_rows(self, rows: slice) -> NDArray[np.float32]:
        """Return a block of rows (n_scales, n_rows, n) of the fitted points' similarity."""
        ...

    def neighbor_similarity(self, neighbors: Neighbors) -> NDArray[np.float32]:
        """Return the similarity (n_scales, n, k) of each fitted point to its neighbors."""
        ...
