"""`isosne.scanpy.tsne` without scanpy: what it reads, what it writes, what it refuses."""

import anndata
import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from isosne import TSNE, GaussianKernel, IsolationKernel
from isosne.errors import DataError, ParameterError
from isosne.quality import compare
from isosne.scanpy import tsne
from tests.conftest import refuses


@pytest.fixture
def cells():
    """Eighty cells of two kinds with sixty genes, and ten principal components."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (40, 60)), rng.normal(2, 1, (40, 60))])
    adata = anndata.AnnData(X)
    left, values, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    adata.obsm["X_pca"] = left[:, :10] * values[:10]
    adata.obs["kind"] = ["a"] * 40 + ["b"] * 40
    return adata


def test_the_map_is_that_of_the_estimator_on_the_principal_components(cells):
    assert tsne(cells) is None
    expected = TSNE(random_state=0).fit_transform(cells.obsm["X_pca"])
    np.testing.assert_array_equal(cells.obsm["X_isosne"], expected)
    assert cells.uns["isosne"] == {
        "params": {"kernel": "owner", "n_components": 2, "random_state": 0}
    }
    assert list(cells.obs) == ["kind"]
    assert not cells.obsp


def test_several_representations_are_views(cells):
    cells.layers["counts"] = csr_matrix(np.abs(cells.X).round())
    views = {"rna": cells.obsm["X_pca"], "raw": cells.layers["counts"]}
    expected = TSNE(random_state=0).fit_transform(views)
    for use_rep in (["X_pca", "counts"], {"rna": "X_pca", "raw": "counts"}):
        tsne(cells, use_rep=use_rep, trust=True)
        np.testing.assert_array_equal(cells.obsm["X_isosne"], expected)
        assert cells.uns["isosne"]["params"]["use_rep"] == use_rep
    trusts = [compare(v, expected, n_queries=80).trust().agreement for v in views.values()]
    np.testing.assert_allclose(cells.obs["isosne_trust"], np.mean(trusts, axis=0))


def test_a_copy_leaves_the_object_as_it_is(cells):
    found = tsne(cells, n_pcs=4, key_added="map", random_state=3, copy=True)
    expected = TSNE(random_state=3).fit_transform(cells.obsm["X_pca"][:, :4])
    np.testing.assert_array_equal(found.obsm["map"], expected)
    assert found.uns["map"]["params"]["n_pcs"] == 4
    assert list(cells.obsm) == ["X_pca"]
    assert not cells.uns


@pytest.mark.parametrize(
    ("n_genes", "settings", "name"),
    [(50, {}, "X"), (51, {}, "X_pca"), (60, {"n_pcs": 0}, "X"), (60, {"use_rep": "X"}, "X")],
)
def test_the_representation_is_chosen_as_scanpy_chooses_it(cells, n_genes, settings, name):
    cells = cells[:, :n_genes].copy()
    tsne(cells, **settings)
    values = cells.X if name == "X" else cells.obsm[name]
    expected = TSNE(random_state=0).fit_transform(values)
    np.testing.assert_array_equal(cells.obsm["X_isosne"], expected)


def test_affinities_are_symmetric_sparse_and_sum_to_one(cells):
    for kernel in ("owner", GaussianKernel(5), IsolationKernel(8)):
        tsne(cells, kernel=kernel, affinities=True)
        P = cells.obsp["isosne_connectivities"]
        assert issparse(P)
        assert P.shape == (80, 80)
        assert P.sum() == pytest.approx(1, abs=1e-5)
        assert abs(P - P.T).max() == 0
        assert P.diagonal().max() == 0
    assert cells.uns["isosne"]["params"]["kernel"] == "IsolationKernel(psi=8)"


def test_trust_is_that_of_each_cell_in_the_representation(cells):
    tsne(cells, n_pcs=5, trust=True)
    expected = compare(cells.obsm["X_pca"][:, :5], cells.obsm["X_isosne"], k=10).trust().agreement
    np.testing.assert_array_equal(cells.obs["isosne_trust"], expected)


def test_a_neighbor_graph_gives_the_affinities(cells):
    D = np.linalg.norm(cells.X[:, None] - cells.X[None], axis=2)
    np.fill_diagonal(D, np.inf)
    graph = csr_matrix(np.exp(-D) * (np.quantile(D, 0.3) > D))
    cells.obsp["mine_connectivities"] = graph
    cells.uns["mine"] = {"connectivities_key": "mine_connectivities"}
    del cells.obsm["X_pca"]
    tsne(cells, neighbors_key="mine", affinities=True)
    expected = TSNE("precomputed", random_state=0).fit_transform(graph)
    np.testing.assert_array_equal(cells.obsm["X_isosne"], expected)
    assert cells.uns["isosne"]["params"]["neighbors_key"] == "mine"
    P = cells.obsp["isosne_connectivities"]
    np.testing.assert_allclose(P.toarray(), (graph / graph.sum()).toarray(), rtol=1e-6)


def test_results_survive_a_file(cells, tmp_path):
    tsne(cells, kernel=IsolationKernel(8), affinities=True, trust=True)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    found = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(found.obsm["X_isosne"], cells.obsm["X_isosne"])
    assert found.uns["isosne"]["params"]["kernel"] == "IsolationKernel(psi=8)"
    assert (found.obsp["isosne_connectivities"] != cells.obsp["isosne_connectivities"]).nnz == 0


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_genes_of_a_backed_object_are_read(cells, tmp_path, as_sparse):
    X = np.round(np.abs(cells.X))
    plain = anndata.AnnData(csr_matrix(X) if as_sparse else X)
    plain.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    tsne(backed, use_rep="X")
    tsne(plain, use_rep="X")
    np.testing.assert_array_equal(backed.obsm["X_isosne"], plain.obsm["X_isosne"])
    backed.file.close()


REFUSED = {
    "no object": pytest.param(
        lambda cells: tsne(cells.X),
        "adata must be an AnnData object; got a ndarray. For arrays and data frames, use "
        "isosne.TSNE().fit(X).",
    ),
    "representation": pytest.param(
        lambda cells: tsne(cells, use_rep="X_scvi"),
        "use_rep must be one of 'X', 'X_pca'; got use_rep='X_scvi'. Other representations must be "
        "computed and stored in obsm first.",
    ),
    "components": pytest.param(
        lambda cells: tsne(cells, 11),
        "n_pcs must be an integer from 1 to 10; got n_pcs=11. Pass a number of columns of X_pca, "
        "or compute more of them.",
    ),
    "graph": pytest.param(
        lambda cells: tsne(cells, neighbors_key="neighbors"),
        "neighbors_key must name a neighbor graph in uns, with its connectivities in obsp; got "
        "neighbors_key='neighbors'. Run scanpy.pp.neighbors(adata) first.",
    ),
    "kernel of a graph": pytest.param(
        lambda cells: tsne(cells, kernel="gaussian", neighbors_key="neighbors"),
        "kernel must be left out if neighbors_key is set, whose graph has the affinities; got "
        "kernel='gaussian'. Leave out kernel or neighbors_key.",
    ),
    "no components": pytest.param(
        lambda cells: tsne(anndata.AnnData(cells.X)),
        "adata must have principal components in obsm['X_pca'], because it has 60 genes; it has "
        "none. Run scanpy.pp.pca(adata) first, or pass use_rep='X' to map all genes.",
    ),
    "no genes": pytest.param(
        lambda cells: tsne(anndata.AnnData(obs=cells.obs)),
        "adata must have an array X; it has none. Name an array of obsm with use_rep.",
    ),
}


@pytest.mark.parametrize(("ask", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_mapped_is_refused(cells, ask, sentence):
    with refuses((DataError, ParameterError), sentence):
        ask(cells)
    assert list(cells.obs) == ["kind"]
    assert not cells.uns


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"perplexity": 30}, "Use kernel=GaussianKernel(perplexity=30)."),
        ({"n_jbos": 2}, "Did you mean 'n_jobs'?"),
        ({"init": "pca"}, "Use isosne.TSNE with start='pca'."),
    ],
)
def test_a_parameter_that_does_not_exist_names_its_equivalent(cells, given, sentence):
    (name,) = given
    with refuses(TypeError, f"isosne.scanpy.tsne has no parameter {name!r}. {sentence}"):
        tsne(adata=cells, **given)
