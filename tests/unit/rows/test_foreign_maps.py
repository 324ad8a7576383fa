"""Maps of other programs: which columns are coordinates, ids and labels."""

import anndata
import numpy as np
import pandas as pd
import pytest

from isosne.errors import DataError, ParameterError
from isosne.rows import read_map
from tests.conftest import refuses

RNG = np.random.default_rng(0)
Y = RNG.normal(size=(6, 2)).astype(np.float32)
CELLS = [f"cell-{i}" for i in (3, 1, 5, 0, 2, 4)]
KINDS = ["a", "b", "a", "b", "a", "b"]


def frame(first, second, **others):
    return pd.DataFrame({**others, first: Y[:, 0], second: Y[:, 1]})


WRITERS = {
    ".csv": lambda table, path: table.to_csv(path, index=False),
    ".parquet": lambda table, path: table.to_parquet(path, index=False),
}


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize(
    "names", [("x", "y"), ("X", "Y"), ("UMAP1", "UMAP2"), ("tSNE_1", "tSNE_2"), ("a", "b")]
)
def test_coordinates_are_found_by_name_or_as_the_first_numbers(tmp_path, ending, names):
    path = tmp_path / f"map{ending}"
    table = frame(*names, cell=CELLS, Cluster=KINDS)
    table["count"] = [7, 7, 8, 9, 9, 9]
    WRITERS[ending](table, path)
    found = read_map(path)
    np.testing.assert_array_equal(found.embedding, Y)
    assert found.ids.tolist() == CELLS
    assert found.labels.tolist() == KINDS
    assert found.has_ids
    assert found.provenance == {}
    (note,) = found.notes
    assert note == (
        f"The coordinates are the columns {names[0]!r}, {names[1]!r} of {path}; points are matched "
        "with rows by the column 'cell'."
    )


def test_three_axes_and_numbered_components_among_other_columns(tmp_path):
    others = {f"PC{c}": RNG.normal(size=6) for c in range(1, 21)}
    table = frame("umap_1", "umap_2", **others)
    table["umap_3"] = np.arange(6) + 0.5
    table.to_parquet(tmp_path / "map.parquet")
    found = read_map(tmp_path / "map.parquet")
    np.testing.assert_array_equal(found.embedding[:, 2], table["umap_3"])
    np.testing.assert_array_equal(found.embedding[:, :2], Y)


@pytest.mark.parametrize("index", [True, False])
def test_a_frame_without_column_names_is_read(tmp_path, index):
    pd.DataFrame(Y).to_csv(tmp_path / "map.csv", index=index)
    found = read_map(tmp_path / "map.csv")
    np.testing.assert_array_equal(found.embedding, Y)
    assert not found.has_ids
    assert found.ids.tolist() == list(range(6))
    assert found.notes[0].endswith("points are matched with rows by their order.")


def test_the_index_of_a_frame_is_its_ids(tmp_path):
    table = frame("UMAP1", "UMAP2").set_index(pd.Index(CELLS))
    table.to_csv(tmp_path / "map.csv")
    table.to_parquet(tmp_path / "map.parquet")
    for name in ("map.csv", "map.parquet"):
        found = read_map(tmp_path / name)
        assert found.ids.tolist() == CELLS
        np.testing.assert_array_equal(found.embedding, Y)


def test_arrays_are_maps(tmp_path):
    np.save(tmp_path / "map.npy", Y)
    np.savez(tmp_path / "one.npz", X=RNG.normal(size=(6, 9)), umap=Y, y=[1, 0, 1, 0, 1, 0])
    for name in ("map.npy", "one.npz"):
        found = read_map(tmp_path / name)
        np.testing.assert_array_equal(found.embedding, Y)
        assert not found.has_ids
    assert read_map(tmp_path / "one.npz").labels.tolist() == [1, 0, 1, 0, 1, 0]


def test_what_is_no_map_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    advice = "Rename the columns of the coordinates to x and y, or pass the map if this is a table."
    for names in (("a", "target"), ("a", "b", "c", "d")):
        others = dict.fromkeys(names[2:], Y[:, 0])
        frame(*names[:2]).assign(**others, kind=KINDS).to_csv(path, index=False)
        with refuses(
            DataError,
            "A map must have the columns x and y, or two or three columns of coordinates; "
            f"{path} has {', '.join(names)}, kind. {advice}",
        ):
            read_map(path)
    path = tmp_path / "data.npy"
    np.save(path, RNG.normal(size=(6, 5)))
    with refuses(
        DataError,
        f"A map must have one to three columns of coordinates; {path} has shape (6, 5). "
        "Pass a map, not the data.",
    ):
        read_map(path)
    np.save(path, Y.astype(np.float64) * 1e300)
    finite = "Coordinates of a map must be finite in float32. "
    with refuses(DataError, f"{finite}Divide them by a factor."):
        read_map(path)


# --- AnnData


@pytest.fixture
def cells(tmp_path):
    """A file of six cells with two maps, principal components, genes and columns of obs."""
    obs = pd.DataFrame({"kind": pd.Categorical(KINDS), "depth": RNG.normal(size=6)}, index=CELLS)
    maps = {"X_umap": Y, "X_pca": RNG.normal(size=(6, 5))}
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(RNG.normal(size=(6, 4)), obs=obs, obsm=maps).write_h5ad(path)
    return path


def test_an_array_of_obsm_is_a_map(cells):
    for name in (cells, f"{cells}:X_umap", f"{cells}:obsm/X_umap"):
        found = read_map(name)
        np.testing.assert_array_equal(found.embedding, Y)
        assert found.ids.tolist() == CELLS
        assert found.labels is None
        (note,) = found.notes
        assert note == (
            f"The coordinates are the array 'X_umap' of {cells}; points are matched with rows by "
            "the names of obs."
        )


def test_the_array_of_obsm_must_be_clear(cells):
    adata = anndata.read_h5ad(cells)
    adata.obsm["X_tsne"] = Y
    adata.write_h5ad(cells)
    with refuses(
        DataError,
        f"A map must be named if a file has not one array with two or three columns; {cells} has "
        "'X_tsne', 'X_umap'. Name an array of obsm, as in cells.h5ad:X_umap, or save the "
        "coordinates alone.",
    ):
        read_map(cells)
    with refuses(
        ParameterError,
        f"path must name an array of obsm of {cells}; got path='X_map'. Did you mean 'X_umap'?",
    ):
        read_map(f"{cells}:X_map")
