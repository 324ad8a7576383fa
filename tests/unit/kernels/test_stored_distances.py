"""Sparse matrices of distances, such as ``adata.obsp["distances"]``: those to the neighbors."""

import anndata
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from isosne import (
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    nearest_neighbors,
)
from isosne.errors import DataError, ParameterError
from isosne.quality import auc_rnx
from tests.conftest import make, refuses

K = 30
KERNELS = {
    "isolation": IsolationKernel(0.5, n_partitions="exact"),
    "scales": IsolationKernel([0.8, 0.4], n_partitions="exact"),
    "gaussian": GaussianKernel(8),
    "adaptive": AdaptiveGaussianKernel(6),
    "knn": KNNKernel(6),
}


@pytest.fixture
def points():
    return np.random.default_rng(5).normal(size=(70, 4))


def graph_of(points, fitted=None, k=K):
    """Return the distances of points to the nearest fitted points; of these, to the others."""
    others = points if fitted is None else fitted
    D = np.sqrt(((points[:, None] - others) ** 2).sum(axis=2))
    order = np.argsort(D, axis=1, kind="stable")
    order = order[:, 1 : k + 1] if fitted is None else order[:, :k]
    indptr = np.arange(0, len(points) * k + 1, k)
    distances = np.take_along_axis(D, order, axis=1)
    return csr_array((distances.ravel(), order.ravel(), indptr), shape=D.shape)


def precomputed(name):
    return KERNELS[name].__class__(**KERNELS[name].get_params() | {"metric": "precomputed"})


@pytest.mark.parametrize("name", KERNELS)
def test_the_map_is_that_of_the_points(points, name):
    model = make(precomputed(name), start="random").fit(graph_of(points))
    twin = make(KERNELS[name], start="random", affinities="sparse").fit(points)
    assert model.plan_.affinities == "sparse"
    assert model.plan_.n_neighbors == twin.plan_.n_neighbors
    np.testing.assert_allclose(model.affinities_.data, twin.affinities_.data, rtol=1e-5)
    np.testing.assert_array_equal(model.affinities_.indices, twin.affinities_.indices)
    np.testing.assert_allclose(model.embedding_, twin.embedding_, atol=1e-2)


@pytest.mark.parametrize("name", KERNELS)
def test_new_points_are_placed_by_their_stored_distances(points, name, tmp_path):
    new = points[:6] + 0.1
    model = make(precomputed(name)).fit(graph_of(points))
    twin = make(KERNELS[name], affinities="sparse").fit(points)
    twin.embedding_, twin._finished.placer = model.embedding_, None
    placed = model.transform(graph_of(new, points))
    np.testing.assert_allclose(placed, twin.transform(new), atol=1e-3)
    all_distances = np.sqrt(((new[:, None] - points) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(all_distances), placed, atol=1e-5)
    copy = csr_array(graph_of(points[:1], points))
    np.testing.assert_array_equal(model.transform(copy), model.embedding_[:1])
    model.save(tmp_path / "model.isosne")
    again = TSNE.load(tmp_path / "model.isosne").transform(graph_of(new, points))
    np.testing.assert_array_equal(again, placed)


def test_a_graph_in_an_annotated_matrix_or_a_file_is_the_same_graph(points, tmp_path):
    data = anndata.AnnData(points.astype(np.float32))
    data.obsp["distances"] = kneighbors_graph(points, K, mode="distance")
    model = make(precomputed("gaussian")).fit(data.obsp["distances"])
    path = tmp_path / "graph.npz"
    graph = csr_array(data.obsp["distances"])
    parts = {"data": graph.data, "indices": graph.indices, "indptr": graph.indptr}
    np.savez(path, format=b"csr", shape=graph.shape, **parts)
    from_file = make(precomputed("gaussian")).fit(path)
    np.testing.assert_array_equal(from_file.embedding_, model.embedding_)


def test_the_distance_of_a_point_to_itself_may_be_stored(points):
    graph = graph_of(points)
    with_self = kneighbors_graph(points, K + 1, mode="distance", include_self=True)
    assert with_self.diagonal().max() == 0
    assert with_self.nnz == graph.nnz + 70
    for name in ("isolation", "knn"):
        model, twin = (make(precomputed(name)).fit(G) for G in (graph, with_self))
        np.testing.assert_allclose(model.affinities_.data, twin.affinities_.data, rtol=1e-6)


def test_neighbors_are_the_nearest_of_the_stored_ones():
    # Row 0 stores itself and its distances to 1, 2 and 3, of which two are equal; row 3 a copy.
    rows, columns = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 2, 3, 0, 2, 0, 1, 0, 2]
    distances = [0.0, 2.0, 2.0, 0.5, 2.0, 1.0, 2.0, 1.0, 0.5, 0.0]
    graph = csr_array((distances, (rows, columns)), shape=(4, 4))
    found = nearest_neighbors(graph, 2, metric="precomputed")
    np.testing.assert_array_equal(found.indices, [[3, 1], [2, 0], [1, 0], [2, 0]])
    np.testing.assert_array_equal(found.distances, [[0.5, 2], [1, 2], [1, 2], [0, 0.5]])


