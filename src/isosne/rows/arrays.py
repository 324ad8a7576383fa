"""Rows of arrays: in memory, in .npy and .npz files, of zarr and HDF5; dense or CSR.

Values that are contiguous in a file are read, not mapped: pages of a memory map count as memory of
the process, and a mapped file that is truncated kills it (docs/decisions/0008-landmarks.md).
Compressed arrays of an .npz file are loaded, if the memory limit allows. Its one-dimensional arrays
with a value per row can be ids and labels. If y numbers the classes and another array has their
names, labels are these names.
"""

import mmap
import os
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from isosne._archive import Header, quiet, read_header
from isosne._csr import check_indices, check_indptr, refuse_structure, valid_csr
from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.rows.columns import as_integers_or_text, check_column
from isosne.rows.row_source import Indices, RowSource, group_nearby
from isosne.rows.source_files import SourceFiles

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


GAP_BYTES = 16_384
"""Gaps up to this size are read and dropped, which is faster than a seek and another read.
Chosen, not measured: four pages of 4 KB."""
WINDOW_BYTES = 4_000_000
"""Largest read of several rows with gaps between them. Chosen, not measured."""


class RawVector:
    """Consecutive values in a file that are read by slices."""

    def __init__(self, path: Path, offset: int, n_values: int, dtype: np.dtype[Any]) -> None:
        self.path, self.offset, self.shape, self.dtype = path, offset, (n_values,), dtype
        needed, found = offset + n_values * dtype.itemsize, path.stat().st_size
        if found < needed:
            raise DataError(
                f"{path} must have {needed:,} bytes according to its header; got {found:,}. "
                "The file is truncated: write or copy it again."
            )

    def __getitem__(self, part: slice) -> Array:
        with self.path.open("rb", buffering=0) as file:
            return self.fetch(file, part.start, part.stop)

    def fetch(self, file: BinaryIO, start: int, stop: int) -> Array:
        """Return the values from `start` up to `stop`, read from an open file."""
        file.seek(self.offset + start * self.dtype.itemsize)
        values = np.fromfile(file, self.dtype, stop - start)
        if len(values) < stop - start:
            raise EOFError("unexpected end of file")
        return values


class RawRows(RowSource):
    """Rows of a two-dimensional array in a file, in C or Fortran order."""

    def __init__(self, files: SourceFiles, path: Path, offset: int, header: Header) -> None:
        super().__init__(files, header.shape, header.dtype)
        self._is_fortran = header.is_fortran
        n_values = self.shape[0] * self.shape[1]
        self._values = RawVector(path, offset, n_values, header.dtype)

    def _read(self, start: int, stop: int) -> Array:
        n_rows, n_columns = self.shape
        with self._values.path.open("rb", buffering=0) as file:
            if not self._is_fortran:
                found = self._values.fetch(file, start * n_columns, stop * n_columns)
                return found.reshape(-1, n_columns).astype(self.dtype, copy=False)
            out = np.empty((stop - start, n_columns), self.dtype)
            for c in range(n_columns):
                out[:, c] = self._values.fetch(file, c * n_rows + start, c * n_rows + stop)
        return out

    def _take(self, indices: Indices) -> Array:
        n_rows, n_columns = self.shape
        out = np.empty((len(indices), n_columns), self.dtype)
        with self._values.path.open("rb", buffering=0) as file:
            if not self._is_fortran:
                self._gather(file, indices, 0, n_columns, out)
                return out
            for c in range(n_columns):
                self._gather(file, indices, c * n_rows, 1, out[:, c : c + 1])
        return out

    def _gather(
        self, file: BinaryIO, indices: Indices, first: int, n_values: int, out: Array
    ) -> None:
        """Fill ``out`` with the records of `n_values` values at `indices`, counted from `first`."""
        record_bytes = n_values * self.dtype.itemsize
        max_gap, window = GAP_BYTES // record_bytes, WINDOW_BYTES // record_bytes
        for run in group_nearby(indices, indices + 1, max_gap=max_gap, window=window):
            low, high = int(indices[run.start]), int(indices[run.stop - 1]) + 1
            start, stop = first + low * n_values, first + high * n_values
            found = self._values.fetch(file, start, stop).reshape(-1, n_values)
            out[run] = found[indices[run] - low]


def open_npy(path: Path) -> RawRows:
    """Return the rows of an .npy file."""
    files = SourceFiles(str(path), path)
    with files.reading(), path.open("rb") as file:
        header = read_header(file)
        return RawRows(files, path, file.tell(), header)


def open_memmap(X: np.memmap[Any, Any]) -> RawRows | None:
    """Return the rows of the file behind a memory map, or None for a view of a part of it."""
    is_whole = isinstance(X.base, mmap.mmap) and X.mode == "r" and X.flags.forc
    if X.filename is None or not is_whole:
        return None
    path = Path(X.filename)
    header = Header(X.shape, not X.flags.c_contiguous, X.dtype)
    return RawRows(SourceFiles(str(path), path), path, X.offset, header)


