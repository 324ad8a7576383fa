"""Rows of an AnnData file: X, a layer, or an array of obsm."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.chunked import ChunkedRows
from isosne.sources.column_selection import check_column
from isosne.sources.memory import SparseRows
from isosne.sources.row_source import RowSource
from isosne.sources.side_columns import as_integers_or_text
from isosne.sources.source_files import SourceFiles


def open_h5ad(path: Path, key: str | None) -> RowSource:
    """Return the rows of X, or of the array that ``key`` names.

    Keys are "X_pca" or "obsm/X_pca" for an array of obsm, and "layers/counts" for a layer. The
    file stays open while the rows are in use. Columns of obs can be ids and labels.
    """
    h5py = require("h5py", "anndata", f"Reading {path}")
    files = SourceFiles(str(path), path)
    with files.reading():
        file = h5py.File(path, "r")
        member = _find_member(file, key, str(path))
        has_names = member == "X" or member.startswith("layers/")
        names = _read_index(file["var"]) if has_names else None
        rows = _open_member(files, file[member], member, names)
        obs = file["obs"]
        rows.side = {name: partial(_read_obs, files, obs, name) for name in _list_columns(obs)}
    return rows


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
            return np.array(_read_index(obs), dtype=np.str_)
        anndata = require("anndata.io", "anndata", f"Reading {files.name}")
        values = anndata.read_elem(obs[name])
    return as_integers_or_text(np.asarray(values))
