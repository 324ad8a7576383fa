import igraph
import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import OwnerKernel
from isosne._types import SparseMatrix
from isosne.affinities.sparse import as_sparse
from isosne.structure.leiden import as_graph, leiden, modularity, number_by_size
from isosne.tsne.fit import similarities_of
from tests.reference import modularity as reference


def sparse(P):
    """Return a symmetric matrix as joint probabilities."""
    rows = csr_array(P / P.sum())
    indices = rows.indices.astype(np.int32)
    return SparseMatrix(rows.indptr.astype(np.int64), indices, rows.data.astype(np.float32))


def random_matrix(n, seed, share=0.5):
    rng = np.random.default_rng(seed)
    P = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    P[0, 1:] += 0.01  # no point is alone
    return P + P.T


def find(P, resolution, seed=0):
    return leiden(as_graph(sparse(P)), resolution, np.random.default_rng(seed))


@pytest.mark.parametrize("resolution", [0.3, 1.0, 2.5])
def test_modularity_is_that_of_the_definition(resolution):
    P = random_matrix(30, 1)
    labels = np.random.default_rng(2).integers(0, 4, 30)
    found = modularity(as_graph(sparse(P)), resolution, labels)
    # float32 probabilities
    assert found == pytest.approx(reference.modularity(P, resolution, labels), abs=1e-6)


@pytest.mark.parametrize("resolution", [0.5, 1.0, 1.5])
def test_the_best_of_all_clusterings_of_a_few_points_is_usually_found(resolution):
    lost = []
    for seed in range(6):
        P = random_matrix(7, seed)
        best, _ = reference.best_clustering(P, resolution)
        runs = [find(P, resolution, run) for run in range(5)]
        lost.append(best - max(reference.modularity(P, resolution, labels) for labels in runs))
    # A heuristic: of six graphs without clear clusters, it finds the optimum of four or more.
    assert np.sum(np.array(lost) < 1e-6) >= 4
    assert max(lost) < 0.02


def test_cliques_in_a_ring_are_the_clusters():
    n_cliques, size = 12, 5
    P = np.kron(np.eye(n_cliques), np.ones((size, size)))
    np.fill_diagonal(P, 0)
    for c in range(n_cliques):
        i, j = size * c, size * ((c + 1) % n_cliques) + 1
        P[i, j] = P[j, i] = 0.5
    labels = find(P, 1.0)
    expected = np.repeat(np.arange(n_cliques), size)
    assert len(np.unique(labels)) == n_cliques
    np.testing.assert_array_equal(labels[expected * size], labels)


def test_clusters_are_connected():
    # Leiden's guarantee; of the random graphs, many have clusters that a cut would divide.
    for seed in range(10):
        P = random_matrix(60, seed, share=0.05)
        labels = find(P, 0.8, seed)
        graph = igraph.Graph.Adjacency((P > 0).tolist(), mode="undirected")
        for c in range(labels.max() + 1):
            assert graph.subgraph(np.flatnonzero(labels == c).tolist()).is_connected()


def test_a_resolution_of_zero_gives_one_cluster_and_a_high_one_gives_single_points():
    P = random_matrix(20, 4)
    assert find(P, 0.0).max() == 0
    assert find(P, 1000.0).max() == 19


def test_modularity_is_not_below_that_of_igraph():
    X = np.random.default_rng(5).normal(size=(400, 3))
    joint = as_sparse(similarities_of(OwnerKernel(random_state=0).fit(X)).joint)
    graph = as_graph(joint)
    rows = np.repeat(np.arange(400), np.diff(joint.indptr))
    is_once = rows < joint.indices
    other = igraph.Graph(n=400, edges=np.c_[rows, joint.indices][is_once])
    weights = joint.data[is_once].astype(float)
    theirs = max(
        modularity(graph, 1.0, np.array(other.community_leiden("modularity", weights).membership))
        for _ in range(3)
    )
    ours = max(
        modularity(graph, 1.0, leiden(graph, 1.0, np.random.default_rng(s))) for s in range(3)
    )
    # Both are heuristics: a difference of 1 % is within their variation.
    assert ours > theirs - 0.01


def test_the_largest_cluster_has_the_number_zero_and_ties_go_to_the_first_member():
    labels = np.array([7, 3, 3, 9, 9, 7, 3])
    np.testing.assert_array_equal(number_by_size(labels), [1, 0, 0, 2, 2, 1, 0])


def test_points_without_affinity_are_clusters_of_their_own():
    P = np.zeros((5, 5))
    P[0, 1] = P[1, 0] = 1
    np.testing.assert_array_equal(find(P, 0.5), [0, 0, 1, 2, 3])
