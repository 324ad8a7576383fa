"""Maps of other programs: which columns are coordinates, ids and labels."""

import anndata
import numpy as np
import pandas as pd
import pytest

from isosne.errors import DataError, ParameterError
from isosne.rows import MapWriter, read_map
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
def test_coordinates_are_found_by_name_or_as_the_only_fractions(tmp_path, ending, names):
    path = tmp_path / f"map{ending}"
    WRITERS[ending](frame(*names, cell=CELLS, kind=KINDS, count=[7, 7, 8, 9, 9, 9]), path)
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


def test_a_column_that_only_counts_the_rows_is_neither_an_axis_nor_an_identifier(tmp_path):
    frame("a", "b", row=np.arange(1, 7)).to_csv(tmp_path / "map.csv", index=False)
    found = read_map(tmp_path / "map.csv")
    np.testing.assert_array_equal(found.embedding, Y)
    assert not found.has_ids


def test_a_text_file_without_a_header_and_integers_alone_are_read(tmp_path):
    np.savetxt(tmp_path / "map.txt", Y)
    np.testing.assert_allclose(read_map(tmp_path / "map.txt").embedding, Y)
    (tmp_path / "map.csv").write_text("left,right\n3,4\n1,7\n2,2\n")
    assert read_map(tmp_path / "map.csv").embedding.tolist() == [[3, 4], [1, 7], [2, 2]]


def test_arrays_are_maps(tmp_path):
    np.save(tmp_path / "map.npy", Y)
    np.savez(tmp_path / "one.npz", X=RNG.normal(size=(6, 9)), umap=Y, y=[1, 0, 1, 0, 1, 0])
    np.savez(tmp_path / "two.npz", embedding=Y, X=Y + 1)
    for name in ("map.npy", "one.npz", "two.npz"):
        found = read_map(tmp_path / name)
        np.testing.assert_array_equal(found.embedding, Y)
        assert not found.has_ids
    assert read_map(tmp_path / "one.npz").labels.tolist() == [1, 0, 1, 0, 1, 0]


def test_what_is_no_map_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    pd.DataFrame(RNG.normal(size=(6, 5)), columns=list("abcde")).to_csv(path, index=False)
    with refuses(
        DataError,
        "A map must have the columns x and y, or two or three columns of coordinates; "
        f"{path} has a, b, c, d, e. Rename the columns of the coordinates to x and y.",
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
    path = tmp_path / "data.npz"
    np.savez(path, a=Y, b=Y)
    with refuses(
        DataError,
        "A map must be the array 'embedding', or the only array with two or three columns; "
        f"{path} has 'a', 'b'. Save the coordinates as the array 'embedding'.",
    ):
        read_map(path)
    path = tmp_path / "far.npy"
    np.save(path, Y.astype(np.float64) * 1e300)
    with refuses(
        DataError,
        "Coordinates of a map must be finite in float32. Divide them by a factor.",
    ):
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
        assert found.notes == (f"The map is the array 'X_umap' of {cells}.",)


def test_the_array_of_obsm_must_be_clear(cells):
    adata = anndata.read_h5ad(cells)
    adata.obsm["X_tsne"] = Y
    adata.write_h5ad(cells)
    with refuses(
        DataError,
        f"A map must be named if obsm has not one array with two or three columns; {cells} has "
        f"'X_tsne', 'X_umap'. Pass, for example, {cells}:X_umap.",
    ):
        read_map(cells)
    with refuses(
        ParameterError,
        f"path must name an array of obsm of {cells}; got path='X_map'. Did you mean 'X_umap'?",
    ):
        read_map(f"{cells}:X_map")
    with refuses(
        DataError,
        f"A map must have one to three columns of coordinates; obsm/X_pca of {cells} has shape "
        f"(6, 5). Name another array, as in {cells}:X_umap.",
    ):
        read_map(f"{cells}:X_pca")


def test_an_h5ad_map_keeps_obs_and_its_labels(cells, tmp_path):
    obs = anndata.read_h5ad(cells).obs
    path, about = tmp_path / "map.h5ad", {"table": {"label": "kind"}}
    with MapWriter(path, CELLS, 2, about, labels=KINDS, obs=obs) as writer:
        writer.write(Y[:4])
        writer.write(Y[4:])
    adata = anndata.read_h5ad(path)
    pd.testing.assert_frame_equal(adata.obs, obs, check_index_type=False)
    np.testing.assert_array_equal(adata.obsm["X_isosne"], Y)
    found = read_map(path)
    assert found.labels.tolist() == KINDS
    assert found.provenance == about
    assert found.ids.tolist() == CELLS
