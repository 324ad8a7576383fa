"""Measures in plain words."""

from dataclasses import replace

import numpy as np
import pytest

from isosne.plots.paint import Classes
from isosne.quality import Curve, Estimate, Trust
from isosne.studies import judge
from isosne.studies.readings import (
    read_measures,
    read_seconds,
    read_trust,
    trust_by_class,
)
from isosne.studies.verdicts import read_sizes, read_verdict

CLASSES = Classes(["tight", "loose"], np.repeat([0, 1], 30))


@pytest.fixture
def judged(two_blobs):
    return judge(two_blobs, two_blobs[:, :2], CLASSES.of_point, title="Isolation kernel")


def having(judged, title="Isolation kernel", agreement=None, **measures):
    """Change what was measured of a map."""
    if agreement is not None:
        shares = np.full(60, agreement)
        judged = replace(judged, trust=judged.trust._replace(agreement=shares))
    of_classes = {k: v for k, v in measures.items() if hasattr(judged.report.classes, k)}
    rest = {k: v for k, v in measures.items() if k not in of_classes}
    classes = replace(judged.report.classes, **of_classes)
    return replace(judged, title=title, report=replace(judged.report, classes=classes, **rest))


PLAIN_NUMBERS = ("davies_bouldin", "calinski_harabasz", "agreement")
CASES = {
    "auc_rnx": [
        (0.1, "Poor: hardly better than a random map."),
        (0.2, "Weak: rely on the clusters, not on the distances between them."),
        (0.4, "Fair: typical of high-dimensional data."),
        (0.5, "Good: at least half of what a map can preserve is preserved."),
    ],
    "agreement": [
        (0.1, "Poor: few of the nearest neighbors are those in the data."),
        (0.4, "Fair: less than half of the nearest neighbors are those in the data."),
        (0.5, "Good: at least half of the nearest neighbors are those in the data."),
    ],
    "trustworthiness": [
        (0.79, "Poor: many points have false neighbors."),
        (0.8, "Fair: some points have false neighbors."),
        (0.92, "Good: points shown close together are rarely far apart in the data."),
    ],
    "continuity": [
        (0.79, "Poor: many neighborhoods are split."),
        (0.8, "Fair: some neighborhoods are split."),
        (0.92, "Good: points close in the data are rarely shown far apart."),
    ],
    "davies_bouldin": [
        (0.4, "Good: classes are compact and well separated."),
        (0.5, "Fair: most classes are separated."),
        (1.0, "Weak: classes touch or overlap."),
        (2.0, "Poor: classes lie on top of each other."),
    ],
    "calinski_harabasz": [
        (1000.0, "No absolute scale: use it only to compare maps of the same data.")
    ],
    # Half of the points are of one class: 0.5 is chance.
    "knn_accuracy": [
        (0.96, "Good: almost all neighbors on the map share a class."),
        (0.81, "Fair: most neighbors on the map share a class."),
        (0.7, "Weak: classes are mixed on the map."),
    ],
}
MEASURES = list(CASES)
"""In the order of the table."""


@pytest.mark.parametrize(
    ("measure", "value", "verdict"),
    [(measure, *case) for measure, cases in CASES.items() for case in cases],
)
def test_a_value_has_its_sentence(judged, measure, value, verdict):
    value = value if measure in PLAIN_NUMBERS else Estimate(value)
    reading = read_measures([having(judged, **{measure: value})], CLASSES)[MEASURES.index(measure)]
    assert reading.verdict == verdict
    assert reading.best is None  # of one map


def test_the_better_value_is_named(judged):
    other = having(judged, auc_rnx=Estimate(0.01), davies_bouldin=0.01)
    readings = read_measures([judged, other], CLASSES)
    assert [reading.best for reading in readings] == [0, None, None, None, 1, None, None]
    assert readings[0].values[1] == "0.010"


