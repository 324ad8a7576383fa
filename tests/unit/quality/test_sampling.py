import json
import pickle

import numpy as np
import pytest

from isosne.quality import Comparison, Estimate, compare, knn_accuracy
from isosne.quality.inputs import choose_queries, estimate_mean


@pytest.fixture(scope="module")
def data_and_map():
    X = np.random.default_rng(0).normal(size=(600, 8))
    return X, X[:, :2] + np.random.default_rng(1).normal(size=(600, 2))


def test_an_estimate_is_a_float_that_prints_with_its_error_and_survives_a_copy():
    made = Estimate(0.51234, 0.0123, 200)
    for found in (made, pickle.loads(pickle.dumps(made))):
        assert found == np.mean([found, found]) == 0.51234
        assert json.dumps([found]) == "[0.51234]"
        assert type(found.value) is float
        assert (found.standard_error, found.n_queries) == (0.0123, 200)
        assert str(found) == "0.5123 +- 0.012"
    assert repr(found) == "Estimate(0.51234, standard_error=0.0123, n_queries=200)"
    assert str(Estimate(0.51234)) == "0.5123"


def test_the_error_of_a_mean_by_hand():
    # Values 1 and 3 of four points: variance 2, half of the points left out, 2 / 2 * 1/2.
    found = estimate_mean(np.array([1.0, 3.0]), 4)
    assert found == 2
    assert found.standard_error == pytest.approx(0.5**0.5)


def test_every_point_is_a_query_up_to_the_limit():
    np.testing.assert_array_equal(choose_queries(20_000, None, 0), np.arange(20_000))
    for n_queries in (None, "auto"):
        queries = choose_queries(20_001, n_queries, 0)
        assert len(queries) == 2_000
        assert np.all(np.diff(queries) > 0)
    assert len(choose_queries(30_000, 30_000, 0)) == 30_000


@pytest.mark.parametrize("measure", [Comparison.auc, Comparison.trustworthiness])
def test_sampled_measures_lie_within_their_errors(data_and_map, measure):
    exact = measure(compare(*data_and_map))
    sampled = [
        measure(compare(*data_and_map, n_queries=90, random_state=seed)) for seed in range(40)
    ]
    misses = np.array([(found - exact) / found.standard_error for found in sampled])
    assert np.abs(misses).max() < 3.5
    # 68 % of normal deviates lie within one; 40 of them give 27 +- 3.
    assert 19 <= (np.abs(misses) < 1).sum() <= 35
    errors = [found.standard_error for found in sampled]
    np.testing.assert_allclose(np.std(sampled), np.mean(errors), 0.35)


def test_a_sampled_accuracy_lies_within_its_error(data_and_map):
    _, Y = data_and_map
    labels = Y[:, 0] + np.random.default_rng(2).normal(size=600) > 0
    for seed in range(10):
        found = knn_accuracy(Y, labels, n_queries=150, random_state=seed)
        assert abs(found - knn_accuracy(Y, labels)) < 3.5 * found.standard_error
        assert found.n_queries == 150


def test_trust_of_a_sample_is_that_of_its_points(data_and_map):
    sample = compare(*data_and_map, n_queries=50, random_state=3).trust()
    everyone = compare(*data_and_map).trust()
    for found, expected in zip(sample[1:5], everyone[1:5], strict=True):
        np.testing.assert_array_equal(found, expected[sample.points])
    assert sample[6:] == everyone[6:] == (10, 100)


def test_the_trust_of_a_region_is_the_mean_of_the_nearest_evaluated_points(data_and_map):
    for n_queries in (20, 100, None):
        trust = compare(*data_and_map, n_queries=n_queries, random_state=3).trust()
        Y, known = data_and_map[1], data_and_map[1][trust.points]
        assert trust.regional().shape == (600,)
        for i in (0, 17, 599):
            nearest = np.argsort(((known - Y[i]) ** 2).sum(axis=1))[:30]
            assert trust.regional()[i] == pytest.approx(trust.agreement[nearest].mean())


def test_a_sampled_curve_is_the_mean_over_its_points(data_and_map):
    sampled = compare(*data_and_map, n_queries=300, random_state=0)
    assert sampled.curve().r.shape == (598,)
    agreement = sampled.trust().agreement.mean()
    np.testing.assert_allclose(sampled.curve().r[9], (599 * agreement - 10) / 589, 1e-12)
