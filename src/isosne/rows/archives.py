"""Rows of files that hold several arrays by name: .npz, in memory, and AnnData (.h5ad)."""

import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import load_npz

from isosne._archive import Header, quiet, read_header
from isosne._csr import valid_csr
from isosne._extras import require
from isosne._machine import free_memory
from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.rows.arrays import ArrayRows, SparseRows
from isosne.rows.columns import as_integers_or_text, as_objects, check_column
from isosne.rows.rows import Rows, SourceFiles

SPARSE_MEMBERS = {"format", "shape", "indptr", "indices", "data"}
"""Arrays that `scipy.sparse.save_npz` writes for a CSR or CSC matrix."""
H5AD = ".h5ad"
HOLLOW, SMALL = 2000, 1_000_000
"""Bytes in memory per byte in the file of a list, and bytes that any list may take. Deflate reaches
1032; a list that declares more has no values, and would fill the memory with zeros."""


class NpzFile:
    """The arrays of an .npz file by name, whose headers are checked."""

    def __init__(self, path: Path, memory_limit: int | None = None) -> None:
        self.path = path
        self.memory_limit = free_memory().value if memory_limit is None else memory_limit
        self.files = SourceFiles(str(path), path)
        with self.files.reading(), zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
            self._sizes = {m.filename.removesuffix(".npy"): m.file_size for m in members}
            self.headers = {name: self._read_header(archive, name) for name in self._sizes}

    def _read_header(self, archive: zipfile.ZipFile, name: str) -> Header:
        with archive.open(f"{name}.npy") as file:
            header, header_bytes = read_header(file), file.tell()
        n_bytes = header_bytes + header.n_bytes
        if not header.dtype.hasobject and n_bytes != self._sizes[name]:  # objects are never loaded
            raise ValueError(f"the header of {name} does not fit its content")
        return header

    def load(self, name: str) -> Array:
        """Load an array into memory."""
        self.check_memory(name)
        with self.files.reading(), np.load(self.path, allow_pickle=False) as archive, quiet():
            return np.asarray(archive[name])

    def load_column(self, name: str) -> Array:
        """Load an array as integers or text."""
        return as_integers_or_text(self.load(name))

    def check_memory(self, *names: str, extra: int = 0) -> None:
        """Raise an error if arrays, and what comes on top, exceed the memory limit."""
        needed = sum(self._sizes[name] for name in names) + extra
        if needed > self.memory_limit:
            raise DataError(
                f"{self.path} must fit in memory; it takes {needed / 1e6:,.0f} MB, and "
                f"{self.memory_limit / 1e6:,.0f} MB are available. Save the array as an .npy file "
                f"(np.save), whose rows are read in parts, or raise {keyword('memory_limit')}."
            )


def open_npz(path: Path, key: str | None, memory_limit: int | None) -> Rows:
    """Return the rows of one array of the file, or of the sparse matrix that the file contains."""
    npz = NpzFile(path, memory_limit)
    is_sparse = set(npz.headers) >= SPARSE_MEMBERS
    with npz.files.reading():
        rows = _open_sparse(npz) if is_sparse else ArrayRows(npz.files, _load_table(npz, key))
    rows.side = {
        name: partial(npz.load_column, name)
        for name, header in npz.headers.items()
        if header.shape == rows.shape[:1] and header.dtype.kind in "buifUS"
        if not (is_sparse and name in SPARSE_MEMBERS)
    }
    return rows


def _load_table(npz: NpzFile, key: str | None) -> Array:
    """Return the array that ``key`` names, X, or the only two-dimensional array."""
    if key is not None:
        check_column(key, list(npz.headers), "key", npz.files.name, what="an array")
        return npz.load(key)
    tables = [name for name, header in npz.headers.items() if len(header.shape) == 2]
    if "X" not in tables and len(tables) != 1:
        raise DataError(
            f"{npz.files.name} must have an array X, or only one two-dimensional array; it has "
            f"{', '.join(map(repr, npz.headers)) or 'no arrays'}. "
            f"Name the array to read with {keyword('key')}."
        )
    return npz.load("X" if "X" in tables else tables[0])


def _open_sparse(npz: NpzFile) -> Rows:
    """Open a matrix of `save_npz`; SciPy would round indices that are no integers."""
    npz.check_memory(*SPARSE_MEMBERS)
    shape = tuple(npz.load("shape").tolist())
    if npz.load("format").item() in (b"csr", "csr"):
        parts = [npz.load(name) for name in ("indptr", "indices", "data")]
        return SparseRows(npz.files, shape, *parts)
    npz.check_memory(*SPARSE_MEMBERS, extra=8 * shape[0])  # where each row begins, as CSR
    with quiet():
        X = valid_csr(load_npz(npz.path), npz.files.name)
    return SparseRows(npz.files, X.shape, X.indptr, X.indices, X.data)


