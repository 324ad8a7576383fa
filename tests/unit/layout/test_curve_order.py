"""The order of a curve: a permutation in which neighbors follow each other."""

import numpy as np
import pytest

from isosne.layout.forces import curve_order


def some_map(d, n=4000):
    return np.random.default_rng(0).normal(size=(d, n)).astype(np.float32)


def mean_step(Y, order):
    return np.linalg.norm(np.diff(Y[:, order], axis=1), axis=0).mean()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("width", [1e-6, 1.0, 1e6])
def test_neighbors_on_the_map_follow_each_other(d, width):
    Y = some_map(d) * np.float32(width)
    order = curve_order(Y)
    assert np.array_equal(np.sort(order), np.arange(4000))
    by_chance = mean_step(Y, np.random.default_rng(1).permutation(4000))
    # n points in d dimensions lie some n^(-1/d) of a width apart; the curve jumps now and then
    assert mean_step(Y, order) < {1: 0.01, 2: 0.1, 3: 0.25}[d] * by_chance


def test_points_of_one_cell_keep_their_order():
    Y = np.zeros((2, 9), np.float32)
    Y[:, 4] = 1
    assert curve_order(Y).tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 4]


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_points_in_one_place_stay_as_they_are(d, n):
    for value in (0.0, 7.25, -1e30):
        Y = np.full((d, n), value, np.float32)
        assert curve_order(Y).tolist() == list(range(n))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_a_map_beyond_all_bounds_has_some_order_without_a_warning(value):
    # Descent looks whether the map is finite, after the points have been put in order.
    Y = some_map(2, 50)
    Y[0, 3], Y[0, 4] = value, -value
    assert np.array_equal(np.sort(curve_order(Y)), np.arange(50))
