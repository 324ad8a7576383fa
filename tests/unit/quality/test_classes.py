import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score
from sklearn.neighbors import KNeighborsClassifier

from isosne.quality import calinski_harabasz, davies_bouldin, knn_accuracy
from tests.reference import clusters as twin


@pytest.fixture(params=range(3))
def labeled_map(request):
    """Ninety points of four overlapping classes of unequal size."""
    rng = np.random.default_rng(request.param)
    labels = rng.choice(4, 90, p=[0.1, 0.2, 0.3, 0.4])
    return rng.normal(size=(90, 2)) * [3, 50] + labels[:, None] * [2, 20], labels


def test_indices_are_those_of_the_equations_and_of_scikit_learn(labeled_map):
    Y, labels = labeled_map
    points = twin.scaled(Y)
    found = davies_bouldin(Y, labels), calinski_harabasz(Y, labels)
    expected = twin.davies_bouldin(points, labels), twin.calinski_harabasz(points, labels, 2)
    np.testing.assert_allclose(found, expected, 1e-12)  # the twin sums in another order
    expected = davies_bouldin_score(points, labels), calinski_harabasz_score(points, labels)
    np.testing.assert_allclose(found, expected, 1e-12)


def test_the_unit_of_a_map_and_an_axis_without_extent_do_not_matter(labeled_map):
    Y, labels = labeled_map
    flat = np.column_stack([Y, np.full(90, 5.0)])
    for measure in (davies_bouldin, calinski_harabasz):
        for other in (1e-140 * Y, 1e140 * Y, flat):
            np.testing.assert_allclose(measure(other, labels), measure(Y, labels), 1e-12)


def test_labels_are_names_only(labeled_map):
    Y, labels = labeled_map
    names = np.array(["d", "b", "c", "a"])[labels]
    for measure in (davies_bouldin, calinski_harabasz, knn_accuracy):
        np.testing.assert_allclose(measure(Y, names), measure(Y, labels), 1e-12)
        np.testing.assert_allclose(measure(Y, names.astype(object)), measure(Y, labels), 1e-12)


@pytest.mark.parametrize("k", [1, 2, 5, 89])
def test_accuracy_is_the_share_of_right_votes(labeled_map, k):
    Y, labels = labeled_map
    votes = twin.votes(Y.tolist(), labels.tolist(), k)
    assert knn_accuracy(Y, labels, k) == np.mean(votes == labels)


@pytest.mark.parametrize("k", [1, 4, 12])
def test_copies_vote_in_the_order_of_their_indices(duplicates, k):
    labels = np.random.default_rng(0).integers(0, 3, 90)
    votes = twin.votes(duplicates.tolist(), labels.tolist(), k)
    assert knn_accuracy(duplicates, labels, k) == np.mean(votes == labels)


def test_accuracy_of_two_classes_and_odd_k_is_that_of_scikit_learn(labeled_map):
    Y, labels = labeled_map
    labels = labels > 1
    right = [
        KNeighborsClassifier(7).fit(np.delete(Y, i, 0), np.delete(labels, i)).predict(Y[[i]])[0]
        == labels[i]
        for i in range(90)
    ]
    assert knn_accuracy(Y, labels, 7) == np.mean(right)


def test_the_nearest_of_tied_classes_wins():
    # The two nearest of 0, 1, 3 and 6 are (1, 3), (0, 3), (1, 0) and (3, 1). Their classes are
    # (a, b), (a, b), (a, a) and (b, a): the votes are a, a, a and b; only the third is wrong.
    assert knn_accuracy([[0.0], [1.0], [3.0], [6.0]], ["a", "a", "b", "b"], 2) == 0.75
