"""Measures of repeated maps, and the verdict, in plain words."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from isosne.plots.paint import Classes
from isosne.quality import Estimate, Trust
from isosne.studies import compare_maps
from isosne.studies.judged_maps import CLASS_MEASURES
from isosne.studies.readings import (
    Mean,
    Measure,
    average,
    find_better,
    read_basis,
    read_measures,
    read_verdict,
    show_mean,
    trust_by_class,
)

CLASSES = Classes(["tight", "loose"], np.repeat([0, 1], 30))


@pytest.fixture
def judged(two_blobs):
    maps = {"Isolation kernel": two_blobs[:, :2]}
    return compare_maps(two_blobs, maps, CLASSES.of_point).maps[0]


def having(judged, title="Isolation kernel", **measures):
    """Change what was measured of a map."""
    of_classes = {k: v for k, v in measures.items() if hasattr(judged.report.classes, k)}
    rest = {k: v for k, v in measures.items() if k not in of_classes}
    classes = replace(judged.report.classes, **of_classes)
    return replace(judged, title=title, report=replace(judged.report, classes=classes, **rest))


PARTS = [(0.1, "Poor"), (0.2, "Fair"), (0.5, "Good")]
RANKS = [(0.79, "Poor"), (0.8, "Fair"), (0.92, "Good")]
CASES = {
    "auc_rnx": [(0.1, "Poor"), (0.2, "Weak"), (0.4, "Fair"), (0.5, "Good")],
    **dict.fromkeys(("auc_small", "auc_medium", "auc_large", "neighbors_kept"), PARTS),
    "coarse_kept": [(0.59, "Poor"), (0.6, "Fair"), (0.85, "Good")],
    "trustworthiness": RANKS,
    "continuity": RANKS,
    "davies_bouldin": [(0.4, "Good"), (0.5, "Fair"), (1.0, "Weak"), (2.0, "Poor")],
    "calinski_harabasz": [(1000.0, "No absolute scale")],
    # Half of the points are of one class: 0.5 is chance.
    "knn_accuracy": [(0.96, "Good"), (0.81, "Fair"), (0.7, "Weak")],
}
"""Values and what they are called, in the order of the table."""


@pytest.mark.parametrize("field", CASES)
def test_a_value_has_its_verdict(judged, field):
    measured = judged.scores[0]
    for value, verdict in CASES[field]:
        # The mean of two maps: what was measured, and its distance to the value on the other side.
        other = measured | {field: 2 * value - measured[field] + 1e-12}
        changed = replace(judged, repeats=(other,))
        reading = read_measures([changed], CLASSES)[list(CASES).index(field)]
        assert reading.verdict.startswith(f"{verdict}: ")
        assert reading.best is None  # of one map


@pytest.mark.parametrize(
    ("second", "best"),
    [(0.98478, None), (0.98432, 0)],  # the first two print as 0.985
)
def test_values_that_print_the_same_are_equal(judged, second, best):
    maps = [having(judged, trustworthiness=Estimate(value)) for value in (0.98512, second)]
    (reading,) = (row for row in read_measures(maps, CLASSES) if row.field == "trustworthiness")
    assert reading.best is best


@pytest.mark.parametrize(
    ("mean", "decimals", "is_percentage", "text"),
    [
        (Mean(0.41234, 0.0032, 0, 5), 3, False, "0.412 \u00b1 0.003"),
        (Mean(0.41234, 0.0004, 0, 5), 3, False, "0.4123 \u00b1 0.0004"),
        (Mean(0.41234, 0.00001, 0, 5), 3, False, "0.4123 \u00b1 0.0000"),
        (Mean(0.41234, n_maps=5), 3, False, "0.412 \u00b1 0"),
        (Mean(0.41234), 3, False, "0.412"),
        (Mean(0.41234, 0, 0.0032), 3, False, "0.412 \u00b1 0.003"),
        (Mean(0.5412, 0.0078, 0, 5), 0, True, "54.1% \u00b1 0.8%"),
        (Mean(12345.6, 40, 30, 5), 0, False, "12,346 \u00b1 50"),
    ],
)
def test_a_mean_is_shown_with_its_standard_error(mean, decimals, is_percentage, text):
    measure = Measure("", "", decimals, "", [], is_percentage=is_percentage)
    assert show_mean(mean, measure) == text


def test_the_meaning_of_a_measure_states_its_neighborhoods(judged):
    meanings = [reading.meaning for reading in read_measures([judged], CLASSES)]
    for part, sizes in enumerate(("up to 4", "5 to 15", "more than 15"), start=1):
        assert f"over neighborhoods of {sizes} points;" in meanings[part]
    assert meanings[4].startswith("Mean fraction of the 10 nearest neighbors in the data")
    assert "a neighbor with rank 11 on the map counts as lost" in meanings[4]
    assert meanings[-1] == (
        "Accuracy of predicting the class of a point from its 10 nearest neighbors on the map; "
        "always predicting the largest class would give 50%."
    )


def test_points_without_a_label_do_not_make_the_largest_class(judged):
    some = Classes(["a", "b", "no label"], np.repeat([0, 1, 2], [15, 5, 40]), has_rest=True)
    assert read_measures([judged], some)[-1].meaning.endswith("largest class would give 75%.")
    assert [row.name for row in trust_by_class([judged], some)] == ["a", "b"]


def test_without_classes_neighborhoods_are_read_alone(judged):
    alone = [
        "AUC_RNX",
        *("AUC_RNX, small", "AUC_RNX, medium", "AUC_RNX, large"),
        *("Neighbors kept", "Neighbors kept nearby", "Trustworthiness", "Continuity"),
    ]
    unmeasured = replace(judged, report=replace(judged.report, classes=None))
    for map_, classes in ((judged, None), (unmeasured, CLASSES)):
        assert [reading.measure for reading in read_measures([map_], classes)] == alone


def test_classes_are_listed_from_the_fewest_neighbors_kept(judged):
    shares = np.repeat([0.9, 0.5], 30)
    trust = Trust(np.arange(60), shares, 1 - shares, shares, shares, judged.embedding)
    known = replace(judged, trust=trust)
    rows = trust_by_class([known, known], CLASSES)
    assert [(row.name, row.n_points) for row in rows] == [("loose", 30), ("tight", 30)]
    assert rows[0].kept == pytest.approx((0.5, 0.5))
    assert rows[1].nearby == pytest.approx((0.1, 0.1))
    asked = Trust(np.arange(20), *[shares[:20]] * 4, judged.embedding)
    assert [row.name for row in trust_by_class([replace(judged, trust=asked)], CLASSES)] == [
        "tight"
    ]


def test_the_standard_error_is_that_of_the_repeated_maps():
    # Deviations -1, 0, 1: variance 2 / 2 = 1, and the error of the mean is sqrt(1 / 3).
    found = average([3.0, 4.0, 5.0])
    assert (found.value, found.sampling_error, found.n_maps) == (4.0, 0.0, 3)
    assert found.standard_error == found.seed_error == pytest.approx(math.sqrt(1 / 3), rel=1e-15)
    assert average([0.95] * 3) == Mean(0.95, 0.0, 0.0, 3)


def test_the_sampling_error_is_added_and_does_not_fall_with_the_number_of_maps():
    # Variance of the mean: 2 / 2 from the values 3 and 5, and (4 + 16) / 2 from their samples.
    found = average([Estimate(3.0, 2.0), Estimate(5.0, 4.0)])
    assert found.standard_error == pytest.approx(math.sqrt(1 + 10), rel=1e-15)
    assert average([Estimate(3.0, 2.0)]) == Mean(3.0, 0.0, 2.0, 1)


@pytest.mark.parametrize(
    ("means", "is_lower_better", "better"),
    [
        # Sampling errors alone: that of the difference is 5, so that 10 is a tie.
        ([Mean(20, 0, 3.0), Mean(10, 0, 4.0)], False, None),
        ([Mean(20.1, 0, 3.0), Mean(10, 0, 4.0)], False, 0),
        ([Mean(20.1, 0, 3.0), Mean(10, 0, 4.0)], True, 1),
        # Five maps each, equal errors, 8 degrees of freedom: 2.306 sqrt(2) = 3.261.
        ([Mean(3.26, 1.0, 0, 5), Mean(0, 1.0, 0, 5)], False, None),
        ([Mean(3.27, 1.0, 0, 5), Mean(0, 1.0, 0, 5)], False, 0),
        # Only one varies, 4 degrees of freedom: 2.776.
        ([Mean(2.77, 1.0, 0, 5), Mean(0, 0, 0, 5)], False, None),
        ([Mean(2.78, 1.0, 0, 5), Mean(0, 0, 0, 5)], False, 0),
        # Many maps need 1.96 standard errors by the test, and two in any case.
        ([Mean(1.98, 1.0, 0, 9999), Mean(0, 0, 0, 9999)], False, None),
        ([Mean(1.0), Mean(1.0)], False, None),
        ([Mean(1.0), Mean(3.0, 0, 0.5), Mean(2.5, 0, 0.5)], False, None),
        ([Mean(1.0)], False, None),
    ],
)
def test_a_map_is_better_if_the_difference_is_significant(means, is_lower_better, better):
    assert find_better(means, is_lower_better=is_lower_better) == better


def test_the_test_is_that_of_welch():
    rng = np.random.default_rng(0)
    for _ in range(200):
        first, second = rng.normal(0, 1, 5), rng.normal(1, 3, 5)
        is_clear = ttest_ind(first, second, equal_var=False).pvalue < 0.05
        assert (find_better([average(first), average(second)]) is not None) == is_clear


@pytest.fixture
def maps(judged):
    """Two maps that tie, each repeated once."""
    titles = ("Isolation kernel", "Gaussian kernel")
    return [replace(judged, title=title, repeats=judged.scores) for title in titles]


def verdict(maps, *, winners=(), has_classes=False):
    """Return the verdict after the winner of some measures is replaced."""
    rows = read_measures(maps, CLASSES if has_classes else None)
    winners = dict(winners)
    return read_verdict(maps, [row._replace(best=winners.get(row.field, row.best)) for row in rows])


SIZES = ("auc_rnx", "auc_small", "auc_medium", "auc_large")
FIRST = (
    "Over all sizes, the Isolation kernel preserves neighborhoods better than the Gaussian kernel "
    "(AUC_RNX {0} against {0})."
)
TIE = "Over all sizes of neighborhoods, the maps tie (AUC_RNX {0} and {0})."
SMALL = "The Isolation kernel is better for small ones (up to 4 points)"


VERDICTS = {
    (None, None, None, None): (
        f"{TIE} The maps tie for small ones (up to 4 points), medium ones (up to 15) and large "
        "ones."
    ),
    (0, 0, None, 1): (
        f"{FIRST} {SMALL}; the maps tie for medium ones (up to 15); the Gaussian kernel is better "
        "for large ones."
    ),
    (0, 0, 1, 1, 0, None, 1): (
        f"{FIRST} {SMALL}; the Gaussian kernel is better for medium ones (up to 15) and large "
        "ones. The Isolation kernel is better in Davies-Bouldin; the maps tie in "
        "Calinski-Harabasz; the Gaussian kernel is better in 10-NN accuracy."
    ),
}
"""Verdicts by the best maps in each size, and in each measure of classes."""


@pytest.mark.parametrize(("best", "sentence"), VERDICTS.items())
def test_the_verdict_names_the_better_map_by_size_and_by_class_measure(maps, best, sentence):
    winners = zip((*SIZES, *CLASS_MEASURES), best, strict=False)
    found = verdict(maps, winners=winners, has_classes=len(best) > len(SIZES))
    assert found == sentence.format(f"{maps[0].report.auc_rnx:.3f} \u00b1 0")


def test_the_verdict_on_three_maps_names_the_best(maps):
    third = replace(maps[0], title="umap.csv")
    assert "the best maps tie (AUC_RNX " in verdict([*maps, third])
    assert verdict([*maps, third], winners={"auc_rnx": 2}).startswith(
        "Over all sizes, the map umap.csv preserves neighborhoods better than the Isolation kernel "
        "and the Gaussian kernel (AUC_RNX "
    )


@pytest.mark.parametrize(
    ("area", "how"), [(0.1, "poorly"), (0.3, "partly"), (0.4, "fairly well"), (0.5, "well")]
)
def test_the_verdict_on_one_map_is_short(judged, area, how):
    kept = {"neighbors_kept": Estimate(0.2), "coarse_kept": Estimate(0.7)}
    alone = having(judged, **kept, auc_rnx=Estimate(area))
    assert read_verdict([alone], []) == (
        f"Isolation kernel: the map preserves neighborhoods {how} (AUC_RNX {area:.2f}). 20% of the "
        "10 nearest neighbors of a point are also among its 10 nearest on the map; 70% are among "
        "its 29 nearest there."
    )


def test_a_report_says_what_its_values_are(maps):
    assert read_basis(maps) == (
        "Each value is the mean of 2 maps with different seeds, \u00b1 its standard error. The "
        "first of these maps is shown. Differences that are not significant (Welch's t-test, 5% "
        "level) are ties; one row in 20 may differ by chance."
    )
    single = [replace(judged, repeats=()) for judged in maps]
    assert read_basis(single) == (
        "Values that are equal as printed tie. With one map each, a difference may be due to the "
        "seed."
    )
    assert read_basis(single[:1]) == ""
    sampled = [replace(judged, report=replace(judged.report, n_queries=40)) for judged in single]
    assert read_basis(sampled) == (
        "Each value is estimated from a sample of the points, \u00b1 its standard error. "
        "Differences of at most two standard errors are ties. With one map each, a difference may "
        "be due to the seed."
    )
