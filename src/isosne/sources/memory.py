"""Rows in memory, and CSR rows wherever their three arrays are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._types import Array
from isosne.sources.stored import Indices, StoredRows, near
from isosne.sources.watched import WatchedFiles

N_SAMPLED = 64
"""Rows from which the fingerprint of an array is taken."""
GAP = 16_384
"""Stored values that are rather read and dropped than skipped."""
LONGEST = 4_000_000
"""Stored values that are read together at most."""


class ArrayRows(StoredRows):
    """Rows of an array in memory, or of a part of a mapped one."""

    def __init__(
        self, watched: WatchedFiles, X: Array, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(watched, X.shape, X.dtype, column_names=column_names)
        self._X = X

    def _read(self, start: int, stop: int) -> Array:
        block = self._X[start:stop]
        if isinstance(block, np.memmap):
            return np.array(block, dtype=self.dtype, subok=False)
        return block.astype(self.dtype, copy=False)

    def _take(self, wanted: Indices) -> Array:
        return np.asarray(self._X[wanted], dtype=self.dtype)

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        rows = np.linspace(0, self.shape[0] - 1, N_SAMPLED).astype(np.int64)
        digest.update(np.ascontiguousarray(self._take(rows)).tobytes())


class SparseRows(StoredRows):
    """CSR rows; ``indptr`` is in memory, ``indices`` and ``data`` are anything that takes slices.

    That is an array, a part of a file, or a data set of HDF5.
    """

    is_sparse = True

    def __init__(
        self,
        watched: WatchedFiles,
        shape: tuple[int, ...],
        indptr: Array,
        indices: Any,
        data: Any,
        *,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(watched, shape, data.dtype, column_names=column_names)
        self._indptr: NDArray[np.int64] = indptr.astype(np.int64)
        self._indices, self._data = indices, data
        stored_bytes = self.dtype.itemsize + np.dtype(indices.dtype).itemsize
        self.row_bytes = 8 + int(self._indptr[-1]) * stored_bytes // self.shape[0]

    def _read(self, start: int, stop: int) -> csr_array:
        low, high = int(self._indptr[start]), int(self._indptr[stop])
        indptr = self._indptr[start : stop + 1] - low
        return self._make(self._data[low:high], self._indices[low:high], indptr)

    def _take(self, wanted: Indices) -> csr_array:
        starts, stops = self._indptr[wanted], self._indptr[wanted + 1]
        indptr = np.concatenate([[0], np.cumsum(stops - starts)])
        data = np.empty(indptr[-1], self.dtype)
        indices = np.empty(indptr[-1], self._indices.dtype)
        for run in near(starts, stops, gap=GAP, longest=LONGEST):
            low, high = int(starts[run.start]), int(stops[run.stop - 1])
            found_data, found_indices = self._data[low:high], self._indices[low:high]
            for k in range(run.start, run.stop):
                to = slice(indptr[k], indptr[k + 1])
                here = slice(starts[k] - low, stops[k] - low)
                data[to], indices[to] = found_data[here], found_indices[here]
        return self._make(data, indices, indptr)

    def _make(self, data: Any, indices: Any, indptr: Array) -> csr_array:
        data = np.asarray(data).astype(self.dtype, copy=False)
        shape = (len(indptr) - 1, self.shape[1])
        block = csr_array((data, np.asarray(indices), indptr), shape=shape)
        if not block.has_canonical_format:
            block = block.copy()  # the arrays of the source stay as they are
            block.sum_duplicates()
        return block

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        rows = np.unique(np.linspace(0, self.shape[0] - 1, N_SAMPLED).astype(np.int64))
        block = self._take(rows)
        for part in (block.indptr, block.indices, block.data):
            digest.update(np.ascontiguousarray(part).tobytes())
