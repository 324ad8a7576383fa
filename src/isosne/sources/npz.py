"""Rows of an .npz file: a dense array, or a CSR matrix from `scipy.sparse.save_npz`.

Uncompressed arrays are read from the file in parts; compressed ones are loaded into memory, if
the memory limit allows. One-dimensional arrays with a value per row can be ids and labels.
"""

import zipfile
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import load_npz

from isosne._csr import valid_csr
from isosne._npy import Header, read_header
from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.sources.column_selection import check_column
from isosne.sources.memory import ArrayRows, SparseRows
from isosne.sources.npy import RawRows, RawVector
from isosne.sources.row_source import RowSource
from isosne.sources.side_columns import as_integers_or_text
from isosne.sources.source_files import SourceFiles

SPARSE_MEMBERS = {"format", "shape", "indptr", "indices", "data"}
"""Arrays that `scipy.sparse.save_npz` writes for a CSR or CSC matrix."""
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
            with np.load(self.path, allow_pickle=False) as archive:
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
        if set(npz.members) >= SPARSE_MEMBERS:
            return _open_sparse(npz)
        headers = {name: npz.read_header(name)[0] for name in npz.members}
        name = _choose_array(headers, key, str(path))
        rows = _open_dense(npz, name)
    rows.side = {
        other: partial(_side_column, npz, other)
        for other, header in headers.items()
        if header.shape == rows.shape[:1] and header.dtype.kind in "buifUS"
    }
    return rows


def _choose_array(headers: dict[str, Header], key: str | None, source: str) -> str:
    if key is not None:
        check_column(key, list(headers), "key", source, what="an array")
        return key
    tables = [name for name, header in headers.items() if len(header.shape) == 2]
    if "X" in tables:
        return "X"
    if len(tables) != 1:
        raise DataError(
            f"{source} must have an array X, or only one two-dimensional array; it has "
            f"{', '.join(map(repr, headers)) or 'no arrays'}. "
            f"Name the array to read with {keyword('key')}."
        )
    return tables[0]


def _side_column(npz: NpzFile, name: str) -> Array:
    return as_integers_or_text(npz.load(name))


def _open_dense(npz: NpzFile, name: str) -> RowSource:
    if npz.is_uncompressed(name):
        header, offset = npz.find_values(name)
        return RawRows(npz.files, npz.path, offset, header)
    npz.check_memory(name)
    return ArrayRows(npz.files, npz.load(name))


def _open_sparse(npz: NpzFile) -> RowSource:
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
