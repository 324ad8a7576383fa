"""Measures in plain words."""

from dataclasses import replace

import numpy as np
import pytest

from isosne.pages import judge
from isosne.pages.readings import (
    read_measures,
    read_seconds,
    read_trust,
    read_verdict,
    trust_by_class,
)
from isosne.plots.paint import Classes
from isosne.quality import Estimate, Trust

CLASSES = Classes(["tight", "loose"], np.repeat([0, 1], 30))


@pytest.fixture
def judged(two_blobs):
    return judge(two_blobs, two_blobs[:, :2], CLASSES.of_point, title="Isolation kernel")


def having(judged, title="Isolation kernel", **measures):
    """Change what was measured of a map."""
    of_classes = {k: v for k, v in measures.items() if hasattr(judged.report.classes, k)}
    rest = {k: v for k, v in measures.items() if k not in of_classes}
    classes = replace(judged.report.classes, **of_classes)
    return replace(judged, title=title, report=replace(judged.report, classes=classes, **rest))


CASES = {
    "auc_rnx": [
        (0.1, "Poor: little more than chance."),
        (0.2, "Weak: distances are kept in part; trust groups, not gaps."),
        (0.4, "Fair, and usual for data of many dimensions."),
        (0.5, "Good: most neighborhoods are as they are in the data."),
    ],
    "trustworthiness": [
        (0.79, "Poor: many points stand beside strangers."),
        (0.8, "Fair: some points stand beside strangers."),
        (0.92, "Good: what is shown together belongs together."),
    ],
    "continuity": [
        (0.79, "Poor: many neighborhoods are torn apart."),
        (0.8, "Fair: some neighborhoods are torn apart."),
        (0.92, "Good: little that belongs together is torn apart."),
    ],
    "davies_bouldin": [
        (0.4, "Good: classes are compact and far apart."),
        (0.5, "Fair: most classes stand apart."),
        (1.0, "Weak: classes touch or overlap."),
        (2.0, "Poor: classes lie over each other."),
    ],
    "calinski_harabasz": [
        (
            1000.0,
            "It has no scale of its own: compare maps of the same data by it, nothing else.",
        )
    ],
    # Half of the points are of one class: 0.5 is chance.
    "knn_accuracy": [
        (0.96, "Good: neighbors on the map are of one class."),
        (0.81, "Fair: most neighbors on the map are of one class."),
        (0.7, "Weak: classes are mixed on the map."),
    ],
}
PLACES = list(CASES)


@pytest.mark.parametrize(
    ("measure", "value", "verdict"),
    [(measure, *case) for measure, cases in CASES.items() for case in cases],
)
def test_a_value_has_its_sentence(judged, measure, value, verdict):
    value = value if measure in ("davies_bouldin", "calinski_harabasz") else Estimate(value)
    reading = read_measures([having(judged, **{measure: value})], CLASSES)[PLACES.index(measure)]
    assert reading.verdict == verdict
    assert reading.best is None  # of one map


def test_the_better_value_is_named(judged):
    other = having(judged, auc_rnx=Estimate(0.01), davies_bouldin=0.01)
    readings = read_measures([judged, other], CLASSES)
    assert [reading.best for reading in readings] == [0, None, None, 1, None, None]
    assert readings[0].values[1] == "0.010"


def test_without_classes_neighborhoods_are_read_alone(judged):
    assert [reading.measure for reading in read_measures([judged], None)] == [
        "AUC R_NX",
        "Trustworthiness",
        "Continuity",
    ]


@pytest.mark.parametrize(
    ("areas", "sentence"),
    [
        (
            (0.6, 0.5),
            (
                "Isolation kernel: the map keeps neighborhoods well (AUC 0.60), better than that "
                "of the Gaussian kernel (0.50). It is best in 1 of the 6 measures below."
            ),
        ),
        (
            (0.4, 0.5),
            (
                "Isolation kernel: the map keeps neighborhoods fairly well (AUC 0.40), not as well "
                "as that of the Gaussian kernel (0.50). It is best in 0 of the 6 measures below."
            ),
        ),
        (
            (0.3, 0.305),
            (
                "Isolation kernel: the map keeps neighborhoods in part (AUC 0.30), about as well "
                "as that of the Gaussian kernel (0.30). It is best in 0 of the 6 measures below."
            ),
        ),
        (
            (0.1,),
            "Isolation kernel: the map keeps neighborhoods poorly (AUC 0.10).",
        ),
    ],
)
def test_the_verdict_compares_areas(judged, areas, sentence):
    titles = ("Isolation kernel", "Gaussian kernel")
    maps = [
        having(judged, title, auc_rnx=Estimate(area))
        for title, area in zip(titles, areas, strict=False)
    ]
    assert read_verdict(maps, read_measures(maps, CLASSES)) == sentence


def test_a_difference_within_the_error_of_a_sample_is_none(judged):
    maps = [having(judged, auc_rnx=Estimate(area, 0.04, 50)) for area in (0.6, 0.5)]
    assert "about as well as" in read_verdict(maps, [])


def test_trust_is_counted(judged):
    shares = np.repeat([0.2, 0.5], 30)
    known = replace(judged, trust=Trust(np.arange(60), shares, shares, shares))
    assert read_trust(known) == (
        "Isolation kernel: 50% of the points keep at least half of their 10 nearest neighbors; "
        "on average 35% of them are kept."
    )
    asked = Trust(np.arange(40), shares[:40], shares[:40], shares[:40])
    assert "of the points of a sample of 40 keep" in read_trust(replace(judged, trust=asked))


def test_classes_are_listed_from_the_least_believable(judged):
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
