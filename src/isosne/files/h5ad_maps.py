"""Maps in AnnData files: an array of obsm, with the names and columns of obs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.errors import DataError
from isosne.files.foreign_maps import make_foreign
from isosne.files.maps import Map, list_columns
from isosne.files.provenance_json import KEY, decode_provenance
from isosne.sources.column_selection import check_column
from isosne.sources.side_columns import as_integers_or_text, parse_integers
from isosne.sources.source_files import SourceFiles

EXTENSION = ".h5ad"
OWN = f"X_{KEY}"
"""Name of the map that isosne writes."""


def split_key(path: str | Path) -> tuple[Path, str | None]:
    """Return the path and the array of "cells.h5ad:X_umap"; None if no array is named."""
    name, mark, key = str(path).rpartition(f"{EXTENSION}:")
    return (Path(f"{name}{EXTENSION}"), key) if mark and key else (Path(path), None)


def is_h5ad(path: str | Path) -> bool:
    """Return whether a path, with or without an array, is that of an AnnData file."""
    return split_key(path)[0].suffix.lower() == EXTENSION


def read_obs(path: str | Path) -> Any:
    """Return obs of an AnnData file as a data frame of pandas."""
    with _opened(split_key(path)[0]) as file:
        return _read(file["obs"], path)


def find_features(path: str | Path) -> str:
    """Return the array of an AnnData file to read for its columns: X, or the map if it has none."""
    file_path, key = split_key(path)
    with _opened(file_path) as file:
        return "X" if "X" in file else f"obsm/{_choose(file, file_path, key)}"


def read_h5ad_map(path: Path, key: str | None) -> Map:
    """Read an array of obsm as a map, with the labels of the column that the map names."""
    with _opened(path) as file:
        key = _choose(file, path, key)
        values = np.asarray(_read(file[f"obsm/{key}"], path))
        obs = _read(file["obs"], path)
        stored = file.get(f"uns/{KEY}/provenance") if key == OWN else None
        line = None if stored is None else stored.asstr()[()]
    if values.ndim != 2 or not 1 <= values.shape[1] <= 3:
        raise DataError(
            f"A map must have one to three columns of coordinates; obsm/{key} of {path} has "
            f"shape {values.shape}. Name another array, as in {path}:X_umap."
        )
    provenance = {} if line is None else decode_provenance(line, str(path))
    table = provenance.get("table")
    name = table.get("label") if isinstance(table, dict) else None
    name = name if name in obs else "label" if "label" in obs else None
    labels = None if name is None else _as_column(obs[name])
    ids = _as_column(obs.index)
    note = f"The map is the array {key!r} of {path}."
    drawn = make_foreign(values, ids, labels, () if provenance else (note,))
    columns = {name: np.asarray(obs[name]) for name in list_columns(provenance, obs)}
    return replace(drawn, provenance=provenance, columns=columns)


def _as_column(values: Any) -> Array:
    return parse_integers(as_integers_or_text(np.asarray(values)))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    h5py = require("h5py", "anndata", f"Reading {path}")
    with SourceFiles(str(path), path).reading(), h5py.File(path, "r") as file:
        yield file


def _choose(file: Any, path: Path, key: str | None) -> str:
    names = [str(name) for name in file.get("obsm", ())]
    if key is not None:
        key = key.removeprefix("obsm/")
        check_column(key, names, "path", str(path), what="an array of obsm")
        return key
    if OWN in names:
        return OWN
    fitting = [name for name in names if _has_width_of_map(file[f"obsm/{name}"])]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(map(repr, fitting)) or "none"
    raise DataError(
        f"A map must be named if obsm has not one array with two or three columns; {path} has "
        f"{listed}. Pass, for example, {path}:{fitting[-1] if fitting else 'X_umap'}."
    )


def _has_width_of_map(element: Any) -> bool:
    shape: tuple[int, ...] = getattr(element, "shape", ())
    return len(shape) == 2 and 2 <= shape[1] <= 3


def _read(element: Any, path: str | Path) -> Any:
    return require("anndata.io", "anndata", f"Reading {path}").read_elem(element)
