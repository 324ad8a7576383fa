"""Step 2 for all pairs."""

import numpy as np
import pytest

from isosne import AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel
from isosne.affinities.dense import conditional_rows, dense_affinities, symmetrize
from tests.reference import affinities as reference

KERNELS = [
    IsolationKernel(5, random_state=0),
    IsolationKernel(5, n_partitions="exact"),
    IsolationKernel([3, 12], random_state=0),
    IsolationKernel([3, 12], n_partitions="exact"),
    IsolationKernel(5, partition="forest", random_state=0),
    GaussianKernel(7),
    GaussianKernel([3, 12]),
    AdaptiveGaussianKernel(4),
    KNNKernel(4),
]


@pytest.fixture
def points():
    return np.random.default_rng(3).normal(size=(40, 4))


def as_matrix(joint):
    """Return P in float64."""
    factors = joint.factors.astype(float)
    return joint.values * (factors[:, None] + factors)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_joint_probabilities_equal_the_equations(kernel, points):
    joint, isolated = dense_affinities(kernel.fit(points))
    layers = kernel.rows().block(slice(0, 40)).astype(float)
    assert len(isolated) == 0
    # one scale of drawn partitionings is kept as bytes
    assert joint.values.dtype == (np.uint8 if kernel.rows().counts else np.float32)
    # float32 holds seven digits; P is summed from up to 40 of them
    np.testing.assert_allclose(as_matrix(joint), reference.joint(layers), rtol=2e-6, atol=1e-10)


def test_symmetrize_works_across_blocks():
    rows = np.random.default_rng(0).random((2100, 2100), dtype=np.float32)
    expected = (rows.astype(float) + rows.T) / (2 * 2100)
    symmetrize(rows)
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert np.array_equal(rows, rows.T)


def test_a_row_whose_sum_has_no_inverse_in_float32_counts_as_empty():
    layers = np.array([[[1e-40, 2e-40], [1, 3]]], np.float32)
    np.testing.assert_array_equal(conditional_rows(layers), [[0, 0], [0.25, 0.75]])