def split_key(path: str | Path) -> tuple[Path, str | None]:
    """Return the path and the array of "cells.h5ad:X_umap"; None if no array is named."""
    name, mark, key = str(path).rpartition(f"{H5AD}:")
    return (Path(f"{name}{H5AD}"), key) if mark and key else (Path(path), None)


def open_h5ad(path: Path, key: str | None) -> Rows:
    """Return the rows of X, or of the array that ``key`` names.

    Keys are "X_pca" or "obsm/X_pca" for an array of obsm, and "layers/counts" for a layer. The
    file stays open while the rows are in use. Columns of obs can be ids and labels.
    """
    files = SourceFiles(str(path), path)
    with files.reading():
        file = open_hdf5(path)
        members = [
            f"{group}/{name}" for group in ("obsm", "layers") for name in file.get(group, ())
        ]
        members = ["X", *members] if "X" in file else members
        key = f"obsm/{key}" if f"obsm/{key}" in members else key or "X"
        check_column(key, members, "key", str(path), what="an array")
        names = None if key.startswith("obsm/") else _read_index(file["var"])
        rows = _open_member(files, file[key], key, names)
        obs = file["obs"]
        columns = [*map(str, obs.attrs.get("column-order", ())), "index"]
        rows.side = {name: partial(_read_column, files, obs, name) for name in columns}
    return rows


def obsm_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays of obsm, by name."""
    with SourceFiles(str(path), path).reading(), open_hdf5(path) as file:
        obsm = file.get("obsm", {})
        return {str(name): getattr(obsm[name], "shape", ()) for name in obsm}


def read_obs(path: Path) -> Any:
    """Return obs of an AnnData file as a data frame of pandas."""
    with SourceFiles(str(path), path).reading(), open_hdf5(path) as file:
        return _read_element(file["obs"], path)


def _read_element(element: Any, path: str | Path) -> Any:
    return require("anndata.io", "anndata", f"Reading {path}").read_elem(element)


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file that has all of its data itself.

    HDF5 can take data from any other file: by external links, external storage, and virtual data
    sets. A file from somebody else would read files of this machine.
    """
    h5py = require("h5py", "anndata", f"Reading {path}")
    file = h5py.File(path, "r")
    own = h5py.HardLink, h5py.SoftLink  # a soft link leads to the same file
    foreign = file.visititems_links(lambda name, link: None if isinstance(link, own) else name)

    def find_storage(name: str, member: Any) -> str | None:
        is_foreign = isinstance(member, h5py.Dataset) and (member.external or member.is_virtual)
        return name if is_foreign else None

    def find_hollow(name: str, member: Any) -> str | None:
        is_list = isinstance(member, h5py.Dataset) and member.ndim == 1
        stored = member.id.get_storage_size() if is_list else 0
        return name if is_list and member.nbytes > HOLLOW * stored + SMALL else None

    foreign = foreign or file.visititems(find_storage)
    hollow = None if foreign else file.visititems(find_hollow)
    if foreign or hollow:
        file.close()
    if hollow:
        raise DataError(
            f"An .h5ad file must have the values that it declares; {hollow} of {path} has few or "
            "none of them. Write the file again with anndata.read_h5ad and write_h5ad."
        )
    if foreign:
        raise DataError(
            f"An .h5ad file must have all of its data itself; {foreign} of {path} is in another "
            "file, or may be. Write the file again without external links, external storage and "
            "virtual data sets, with anndata.read_h5ad and write_h5ad."
        )
    return file


def _open_member(files: SourceFiles, member: Any, path: str, names: tuple[str, ...] | None) -> Rows:
    encoding = member.attrs.get("encoding-type", "array")
    if encoding == "csr_matrix":
        shape, indptr = tuple(member.attrs["shape"]), np.asarray(member["indptr"])
        parts = member["indices"], member["data"]
        return SparseRows(files, shape, indptr, *parts, column_names=names)
    if encoding != "array":
        raise DataError(
            f"{path} of {files.name} must be a dense array or a CSR matrix; got {encoding}. "
            "Convert it with scipy.sparse.csr_matrix, and write the file again."
        )
    return ArrayRows(files, member, column_names=names)


def _read_index(frame: Any) -> tuple[str, ...]:
    stored = frame[frame.attrs.get("_index", "_index")]
    return tuple(stored.asstr()[:].tolist())


def _read_column(files: SourceFiles, obs: Any, name: str) -> Array:
    """Return a column of obs, as integers or text."""
    with files.reading():
        if name == "index":
            return as_objects(_read_index(obs))
        return as_integers_or_text(np.asarray(_read_element(obs[name], files.name)))
