"""The paper's simulations."""

import numpy as np
import pytest

from isosne.datasets import make_five_clusters, make_shared_clusters, make_two_clusters
from isosne.errors import ParameterError
from tests.conftest import refuses


@pytest.mark.parametrize(
    ("make", "shape", "sizes"),
    [
        (make_five_clusters, (1250, 50), [250] * 5),
        (make_two_clusters, (1000, 200), [500, 500]),
        (make_shared_clusters, (1020, 100), [500, 500, 20]),
    ],
)
def test_sets_are_those_of_the_paper_and_a_seed_decides_every_number(make, shape, sizes):
    X, y = make(random_state=0)
    assert X.shape == shape
    assert np.bincount(y).tolist() == sizes
    assert not X[0].any()  # the origin
    assert X[1:].any(axis=1).all()
    again, labels = make(random_state=np.random.default_rng(0))
    assert np.array_equal(X, again)
    assert np.array_equal(y, labels)
    assert not np.array_equal(X, make(random_state=1)[0])


def test_five_clusters_have_the_means_and_deviations_of_the_paper():
    X, y = make_five_clusters(random_state=0)
    for c, (mean, deviation) in enumerate(zip([0, 0, 0, 400, 500], [1, 4, 9, 16, 25], strict=True)):
        own = X[y == c, 10 * c : 10 * c + 10]
        if c == 0:
            own = own[1:]
        # 2490 numbers or more: a mean to within 1 / 50 deviations, a deviation to within 1 / 70
        # of itself; four times that
        assert own.mean() == pytest.approx(mean, abs=0.08 * deviation)
        assert own.std() == pytest.approx(deviation, rel=0.06)


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


@pytest.mark.parametrize(
    ("make", "wrong", "sentence"),
    [
        (make_five_clusters, {"n_each": 1}, "n_each must be an integer from 2 up; {} 250."),
        (make_two_clusters, {"n_each": True}, "n_each must be an integer from 2 up; {} 500."),
        (make_five_clusters, {"dimension": 0}, "dimension must be an integer from 1 up; {} 10."),
    ],
)
def test_sizes_are_checked(make, wrong, sentence):
    ((name, value),) = wrong.items()
    with refuses(ParameterError, sentence.format(f"got {name}={value!r}. The paper uses")):
        make(**wrong)
