import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, IsolationKernel, OwnerKernel
from isosne.affinities.sparse import as_sparse
from isosne.structure import null_test
from isosne.structure.null import N_STEPS, NullTest, _correlated, _permuted, _walk
from isosne.tsne.fit import joint_probabilities
from tests.reference.walks import return_probabilities

KEEPS = ("columns", "correlations")


def wine():
    return minmax_scale(load_wine().data)


def blob(n=80, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("keep", KEEPS)
def test_wine_has_clusters(keep):
    found = null_test(wine(), keep=keep)
    assert found.p_value == 1 / 20
    assert found.is_real
    assert found.point_share > 0.2
    assert (found.null_statistics < found.statistic).all()
    assert found.n_rows == 178


@pytest.mark.parametrize("keep", KEEPS)
def test_wine_with_shuffled_columns_has_none(keep):
    shuffled = np.random.default_rng(1).permuted(wine(), axis=0)
    found = null_test(shuffled, keep=keep)
    assert not found.is_real
    assert found.point_share < 0.5  # 5 % on average over data sets, whose points vary together


def test_a_correlated_gaussian_has_dependent_columns_but_no_clusters():
    X = blob(150, 5) @ np.random.default_rng(1).normal(size=(5, 5))
    assert null_test(X, keep="columns").is_real
    assert not null_test(X, keep="correlations").is_real


@pytest.mark.slow
@pytest.mark.parametrize("keep", KEEPS)
def test_the_false_positive_rate_is_at_most_about_the_level(keep):
    found = [null_test(blob(40, 4, s), keep=keep, random_state=s).p_value for s in range(60)]
    # With "columns", 3 of 60 are expected; 8 or more have a probability of 1 %.
    assert sum(p <= 0.05 for p in found) < 8
    assert np.mean(found) > 0.4


def test_return_probabilities_are_those_of_the_reference():
    X = blob()
    joint = as_sparse(joint_probabilities(X, random_state=0).joint)
    P = csr_array((joint.data.astype(float), joint.indices, joint.indptr)).toarray()
    expected = return_probabilities(P, N_STEPS)
    found = _walk(X, "owner", 0)
    # The figures are rounded to nine decimals.
    np.testing.assert_allclose(found.lifts, expected / P.sum(axis=1), rtol=0, atol=1e-9)
    assert found.n_groups == pytest.approx(expected.sum())


def test_the_statistic_is_the_number_of_closed_groups():
    X = blob(200, 3)
    assert null_test(X, n_draws=1).statistic < 1.1
    far = X + 100 * np.repeat(np.arange(4), 50)[:, None]
    assert null_test(far, OwnerKernel(4), n_draws=1).statistic == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("make", [_permuted, _correlated])
def test_null_data_have_the_values_of_each_column(make):
    X = wine()
    drawn = make(X)(np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(X, axis=0))
    assert not np.array_equal(drawn, X)


def test_null_data_keep_correlations_only_if_asked_to():
    X = wine()
    own = spearmanr(X).statistic[np.triu_indices(13, 1)]
    for make, low, high in ((_permuted, -0.3, 0.3), (_correlated, 0.85, 1)):
        draw = make(X)
        rng = np.random.default_rng(0)
        drawn = np.mean([spearmanr(draw(rng)).statistic for _ in range(10)], axis=0)
        agreement = np.corrcoef(own, drawn[np.triu_indices(13, 1)])[0, 1]
        assert low < agreement <= high


def test_columns_of_a_sparse_matrix_are_permuted():
    X = csr_array(np.maximum(blob(), 0))
    drawn = _permuted(X)(np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(drawn.toarray(), axis=0), np.sort(X.toarray(), axis=0))
    assert null_test(X, n_draws=2).keep == "columns"


def test_more_rows_are_sampled_and_others_take_the_value_of_the_nearest():
    X = np.repeat(wine()[:60], 2, axis=0)  # each row twice: copies have the same p-value
    found = null_test(X, n_draws=2, n_rows=60)
    assert found.n_rows == 60
    assert found.point_p_values.shape == (120,)
    assert (found.point_p_values > 0).all()
    assert (found.point_p_values <= 1).all()


def test_a_kernel_its_name_and_a_model_are_the_same_settings():
    X = wine()[:60]
    expected = null_test(X, n_draws=2)
    for kernel in (OwnerKernel(), TSNE(n_components=3)):
        found = null_test(X, kernel, n_draws=2)
        assert found.statistic == expected.statistic
        np.testing.assert_array_equal(found.point_p_values, expected.point_p_values)
    assert null_test(X, IsolationKernel(8), n_draws=2).statistic != expected.statistic


def test_the_summary_says_what_was_found():
    found = NullTest(0.05, 2.0, np.ones(19), np.ones(4), 0.25, 4, "correlations")
    assert str(found) == (
        "More clustered than by chance (p = 0.05): of 19 random data sets with the same columns "
        "and correlations, but no other structure, none is as clustered as the data. 25% of the "
        "points lie in regions that are more self-contained than those of 95% of the points in "
        "the random data sets."
    )
    found = NullTest(0.2, 2.0, np.r_[np.ones(16), 3, 3, 3], np.ones(4), 0.05, 4, "columns")
    assert str(found) == (
        "No evidence of clusters (p = 0.2): of 19 random data sets with the same columns, but "
        "independent of each other, 3 are as clustered as the data. 5% of the points lie in "
        "regions that are more self-contained than those of 95% of the points in the random data "
        "sets."
    )
