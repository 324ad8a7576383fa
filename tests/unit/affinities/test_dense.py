"""Step 2 for all pairs."""

import numpy as np
import pytest

from isosne import AdaptiveGaussianKernel, GaussianKernel, IsolationKernel, KNNKernel
from isosne.affinities.dense import dense_affinities, full_affinities
from isosne.affinities.symmetrize import symmetrize
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
    # float32 holds seven digits; P is summed from up to 40 of them
    np.testing.assert_allclose(as_matrix(joint), reference.joint(layers), rtol=2e-6, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_joint_probabilities_are_symmetric_sum_to_one_and_leave_out_the_diagonal(kernel, points):
    P = as_matrix(dense_affinities(kernel.fit(points))[0])
    assert np.array_equal(P, P.T)
    assert P.sum() == pytest.approx(1, abs=1e-6)
    assert not np.diagonal(P).any()


def test_one_scale_of_drawn_partitions_is_kept_as_bytes(points):
    joint, _ = dense_affinities(IsolationKernel(5, random_state=0).fit(points))
    assert joint.values.dtype == np.uint8
    several, _ = dense_affinities(IsolationKernel([5, 9], random_state=0).fit(points))
    assert several.values.dtype == np.float32


def test_bytes_and_floats_hold_the_same_probabilities(points):
    kernel = IsolationKernel(5, random_state=0).fit(points)
    full, _ = full_affinities(kernel.rows(), kernel)
    counted, _ = dense_affinities(kernel)
    np.testing.assert_allclose(as_matrix(counted), as_matrix(full), rtol=1e-6)


def test_a_point_alone_in_all_its_cells_is_tied_to_its_nearest_neighbor():
    X = np.array([[0.0], [1.0], [1.2], [9.0], [9.1]])
    for n_partitions in (20, "exact"):  # psi = n: every point is alone in every cell
        joint, isolated = dense_affinities(IsolationKernel(5, n_partitions=n_partitions).fit(X))
        P = as_matrix(joint)
        assert isolated.tolist() == [0, 1, 2, 3, 4]
        assert P.sum() == pytest.approx(1, abs=1e-6)
        # neighbors: 0-1, 1-2, 3-4, both ways or one; all other pairs stay at zero
        assert {(int(i), int(j)) for i, j in np.argwhere(P) if i < j} == {(0, 1), (1, 2), (3, 4)}


def test_only_the_isolated_row_is_filled():
    # one point is left out of each of three samples, so few points ever share a cell
    X = np.random.default_rng(0).normal(size=(60, 2))
    kernel = IsolationKernel(59, n_partitions=3, random_state=1).fit(X)
    raw = kernel.counts()
    np.fill_diagonal(raw, 0)
    joint, isolated = dense_affinities(kernel)
    assert 0 < len(isolated) < 60
    assert np.array_equal(isolated, np.flatnonzero(raw.sum(axis=1) == 0))
    together = np.setdiff1d(np.arange(60), isolated)
    assert np.array_equal(joint.values[np.ix_(together, together)], raw[np.ix_(together, together)])
    assert (joint.values.sum(axis=1) > 0).all()


def test_symmetrize_works_across_blocks():
    rows = np.random.default_rng(0).random((2100, 2100), dtype=np.float32)
    expected = (rows.astype(float) + rows.T) / (2 * 2100)
    symmetrize(rows)
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert np.array_equal(rows, rows.T)
