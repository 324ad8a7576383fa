"""Rows of an AnnData file: its X, a layer, or an array of its obsm."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.sources.chunked import ChunkedRows
from isosne.sources.columns import check_column, plain_column
from isosne.sources.memory import SparseRows
from isosne.sources.stored import StoredRows
from isosne.sources.watched import WatchedFiles


def open_h5ad(path: Path, key: str | None) -> StoredRows:
    """Return the rows of X, or of what ``key`` names: "X_pca", "obsm/X_pca", "layers/counts".

    The file stays open while the rows are in use. Columns of obs can be ids and labels.
    """
    h5py = require("h5py", "anndata", str(path))
    watched = WatchedFiles(str(path), path)
    with watched.reading():
        file = h5py.File(path, "r")
        place = _find(file, key, str(path))
        names = _index(file["var"]) if place == "X" or place.startswith("layers/") else None
        rows = _open_member(watched, file[place], place, names)
        obs = file["obs"]
        rows.side = {name: partial(_obs_column, watched, obs, name) for name in _columns(obs)}
    return rows


def _find(file: Any, key: str | None, source: str) -> str:
    places = ["X"] if "X" in file else []
    places += [f"{group}/{name}" for group in ("obsm", "layers") for name in file.get(group, ())]
    if key is None:
        key = "X"
    if f"obsm/{key}" in places:
        return f"obsm/{key}"
    check_column(key, places, "key", source, what="an array")
    return key


def _open_member(
    watched: WatchedFiles, member: Any, place: str, names: tuple[str, ...] | None
) -> StoredRows:
    encoding = member.attrs.get("encoding-type", "array")
    if encoding == "csr_matrix":
        shape, indptr = tuple(member.attrs["shape"]), np.asarray(member["indptr"])
        parts = member["indices"], member["data"]
        return SparseRows(watched, shape, indptr, *parts, column_names=names)
    if encoding != "array":
        raise DataError(
            f"{place} of {watched.name} must be an array or CSR; got {encoding}. "
            "Convert it with scipy.sparse.csr_matrix, and write the file again."
        )
    return ChunkedRows(watched, member, column_names=names)


def _columns(frame: Any) -> list[str]:
    return [str(name) for name in frame.attrs.get("column-order", ())] + ["index"]


def _index(frame: Any) -> tuple[str, ...]:
    stored = frame[frame.attrs.get("_index", "_index")]
    return tuple(stored.asstr()[:].tolist())


def _obs_column(watched: WatchedFiles, obs: Any, name: str) -> Array:
    """Return a column of obs: integers, or anything as text."""
    with watched.reading():
        if name == "index":
            return np.array(_index(obs), dtype=np.str_)
        anndata = require("anndata.io", "anndata", watched.name)
        values = anndata.read_elem(obs[name])
    return plain_column(np.asarray(values))
