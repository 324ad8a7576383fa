"""The paper's simulations."""

import numpy as np
import pytest

from isosne.datasets import (
    make_five_clusters,
    make_growing_clusters,
    make_shared_clusters,
    make_two_clusters,
)
from isosne.errors import ParameterError
from tests.conftest import refuses

MAKERS = {
    "five": make_five_clusters,
    "growing": lambda **more: make_growing_clusters(3, **more),
    "two": make_two_clusters,
    "shared": make_shared_clusters,
}


@pytest.mark.parametrize(
    ("data", "shape", "sizes"),
    [
        (make_five_clusters(random_state=0), (1250, 50), [250] * 5),
        (make_five_clusters(n_each=20, random_state=0), (100, 50), [20] * 5),
        (make_growing_clusters(3, n_each=7, random_state=0), (35, 15), [7] * 5),
        (make_two_clusters(random_state=0), (1000, 200), [500, 500]),
        (make_two_clusters(n_each=9, random_state=0), (18, 200), [9, 9]),
        (make_shared_clusters(random_state=0), (1020, 100), [500, 500, 20]),
    ],
)
def test_sets_have_the_shapes_and_labels_of_the_paper(data, shape, sizes):
    X, y = data
    assert X.shape == shape
    assert X.dtype == np.float64
    assert y.shape == shape[:1]
    assert y.dtype == np.int64
    assert np.bincount(y).tolist() == sizes


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_first_point_is_the_origin_and_the_only_one(make):
    X, _ = make(random_state=3)
    assert not X[0].any()
    assert X[1:].any(axis=1).all()


@pytest.mark.parametrize(
    ("demo_deviations", "deviations"),
    [(False, [1, 4, 9, 16, 25]), (True, [1, 16, 81, 256, 625])],
)
def test_five_clusters_have_the_means_and_deviations_of_either_convention(
    demo_deviations, deviations
):
    X, y = make_five_clusters(demo_deviations=demo_deviations, random_state=0)
    for c, (mean, deviation) in enumerate(zip([0, 0, 0, 400, 500], deviations, strict=True)):
        own = X[y == c, 10 * c : 10 * c + 10]
        if c == 0:
            own = own[1:]
        # 2490 numbers or more: a mean to within 1 / 50 deviations, a deviation to within 1 / 70
        # of itself; four times that
        assert own.mean() == pytest.approx(mean, abs=0.08 * deviation)
        assert own.std() == pytest.approx(deviation, rel=0.06)


@pytest.mark.parametrize("dimension", [1, 10, 40])
def test_each_of_five_clusters_has_dimensions_of_its_own(dimension):
    X, y = make_growing_clusters(dimension, n_each=30, random_state=0)
    for c in range(5):
        used = np.flatnonzero(X[y == c].any(axis=0))
        assert used.tolist() == list(range(c * dimension, (c + 1) * dimension))


def test_growing_clusters_of_ten_dimensions_are_the_five_clusters():
    five, grown = make_five_clusters(random_state=4), make_growing_clusters(10, random_state=4)
    assert np.array_equal(five[0], grown[0])
    assert np.array_equal(five[1], grown[1])


def test_two_clusters_have_half_of_the_dimensions_each_and_unit_deviation():
    X, y = make_two_clusters(random_state=0)
    assert not X[y == 0, 100:].any()
    assert not X[y == 1, :100].any()
    # 50 000 numbers: a deviation to within 1 / 300
    assert X[1:500, :100].std() == pytest.approx(1, rel=0.015)
    assert X[y == 1, 100:].std() == pytest.approx(1, rel=0.015)


def test_shared_clusters_meet_in_attributes_50_and_51():
    X, y = make_shared_clusters(random_state=0)
    used = [np.flatnonzero(X[y == c].any(axis=0)) + 1 for c in range(3)]
    assert used[0].tolist() == list(range(1, 52))
    assert used[1].tolist() == list(range(50, 101))
    assert used[2].tolist() == [50, 51]
    assert y[0] == 2


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_seed_decides_every_number(make):
    X, y = make(random_state=0)
    again, labels = make(random_state=np.random.default_rng(0))
    assert np.array_equal(X, again)
    assert np.array_equal(y, labels)
    assert not np.array_equal(X, make(random_state=1)[0])


@pytest.mark.parametrize("bad", [0, 1, 2.5, "many", True, None])
def test_the_number_of_points_is_checked(bad):
    for make, hint in ((make_five_clusters, 250), (make_two_clusters, 500)):
        sentence = (
            f"n_each must be an integer from 2 up; got n_each={bad!r}. The paper uses {hint}."
        )
        with refuses(ParameterError, sentence):
            make(n_each=bad)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "many", True, None])
def test_the_dimension_is_checked(bad):
    sentence = f"dimension must be an integer from 1 up; got dimension={bad!r}. The paper uses 10."
    with refuses(ParameterError, sentence):
        make_growing_clusters(bad)
