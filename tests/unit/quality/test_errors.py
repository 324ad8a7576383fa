"""Every refusal of the measures, word for word."""

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
NOT_FINITE = (
    "must be finite; got 1 NaN and 0 infinite value(s), the first in row 1 (counting from 0), "
    "column 1. Leave out or impute the rows that hold them."
)
FEW = "must have at least 4 row(s); got n_samples=3. Pass more points, one in each row."
CLASSES = (
    "labels must have at least 2 classes, and fewer classes than points; got {} class(es) for 10 "
    "points. Class measures compare distances within classes with distances between classes; pass "
    "other labels."
)


@pytest.mark.parametrize("measure", [report, compare])
@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((HOLED, Y), {}, f"X {NOT_FINITE}"),
        ((X, HOLED), {}, f"Y {NOT_FINITE}"),
        ((X[:3], Y[:3]), {}, f"X {FEW}"),
        (
            (X, Y[:9]),
            {},
            (
                "X and Y must have the same number of rows; got 10 rows in X and 9 in Y. "
                "Pass the data that Y was computed from, in the same order."
            ),
        ),
        (
            (X, csr_array(Y)),
            {},
            "Y must be a dense array; got a sparse matrix. Pass Y.toarray().",
        ),
        (
            (np.abs(X), Y),
            {"metric": "precomputed"},
            (
                "Precomputed distances must be a square distance matrix at fit; got shape (10, 3). "
                "Pass the distances of all points to all points."
            ),
        ),
        (
            (np.vstack([X[:9], np.zeros(3)]), Y),
            {"metric": "cosine"},
            (
                "metric='cosine' needs rows that are not all zero; got 1 such row(s) in X. "
                "Leave them out, or choose metric='euclidean'."
            ),
        ),
    ],
)
def test_data_that_cannot_be_compared_are_refused(measure, arguments, options, sentence):
    with refuses(DataError, sentence):
        measure(*arguments, **{"k": 1, **options})


@pytest.mark.parametrize("measure", [report, compare])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"metric": "dice"},
            (
                "metric must be one of 'euclidean', 'manhattan', 'chebyshev', 'minkowski', "
                "'cosine', 'mahalanobis', 'hamming', 'gower', 'precomputed'; got metric='dice'. "
                "For another metric compute the distances yourself and pass metric='precomputed'."
            ),
        ),
        (
            {"metric": "minkowski", "p": 0.5},
            (
                "p must be a finite number from 1 up with metric='minkowski'; got p=0.5. "
                "Below 1 the triangle inequality fails; the limit of large p is metric='chebyshev'."
            ),
        ),
        (
            {"k": 5},
            (
                "k must be an integer from 1 to 4; got k=5. "
                "Choose k smaller than half of the number of points (10)."
            ),
        ),
        (
            {"n_queries": 11},
            (
                "n_queries must be an integer from 2 to 10; got n_queries=11. "
                "Use n_queries=None for all points up to 20,000, and a sample of 2,000 otherwise."
            ),
        ),
        (
            {"random_state": -1},
            (
                "random_state must be None, an integer from 0 up, a numpy Generator or a "
                "RandomState; got random_state=-1. Pass an integer for a repeatable result."
            ),
        ),
        (
            {"n_jobs": 0},
            (
                "n_jobs must be None or an integer from 1 up; got n_jobs=0. "
                "None uses as many threads as Numba does."
            ),
        ),
    ],
)
def test_wrong_parameters_are_refused(measure, options, sentence):
    with refuses(ParameterError, sentence):
        measure(X, Y, **{"k": 2, **options})


def test_the_sizes_must_be_named():
    sentence = (
        "ks must be one of 'all', 'paper', 'small', 'medium', 'large'; got ks=3. Use "
        "ks='all' for every neighborhood size, ks='paper' for the fifty sizes of the paper, "
        "ks='small', ks='medium' or ks='large' for a third of the sizes."
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
    ("Y", "labels", "sentence"),
    [
        (HOLED, LABELS, f"Y {NOT_FINITE}"),
        (Y[:3], LABELS[:3], f"Y {FEW}"),
        (
            Y,
            LABELS[:9],
            (
                "labels must be one-dimensional, with one entry per point; got shape (9,) for 10 "
                "points. Pass the labels in the order of the rows of Y."
            ),
        ),
        (Y, np.zeros(10), CLASSES.format(1)),
        (Y, np.arange(10), CLASSES.format(10)),
        (
            Y,
            np.where(LABELS, 1.0, np.nan),
            (
                "labels must not be missing; got 5 NaN value(s). "
                "Drop these points, or assign them to a class of their own."
            ),
        ),
        (
            Y,
            np.array([1, "a"] * 5, dtype=object),
            (
                "labels must be all text or all numbers; got a mixture of types. "
                "Convert them with np.asarray(labels, dtype=str)."
            ),
        ),
    ],
)
def test_labels_must_name_classes_of_the_points(measure, Y, labels, sentence):
    with refuses(DataError, sentence):
        measure(Y, labels)


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
    assert len(numbers) == 6
    assert np.isfinite(numbers).all()
    assert np.isfinite(found.comparison.curve().r).all()
    assert np.isfinite(np.stack(found.comparison.trust()[:-1])).all()
    assert np.isfinite(knn_accuracy(Y, LABELS, 3))
