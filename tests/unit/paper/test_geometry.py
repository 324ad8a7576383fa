"""Numbers for what is seen in a map, by hand."""

import numpy as np
import pytest

from isosne.paper.geometry import (
    distance_in_spreads,
    distance_to_clusters,
    nesting,
    project_between,
    share_inside,
    width,
)

SQUARE = np.array([[0.0, 0], [4, 0], [0, 4], [4, 4]])


def test_the_share_of_points_in_a_hull():
    inner = np.array([[1.0, 1], [2, 3], [5, 1], [9, 9]])
    assert share_inside(inner, SQUARE) == 0.5


def test_a_cluster_in_a_ring_is_nested_and_one_beside_it_is_not():
    ring, middle = SQUARE, SQUARE / 8 + 1.5
    Y = np.vstack([[2.0, 2.0], ring, middle])
    y = np.array([0, *[0] * 4, *[1] * 4])
    assert nesting(Y, y, (0, 1)) == 1
    Y[5:] += 10
    assert nesting(Y, y, (0, 1)) == 0


def test_the_origin_counts_for_no_cluster():
    # the square of width 4, and one 6 to the right: a map of width 10
    Y = np.vstack([[2.0, 2.0], SQUARE, SQUARE + np.array([6, 0])])
    y = np.array([0, *[0] * 4, *[1] * 4])
    assert width(Y) == 10
    # the nearest of cluster 1 are (6, 0) and (6, 4): sqrt(16 + 4)
    assert distance_to_clusters(Y, y, (0, 1)) == pytest.approx(np.sqrt(20) / 10)


def test_the_projection_between_two_points():
    along, aside = project_between(np.array([1.0, 2]), np.array([0.0, 0]), np.array([4.0, 0]))
    assert (along, aside) == (0.25, 0.5)


def test_the_distance_of_the_origin_in_spreads():
    # the others: center (2, 2), mean squared radius 8
    Y = np.vstack([[2.0, 10.0], SQUARE])
    assert distance_in_spreads(Y) == pytest.approx(8 / np.sqrt(8))
