import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from isosne import TSNE, IsolationKernel, LeidenClustering, OwnerKernel
from isosne.errors import ParameterError
from tests.conftest import make, refuses


def checks_of_scikit_learn():
    """Every check, but that of array types that a default SciPy does not take."""
    for estimator, check in estimator_checks_generator(LeidenClustering(n_runs=2, random_state=0)):
        name = getattr(check, "func", check).__name__
        if "array_api" not in name:
            yield pytest.param(estimator, check, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(checks_of_scikit_learn()))
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def test_two_blobs_are_two_stable_clusters(two_blobs):
    found = LeidenClustering(resolution=0.3, random_state=0).fit(two_blobs)
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1], 30))
    assert found.n_clusters_ == 2
    assert found.stability_ == 1
    np.testing.assert_array_equal(found.cluster_stability_, [1, 1])
    assert 0 < found.modularity_ < 1


def test_a_higher_resolution_gives_more_clusters():
    X = load_iris().data
    numbers = [
        LeidenClustering(resolution=r, random_state=0).fit(X).n_clusters_ for r in (0.1, 1.0, 5.0)
    ]
    assert numbers == sorted(set(numbers))


def test_points_a_model_and_a_kernel_give_the_same_clusters(two_blobs):
    clustering = LeidenClustering(random_state=0)
    expected = clustering.fit(two_blobs).labels_
    assert clustering.n_features_in_ == 5
    for fitted in (make("owner").fit(two_blobs), OwnerKernel(random_state=0).fit(two_blobs)):
        np.testing.assert_array_equal(clustering.fit(fitted).labels_, expected)
        assert clustering.n_features_in_ == 5


def test_a_loaded_model_has_the_clusters_of_the_saved_one(two_blobs, tmp_path):
    model = make("owner").fit(two_blobs)
    model.save(tmp_path / "model.isosne")
    loaded = TSNE.load(tmp_path / "model.isosne")
    clustering = LeidenClustering(random_state=0)
    expected = clustering.fit(model).modularity_
    assert clustering.fit(loaded).modularity_ == expected


@pytest.mark.parametrize("affinities", ["dense", "sparse", "sampled"])
def test_every_form_of_affinities_has_clusters(two_blobs, affinities):
    model = make(IsolationKernel(8, n_partitions=100), affinities=affinities).fit(two_blobs)
    found = LeidenClustering(resolution=0.3, random_state=0).fit(model)
    assert adjusted_rand_score(np.repeat([0, 1], 30), found.labels_) > 0.9


def test_containers_give_the_same_clusters(two_blobs):
    clustering = LeidenClustering("isolation", random_state=0)
    expected = clustering.fit_predict(two_blobs)
    np.testing.assert_array_equal(clustering.fit_predict(csr_array(two_blobs)), expected)
    frame = pd.DataFrame(two_blobs, columns=list("abcde"))
    np.testing.assert_array_equal(clustering.fit_predict(frame), expected)
    assert clustering.feature_names_in_.tolist() == list("abcde")


def test_landmarks_are_clustered(two_blobs):
    model = make("owner", landmarks=40).fit(two_blobs)
    assert len(LeidenClustering(random_state=0).fit(model).labels_) == 40


def test_duplicates_and_few_points_have_clusters(duplicates):
    assert LeidenClustering(random_state=0).fit(duplicates).n_clusters_ > 1
    assert LeidenClustering(random_state=0).fit_predict([[0.0], [1.0]]).tolist() == [0, 0]


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        LeidenClustering().fit(TSNE())


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"resolution": -1},
            (
                "resolution must be a number from 0 up; got resolution=-1. Higher values give more "
                "clusters; 0.25 to 2 are usual."
            ),
        ),
        (
            {"n_runs": 1},
            "n_runs must be an integer from 2 up; got n_runs=1. Two runs or more are compared.",
        ),
    ],
)
def test_wrong_parameters_are_refused(two_blobs, parameters, sentence):
    with refuses(ParameterError, sentence):
        LeidenClustering(**parameters).fit(two_blobs)
