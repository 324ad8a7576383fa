import numpy as np
import pytest

from isosne.quality import calinski_harabasz, compare, davies_bouldin, knn_accuracy, report


@pytest.fixture
def labeled():
    """Three hundred points of three classes, their map, and their labels."""
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = rng.normal(size=(300, 6)) + 2 * labels[:, None]
    return X, X[:, :2], labels


@pytest.mark.parametrize("options", [{}, {"n_queries": 60, "random_state": 4}])
def test_a_report_holds_what_each_measure_says(labeled, options):
    X, Y, labels = labeled
    found = report(X, Y, labels, k=7, **options)
    ranks = compare(X, Y, 7, **options)
    for name, expected in {
        "auc_rnx": ranks.auc(),
        "trustworthiness": ranks.trustworthiness(),
        "continuity": ranks.continuity(),
    }.items():
        assert getattr(found, name) == expected
        assert getattr(found, name).standard_error == expected.standard_error
    assert found.classes.davies_bouldin == davies_bouldin(Y, labels)
    assert found.classes.calinski_harabasz == calinski_harabasz(Y, labels)
    assert found.classes.knn_accuracy == knn_accuracy(Y, labels, 7, **options)
    assert found.is_sampled == bool(options)


def test_a_report_prints_as_a_table(labeled):
    X, Y, labels = labeled
    assert str(report(X, Y, labels)) == "\n".join(
        [
            "points                   300 from 6 dimensions to 2",
            "metric                   euclidean",
            "evaluated on             all points",
            f"AUC_RNX                  {compare(X, Y).auc():.4f}",
            f"R_NX(10)                 {compare(X, Y).curve().r[9]:.4f}",
            f"trustworthiness, k = 10  {compare(X, Y).trustworthiness():.4f}",
            f"continuity, k = 10       {compare(X, Y).continuity():.4f}",
            f"neighbors kept, of 10    {compare(X, Y).trust().agreement.mean():.4f}",
            f"within 100 on the map    {compare(X, Y).trust().coarse.mean():.4f}",
            "classes                  3",
            f"Davies-Bouldin           {davies_bouldin(Y, labels):.4f}",
            f"Calinski-Harabasz        {calinski_harabasz(Y, labels):,.1f}",
            f"10-NN accuracy           {knn_accuracy(Y, labels):.4f}",
        ]
    )


def test_a_report_of_a_sample_says_so(labeled):
    X, Y, _ = labeled
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    options = {"n_queries": 60, "random_state": 4, "metric": "precomputed"}
    lines = str(report(D, Y, **options)).splitlines()
    assert lines[0] == "points                   300 from a distance matrix to 2"
    assert lines[2] == "evaluated on             a sample of 60 points"
    area = compare(D, Y, **options).auc()
    assert lines[3] == f"AUC_RNX                  {area:.4f} +- {area.standard_error:.2g}"
    assert len(lines) == 9


def test_a_report_becomes_plain_values(labeled):
    X, Y, labels = labeled
    found = report(X, Y, labels, n_queries=60, random_state=4)
    values = found.as_dict()
    whole = "is_sampled n_points n_features n_components metric k n_queries n_unlabeled class_note"
    estimates = ["auc_rnx", "rnx", "trustworthiness", "continuity", "knn_accuracy"]
    estimates += ["neighbors_kept", "coarse_kept"]
    assert set(values) == {
        *whole.split(),
        *("n_classes", "davies_bouldin", "calinski_harabasz"),
        *(name + end for name in estimates for end in ("", "_standard_error")),
    }
    assert {type(value) for value in values.values()} == {bool, int, str, float}
    assert values["auc_rnx_standard_error"] == found.auc_rnx.standard_error > 0


def test_a_report_does_not_depend_on_threads(labeled):
    X, Y, labels = labeled
    assert report(X, Y, labels, n_jobs=1) == report(X, Y, labels, n_jobs=2)


EMPTY = {
    "text": lambda labels: labels.astype(str),
    "object": lambda labels: labels.astype(object),
    "float": lambda labels: labels.astype(float),
}


@pytest.mark.parametrize(
    ("kind", "nothing"), [("text", ""), ("object", None), ("object", ""), ("float", np.nan)]
)
@pytest.mark.parametrize("options", [{}, {"n_queries": 60, "random_state": 4}])
def test_points_without_a_label_are_of_no_class(labeled, kind, nothing, options):
    X, Y, labels = labeled
    has_label = np.arange(300) % 7 != 0
    some = EMPTY[kind](labels)
    some[~has_label] = nothing
    found = report(X, Y, some, **options)
    assert found.n_unlabeled == (~has_label).sum() == 43
    assert found.classes.n_classes == 3
    assert found.classes.davies_bouldin == davies_bouldin(Y[has_label], labels[has_label])
    assert found.classes.calinski_harabasz == calinski_harabasz(Y[has_label], labels[has_label])
    if not options:
        assert found.classes.knn_accuracy == knn_accuracy(Y[has_label], labels[has_label])
    assert found.auc_rnx == compare(X, Y, **options).auc()
    told = "\nunlabeled                43 points, excluded from class measures"
    assert str(found).endswith(told)
    assert found.as_dict()["n_unlabeled"] == 43


def test_a_sample_that_misses_the_few_labels_asks_all_of_them(labeled):
    X, Y, labels = labeled
    some = np.where(np.arange(300) < 20, labels.astype(str), "")
    found = report(X, Y, some, n_queries=3, random_state=0)
    assert found.classes.knn_accuracy == knn_accuracy(Y[:20], labels[:20])


@pytest.mark.parametrize(
    ("n_labeled", "note"),
    [
        (11, "all labeled points belong to one class"),
        (10, "k = 10 requires more than 10 labeled points, found 10"),
    ],
)
def test_one_class_leaves_the_measures_of_neighborhoods(labeled, n_labeled, note):
    X, Y, _ = labeled
    labels = np.where(np.arange(300) < n_labeled, "only", "")
    found = report(X, Y, labels)
    assert found.classes is None
    assert found.class_note == note
    assert f"\nclasses                  not evaluated: {note}" in str(found)
    assert found.trustworthiness == compare(X, Y).trustworthiness()
    assert "davies_bouldin" not in found.as_dict()
