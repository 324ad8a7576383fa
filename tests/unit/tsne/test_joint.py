import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import TSNE, GaussianKernel, IsolationKernel, OwnerKernel
from isosne._types import SparseMatrix
from isosne.tsne.joint import as_sparse, fit_similarities, similarities_of
from tests.conftest import make


def full(joint):
    return csr_array((joint.data.astype(np.float64), joint.indices, joint.indptr)).toarray()


@pytest.mark.parametrize("kernel", ["owner", "isolation", "gaussian"])
def test_joint_probabilities_are_those_of_a_map(two_blobs, kernel):
    found = fit_similarities(two_blobs, kernel, 0)
    model = make(kernel).fit(two_blobs)
    assert found.kernel.get_params() == model.kernel_.get_params()
    for own, other in zip(found.joint, model.affinities_, strict=True):
        np.testing.assert_array_equal(own, other)


def test_a_model_gives_its_own_probabilities(two_blobs):
    model = make("owner").fit(two_blobs)
    assert similarities_of(model).joint is model.affinities_


def test_a_loaded_model_and_a_kernel_compute_them(two_blobs, tmp_path):
    model = make("owner").fit(two_blobs)
    model.save(tmp_path / "model.isosne")
    for fitted in (TSNE.load(tmp_path / "model.isosne"), OwnerKernel().fit(two_blobs)):
        joint = similarities_of(fitted).joint
        assert isinstance(joint, SparseMatrix)
        np.testing.assert_array_equal(joint.data, model.affinities_.data)


def test_a_dense_matrix_loses_at_most_a_hundredth(two_blobs):
    joint = make(GaussianKernel(5), affinities="dense").fit(two_blobs).affinities_
    P = joint.values * (joint.factors[:, None] + joint.factors)
    found = full(as_sparse(joint))
    np.testing.assert_allclose(found[found > 0], P[found > 0], rtol=1e-6)
    assert 0.99 <= found.sum() <= 1.000001
    assert (found == 0).sum() > 60  # far pairs are left out


def test_draws_estimate_the_probabilities(two_blobs):
    kernel = IsolationKernel(8, n_partitions=100, random_state=0)
    drawn = as_sparse(make(kernel, affinities="sampled").fit(two_blobs).affinities_)
    dense = make(kernel, affinities="dense").fit(two_blobs).affinities_
    P = dense.values * (dense.factors[:, None] + dense.factors)
    found = full(drawn)
    np.testing.assert_allclose(found, found.T, rtol=1e-6)
    assert found.sum() == pytest.approx(1, abs=0.05)
    assert np.corrcoef(found.ravel(), P.ravel())[0, 1] > 0.9