@pytest.mark.parametrize(
    ("first", "second", "best"),
    [
        (Estimate(0.98512), Estimate(0.98478), None),  # both print as 0.985
        (Estimate(0.98512), Estimate(0.98432), 0),
        (Estimate(0.98, 0.004, 50), Estimate(0.99, 0.004, 50), None),  # 2 hypot is 0.0113
        (Estimate(0.98, 0.003, 50), Estimate(0.99, 0.003, 50), 1),
    ],
)
def test_values_that_cannot_be_told_apart_are_equal(judged, first, second, best):
    maps = [having(judged, trustworthiness=value) for value in (first, second)]
    assert read_measures(maps, CLASSES)[2].best is best


def test_every_measure_is_explained(judged):
    assert [reading.meaning for reading in read_measures([judged], CLASSES)] == [
        (
            "Preservation of neighborhoods of all sizes, with more weight on small ones: 0 is "
            "random, 1 is perfect."
        ),
        (
            "Mean fraction of the 10 nearest neighbors in the data that are also among the 10 "
            "nearest on the map. A strict measure: a neighbor with rank 11 on the map counts as "
            "lost."
        ),
        (
            "Whether neighbors on the map are also close in the data; 1 is best. A lenient "
            "measure: errors are weighted by rank, and a false neighbor with rank 11 in the data "
            "costs almost nothing. It can be high even if few of the nearest neighbors are "
            "preserved."
        ),
        (
            "Whether neighbors in the data are also close on the map; 1 is best. A lenient "
            "measure, too: errors are weighted by rank."
        ),
        "Width of the classes relative to the distances between them; lower is better.",
        "Scatter between classes relative to the scatter within classes; higher is better.",
        (
            "Accuracy of predicting the class of a point from its 10 nearest neighbors on the map; "
            "always predicting the largest class would give 50%."
        ),
    ]


def test_points_without_a_label_do_not_make_the_largest_class(judged):
    some = Classes(["a", "b", "no label"], np.repeat([0, 1, 2], [15, 5, 40]), has_rest=True)
    assert read_measures([judged], some)[-1].meaning.endswith("largest class would give 75%.")
    assert [row.name for row in trust_by_class([judged], some)] == ["a", "b"]


def test_without_classes_neighborhoods_are_read_alone(judged):
    alone = ["AUC R_NX", "Neighbors preserved", "Trustworthiness", "Continuity"]
    unmeasured = replace(judged, report=replace(judged.report, classes=None))
    for map_, classes in ((judged, None), (unmeasured, CLASSES)):
        assert [reading.measure for reading in read_measures([map_], classes)] == alone


NEAR = {"auc_rnx": Estimate(0.6), "agreement": 0.56}
FAR = {"trustworthiness": Estimate(0.99), "continuity": Estimate(0.99), "davies_bouldin": 0.1}
ALIKE = (
    "The Isolation kernel and the Gaussian kernel preserve neighborhoods of all sizes about "
    "equally well."
)


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (
            NEAR,
            {"auc_rnx": Estimate(0.5), "agreement": 0.56, **FAR, "calinski_harabasz": 9e9},
            (
                "Of the 7 measures below, the Isolation kernel is best in 1, the Gaussian kernel "
                "in 4, and 2 are tied. Overall, the Gaussian kernel is better in most measures."
            ),
        ),
        (
            NEAR,
            {**NEAR, **FAR},
            (
                "Of the 7 measures below, the Isolation kernel is best in 0, the Gaussian kernel "
                "in 3, and 4 are tied. Overall, neither map is clearly better."
            ),
        ),
        (
            {**NEAR, **FAR, "calinski_harabasz": 9e9, "knn_accuracy": Estimate(1.0)},
            {"auc_rnx": Estimate(0.5), "agreement": 0.1, "knn_accuracy": Estimate(0.5)},
            (
                "Of the 7 measures below, the Isolation kernel is best in 7, the Gaussian kernel "
                "in 0. Overall, the Isolation kernel is better in all measures."
            ),
        ),
    ],
)
def test_the_verdict_weighs_all_measures(judged, first, second, sentence):
    maps = [having(judged, **first), having(judged, "Gaussian kernel", **second)]
    assert read_verdict(maps, read_measures(maps, CLASSES)) == (
        "Isolation kernel: the map preserves neighborhoods well (AUC 0.60), and on average 56% of "
        f"the 10 nearest neighbors of a point. {sentence} {ALIKE}"
    )


