"""The verdict of a report in words."""

from dataclasses import replace

import numpy as np
import pytest

from isosne.plots.paint import Classes
from isosne.quality import Estimate
from isosne.studies import judge
from isosne.studies.readings import read_basis, read_measures, read_verdict

CLASSES = Classes(["tight", "loose"], np.repeat([0, 1], 30))
SIZES = ("auc_rnx", "auc_small", "auc_medium", "auc_large")
CLASS_MEASURES = ("davies_bouldin", "calinski_harabasz", "knn_accuracy")


@pytest.fixture
def maps(two_blobs):
    """Two maps that tie, each repeated once."""
    labels = CLASSES.of_point
    titles = ("Isolation kernel", "Gaussian kernel")
    found = [judge(two_blobs, two_blobs[:, :2], labels, title=title) for title in titles]
    return [replace(judged, repeats=judged.scores) for judged in found]


def verdict(maps, *, winners=(), has_classes=False):
    """Return the verdict after the winner of some measures is replaced."""
    rows = read_measures(maps, CLASSES if has_classes else None)
    winners = dict(winners)
    return read_verdict(maps, [row._replace(best=winners.get(row.field, row.best)) for row in rows])


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        (
            (None, None, None, None),
            (
                "The maps tie in the preservation of neighborhoods (AUC {0} and {0}), of small "
                "ones as of large ones."
            ),
        ),
        (
            (1, 1, 1, 1),
            (
                "The Gaussian kernel preserves neighborhoods of all sizes better than the "
                "Isolation kernel (AUC {0} against {0})."
            ),
        ),
        (
            (0, 0, None, 1),
            (
                "Over all sizes, the Isolation kernel preserves neighborhoods better than the "
                "Gaussian kernel (AUC {0} against {0}). For small ones (up to 4 points), the "
                "Isolation kernel is better; for medium ones (up to 15), the maps tie; for large "
                "ones, the Gaussian kernel is better. In the AUC, neighborhoods of k points have "
                "weight 1/k: small ones count most."
            ),
        ),
        (
            (0, 0, 1, 1),
            (
                "Over all sizes, the Isolation kernel preserves neighborhoods better than the "
                "Gaussian kernel (AUC {0} against {0}). For small ones (up to 4 points), the "
                "Isolation kernel is better; for medium ones (up to 15) and large ones, the "
                "Gaussian kernel is better. In the AUC, neighborhoods of k points have weight "
                "1/k: small ones count most."
            ),
        ),
        (
            (0, 0, None, None),
            (
                "Over all sizes, the Isolation kernel preserves neighborhoods better than the "
                "Gaussian kernel (AUC {0} against {0}). For small ones (up to 4 points), the "
                "Isolation kernel is better; for medium ones (up to 15) and large ones, the maps "
                "tie."
            ),
        ),
        (
            (0, 1, 0, 0),
            (
                "Over all sizes, the Isolation kernel preserves neighborhoods better than the "
                "Gaussian kernel (AUC {0} against {0}). For small ones (up to 4 points), the "
                "Gaussian kernel is better; for medium ones (up to 15) and large ones, the "
                "Isolation kernel is better."
            ),
        ),
        (
            (0, None, None, None),
            (
                "Over all sizes, the Isolation kernel preserves neighborhoods better than the "
                "Gaussian kernel (AUC {0} against {0}). For small ones (up to 4 points), medium "
                "ones (up to 15) and large ones, each taken alone, the maps tie."
            ),
        ),
        (
            (None, 0, 1, 1),
            (
                "The maps tie in the preservation of neighborhoods of all sizes together (AUC {0} "
                "and {0}). For small ones (up to 4 points), the Isolation kernel is better; for "
                "medium ones (up to 15) and large ones, the Gaussian kernel is better."
            ),
        ),
    ],
)
def test_the_verdict_names_the_better_map_by_size(maps, best, sentence):
    area = f"{maps[0].report.auc_rnx:.3f} \u00b1 0"
    found = verdict(maps, winners=zip(SIZES, best, strict=True))
    assert found == sentence.format(area)


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        ((None, None, None), "In the class measures, the maps tie."),
        ((1, 1, 1), "The Gaussian kernel is better in all class measures."),
        (
            (None, None, 1),
            (
                "The Gaussian kernel is better in the class measure 10-NN accuracy; the maps tie "
                "in Davies-Bouldin and Calinski-Harabasz."
            ),
        ),
        (
            (0, 0, None),
            (
                "The Isolation kernel is better in the class measures Davies-Bouldin and "
                "Calinski-Harabasz; the maps tie in 10-NN accuracy."
            ),
        ),
        (
            (0, 0, 1),
            (
                "The class measures disagree: the Isolation kernel is better in Davies-Bouldin and "
                "Calinski-Harabasz; the Gaussian kernel is better in 10-NN accuracy."
            ),
        ),
    ],
)
def test_classes_are_judged_apart(maps, best, sentence):
    found = verdict(maps, winners=zip(CLASS_MEASURES, best, strict=True), has_classes=True)
    assert found.endswith(f"as of large ones. {sentence}")


def test_the_verdict_on_three_maps_names_the_best(maps):
    third = replace(maps[0], title="Owner kernel")
    tie = verdict([*maps, third])
    assert tie.startswith("The best maps tie in the preservation of neighborhoods (AUC ")
    found = verdict([*maps, third], winners=dict.fromkeys(SIZES, 2))
    assert found.startswith(
        "The Owner kernel preserves neighborhoods of all sizes better than the Isolation kernel "
        "and the Gaussian kernel (AUC "
    )


@pytest.mark.parametrize(
    ("area", "how"), [(0.1, "poorly"), (0.3, "partly"), (0.4, "fairly well"), (0.5, "well")]
)
def test_the_verdict_on_one_map_is_short(maps, area, how):
    first = replace(maps[0], repeats=())
    shares = first.trust._replace(agreement=np.full(60, 0.2))
    alone = replace(first, report=replace(first.report, auc_rnx=Estimate(area)), trust=shares)
    assert read_verdict([alone], []) == (
        f"Isolation kernel: the map preserves neighborhoods {how} (AUC {area:.2f}), and on average "
        "20% of the 10 nearest neighbors of a point."
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
