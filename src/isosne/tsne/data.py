"""What is to be mapped: points at hand, or rows of which all or some will be read."""

from hashlib import sha256
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isosne._checks import check_points
from isosne._types import Array, Points
from isosne.neighbors.distances import Metric
from isosne.sources import Rows, blocks, is_stored, open_rows
from isosne.tsne.landmarks import check_landmarks, draw_landmarks, pool_size
from isosne.tsne.plan import Stored


class Input:
    """An input of `fit`, checked as far as it is in memory.

    Parameters
    ----------
    X : array, CSR, data frame, path, or Dask array or data frame
        What the caller passed.
    landmarks : int or None
        Rows to map; None: all.
    choice : str
        How landmarks are chosen.
    metric : str
        Name of the kernel's metric.

    Attributes
    ----------
    shape : tuple of int
        Points that are mapped, and their attributes.
    """

    def __init__(self, X: Any, landmarks: int | None, choice: str, metric: str) -> None:
        self._landmarks, self._choice = landmarks, choice
        self._points: Points | None = None
        self._rows: Rows | None = None
        self._in_memory = not is_stored(X) and not isinstance(X, np.memmap)
        if landmarks is None and not is_stored(X):
            self._points = check_points(X, min_rows=2)
            self.shape: tuple[int, int] = self._points.shape
            return
        self._rows = open_rows(X)
        self.shape = self._rows.shape
        if landmarks is not None:
            n_landmarks = check_landmarks(landmarks, choice, metric, self.shape[0])
            self.shape = n_landmarks, self.shape[1]

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """Names of the columns of rows that are not in memory, if they have any."""
        return None if self._rows is None else self._rows.column_names

    @property
    def is_sparse(self) -> bool:
        """Whether the points are sparse."""
        if self._rows is None:
            return isinstance(self._points, csr_array)
        return self._rows.is_sparse

    def stored(self) -> Stored:
        """Return what a plan needs to know about rows that are not in memory yet."""
        if self._rows is None:
            return Stored()
        n_rows, n_columns = self._rows.shape
        n_pool = pool_size(n_rows, self._landmarks or 0)
        copies = 8 * min(n_columns, 10_000)  # in the type of the distances, and their products
        of_pool = n_pool * (self._rows.row_bytes + copies)
        if self._landmarks is None:
            held = n_rows * self._rows.row_bytes
            return Stored(bytes_held=held, bytes_of_pool=of_pool)
        return Stored(n_rows, n_pool, of_pool, of_pool)

    def fingerprint(self) -> str:
        """Return a hash that changes when the input does; of stored rows it sees samples."""
        rows = open_rows(self._points) if self._rows is None else self._rows
        digest = sha256(rows.fingerprint().encode())
        for part in blocks(rows) if self._in_memory else ():
            block: Any = rows.read(part)
            is_sparse = isinstance(block, csr_array)
            for values in (block.indptr, block.indices, block.data) if is_sparse else (block,):
                digest.update(np.ascontiguousarray(values).data)
        return digest.hexdigest()[:32]

    def fit(self, kernel: Any, rng: np.random.Generator) -> tuple[Any, Array | None]:
        """Return the kernel fitted to the points that are mapped, and which rows these are."""
        if self._rows is None:
            return kernel.fit(self._points), None
        if self._landmarks is None:
            return kernel.fit(self._rows.read(slice(None))), None
        metric = Metric(kernel.metric, kernel.p)
        drawn = draw_landmarks(self._rows, self._landmarks, self._choice, metric, rng)
        return kernel.fit_pool(drawn.pool, drawn.points), drawn.indices
