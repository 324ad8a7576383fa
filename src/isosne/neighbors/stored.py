"""Sparse precomputed distances: for each point, those to its neighbors, as in a neighbor graph.

A distance that is not stored is unknown, and larger than those of its row. So lists of neighbors
can be read off, and nothing else. A stored zero is a distance like any other; a point's distance to
itself may be stored or not.
"""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._numba import kernel
from isosne._types import Array
from isosne.errors import DataError


class StoredDistances:
    """A set of points that are known by their stored distances; offers no keys of all pairs."""

    tile = 1
    unit = 0.0
    scale = 1.0
    points = np.empty((0, 0))

    def __init__(self, n_points: int) -> None:
        self.n_points = n_points

    def query(self, X: Any, rows: slice) -> NoReturn:
        """Raise an error: only stored distances are known."""
        raise refuse_all_pairs()

    def keys(self, query: Any, columns: slice) -> NoReturn:
        """Raise an error: only stored distances are known."""
        raise refuse_all_pairs()

    def subset(self, ids: Array) -> NoReturn:
        """Raise an error: only stored distances are known."""
        raise refuse_all_pairs()


def refuse_all_pairs() -> DataError:
    """Return the error for what needs distances that are not stored."""
    return DataError(
        "X must hold the distances of all pairs here; a sparse matrix holds only those that are "
        "stored. Pass a dense matrix of distances."
    )


def n_stored(D: csr_array, *, with_self: bool) -> int:
    """Return the smallest number of stored distances per row.

    with_self: whether to count the entries of the diagonal.
    """
    return int(_counts(D, with_self=with_self).min())


def _counts(D: csr_array, *, with_self: bool) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.diff(D.indptr).astype(np.int64)
    if not with_self:
        rows = np.repeat(np.arange(len(counts)), counts)
        counts -= np.bincount(rows[rows == D.indices], minlength=len(counts))
    return counts


def nearest_stored(
    D: csr_array, k: int, *, with_self: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return indices and distances (n, k) of the nearest stored points, ties by index.

    with_self: whether a row may list the point with its own index.
    """
    counts = _counts(D, with_self=with_self)
    row = int(counts.argmin())
    if counts[row] < k:
        raise DataError(
            f"Each row must store the distances to its {k} nearest points; row {row} of X "
            f"(counting from 0) stores {counts[row]}. Store more of them, or pass a dense matrix."
        )
    ids, distances = np.empty((len(counts), k), np.int32), np.empty((len(counts), k))
    sort_stored(D.indptr, D.indices, D.data.astype(np.float64), with_self, ids, distances)
    return ids, distances


@kernel
def sort_stored(
    indptr: Array, indices: Array, data: Array, with_self: bool, ids: Array, distances: Array
) -> None:
    """Fill each row of ids and distances with its nearest entries; indices are sorted."""
    for i in range(len(ids)):
        order = np.argsort(data[indptr[i] : indptr[i + 1]], kind="mergesort")  # stable
        n = 0
        for a in order:
            e = indptr[i] + a
            if n < ids.shape[1] and (with_self or indices[e] != i):
                ids[i, n] = indices[e]
                distances[i, n] = data[e]
                n += 1
