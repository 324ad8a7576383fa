"""What the measures refuse; what any input must be is tested with the checks."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.errors import DataError, ParameterError
from isosne.quality import calinski_harabasz, compare, davies_bouldin, knn_accuracy, report
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(10, 3))
Y = X[:, :2].copy()
LABELS = np.arange(10) % 2
HOLED = np.where(np.arange(20).reshape(10, 2) == 3, np.nan, Y)
DENSE = "Y must be a dense array; got a sparse matrix. Pass Y.toarray()."
CLASSES = (
    "labels must have at least 2 classes, and fewer classes than points; got {} class(es) for 10 "
    "points. Class measures compare distances within classes with distances between classes; pass "
    "other labels."
)


@pytest.mark.parametrize("measure", [report, compare])
@pytest.mark.parametrize(
    ("arguments", "options", "error", "sentence"),
    [
        ((HOLED, Y), {}, DataError, "X must be finite; got 1 NaN"),
        ((X, HOLED), {}, DataError, "Y must be finite; got 1 NaN"),
        ((X[:3], Y[:3]), {}, DataError, "X must have at least 4 row(s); got n_samples=3."),
        pytest.param(
            *((X, Y[:9]), {}, DataError),
            "X and Y must have the same number of rows; got 10 rows in X and 9 in Y. "
            "Pass the data that Y was computed from, in the same order.",
        ),
        ((X, csr_array(Y)), {}, DataError, DENSE),
        ((abs(X), Y), {"metric": "precomputed"}, DataError, "Precomputed distances must be a squ"),
        ((0 * X, Y), {"metric": "cosine"}, DataError, "metric='cosine' needs rows that are not"),
        ((X, Y), {"metric": "dice"}, ParameterError, "metric must be one of 'euclidean', 'manh"),
        pytest.param(
            *((X, Y), {"k": 5}, ParameterError),
            "k must be an integer from 1 to 4; got k=5. "
            "Choose k smaller than half of the number of points (10).",
        ),
        pytest.param(
            *((X, Y), {"n_queries": 11}, ParameterError),
            "n_queries must be an integer from 2 to 10; got n_queries=11. "
            "Use n_queries=None for all points up to 20,000, and a sample of 2,000 otherwise.",
        ),
        ((X, Y), {"random_state": -1}, ParameterError, "random_state must be None, an integer"),
        ((X, Y), {"n_jobs": 0}, ParameterError, "n_jobs must be None or an integer from 1 up"),
    ],
)
def test_what_cannot_be_compared_is_refused(measure, arguments, options, error, sentence):
    with pytest.raises(error) as refused:
        measure(*arguments, **{"k": 1, **options})
    assert str(refused.value).startswith(sentence)


def test_the_sizes_must_be_named():
    sentence = (
        "ks must be one of 'all', 'paper', 'small', 'medium', 'large'; got ks=3. Use "
        "ks='all' for every neighborhood size."
    )
    with refuses(ParameterError, sentence):
        compare(X, Y, 2).auc(3)


def test_voters_must_be_other_points():
    sentence = (
        "k must be an integer from 1 to 9; got k=10. "
        "Each point has 9 other points as possible neighbors."
    )
    with refuses(ParameterError, sentence):
        knn_accuracy(Y, LABELS, 10)


@pytest.mark.parametrize("measure", [davies_bouldin, calinski_harabasz, knn_accuracy])
@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        pytest.param(
            LABELS[:9],
            "labels must be one-dimensional, with one entry per point; got shape (9,) for 10 "
            "points. Pass the labels in the order of the rows of Y.",
        ),
        (np.zeros(10), CLASSES.format(1)),
        (np.arange(10), CLASSES.format(10)),
        pytest.param(
            np.where(LABELS, 1.0, np.nan),
            "labels must not be missing; got 5 NaN value(s). "
            "Drop these points, or assign them to a class of their own.",
        ),
        pytest.param(
            np.array([1, "a"] * 5, dtype=object),
            "labels must be all text or all numbers; got a mixture of types. "
            "Convert them with np.asarray(labels, dtype=str).",
        ),
    ],
)
def test_labels_must_name_classes_of_the_points(measure, labels, sentence):
    with refuses(DataError, sentence):
        measure(Y, labels)
    with pytest.raises(DataError, match="Y must be finite"):
        measure(HOLED, LABELS)


def test_a_report_refuses_labels_that_cannot_be_meant():
    with refuses(DataError, CLASSES.format(10)):
        report(X, Y, np.arange(10), k=2)


def test_classes_with_one_center_have_no_davies_bouldin_index():
    sentence = (
        "The Davies-Bouldin index is undefined for classes with the same center; got the same "
        "center for a and c. Merge the two classes, or drop one of them."
    )
    square = np.array([[0, 0], [2, 2], [0, 2], [2, 0], [5, 5], [5, 6.0]])
    with refuses(DataError, sentence):
        davies_bouldin(square, list("aaccbb"))


def test_classes_without_extent_have_no_calinski_harabasz_index():
    sentence = (
        "The Calinski-Harabasz index is undefined without scatter within classes; got classes "
        "whose points all coincide. Pass other labels."
    )
    with refuses(DataError, sentence):
        calinski_harabasz(np.repeat(Y[:2], 3, axis=0), list("aaabbb"))


@pytest.mark.parametrize("Y", [np.zeros((10, 2)), np.column_stack([np.arange(10.0), np.zeros(10)])])
def test_no_measure_of_a_degenerate_map_is_infinite_or_missing(Y):
    found = report(X, Y, k=3)
    numbers = [value for value in found.as_dict().values() if isinstance(value, float)]
    assert len(numbers) == 12
    assert np.isfinite(numbers).all()
    assert np.isfinite(found.comparison.curve().r).all()
    assert np.isfinite(np.stack(found.comparison.trust()[:5])).all()
    assert np.isfinite(knn_accuracy(Y, LABELS, 3))
