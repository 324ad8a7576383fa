"""Step 2 for neighbor lists, and any form of the affinities as CSR."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from isosne import GaussianKernel, IsolationKernel, nearest_neighbors
from isosne.affinities.sparse import as_sparse, sparse_affinities, symmetrize_lists
from tests.conftest import make
from tests.reference import affinities as reference


def as_matrix(joint):
    n = len(joint.indptr) - 1
    return csr_array((joint.data, joint.indices, joint.indptr), shape=(n, n)).toarray()


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(50, 4)).astype(np.float32)


def test_neighbors_that_only_help_to_rank_get_no_probability(points):
    kernel = IsolationKernel(10, n_partitions="exact").fit(points)
    neighbors = nearest_neighbors(points, 40)
    joint, _ = sparse_affinities(kernel, neighbors, 7)
    near = np.zeros((50, 50), bool)
    np.put_along_axis(near, neighbors.indices[:, :7].astype(int), True, axis=1)
    P = as_matrix(joint)
    assert np.array_equal(P > 0, near | near.T)
    assert P.sum(dtype=float) == pytest.approx(1, abs=1e-6)
    # The seven are compared as lists of forty rank them.
    rows = kernel.neighbor_similarity(neighbors)[0, :, :7].astype(float)
    rows /= rows.sum(axis=1, keepdims=True)
    expected = reference.joint_of_lists(neighbors.indices[:, :7], rows)
    np.testing.assert_allclose(P, expected, rtol=1e-6)


# --- joint probabilities of lists


def lists_of(n, k, seed, zeros=0.0):
    """Return lists of k others for each of n points, and probabilities of which some are zero."""
    rng = np.random.default_rng(seed)
    partners = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    rows = rng.random((n, k)).astype(np.float32)
    rows[rng.random((n, k)) < zeros] = 0
    rows[~rows.any(axis=1), 0] = 1
    return partners.astype(np.int32), rows / rows.sum(axis=1, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 30),
    share=st.floats(0, 1),
    zeros=st.sampled_from([0.0, 0.4, 0.9]),
    seed=st.integers(0, 1000),
)
def test_lists_become_the_joint_probabilities_of_the_equations(n, share, zeros, seed):
    partners, rows = lists_of(n, max(1, round(share * (n - 1))), seed, zeros)
    joint = symmetrize_lists(partners, rows)
    expected = reference.joint_of_lists(partners, rows.astype(float))
    P = as_matrix(joint)
    # one product and one sum in float32
    np.testing.assert_allclose(P, expected, rtol=3e-7)
    np.testing.assert_allclose(P, P.T, rtol=2e-7)
    assert P.sum(dtype=float) == pytest.approx(1, abs=1e-6)
    # Each pair once, and none without a probability.
    assert (joint.data > 0).all()
    assert len(joint.data) == np.count_nonzero(expected)
    assert [part.dtype for part in joint[:3]] == [np.int64, np.int32, np.float32]
    for row, first, listed in zip(rows, joint.indptr[:-1], partners, strict=True):
        own = listed[row > 0]  # first, in the order of the list
        assert joint.indices[first : first + len(own)].tolist() == own.tolist()


def test_a_dense_matrix_loses_at_most_a_hundredth(two_blobs):
    joint = make(GaussianKernel(5), affinities="dense").fit(two_blobs).affinities_
    P = joint.values * (joint.factors[:, None] + joint.factors)
    found = as_matrix(as_sparse(joint))
    np.testing.assert_allclose(found[found > 0], P[found > 0], rtol=1e-6)
    assert 0.99 <= found.sum() <= 1.000001
    assert (found == 0).sum() > 60  # far pairs are left out
    np.testing.assert_allclose(as_matrix(as_sparse(joint, negligible=0)), P, rtol=1e-6)


def test_draws_estimate_the_probabilities(two_blobs):
    kernel = IsolationKernel(8, n_partitions=100, random_state=0)
    drawn = as_sparse(make(kernel, affinities="sampled").fit(two_blobs).affinities_)
    dense = make(kernel, affinities="dense").fit(two_blobs).affinities_
    P = dense.values * (dense.factors[:, None] + dense.factors)
    found = as_matrix(drawn)
    np.testing.assert_allclose(found, found.T, rtol=1e-6)
    assert found.sum() == pytest.approx(1, abs=0.05)
    assert np.corrcoef(found.ravel(), P.ravel())[0, 1] > 0.9
