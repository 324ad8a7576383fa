import numpy as np
import pytest

from isosne import TSNE, OwnerKernel
from isosne._types import SparseMatrix
from isosne.tsne.fit import joint_probabilities, similarities_of
from tests.conftest import make


@pytest.mark.parametrize("kernel", ["owner", "isolation", "gaussian"])
def test_joint_probabilities_are_those_of_a_map(two_blobs, kernel):
    found = joint_probabilities(two_blobs, kernel, random_state=0)
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
