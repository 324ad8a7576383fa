import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from isosne import IsolationOutliers
from tests.reference import spheres as reference


@pytest.mark.parametrize("psi", [2, 5, 40])
@pytest.mark.parametrize("data", ["two_blobs", "duplicates"])
def test_scores_are_those_of_the_definition(request, data, psi):
    X = request.getfixturevalue(data)
    model = IsolationOutliers(psi, n_partitions=5, random_state=0).fit(X)
    new = X[:10] + 0.25
    # Sums of five shares, added in another order.
    expected = reference.scores(np.vstack([X, new]), X, model.kernel_.partitions_[0].samples)
    np.testing.assert_allclose(model.score_samples(np.vstack([X, new])), expected, rtol=1e-12)


def test_all_containers_and_distances_give_the_same_scores(two_blobs):
    X = two_blobs
    expected = IsolationOutliers(random_state=0).fit(X).score_samples(X)
    for data in (csr_array(X), pd.DataFrame(X, columns=list("abcde"))):
        found = IsolationOutliers(random_state=0).fit(data).score_samples(data)
        np.testing.assert_array_equal(found, expected)
    D = cdist(X, X)
    distances = IsolationOutliers(metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(distances.score_samples(D), expected)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "mahalanobis", "chebyshev"])
def test_other_metrics_find_the_far_point(one_far_point, metric):
    X = one_far_point + 10 if metric == "cosine" else np.clip(one_far_point, -50, 50)
    scores = IsolationOutliers(metric=metric, random_state=0).fit(X).score_samples(X)
    assert np.isfinite(scores).all()
    assert scores.argmin() == 17


def test_a_far_point_is_the_outlier(one_far_point):
    model = IsolationOutliers(random_state=0).fit(one_far_point)
    assert model.score_samples(one_far_point).argmin() == 17
    assert model.predict(one_far_point)[17] == -1
    assert model.predict([[0.0, 0.0, 0.0], [50.0, 50.0, 50.0]]).tolist() == [1, -1]


def test_contamination_is_the_share_of_outliers(two_blobs):
    model = IsolationOutliers(contamination=0.1, random_state=0).fit(two_blobs)
    labels = model.predict(two_blobs)
    assert (labels == -1).mean() == pytest.approx(0.1, abs=0.02)
    np.testing.assert_array_equal(model.fit_predict(two_blobs), labels)
    decisions = model.score_samples(two_blobs) - model.offset_
    np.testing.assert_array_equal(model.decision_function(two_blobs), decisions)


def test_equal_points_are_no_outliers():
    X = np.ones((20, 2))
    model = IsolationOutliers(random_state=0).fit(X)
    assert (model.predict(X) == 1).all()


def test_samples_are_at_most_all_points():
    model = IsolationOutliers(50, n_partitions=3, random_state=0).fit(np.arange(6.0)[:, None])
    np.testing.assert_array_equal(
        model.kernel_.partitions_[0].samples, np.tile(np.arange(6), (3, 1))
    )