SPARSE_MEMBERS = {"format", "shape", "indptr", "indices", "data"}
"""Arrays that `scipy.sparse.save_npz` writes for a CSR or CSC matrix."""
LABELS = "y"
CLASS_NAMES = ("classes", "class_names", "target_names", "label_names", "names")
"""Names of the array with labels, and of arrays with the names of its classes."""
LOCAL_HEADER_BYTES = 30
NAME_LENGTH_AT, EXTRA_LENGTH_AT = 26, 28
"""Size of the fixed part of a local file header, and the offsets of the lengths of its two variable
fields (zip specification APPNOTE.TXT, section 4.3.7)."""


class NpzFile:
    """The arrays of an .npz file by name."""

    def __init__(self, path: Path, memory_limit: int) -> None:
        self.path, self.memory_limit = path, memory_limit
        self.files = SourceFiles(str(path), path)
        with self.files.reading(), zipfile.ZipFile(path) as archive:
            found = [m for m in archive.infolist() if m.filename.endswith(".npy")]
            self.members = {m.filename.removesuffix(".npy"): m for m in found}

    def is_uncompressed(self, *names: str) -> bool:
        """Return whether all of the arrays are stored uncompressed."""
        return all(self.members[n].compress_type == zipfile.ZIP_STORED for n in names)

    def read_header(self, name: str) -> tuple[Header, int]:
        """Return the .npy header of an array, and its size in bytes."""
        member = self.members[name]
        with zipfile.ZipFile(self.path) as archive, archive.open(member) as file:
            header, header_bytes = read_header(file), file.tell()
        n_bytes = header_bytes + header.n_bytes
        if not header.dtype.hasobject and n_bytes != member.file_size:  # objects are never loaded
            raise ValueError(f"the header of {name} does not fit its content")
        return header, header_bytes

    def find_values(self, name: str) -> tuple[Header, int]:
        """Return the header of an uncompressed array, and the offset of its values in the file."""
        header, header_bytes = self.read_header(name)
        start = self.members[name].header_offset
        with self.path.open("rb") as file:
            file.seek(start)
            local = file.read(LOCAL_HEADER_BYTES)
        name_bytes, extra_bytes = (
            int.from_bytes(local[k : k + 2], "little") for k in (NAME_LENGTH_AT, EXTRA_LENGTH_AT)
        )
        return header, start + LOCAL_HEADER_BYTES + name_bytes + extra_bytes + header_bytes

    def load(self, name: str) -> Array:
        """Load an array into memory."""
        with self.files.reading():
            self.read_header(name)
            if not self.is_uncompressed(name):
                self.check_memory(name)
            with np.load(self.path, allow_pickle=False) as archive, quiet():
                return np.asarray(archive[name])

    def check_memory(self, *names: str) -> None:
        """Raise an error if arrays together exceed the memory limit."""
        needed = sum(self.members[name].file_size for name in names)
        if needed > self.memory_limit:
            raise DataError(
                f"{self.path} is compressed and must fit in memory; it takes "
                f"{needed / 1e6:,.0f} MB uncompressed, and {self.memory_limit / 1e6:,.0f} MB are "
                "available. Save it uncompressed (np.savez, or save_npz with compressed=False), "
                f"or raise {keyword('memory_limit')}."
            )


def open_npz(path: Path, key: str | None, memory_limit: int) -> RowSource:
    """Return the rows of one array of the file, or of the sparse matrix that the file contains."""
    npz = NpzFile(path, memory_limit)
    with npz.files.reading():
        headers = {name: npz.read_header(name)[0] for name in npz.members}
        is_sparse = set(headers) >= SPARSE_MEMBERS
        rows = _open_sparse(npz) if is_sparse else _open_dense(npz, _choose_array(npz, key))
    rows.side = {
        other: partial(_side_column, npz, other, rows.shape[1])
        for other, header in headers.items()
        if header.shape == rows.shape[:1] and header.dtype.kind in "buifUS"
        if not (is_sparse and other in SPARSE_MEMBERS)
    }
    return rows


def _choose_array(npz: NpzFile, key: str | None) -> str:
    names = list(npz.members)
    if key is not None:
        check_column(key, names, "key", npz.files.name, what="an array")
        return key
    tables = [name for name in names if len(npz.read_header(name)[0].shape) == 2]
    if "X" in tables:
        return "X"
    if len(tables) != 1:
        raise DataError(
            f"{npz.files.name} must have an array X, or only one two-dimensional array; it has "
            f"{', '.join(map(repr, names)) or 'no arrays'}. "
            f"Name the array to read with {keyword('key')}."
        )
    return tables[0]


def _side_column(npz: NpzFile, name: str, n_features: int) -> Array:
    values = as_integers_or_text(npz.load(name))
    if name != LABELS or values.dtype.kind not in "iu":
        return values
    names = _find_class_names(npz, values, n_features)
    return values if names is None else names[values]


