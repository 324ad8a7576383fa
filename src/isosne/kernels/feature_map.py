"""The feature map of the isolation kernel: one column per cell, with 1 for the cells of a point."""

import numpy as np
from scipy.sparse import csr_array

from isosne._types import Array


def feature_map(scales: list[Array], psis: tuple[int, ...]) -> csr_array:
    """Return the indicator (n, n_partitions * sum of psi) of the cells of each point, as CSR.

    scales: cells (n, n_partitions) of the points, one array per scale, in small unsigned types. The
    columns of a scale follow those of the previous one; within it, partitioning p has the columns
    from psi * p on.
    """
    first = 0
    columns = []
    for psi, cells in zip(psis, scales, strict=True):
        starts = first + psi * np.arange(cells.shape[1], dtype=np.int64)
        columns.append(cells.astype(np.int64) + starts)  # column numbers exceed the type of cells
        first += psi * cells.shape[1]
    indices = np.hstack(columns)
    n, n_ones = indices.shape
    index_dtype = np.int32 if max(n * n_ones, first) < 2**31 else np.int64  # as SciPy does
    return csr_array(
        (
            np.ones(n * n_ones, np.float32),
            indices.ravel().astype(index_dtype),
            np.arange(0, n * n_ones + 1, n_ones, dtype=np.int64).astype(index_dtype),
        ),
        shape=(n, first),
    )
