import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.kernels.monte_carlo import grow_forest
from tests.unit.kernels.test_monte_carlo import draw_samples


def grow(X, psi, n_partitions=12, seed=0):
    rng = np.random.default_rng(seed)
    return grow_forest(draw_samples(X.shape[0], psi, n_partitions), X, rng)


@pytest.mark.parametrize("psi", [2, 3, 8, 60])
@pytest.mark.parametrize("data", ["two_blobs", "subspace_clusters"])
def test_each_sampled_point_is_alone_in_its_leaf(request, data, psi):
    X = request.getfixturevalue(data)
    partitions = grow(X, psi)
    cells = partitions.cells(X)
    for p, sample in enumerate(partitions.samples):
        assert sorted(cells[sample, p]) == list(range(psi))


@pytest.mark.parametrize("sparse", [False, True])
def test_sampled_copies_share_a_leaf_and_others_do_not(duplicates, sparse):
    X = csr_array(duplicates) if sparse else duplicates
    partitions = grow(X, 25)
    cells = partitions.cells(X)
    for p, sample in enumerate(partitions.samples):
        same_point = (duplicates[sample][:, None] == duplicates[sample]).all(axis=2)
        same_leaf = np.equal.outer(cells[sample, p], cells[sample, p])
        np.testing.assert_array_equal(same_leaf, same_point)
        assert cells[:, p].max() == len(np.unique(duplicates[sample], axis=0)) - 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int64"])
def test_csr_has_the_leaves_of_the_same_dense_points(dtype):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (50, 8)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = 0
    if dtype.startswith("float"):
        X -= 2 * (rng.random(X.shape) < 0.2).astype(dtype)  # negative values beside the zeros
    new = rng.integers(0, 6, (30, 8)).astype(dtype)
    dense, sparse = grow(X, 12), grow(csr_array(X), 12)
    np.testing.assert_array_equal(dense.cells(X), sparse.cells(csr_array(X)))
    np.testing.assert_array_equal(dense.cells(new), sparse.cells(csr_array(new)))


def test_two_points_are_cut_uniformly_between_them():
    X = np.array([[0.0], [1.0]])
    samples = np.tile([0, 1], (4000, 1))
    partitions = grow_forest(samples, X, np.random.default_rng(4))
    cells = partitions.cells(np.array([[0.0], [0.25], [1.0]]))
    # The cut falls below 0.25 with chance 0.25; five standard errors are 0.035.
    share = (cells[1] == cells[2]).mean()
    assert abs(share - 0.25) < 0.035
    assert np.all(cells[0] != cells[2])
