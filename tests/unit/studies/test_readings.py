"""Measures in plain words."""

from dataclasses import replace

import numpy as np
import pytest

from isosne.plots.paint import Classes
from isosne.quality import Estimate, Trust
from isosne.studies import judge
from isosne.studies.readings import (
    read_measures,
    read_seconds,
    read_trust,
    show_mean,
    trust_by_class,
)
from isosne.studies.scores import Mean

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
PARTS = [
    (0.1, "Poor: hardly better than a random map."),
    (0.2, "Fair: less than half of what a map can preserve is preserved."),
    (0.5, "Good: at least half of what a map can preserve is preserved."),
]
CASES = {
    "auc_rnx": [
        (0.1, "Poor: hardly better than a random map."),
        (0.2, "Weak: rely on the clusters, not on the distances between them."),
        (0.4, "Fair: typical of high-dimensional data."),
        (0.5, "Good: at least half of what a map can preserve is preserved."),
    ],
    "auc_small": PARTS,
    "auc_medium": PARTS,
    "auc_large": PARTS,
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
    if measure.startswith("auc_") and measure != "auc_rnx":
        # The mean of two maps: what was measured, and its distance to the value on the other side.
        found = judged.scores[0]
        other = found._replace(**{measure: 2 * value - getattr(found, measure) + 1e-12})
        changed = replace(judged, repeats=(other,))
    else:
        value = value if measure in PLAIN_NUMBERS else Estimate(value)
        changed = having(judged, **{measure: value})
    reading = read_measures([changed], CLASSES)[MEASURES.index(measure)]
    assert reading.verdict == verdict
    assert reading.best is None  # of one map


def test_the_better_value_is_named(judged):
    other = having(judged, auc_rnx=Estimate(0.01), davies_bouldin=0.01)
    readings = read_measures([judged, other], CLASSES)
    assert [reading.best for reading in readings] == [0, *[None] * 6, 1, None, None]
    assert readings[0].values[1] == "0.010"


# Of the first map, the mean is 0.92, and its standard error 0.02 / sqrt(3) = 0.0115. With two
# degrees of freedom, 4.30 standard errors are needed: 0.0497.
@pytest.mark.parametrize(("value", "best"), [(0.96, None), (0.97, 1), (0.88, None), (0.87, 0)])
def test_a_difference_within_the_noise_of_the_seeds_is_a_tie(judged, value, best):
    maps = []
    for values in ([0.9, 0.92, 0.94], [value] * 3):
        first = having(judged, trustworthiness=Estimate(values[0]))
        repeats = [first.scores[0]._replace(trustworthiness=each) for each in values[1:]]
        maps.append(replace(first, repeats=tuple(repeats)))
    readings = {reading.field: reading for reading in read_measures(maps, CLASSES)}
    found = readings.pop("trustworthiness")
    assert found.best is best
    assert found.values == ("0.920 \u00b1 0.012", f"{value:.3f} \u00b1 0")
    assert {reading.best for reading in readings.values()} == {None}


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
    (reading,) = (row for row in read_measures(maps, CLASSES) if row.field == "trustworthiness")
    assert reading.best is best


@pytest.mark.parametrize(
    ("mean", "decimals", "settings", "text"),
    [
        (Mean(0.41234, 0.0032, 0, 5), 3, {}, "0.412 \u00b1 0.003"),
        (Mean(0.41234, 0.0004, 0, 5), 3, {}, "0.4123 \u00b1 0.0004"),
        (Mean(0.41234, 0.00001, 0, 5), 3, {}, "0.4123 \u00b1 0.0000"),
        (Mean(0.41234, n_maps=5), 3, {}, "0.412 \u00b1 0"),
        (Mean(0.41234), 3, {}, "0.412"),
        (Mean(0.41234, 0, 0.0032), 3, {}, "0.412 \u00b1 0.003"),
        (Mean(0.5412, 0.0078, 0, 5), 0, {"is_percentage": True}, "54.1% \u00b1 0.8%"),
        (Mean(12345.6, 40, 30, 5), 0, {}, "12,346 \u00b1 50"),
    ],
)
def test_a_mean_is_shown_with_its_standard_error(mean, decimals, settings, text):
    assert show_mean(mean, decimals, **settings) == text


def test_every_measure_is_explained(judged):
    assert [reading.meaning for reading in read_measures([judged], CLASSES)] == [
        (
            "Preservation of neighborhoods of all sizes, with more weight on small ones: 0 is "
            "random, 1 is perfect."
        ),
        "AUC R_NX over neighborhoods of up to 4 points; the smallest of them weigh most.",
        "AUC R_NX over neighborhoods of 5 to 15 points; the smallest of them weigh most.",
        "AUC R_NX over neighborhoods of more than 15 points; the smallest of them weigh most.",
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
    alone = [
        "AUC R_NX",
        *("AUC R_NX, small", "AUC R_NX, medium", "AUC R_NX, large"),
        *("Neighbors preserved", "Trustworthiness", "Continuity"),
    ]
    unmeasured = replace(judged, report=replace(judged.report, classes=None))
    for map_, classes in ((judged, None), (unmeasured, CLASSES)):
        assert [reading.measure for reading in read_measures([map_], classes)] == alone


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
