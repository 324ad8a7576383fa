"""Rows of an .npz file: a dense array, or a CSR matrix from `scipy.sparse.save_npz`.

Uncompressed arrays are read from the file in parts; compressed ones are loaded into memory, if
the memory limit allows. One-dimensional arrays with a value per row can be ids and labels. If y
numbers the classes and another array has their names, labels are these names.
"""

import zipfile
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import load_npz

from isosne._csr import valid_csr
from isosne._npy import Header, quiet, read_header
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