def _find_class_names(npz: NpzFile, labels: Array, n_features: int) -> Array | None:
    """Return the names of numbered classes, if an array of the file has one for each."""
    n_classes = int(labels.max()) + 1
    if labels.min() < 0:
        return None
    for name in (name for name in CLASS_NAMES if name in npz.members):
        header = npz.read_header(name)[0]
        if len(header.shape) != 1 or header.dtype.kind not in "US":
            continue
        n_names = header.shape[0]
        # "names" can also be those of the features.
        fits = n_names == n_classes != n_features if name == "names" else n_names >= n_classes
        if fits:
            return as_integers_or_text(npz.load(name))
    return None


def _open_dense(npz: NpzFile, name: str) -> RowSource:
    if npz.is_uncompressed(name):
        header, offset = npz.find_values(name)
        return RawRows(npz.files, npz.path, offset, header)
    npz.check_memory(name)
    return ArrayRows(npz.files, npz.load(name))


def _open_sparse(npz: NpzFile) -> RowSource:
    """Open a matrix of `save_npz`; the headers of all of its arrays are checked already."""
    kind = npz.load("format").item()
    if kind in (b"csr", "csr") and npz.is_uncompressed("indices", "data"):
        shape, indptr = tuple(npz.load("shape").tolist()), npz.load("indptr")
        indices, data = _open_vector(npz, "indices"), _open_vector(npz, "data")
        return SparseRows(npz.files, shape, indptr, indices, data)
    npz.check_memory(*SPARSE_MEMBERS & set(npz.members))
    X = valid_csr(load_npz(npz.path), npz.files.name)
    return SparseRows(npz.files, X.shape, X.indptr, X.indices, X.data)


def _open_vector(npz: NpzFile, name: str) -> RawVector:
    header, offset = npz.find_values(name)
    return RawVector(npz.path, offset, header.shape[0], header.dtype)


CHUNK_BYTES = 1_000_000
"""Bytes that are read at a time from an array without chunks. Chosen, not
measured."""
ZARR_METADATA = ("zarr.json", ".zarray", ".zgroup")
"""Files that mark a folder as zarr: version 3, and arrays and groups of version 2."""


class ChunkedRows(RowSource):
    """Rows of any object with ``shape``, ``dtype``, ``chunks`` and slicing."""

    def __init__(
        self, files: SourceFiles, array: Any, *, column_names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(files, array.shape, array.dtype, column_names=column_names)
        self._array = array
        has_chunks = bool(array.chunks)
        self._chunk_rows = int(array.chunks[0]) if has_chunks else CHUNK_BYTES // self.row_bytes + 1

    def _read(self, start: int, stop: int) -> Array:
        return np.asarray(self._array[start:stop], dtype=self.dtype)

    def _take(self, indices: Indices) -> Array:
        out = np.empty((len(indices), self.shape[1]), self.dtype)
        chunks = indices // self._chunk_rows
        for c in np.unique(chunks).tolist():
            low, high = np.searchsorted(chunks, [c, c + 1])
            first, last = int(indices[low]), int(indices[high - 1])
            out[low:high] = self._array[first : last + 1][indices[low:high] - first]
        return out


class ZarrRows(ChunkedRows):
    """Rows of a zarr array.

    The fingerprint uses the metadata file and three rows: the chunks are too many files to check.
    """

    def _digest(self, digest: Any) -> None:
        super()._digest(digest)
        for row in (0, self.shape[0] // 2, self.shape[0] - 1):
            digest.update(np.ascontiguousarray(self._read(row, row + 1)).tobytes())


def is_zarr(path: Path) -> bool:
    """Return whether a folder is a zarr array or group."""
    return bool(_metadata_files(path))


def open_zarr(path: Path, key: str | None) -> ZarrRows:
    """Return the rows of a zarr array, or of the array of a group that ``key`` names."""
    zarr = require("zarr", "zarr", f"Reading {path}")
    folder = path
    metadata = _metadata_files(path)
    if not metadata:
        raise DataError(
            f"{path} must be a folder that zarr wrote; it has no {' or '.join(ZARR_METADATA)}. "
            "Name the folder of an array or a group."
        )
    _check_links(path)
    with SourceFiles(str(path), *metadata).reading():
        found = zarr.open(path, mode="r")
        if isinstance(found, zarr.Group):
            names = sorted(found.array_keys())
            if key is None and len(names) == 1:
                key = names[0]
            check_column(key or "", names, "key", str(path), what="an array")
            folder, found = path / str(key), found[key]
        return ZarrRows(SourceFiles(str(path), *_metadata_files(folder)), found)


def _check_links(folder: Path) -> None:
    """Refuse a store with links to other folders: its chunks would be files of somebody else."""
    whole = folder.resolve()
    for parent, folders, files in os.walk(whole):
        for name in (*folders, *files):
            member = Path(parent, name)
            if member.is_symlink() and not member.resolve().is_relative_to(whole):
                raise DataError(
                    f"A zarr store must have all of its data itself; {member} is a symbolic link "
                    "to another folder. Copy the store with its data, without links."
                )


def wrap_zarr_array(array: Any) -> ZarrRows:
    """Return the rows of a zarr array that is already open."""
    return ZarrRows(SourceFiles("X"), array)


def _metadata_files(folder: Path) -> list[Path]:
    return [folder / name for name in ZARR_METADATA if (folder / name).is_file()]
