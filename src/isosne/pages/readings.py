"""Measures in plain words: what each means, and whether its value is good.

The limits between good, fair and poor are rules of thumb for maps in two dimensions; none is of the
paper.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isosne.pages.studies import JudgedMap
from isosne.plots.paint import Classes
from isosne.quality import Report

HALF = 0.5
"""Share of its neighbors from which a point's surroundings are taken for believable."""
LEAST_GAP = 0.01
"""Difference of AUC below which maps are taken for equally good."""
MOST_CLASSES_LISTED = 12
KEPT = ((0.2, "poorly"), (0.35, "in part"), (0.5, "fairly well"))
"""Words for areas below each limit."""


class Reading(NamedTuple):
    """A row of the table: the value of each map as text, the place of the best, a sentence."""

    measure: str
    values: tuple[str, ...]
    best: int | None
    meaning: str
    verdict: str


class Measure(NamedTuple):
    """How to read one measure: its value, its text, and limits with the words below each."""

    name: str
    value: Callable[[Report], float]
    text: str
    meaning: str
    limits: tuple[tuple[float, str], ...]
    otherwise: str
    is_small_good: bool = False


NEIGHBORHOODS = (
    Measure(
        "AUC R_NX",
        lambda report: report.auc_rnx,
        "{:.3f}",
        "How much of all neighborhoods the map keeps, small ones counting most: 0 is chance, 1 is "
        "all.",
        (
            (0.2, "Poor: little more than chance."),
            (0.35, "Weak: distances are kept in part; trust groups, not gaps."),
            (0.5, "Fair, and usual for data of many dimensions."),
        ),
        "Good: most neighborhoods are as they are in the data.",
    ),
    Measure(
        "Trustworthiness",
        lambda report: report.trustworthiness,
        "{:.3f}",
        "Whether points shown close together are close in the data; 1 is best.",
        (
            (0.8, "Poor: many points stand beside strangers."),
            (0.92, "Fair: some points stand beside strangers."),
        ),
        "Good: what is shown together belongs together.",
    ),
    Measure(
        "Continuity",
        lambda report: report.continuity,
        "{:.3f}",
        "Whether points close in the data are shown close together; 1 is best.",
        (
            (0.8, "Poor: many neighborhoods are torn apart."),
            (0.92, "Fair: some neighborhoods are torn apart."),
        ),
        "Good: little that belongs together is torn apart.",
    ),
)
CLASSES = (
    Measure(
        "Davies-Bouldin",
        lambda report: report.classes.davies_bouldin if report.classes else np.nan,
        "{:.2f}",
        "How wide classes are, compared with the gaps between them; 0 is best.",
        (
            (0.5, "Good: classes are compact and far apart."),
            (1.0, "Fair: most classes stand apart."),
            (2.0, "Weak: classes touch or overlap."),
        ),
        "Poor: classes lie over each other.",
        is_small_good=True,
    ),
    Measure(
        "Calinski-Harabasz",
        lambda report: report.classes.calinski_harabasz if report.classes else np.nan,
        "{:,.0f}",
        "How far classes are apart, compared with their width; larger is better.",
        (),
        "It has no scale of its own: compare maps of the same data by it, nothing else.",
    ),
)


def read_measures(maps: Sequence[JudgedMap], classes: Classes | None) -> list[Reading]:
    """Return a row for each measure; sentences speak of the first map."""
    reports = [judged.report for judged in maps]
    readings = [_read(measure, reports) for measure in NEIGHBORHOODS]
    if classes is not None:
        readings += [_read(measure, reports) for measure in CLASSES]
        readings.append(_read_accuracy(reports, classes))
    return readings


def _read(measure: Measure, reports: Sequence[Report]) -> Reading:
    values = [float(measure.value(report)) for report in reports]
    verdict = next((words for limit, words in measure.limits if values[0] < limit), None)
    return Reading(
        measure.name,
        tuple(measure.text.format(value) for value in values),
        _best([-v for v in values] if measure.is_small_good else values),
        measure.meaning,
        verdict or measure.otherwise,
    )


def _read_accuracy(reports: Sequence[Report], classes: Classes) -> Reading:
    """Read the accuracy of nearest neighbors beside that of naming the largest class."""
    values = [float(report.classes.knn_accuracy) for report in reports if report.classes]
    largest = float(np.bincount(classes.of_point).max() / len(classes.of_point))
    left = (1 - values[0]) / max(1 - largest, 1e-12)
    verdict = (
        "Good: neighbors on the map are of one class."
        if left < 0.1
        else "Fair: most neighbors on the map are of one class."
        if left < 0.4
        else "Weak: classes are mixed on the map."
    )
    return Reading(
        f"{reports[0].k}-NN accuracy",
        tuple(f"{value:.3f}" for value in values),
        _best(values),
        "How often the nearest points on the map name a point's class; naming the largest class "
        f"always is right {largest:.0%} of the time.",
        verdict,
    )


def _best(values: Sequence[float]) -> int | None:
    """Return the place of the largest value, if there is one alone."""
    best = max(values)
    return values.index(best) if values.count(best) == 1 and len(values) > 1 else None


def read_verdict(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Return the sentences at the head of a report."""
    area = maps[0].report.auc_rnx
    how = next((words for limit, words in KEPT if area < limit), "well")
    said = f"{maps[0].title}: the map keeps neighborhoods {how} (AUC {area:.2f})"
    for other in maps[1:]:
        beside = other.report.auc_rnx
        noise = 2 * float(np.hypot(area.standard_error, beside.standard_error))
        gap = float(area - beside)
        word = "better than" if gap > 0 else "not as well as"
        if abs(gap) <= max(LEAST_GAP, noise):
            word = "about as well as"
        said += f", {word} that of the {other.title} ({beside:.2f})"
    if len(maps) == 1:
        return f"{said}."
    n_best = sum(reading.best == 0 for reading in readings)
    return f"{said}. It is best in {n_best} of the {len(readings)} measures below."


def read_trust(judged: JudgedMap) -> str:
    """Return how many points keep half of their neighbors or more."""
    kept = float((judged.trust.agreement >= HALF).mean())
    n_asked = len(judged.trust.points)
    asked = f" of a sample of {n_asked:,}" if n_asked < len(judged.embedding) else ""
    return (
        f"{judged.title}: {kept:.0%} of the points{asked} keep at least half of their "
        f"{judged.report.k} nearest neighbors; on average {judged.trust.agreement.mean():.0%} of "
        "them are kept."
    )


class ClassTrust(NamedTuple):
    """A class, its size, and the share of neighbors that its points keep in each map."""

    name: str
    n_points: int
    kept: tuple[float, ...]


def trust_by_class(maps: Sequence[JudgedMap], classes: Classes) -> list[ClassTrust]:
    """Return the classes that keep the fewest of their neighbors in the first map, worst first."""
    sizes = np.bincount(classes.of_point)
    rows = []
    for c, name in enumerate(classes.names):
        asked = [classes.of_point[judged.trust.points] == c for judged in maps]
        if all(own.any() for own in asked):
            kept = [
                float(m.trust.agreement[own].mean()) for m, own in zip(maps, asked, strict=True)
            ]
            rows.append(ClassTrust(name, int(sizes[c]), tuple(kept)))
    return sorted(rows, key=lambda row: row.kept[0])[:MOST_CLASSES_LISTED]


def read_seconds(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:,.1f} s"
