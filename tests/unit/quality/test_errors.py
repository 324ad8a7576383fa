"""Every refusal of the measures, word for word."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.errors import DataError, ParameterError
from isosne.quality import (
    auc_rnx,
    calinski_harabasz,
    compare,
    continuity,
    davies_bouldin,
    knn_accuracy,
    report,
    rnx_curve,
    trust,
    trustworthiness,
)
from tests.conftest import refuses

X = np.random.default_rng(0).normal(size=(10, 3))
Y = X[:, :2].copy()
LABELS = np.arange(10) % 2
AT_K = [trust, trustworthiness, continuity, report, compare]
OF_PAIRS = [rnx_curve, auc_rnx, *AT_K]
OF_CLASSES = [davies_bouldin, calinski_harabasz, knn_accuracy]


PLACE = "the first in row 1 (counting from 0), column 1"


def with_value(array, value):
    array = array.astype(np.float64)
    array[1, 1] = value
    return array


def of_pair(measure, X, Y, **more):
    if measure in AT_K:
        more = {"k": 1} | more
    return measure(X, Y, **more)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("measure", OF_PAIRS)
def test_data_and_map_must_be_finite(measure, value):
    counts = "1 NaN and 0 infinite" if np.isnan(value) else "0 NaN and 1 infinite"
    for name, pair in (("X", (with_value(X, value), Y)), ("Y", (X, with_value(Y, value)))):
        sentence = (
            f"{name} must be finite; got {counts} value(s), {PLACE}. "
            "Leave out or impute the rows that hold them."
        )
        with refuses(DataError, sentence):
            of_pair(measure, *pair)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("measure", OF_CLASSES)
def test_a_labeled_map_must_be_finite(measure, value):
    counts = "1 NaN and 0 infinite" if np.isnan(value) else "0 NaN and 1 infinite"
    sentence = (
        f"Y must be finite; got {counts} value(s), {PLACE}. "
        "Leave out or impute the rows that hold them."
    )
    with refuses(DataError, sentence):
        measure(with_value(Y, value), LABELS)


@pytest.mark.parametrize("measure", OF_PAIRS)
def test_data_and_map_must_have_the_same_rows(measure):
    sentence = (
        "X and Y must have the same number of rows; got 10 rows in X and 9 in Y. "
        "Pass the data that Y was computed from, in the same order."
    )
    with refuses(DataError, sentence):
        of_pair(measure, X, Y[:9])


@pytest.mark.parametrize("measure", OF_PAIRS)
def test_there_must_be_four_points(measure):
    sentence = "X must have at least 4 row(s); got n_samples=3. Pass more points, one in each row."
    with refuses(DataError, sentence):
        of_pair(measure, X[:3], Y[:3])


@pytest.mark.parametrize("measure", OF_CLASSES)
def test_a_labeled_map_must_have_four_points(measure):
    sentence = "Y must have at least 4 row(s); got n_samples=3. Pass more points, one in each row."
    with refuses(DataError, sentence):
        measure(Y[:3], LABELS[:3])


def test_a_map_must_be_dense():
    with refuses(DataError, "Y must be a dense array; got a sparse matrix. Pass Y.toarray()."):
        auc_rnx(X, csr_array(Y))


def test_distances_must_be_square_and_the_metric_known():
    sentence = (
        "Precomputed distances must be a square distance matrix at fit; got shape (10, 3). "
        "Pass the distances of all points to all points."
    )
    with refuses(DataError, sentence):
        auc_rnx(np.abs(X), Y, metric="precomputed")
    sentence = (
        "metric must be one of 'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', "
        "'mahalanobis', 'hamming', 'gower', 'precomputed'; "
        "got metric='dice'. For another metric compute the distances yourself and pass "
        "metric='precomputed'."
    )
    with refuses(ParameterError, sentence):
        trust(X, Y, 2, metric="dice")
    sentence = (
        "p must be a finite number from 1 up with metric='minkowski'; got p=0.5. "
        "Below 1 the triangle inequality fails; the limit of large p is metric='chebyshev'."
    )
    with refuses(ParameterError, sentence):
        report(X, Y, k=2, metric="minkowski", p=0.5)
    sentence = (
        "metric='cosine' needs rows that are not all zero; got 1 such row(s) in X. "
        "Leave them out, or choose metric='euclidean'."
    )
    with refuses(DataError, sentence):
        rnx_curve(np.vstack([X[:9], np.zeros(3)]), Y, metric="cosine")


@pytest.mark.parametrize("k", [0, 5, 2.0, True, None])
@pytest.mark.parametrize("measure", AT_K)
def test_a_neighborhood_must_be_less_than_half_of_the_points(measure, k):
    sentence = (
        f"k must be an integer from 1 to 4; got k={k!r}. "
        "Choose k smaller than half of the number of points (10)."
    )
    with refuses(ParameterError, sentence):
        measure(X, Y, k=k)


@pytest.mark.parametrize("k", [0, 10, "3"])
def test_voters_must_be_other_points(k):
    sentence = (
        f"k must be an integer from 1 to 9; got k={k!r}. "
        "Each point has 9 other points as possible neighbors."
    )
    with refuses(ParameterError, sentence):
        knn_accuracy(Y, LABELS, k)


@pytest.mark.parametrize("ks", ["some", None, 3, np.arange(3)])
def test_the_sizes_must_be_named(ks):
    sentence = (
        f"ks must be one of 'all', 'paper', 'small', 'medium', 'large'; got ks={ks!r}. Use "
        "ks='all' for every neighborhood size, ks='paper' for the fifty sizes of the paper, "
        "ks='small', ks='medium' or ks='large' for a third of the sizes."
    )
    with refuses(ParameterError, sentence):
        auc_rnx(X, Y, ks=ks)
    with refuses(ParameterError, sentence):
        compare(X, Y, 2).auc(ks)


@pytest.mark.parametrize("n_queries", [1, 11, 2.5, "all"])
@pytest.mark.parametrize("measure", OF_PAIRS)
def test_queries_must_be_some_of_the_points(measure, n_queries):
    sentence = (
        f"n_queries must be an integer from 2 to 10; got n_queries={n_queries!r}. "
        "Use n_queries=None for all points up to 20,000, and a sample of 2,000 otherwise."
    )
    with refuses(ParameterError, sentence):
        of_pair(measure, X, Y, n_queries=n_queries)


def test_a_seed_and_a_number_of_threads_are_checked():
    sentence = (
        "random_state must be None, an integer from 0 up, a numpy Generator or a RandomState; "
        "got random_state=-1. Pass an integer for a repeatable result."
    )
    with refuses(ParameterError, sentence):
        auc_rnx(X, Y, random_state=-1)
    sentence = (
        "n_jobs must be None or an integer from 1 up; got n_jobs=0. "
        "None uses as many threads as Numba does."
    )
    for measure in (auc_rnx, rnx_curve):
        with refuses(ParameterError, sentence):
            measure(X, Y, n_jobs=0)
    with refuses(ParameterError, sentence):
        knn_accuracy(Y, LABELS, 3, n_jobs=0)


LABEL_SENTENCES = {
    "wrong length": (
        LABELS[:9],
        (
            "labels must be one-dimensional, with one entry per point; got shape (9,) for 10 "
            "points. Pass the labels in the order of the rows of Y."
        ),
    ),
    "a column": (
        LABELS[:, None],
        (
            "labels must be one-dimensional, with one entry per point; "
            "got shape (10, 1) for 10 points. "
            "Pass the labels in the order of the rows of Y."
        ),
    ),
    "one class": (
        np.zeros(10),
        (
            "labels must have at least 2 classes, and fewer classes than points; got 1 class(es) "
            "for 10 points. Class measures compare distances within classes with distances between "
            "classes; pass other labels."
        ),
    ),
    "no class twice": (
        np.arange(10),
        (
            "labels must have at least 2 classes, and fewer classes than points; got 10 class(es) "
            "for 10 points. Class measures compare distances within classes with distances between "
            "classes; pass other labels."
        ),
    ),
    "missing": (
        np.where(LABELS, 1.0, np.nan),
        (
            "labels must not be missing; got 5 NaN value(s). "
            "Drop these points, or assign them to a class of their own."
        ),
    ),
    "mixed": (
        np.array([1, "a"] * 5, dtype=object),
        (
            "labels must be all text or all numbers; got a mixture of types. "
            "Convert them with np.asarray(labels, dtype=str)."
        ),
    ),
}


@pytest.mark.parametrize("case", LABEL_SENTENCES.values(), ids=LABEL_SENTENCES)
@pytest.mark.parametrize("measure", OF_CLASSES)
def test_labels_must_name_classes_of_the_points(measure, case):
    labels, sentence = case
    with refuses(DataError, sentence):
        measure(Y, labels)


@pytest.mark.parametrize("case", ["wrong length", "a column", "no class twice", "mixed"])
def test_a_report_refuses_labels_that_cannot_be_meant(case):
    labels, sentence = LABEL_SENTENCES[case]
    with refuses(DataError, sentence):
        report(X, Y, labels, k=2)


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
    assert np.isfinite(rnx_curve(X, Y).r).all()
    *of_points, k = trust(X, Y, 3)
    assert np.isfinite(np.stack(of_points)).all()
    assert k == 3
    assert np.isfinite(knn_accuracy(Y, LABELS, 3))
