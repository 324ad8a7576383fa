"""AnnData files on the command line: read, and colored by genes."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from isosne import quality
from isosne.rows import read_map
from tests.unit.cli.conftest import SHORT, short_tsne

N = 80
KINDS = np.array(["B", "T"] * (N // 2))
COARSE = ("--dpi", 20)


@pytest.fixture
def cells(here):
    """Eighty cells in cells.h5ad: sparse counts of six genes, components, a map, and obs."""
    rng = np.random.default_rng(0)
    X = rng.poisson(2, (N, 6)).astype(np.float32)
    components = rng.normal(size=(N, 4)) + (KINDS == "B")[:, None] * 5
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(KINDS),
            "cluster": pd.Categorical([str(i % 11) for i in range(N)]),
            "depth": rng.normal(size=N),
        },
        index=[f"cell-{i}" for i in rng.permutation(N)],
    )
    adata = anndata.AnnData(csr_matrix(X), obs=obs)
    adata.var_names = [f"gene{g}" for g in range(6)]
    adata.obsm["X_pca"], adata.obsm["X_umap"] = components, components[:, :2]
    adata.layers["doubled"] = csr_matrix(2 * X)
    adata.write_h5ad("cells.h5ad")
    return adata


def test_points_of_a_map_have_the_names_of_the_cells(cells, isosne):
    isosne("embed", "cells.h5ad", "--key", "X_pca", *SHORT, "-q", "-o", "map.csv")
    found = read_map("map.csv")
    assert found.ids.tolist() == cells.obs_names.tolist()
    expected = short_tsne().fit_transform(cells.obsm["X_pca"])
    np.testing.assert_array_equal(found.embedding, expected)


@pytest.mark.parametrize("map_file", ["cells.h5ad", "cells.h5ad:X_umap"])
def test_a_map_of_another_program_is_measured(cells, isosne_json, map_file):
    found = isosne_json("measure", "cells.h5ad", map_file, "--key", "X_pca", "--label", "kind")
    expected = quality.report(cells.obsm["X_pca"], cells.obsm["X_umap"], KINDS, random_state=0)
    assert found["auc_rnx"] == pytest.approx(expected.as_dict()["auc_rnx"], rel=1e-6)
    assert found["knn_accuracy"] == expected.as_dict()["knn_accuracy"]


def test_points_are_colored_by_genes_and_columns_of_obs(cells, drawn, isosne):
    for color in ("gene3", "depth", "kind", "cluster"):
        isosne("plot", "cells.h5ad", "--color", color, "-o", f"{color}.png", *COARSE, "-q")
    gene, depth, kind, cluster = (each["color"] for each in drawn)
    np.testing.assert_array_equal(gene, cells[:, "gene3"].X.toarray().ravel())
    np.testing.assert_array_equal(depth, cells.obs["depth"])
    assert kind.tolist() == KINDS.tolist()
    assert cluster.tolist() == [i % 11 for i in range(N)]


def test_a_layer_can_color_a_map_whose_cells_are_in_another_order(cells, drawn, isosne):
    turned = pd.DataFrame(cells.obsm["X_umap"], columns=["U1", "U2"], index=cells.obs_names)[::-1]
    turned.to_csv("umap.csv")
    line = ("--table", "cells.h5ad", "--key", "layers/doubled", "--color", "gene1")
    isosne("plot", "umap.csv", *line, "-o", "map.png", *COARSE, "-q")
    expected = 2 * cells[:, "gene1"].X.toarray().ravel()[::-1]
    np.testing.assert_array_equal(drawn[0]["color"], expected)