@pytest.mark.parametrize(
    ("n_stored", "psi"), [(69, (56, 14)), (45, (56, 14)), (30, (56,)), (10, (56,)), (9, (63,))]
)
def test_automatic_psi_follows_the_length_of_the_lists(points, n_stored, psi):
    # 8 n / psi neighbors are ranked: 8 * 70 / 56 = 10, and for psi = 14, 40.
    kernel = IsolationKernel(metric="precomputed")
    model = make(kernel).fit(graph_of(points, k=n_stored))
    assert model.kernel_.psi_ == psi
    assert model.kernel_.partitions_ == []
    assert kernel.fit(graph_of(points, k=n_stored)).psi_ == psi


def test_automatic_perplexity_is_a_third_of_the_stored_distances(points):
    model = make(GaussianKernel(metric="precomputed")).fit(graph_of(points))
    assert model.kernel_.perplexity == model.kernel_.perplexity_[0] == K / 3


SENTENCES = {
    "perplexity": (
        {"kernel": GaussianKernel(31, metric="precomputed")},
        (
            "perplexity must be at most 30, the smallest number of distances per row of X; got "
            "perplexity=31. Lower perplexity, or store more distances; three times the perplexity "
            "is usual."
        ),
    ),
    "k": (
        {"kernel": KNNKernel(31, metric="precomputed")},
        (
            "k must be at most 30, the smallest number of distances per row of X; got k=31. "
            "Lower k, or store more distances."
        ),
    ),
    "psi": (
        {"kernel": IsolationKernel(18, metric="precomputed")},
        (
            "psi must be at least 8 n_samples / k (19), where k=30 is the smallest number of "
            "distances per row of X; got psi=18. Raise psi, or store more distances: at least 8 in "
            "each row."
        ),
    ),
    "n_partitions": (
        {"kernel": IsolationKernel(0.5, n_partitions=9, metric="precomputed")},
        (
            "n_partitions must be 'exact' for a sparse matrix of distances, in which samples are "
            "out of reach; got n_partitions=9. Leave it out, or pass a dense matrix of distances."
        ),
    ),
    "affinities": (
        {"kernel": KNNKernel(5, metric="precomputed"), "affinities": "dense"},
        (
            "affinities must be 'sparse' for a sparse matrix of distances, which leaves most pairs "
            "out; got affinities='dense'. Leave it out, or pass a dense matrix of distances."
        ),
    ),
    "objective": (
        {"kernel": KNNKernel(5, metric="precomputed"), "objective": "nerv"},
        (
            "objective must be 'kl' for a sparse matrix of distances, which leaves most pairs out; "
            "got objective='NeRV'. Pass a dense matrix of distances."
        ),
    ),
}


