"""Rows of arrays in memory, and of CSR matrices whose arrays are in memory or in a file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._csr import check_indices, check_indptr, refuse_structure
from isosne._types import Array
from isosne.sources.row_source import Indices, RowSource, group_nearby
from isosne.sources.source_files import SourceFiles

N_SAMPLED = 64
"""Number of rows in the fingerprint of an array, evenly spaced. Chosen, not measured."""
GAP_VALUES = 16_384
"""Gaps up to this number of stored values are read and dropped instead of skipped. Chosen, not
measured."""
WINDOW_VALUES = 4_000_000
"""Largest number of stored values in one read of several rows. Chosen, not measured."""
INDPTR_BYTES = 8
"""Bytes of a row in ``indptr``, which is int64."""


class ArrayRows(RowSource):
    """Rows of an array in memory, or of a view of a memory map."""

    def __init__(
        self, files: SourceFiles, X: Array, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(files, X.shape, X.dtype, column_names=column_names)
        self._X = X

    def _read(self, start: int, stop: int) -> Array:
        block = self._X[start:stop]
        if isinstance(block, np.memmap):
            return np.array(block, dtype=self.dtype, subok=False)
        return block.astype(self.dtype, copy=False)

    def _take(self, indices: Indices) -> Array:
        return np.asarray(self._X[indices], dtype=self.dtype)

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        rows = np.linspace(0, self.shape[0] - 1, N_SAMPLED).astype(np.int64)
        digest.update(np.ascontiguousarray(self._take(rows)).tobytes())


class SparseRows(RowSource):
    """CSR rows; ``indptr`` is in memory, ``indices`` and ``data`` support slices.

    They are arrays, parts of a file, or HDF5 data sets.
    """

    is_sparse = True

    def __init__(
        self,
        files: SourceFiles,
        shape: tuple[int, ...],
        indptr: Array,
        indices: Any,
        data: Any,
        *,
        column_names: tuple[str, ...] | None = None,
    ) -> None:
        # SciPy has no sparse matrices of float16.
        dtype = np.float32 if data.dtype.kind == "f" and data.dtype.itemsize == 2 else data.dtype
        super().__init__(files, shape, dtype, column_names=column_names)
        for part, what in ((indices, "indices"), (data, "data")):
            if len(part.shape) != 1:
                raise refuse_structure(files.name, f"{what} must be a list; got {part.shape}")
        n_entries = min(indices.shape[0], data.shape[0])
        check_indptr(np.asarray(indptr), self.shape[0], n_entries, files.name)
        self._indptr: NDArray[np.int64] = indptr.astype(np.int64)
        self._indices, self._data = indices, data
        entry_bytes = self.dtype.itemsize + np.dtype(indices.dtype).itemsize
        self.row_bytes = INDPTR_BYTES + int(self._indptr[-1]) * entry_bytes // self.shape[0]

    def _read(self, start: int, stop: int) -> csr_array:
        low, high = int(self._indptr[start]), int(self._indptr[stop])
        indptr = self._indptr[start : stop + 1] - low
        return self._make_block(self._data[low:high], self._indices[low:high], indptr)

    def _take(self, indices: Indices) -> csr_array:
        starts, stops = self._indptr[indices], self._indptr[indices + 1]
        indptr = np.concatenate([[0], np.cumsum(stops - starts)])
        data = np.empty(indptr[-1], self.dtype)
        columns = np.empty(indptr[-1], self._indices.dtype)
        for run in group_nearby(starts, stops, max_gap=GAP_VALUES, window=WINDOW_VALUES):
            low, high = int(starts[run.start]), int(stops[run.stop - 1])
            found_data, found_columns = self._data[low:high], self._indices[low:high]
            for k in range(run.start, run.stop):
                target = slice(indptr[k], indptr[k + 1])
                origin = slice(starts[k] - low, stops[k] - low)
                data[target], columns[target] = found_data[origin], found_columns[origin]
        return self._make_block(data, columns, indptr)

    def _make_block(self, data: Any, columns: Any, indptr: Array) -> csr_array:
        data = np.asarray(data).astype(self.dtype, copy=False)
        columns = np.asarray(columns)
        check_indices(columns, self.shape[1], self.files.name)
        block = csr_array((data, columns, indptr), shape=(len(indptr) - 1, self.shape[1]))
        if not block.has_canonical_format:
            block = block.copy()  # sum_duplicates works in place; the source must not change
            block.sum_duplicates()
        return block

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        rows = np.unique(np.linspace(0, self.shape[0] - 1, N_SAMPLED).astype(np.int64))
        block = self._take(rows)
        for part in (block.indptr, block.indices, block.data):
            digest.update(np.ascontiguousarray(part).tobytes())
