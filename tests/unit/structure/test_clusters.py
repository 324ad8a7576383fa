import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from isosne import TSNE, IsolationKernel, LeidenClustering, OwnerKernel
from isosne.structure.clusters import best_jaccard, mean_agreement
from tests.conftest import make
from tests.reference.modularity import mean_best_jaccard


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


def test_a_cluster_that_is_divided_elsewhere_has_a_low_index():
    labels = np.array([0, 0, 0, 0, 1, 1])
    other = np.array([0, 0, 0, 1, 2, 2])
    # The first cluster keeps 3 of 4 members, the second all.
    np.testing.assert_allclose(best_jaccard(labels, [other]), [0.75, 1])
    assert 0 < mean_agreement([labels, other]) < 1


@pytest.mark.parametrize("seed", range(3))
def test_the_index_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    labels, *others = (np.unique(rng.integers(0, k, 50), return_inverse=True)[1] for k in (4, 3, 6))
    np.testing.assert_allclose(best_jaccard(labels, others), mean_best_jaccard(labels, others))
