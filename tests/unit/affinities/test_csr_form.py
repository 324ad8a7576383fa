import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import GaussianKernel, IsolationKernel
from isosne.affinities.csr_form import as_sparse
from tests.conftest import make


def full(joint):
    return csr_array((joint.data.astype(np.float64), joint.indices, joint.indptr)).toarray()


def test_a_dense_matrix_loses_at_most_a_hundredth(two_blobs):
    joint = make(GaussianKernel(5), affinities="dense").fit(two_blobs).affinities_
    P = joint.values * (joint.factors[:, None] + joint.factors)
    found = full(as_sparse(joint))
    np.testing.assert_allclose(found[found > 0], P[found > 0], rtol=1e-6)
    assert 0.99 <= found.sum() <= 1.000001
    assert (found == 0).sum() > 60  # far pairs are left out
    np.testing.assert_allclose(full(as_sparse(joint, negligible=0)), P, rtol=1e-6)


def test_a_sparse_matrix_stays_as_it_is(two_blobs):
    joint = make(affinities="sparse").fit(two_blobs).affinities_
    assert as_sparse(joint) is joint


def test_draws_estimate_the_probabilities(two_blobs):
    kernel = IsolationKernel(8, n_partitions=100, random_state=0)
    drawn = as_sparse(make(kernel, affinities="sampled").fit(two_blobs).affinities_)
    dense = make(kernel, affinities="dense").fit(two_blobs).affinities_
    P = dense.values * (dense.factors[:, None] + dense.factors)
    found = full(drawn)
    np.testing.assert_allclose(found, found.T, rtol=1e-6)
    assert found.sum() == pytest.approx(1, abs=0.05)
    assert np.corrcoef(found.ravel(), P.ravel())[0, 1] > 0.9