@pytest.mark.parametrize(("settings", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_what_stored_distances_cannot_tell_is_refused(points, settings, sentence):
    with refuses(ParameterError, sentence):
        make(**settings).fit(graph_of(points))


def test_seven_distances_are_too_few_for_any_psi(points):
    with pytest.raises(ParameterError, match=r"k=7 is the smallest .*: at least 8 in each row\.$"):
        make(IsolationKernel(metric="precomputed")).fit(graph_of(points, k=7))


@pytest.mark.parametrize("name", ["isolation", "gaussian", "adaptive"])
def test_all_pairs_are_not_in_a_graph(points, name):
    kernel = precomputed(name).fit(graph_of(points))
    sentence = (
        "X must hold the distances of all pairs here; a sparse matrix holds only those that are "
        "stored. Pass a dense matrix of distances."
    )
    with refuses(DataError, sentence):
        kernel.similarity()
    with refuses(DataError, sentence):
        kernel.rows().block(slice(0, 1))
    with refuses(DataError, sentence):
        auc_rnx(graph_of(points), points, metric="precomputed")


BAD = {
    "asymmetric": (
        lambda G: G + csr_array(([1.0], ([3], [int(G.indices[G.indptr[3]])])), shape=G.shape),
        r"^Precomputed distances must be symmetric; got a difference of 1 between",
    ),
    "negative": (
        lambda G: -G,
        r"^Negative values in data: precomputed distances must be positive or zero; got -",
    ),
    "diagonal": (
        lambda G: G + csr_array(([2.0], ([3], [3])), shape=G.shape),
        r"^Precomputed distances must have a zero diagonal; got 2 on it",
    ),
    "not square": (
        lambda G: G[:, :40],
        r"^Precomputed distances must be a square distance matrix at fit",
    ),
    "empty row": (
        lambda G: csr_array(G.toarray() * (np.arange(70) > 0)[:, None]),
        (
            r"^A sparse matrix of distances must store at least one distance to another point in "
            r"each row; some rows store none\. Store the distances of each point to its neighbors, "
            r"or pass a dense matrix\.$"
        ),
    ),
}


@pytest.mark.parametrize(("spoil", "sentence"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("name", ["isolation", "knn"])
def test_what_is_no_graph_of_distances_is_refused(points, name, spoil, sentence):
    G = graph_of(points, k=69)
    for fit in (precomputed(name).fit, make(precomputed(name)).fit):
        with pytest.raises(DataError, match=sentence):
            fit(csr_array(spoil(G)))


def test_new_points_must_store_as_many_distances_as_the_fitted_ones(points):
    model = make(precomputed("knn")).fit(graph_of(points))
    sentence = (
        "Each row must store the distances to its 18 nearest points; row 1 of X (counting from 0) "
        "stores 2. Store more of them, or pass a dense matrix."
    )
    few = graph_of(points[:3], points).tolil()
    few[1, :] = 0
    few[1, :2] = 1.0
    with refuses(DataError, sentence):
        model.transform(few.tocsr())


def test_stored_distances_of_new_points_need_a_graph_at_fit(points):
    D = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    model = make(precomputed("knn")).fit(D)
    sentence = (
        "Precomputed distances must be dense, like those of the fitted points; got a sparse "
        "matrix. Pass X.toarray() if it stores all of them."
    )
    with refuses(DataError, sentence):
        model.transform(graph_of(points[:3], points))


def test_a_large_graph_is_not_counted_as_points(points):
    # Copies of 200 000 columns would be planned with 80 kB per point.
    n = 20_000
    neighbors = (np.arange(n)[:, None] + np.arange(1, 13)) % n
    indptr = np.arange(0, 12 * n + 1, 12)
    graph = csr_array((np.tile(np.arange(1.0, 13), n), neighbors.ravel(), indptr), shape=(n, n))
    plan = TSNE(KNNKernel(4, metric="precomputed")).plan(graph)
    assert plan.bytes_needed < 3000 * n  # of which 1100 for the vectors of the spectral start
    assert (plan.n_neighbors, plan.n_partners) == (12, 12)