@pytest.mark.parametrize(
    ("area", "how"), [(0.1, "poorly"), (0.3, "partly"), (0.4, "fairly well"), (0.5, "well")]
)
def test_the_verdict_on_one_map_is_short(judged, area, how):
    alone = having(judged, auc_rnx=Estimate(area), agreement=0.2)
    assert read_verdict([alone], []) == (
        f"Isolation kernel: the map preserves neighborhoods {how} (AUC {area:.2f}), and on average "
        "20% of the 10 nearest neighbors of a point."
    )


@pytest.mark.parametrize(
    ("gap", "sentence"),
    [
        (lambda k: 0.005 + 0 * k, ALIKE),
        (
            lambda k: 0.1 + 0 * k,
            (
                "The Isolation kernel preserves neighborhoods of all sizes better than the "
                "Gaussian kernel."
            ),
        ),
        (
            lambda k: np.where(k > 4, -0.1, 0.0),
            (
                "The Isolation kernel preserves neighborhoods of most sizes worse than the "
                "Gaussian kernel."
            ),
        ),
        (
            lambda k: np.where(k < 4, -0.1, 0.0),
            (
                "The Isolation kernel preserves neighborhoods of some sizes worse than the "
                "Gaussian kernel."
            ),
        ),
        (
            lambda k: np.where(k < 10, 0.1, -0.1),
            (
                "The Isolation kernel preserves neighborhoods of up to about 9 points better than "
                "the Gaussian kernel, and larger ones worse."
            ),
        ),
        (
            lambda k: np.where(k < 10, -0.1, 0.1),
            (
                "The Isolation kernel preserves neighborhoods of up to about 9 points worse than "
                "the Gaussian kernel, and larger ones better."
            ),
        ),
        (
            lambda k: np.where((k > 4) & (k < 12), -0.2, 0.1),
            (
                "The Isolation kernel preserves the smallest neighborhoods better than the "
                "Gaussian kernel; for larger ones the order changes with the size."
            ),
        ),
    ],
)
def test_curves_are_compared_by_the_size_of_neighborhoods(judged, gap, sentence):
    k, r = judged.curve
    other = replace(judged, title="Gaussian kernel", curve=Curve(k, r - gap(k)))
    assert read_sizes([judged, other]) == sentence


def test_trust_is_counted(judged):
    shares = np.repeat([0.2, 0.5], 30)
    known = replace(judged, trust=Trust(np.arange(60), shares, shares, shares))
    assert read_trust(known) == (
        "Isolation kernel: 50% of the points keep at least half of their 10 nearest neighbors. "
        "The mean is 35%."
    )
    asked = Trust(np.arange(40), shares[:40], shares[:40], shares[:40])
    assert read_trust(replace(judged, trust=asked)) == (
        "Isolation kernel: 25% of the points in a sample of 40 keep at least half of their 10 "
        "nearest neighbors. The mean is 28%."
    )


def test_classes_are_listed_from_the_least_reliable(judged):
    shares = np.repeat([0.9, 0.5], 30)
    known = replace(judged, trust=Trust(np.arange(60), shares, shares, shares))
    rows = trust_by_class([known, known], CLASSES)
    assert [(row.name, row.n_points) for row in rows] == [("loose", 30), ("tight", 30)]
    assert rows[0].kept == pytest.approx((0.5, 0.5))
    asked = Trust(np.arange(20), shares[:20], shares[:20], shares[:20])
    assert [row.name for row in trust_by_class([replace(judged, trust=asked)], CLASSES)] == [
        "tight"
    ]


def test_seconds_are_short():
    assert [read_seconds(s) for s in (0.034, 1.25, 4321.0)] == ["0.03 s", "1.2 s", "4,321.0 s"]
