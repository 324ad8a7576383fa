"""Rows of an .npz file: a plain array, or CSR as `scipy.sparse.save_npz` writes it.

What is stored as it is gets read in place; what is compressed is unpacked into memory, if the
limit allows. Members with one dimension, as long as the table, can be ids and labels.
"""

import zipfile
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import load_npz

from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.columns import check_column, plain_column
from isosne.sources.memory import ArrayRows, SparseRows
from isosne.sources.raw import Header, RawRows, RawVector, read_header
from isosne.sources.stored import StoredRows
from isosne.sources.watched import WatchedFiles

SPARSE_MEMBERS = {"format", "shape", "indptr", "indices", "data"}
LOCAL_HEADER = 30
"""Bytes of a member's own header in a zip file, before its name."""


class Archive:
    """The members of an .npz file by name."""

    def __init__(self, path: Path, memory_limit: int) -> None:
        self.path, self.memory_limit = path, memory_limit
        self.watched = WatchedFiles(str(path), path)
        with self.watched.reading(), zipfile.ZipFile(path) as archive:
            self.members = {i.filename.removesuffix(".npy"): i for i in archive.infolist()}

    def is_stored(self, *names: str) -> bool:
        """Return whether members lie in the file uncompressed."""
        return all(self.members[n].compress_type == zipfile.ZIP_STORED for n in names)

    def header(self, name: str) -> tuple[Header, int]:
        """Return what a member's header says, and how long it is."""
        with zipfile.ZipFile(self.path) as archive, archive.open(self.members[name]) as file:
            return read_header(file), file.tell()

    def values_at(self, name: str) -> tuple[Header, int]:
        """Return the header of a stored member, and where in the file its values begin."""
        header, header_bytes = self.header(name)
        start = self.members[name].header_offset
        with self.path.open("rb") as file:
            file.seek(start)
            local = file.read(LOCAL_HEADER)
        name_bytes, extra_bytes = (int.from_bytes(local[k : k + 2], "little") for k in (26, 28))
        return header, start + LOCAL_HEADER + name_bytes + extra_bytes + header_bytes

    def load(self, name: str) -> Array:
        """Return a member as an array in memory."""
        with self.watched.reading(), np.load(self.path, allow_pickle=False) as archive:
            return np.asarray(archive[name])

    def check_fits(self, *names: str) -> None:
        """Refuse to unpack more than the limit."""
        needed = sum(self.members[name].file_size for name in names)
        if needed > self.memory_limit:
            raise DataError(
                f"{self.path} is compressed and must fit in memory; it takes "
                f"{needed / 1e6:,.0f} MB unpacked, and {self.memory_limit / 1e6:,.0f} MB may be "
                "used. Save it uncompressed (np.savez; save_npz with compressed=False), or raise "
                "memory_limit."
            )


def open_npz(path: Path, key: str | None, memory_limit: int) -> StoredRows:
    """Return the rows of one array of the file, or of the CSR matrix that it is."""
    archive = Archive(path, memory_limit)
    with archive.watched.reading():
        if set(archive.members) >= SPARSE_MEMBERS:
            return _open_sparse(archive)
        headers = {name: archive.header(name)[0] for name in archive.members}
        name = _choose_member(headers, key, str(path))
        rows = _open_dense(archive, name)
    rows.side = {
        other: partial(_side_column, archive, other)
        for other, header in headers.items()
        if header.shape == rows.shape[:1] and header.dtype.kind in "buifUS"
    }
    return rows


def _choose_member(headers: dict[str, Header], key: str | None, source: str) -> str:
    if key is not None:
        check_column(key, list(headers), "key", source, what="an array")
        return key
    tables = [name for name, header in headers.items() if len(header.shape) == 2]
    if "X" in tables:
        return "X"
    if len(tables) != 1:
        raise DataError(
            f"{source} must have an array X, or one array with two dimensions; it has "
            f"{', '.join(map(repr, headers)) or 'none'}. Name the one to read with key."
        )
    return tables[0]


def _side_column(archive: Archive, name: str) -> Array:
    return plain_column(archive.load(name))


def _open_dense(archive: Archive, name: str) -> StoredRows:
    if archive.is_stored(name):
        header, offset = archive.values_at(name)
        return RawRows(archive.watched, archive.path, offset, header)
    archive.check_fits(name)
    return ArrayRows(archive.watched, archive.load(name))


def _open_sparse(archive: Archive) -> StoredRows:
    kind = archive.load("format").item()
    if kind in (b"csr", "csr") and archive.is_stored("indices", "data"):
        shape, indptr = tuple(archive.load("shape").tolist()), archive.load("indptr")
        indices, data = _vector(archive, "indices"), _vector(archive, "data")
        return SparseRows(archive.watched, shape, indptr, indices, data)
    archive.check_fits(*SPARSE_MEMBERS & set(archive.members))
    X = load_npz(archive.path).tocsr()
    return SparseRows(archive.watched, X.shape, X.indptr, X.indices, X.data)


def _vector(archive: Archive, name: str) -> RawVector:
    header, offset = archive.values_at(name)
    return RawVector(archive.path, offset, header.shape[0], header.dtype)
