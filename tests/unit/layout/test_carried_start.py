"""Starts from a previous map."""

import numpy as np
import pytest

from isosne import IsolationKernel
from isosne._types import DenseMatrix, SparseMatrix
from isosne.affinities.sampled import SampledAffinities
from isosne.layout.descent import Anchors
from isosne.layout.start import CARRIED_JITTER, carried_map

PLACES = np.array([[0, 0], [8, 4]], np.float32)
ANCHORS = Anchors(np.array([0, 1]), PLACES, 1.0)


def as_sparse(P):
    rows, columns = P.nonzero()
    indptr = np.searchsorted(rows, np.arange(len(P) + 1)).astype(np.int64)
    return SparseMatrix(indptr, columns.astype(np.int32), P[rows, columns].astype(np.float32))


def as_dense(P):
    return DenseMatrix(P.astype(np.float32), np.full(len(P), 0.5, np.float32))


def probabilities(n, pairs):
    P = np.zeros((n, n))
    for i, j, p in pairs:
        P[i, j] = P[j, i] = p
    return P


@pytest.mark.parametrize("form", [as_sparse, as_dense])
def test_a_new_point_starts_at_the_weighted_mean_of_its_partners(form):
    joint = form(probabilities(3, [(0, 2, 0.1), (1, 2, 0.3)]))
    Y = carried_map(ANCHORS, joint, np.zeros((3, 2)))
    np.testing.assert_allclose(Y.T, [[0, 0], [8, 4], [6, 3]])  # a quarter of the way from the end


@pytest.mark.parametrize("form", [as_sparse, as_dense])
def test_new_points_that_know_each_other_only_follow_the_one_that_is_known(form):
    joint = form(probabilities(5, [(1, 2, 0.2), (2, 3, 0.2), (3, 4, 0.2)]))
    Y = carried_map(ANCHORS, joint, np.zeros((5, 2)))
    np.testing.assert_allclose(Y.T[2:], np.tile([8, 4], (3, 1)), atol=1e-5)


def test_a_point_without_a_path_to_the_previous_map_starts_at_its_center():
    joint = as_sparse(probabilities(4, [(0, 1, 0.3), (2, 3, 0.2)]))
    Y = carried_map(ANCHORS, joint, np.zeros((4, 2)))
    np.testing.assert_allclose(Y.T[2:], [[4, 2], [4, 2]])


def test_noise_separates_new_points_and_leaves_the_others():
    joint = as_sparse(probabilities(4, [(0, 2, 0.3), (0, 3, 0.3)]))
    Y = carried_map(ANCHORS, joint, np.array([[9, 9], [9, 9], [1, 0], [0, -2]], float))
    np.testing.assert_allclose(
        Y.T, [[0, 0], [8, 4], [CARRIED_JITTER, 0], [0, -2 * CARRIED_JITTER]], atol=1e-6
    )


def test_drawn_partners_give_a_place_within_the_previous_map():
    X = np.random.default_rng(0).normal(size=(40, 3))
    source = SampledAffinities(IsolationKernel(4, n_partitions=20, random_state=0).fit(X))
    places = np.random.default_rng(1).normal(scale=9, size=(30, 2)).astype(np.float32)
    Y = carried_map(Anchors(np.arange(30), places, 1.0), source, np.zeros((40, 2)))
    np.testing.assert_array_equal(Y.T[:30], places)
    assert (Y.T[30:] >= places.min(axis=0)).all()
    assert (Y.T[30:] <= places.max(axis=0)).all()
    assert len(np.unique(Y.T[30:], axis=0)) > 1
