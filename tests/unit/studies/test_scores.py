"""Scores of repeated maps: means, standard errors, and which map is better."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from isosne.quality import Estimate
from isosne.studies.scores import Mean, average, find_better


def test_the_standard_error_is_that_of_the_repeated_maps():
    # Deviations -1, 0, 1: variance 2 / 2 = 1, and the error of the mean is sqrt(1 / 3).
    found = average([3.0, 4.0, 5.0])
    assert (found.value, found.sampling_error, found.n_maps) == (4.0, 0.0, 3)
    assert found.standard_error == found.seed_error == pytest.approx(math.sqrt(1 / 3), rel=1e-15)
    assert average([0.95] * 3) == Mean(0.95, 0.0, 0.0, 3)


def test_the_sampling_error_is_added_and_does_not_fall_with_the_number_of_maps():
    # Variance of the mean: 2 / 2 from the values 3 and 5, and (4 + 16) / 2 from their samples.
    found = average([Estimate(3.0, 2.0), Estimate(5.0, 4.0)])
    assert found.standard_error == pytest.approx(math.sqrt(1 + 10), rel=1e-15)
    assert average([Estimate(3.0, 2.0)]) == Mean(3.0, 0.0, 2.0, 1)
    assert average([3.0]).standard_error == 0.0


@pytest.mark.parametrize(
    ("means", "is_lower_better", "better"),
    [
        # Sampling errors alone: that of the difference is 5, so that 10 is a tie.
        ([Mean(20, 0, 3.0), Mean(10, 0, 4.0)], False, None),
        ([Mean(20.1, 0, 3.0), Mean(10, 0, 4.0)], False, 0),
        ([Mean(20.1, 0, 3.0), Mean(10, 0, 4.0)], True, 1),
        # Five maps each, equal errors, 8 degrees of freedom: 2.306 sqrt(2) = 3.261.
        ([Mean(3.26, 1.0, 0, 5), Mean(0, 1.0, 0, 5)], False, None),
        ([Mean(3.27, 1.0, 0, 5), Mean(0, 1.0, 0, 5)], False, 0),
        # Only one varies, 4 degrees of freedom: 2.776.
        ([Mean(2.77, 1.0, 0, 5), Mean(0, 0, 0, 5)], False, None),
        ([Mean(2.78, 1.0, 0, 5), Mean(0, 0, 0, 5)], False, 0),
        # Many maps need 1.96 standard errors by the test, and two in any case.
        ([Mean(1.98, 1.0, 0, 9999), Mean(0, 0, 0, 9999)], False, None),
        ([Mean(1.0), Mean(1.0)], False, None),
        ([Mean(1.0), Mean(3.0, 0, 0.5), Mean(2.5, 0, 0.5)], False, None),
        ([Mean(1.0)], False, None),
    ],
)
def test_a_map_is_better_if_the_difference_is_significant(means, is_lower_better, better):
    assert find_better(means, is_lower_better=is_lower_better) == better


def test_the_test_is_that_of_welch():
    rng = np.random.default_rng(0)
    for _ in range(200):
        first, second = rng.normal(0, 1, 5), rng.normal(1, 3, 5)
        is_clear = ttest_ind(first, second, equal_var=False).pvalue < 0.05
        assert (find_better([average(first), average(second)]) is not None) == is_clear


@pytest.mark.parametrize("n_seeds", [2, 3, 5])
def test_of_equal_kernels_one_wins_in_a_row_of_twenty(n_seeds):
    draws = np.random.default_rng(n_seeds).normal(size=(4000, 2, n_seeds))
    won = [find_better([average(one), average(other)]) is not None for one, other in draws]
    # Welch's test is conservative for few values; 0.06 is 0.05 and three standard deviations.
    assert np.mean(won) < 0.06
