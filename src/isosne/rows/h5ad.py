"""Rows of an AnnData file: X, a layer, or an array of obsm."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.rows.arrays import ChunkedRows, SparseRows
from isosne.rows.columns import as_integers_or_text, as_objects, check_column
from isosne.rows.row_source import RowSource
from isosne.rows.source_files import SourceFiles


def open_h5ad(path: Path, key: str | None) -> RowSource:
    """Return the rows of X, or of the array that ``key`` names.

    Keys are "X_pca" or "obsm/X_pca" for an array of obsm, and "layers/counts" for a layer. The
    file stays open while the rows are in use. Columns of obs can be ids and labels.
    """
    files = SourceFiles(str(path), path)
    with files.reading():
        file = open_hdf5(path)
        member = _find_member(file, key, str(path))
        has_names = member == "X" or member.startswith("layers/")
        names = _read_index(file["var"]) if has_names else None
        rows = _open_member(files, file[member], member, names)
        obs = file["obs"]
        rows.side = {name: partial(_read_obs, files, obs, name) for name in _list_columns(obs)}
    return rows


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file that has all of its data itself.

    HDF5 can take data from any other file: by external links, external storage, and virtual data
    sets. A file from somebody else would read files of this machine.
    """
    h5py = require("h5py", "anndata", f"Reading {path}")
    file = h5py.File(path, "r")
    foreign = file.visititems_links(partial(_find_link, h5py))
    foreign = foreign or file.visititems(partial(_find_storage, h5py))
    if foreign:
        file.close()
        raise DataError(
            f"An .h5ad file must have all of its data itself; {foreign} of {path} is in another "
            "file, or may be. Write the file again without external links, external storage and "
            "virtual data sets, with anndata.read_h5ad and write_h5ad."
        )
    return file


def _find_link(h5py: Any, name: str, link: Any) -> str | None:
    """Return the name of a link to another file; a soft link leads to the same file."""
    return None if isinstance(link, h5py.HardLink | h5py.SoftLink) else name


def _find_storage(h5py: Any, name: str, member: Any) -> str | None:
    is_foreign = isinstance(member, h5py.Dataset) and (member.external or member.is_virtual)
    return name if is_foreign else None


def _find_member(file: Any, key: str | None, source: str) -> str:
    """Return the HDF5 path of the array that a key names."""
    members = ["X"] if "X" in file else []
    members += [f"{group}/{name}" for group in ("obsm", "layers") for name in file.get(group, ())]
    if key is None:
        key = "X"
    if f"obsm/{key}" in members:
        return f"obsm/{key}"
    check_column(key, members, "key", source, what="an array")
    return key


def _open_member(
    files: SourceFiles, member: Any, path: str, names: tuple[str, ...] | None
) -> RowSource:
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
    return ChunkedRows(files, member, column_names=names)


def _list_columns(frame: Any) -> list[str]:
    return [str(name) for name in frame.attrs.get("column-order", ())] + ["index"]


def _read_index(frame: Any) -> tuple[str, ...]:
    stored = frame[frame.attrs.get("_index", "_index")]
    return tuple(stored.asstr()[:].tolist())


def _read_obs(files: SourceFiles, obs: Any, name: str) -> Array:
    """Return a column of obs, as integers or text."""
    with files.reading():
        if name == "index":
            return as_objects(_read_index(obs))
        anndata = require("anndata.io", "anndata", f"Reading {files.name}")
        values = anndata.read_elem(obs[name])
    return as_integers_or_text(np.asarray(values))
