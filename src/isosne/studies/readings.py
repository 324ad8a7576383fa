"""Interpretation of measures: what each one means, and whether its value is good.

The limits between good, fair, weak and poor are rules of thumb for two-dimensional maps. They were
chosen, not measured, and none is from the paper.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isosne.plots.paint import Classes
from isosne.quality import ClassReport
from isosne.quality.sampling import estimate_mean
from isosne.studies.judged_maps import JudgedMap

HALF = 0.5
"""Fraction of preserved neighbors from which the neighborhood of a point counts as reliable."""
MAX_CLASSES_LISTED = 12
"""Rows of the table of classes; chosen so that it fits a screen."""
GOOD_ERROR, FAIR_ERROR = 0.1, 0.4
"""Errors of the k-NN classifier, relative to always predicting the largest class."""


class Reading(NamedTuple):
    """A row of the table of measures.

    ``values``: the value of each map as text. ``best``: index of the best map; None if the best
    two print the same, or differ by less than two standard errors. ``meaning``: what the measure
    means. ``verdict``: whether the value of the first map is good.
    """

    measure: str
    values: tuple[str, ...]
    best: int | None
    meaning: str
    verdict: str


class Measure(NamedTuple):
    """How to interpret a measure: ``limits`` are upper bounds with the verdict below each."""

    name: str
    value: Callable[[JudgedMap], float]
    text: str
    meaning: str
    limits: tuple[tuple[float, str], ...]
    otherwise: str
    is_lower_better: bool = False


NEIGHBORHOODS = (
    Measure(
        "AUC R_NX",
        lambda judged: judged.report.auc_rnx,
        "{:.3f}",
        "Preservation of neighborhoods of all sizes, with more weight on small ones: 0 is random, "
        "1 is perfect.",
        (
            (0.2, "Poor: hardly better than a random map."),
            (0.35, "Weak: rely on the clusters, not on the distances between them."),
            (0.5, "Fair: typical of high-dimensional data."),
        ),
        "Good: at least half of what a map can preserve is preserved.",
    ),
    Measure(
        "Neighbors preserved",
        lambda judged: estimate_mean(judged.trust.agreement, len(judged.embedding)),
        "{:.0%}",
        "Mean fraction of the {k} nearest neighbors in the data that are also among the {k} "
        "nearest on the map. A strict measure: a neighbor with rank {next} on the map counts as "
        "lost.",
        (
            (0.2, "Poor: few of the nearest neighbors are those in the data."),
            (HALF, "Fair: less than half of the nearest neighbors are those in the data."),
        ),
        "Good: at least half of the nearest neighbors are those in the data.",
    ),
    Measure(
        "Trustworthiness",
        lambda judged: judged.report.trustworthiness,
        "{:.3f}",
        "Whether neighbors on the map are also close in the data; 1 is best. A lenient measure: "
        "errors are weighted by rank, and a false neighbor with rank {next} in the data costs "
        "almost nothing. It can be high even if few of the nearest neighbors are preserved.",
        (
            (0.8, "Poor: many points have false neighbors."),
            (0.92, "Fair: some points have false neighbors."),
        ),
        "Good: points shown close together are rarely far apart in the data.",
    ),
    Measure(
        "Continuity",
        lambda judged: judged.report.continuity,
        "{:.3f}",
        "Whether neighbors in the data are also close on the map; 1 is best. A lenient measure, "
        "too: errors are weighted by rank.",
        (
            (0.8, "Poor: many neighborhoods are split."),
            (0.92, "Fair: some neighborhoods are split."),
        ),
        "Good: points close in the data are rarely shown far apart.",
    ),
)
CLASSES = (
    Measure(
        "Davies-Bouldin",
        lambda judged: _of_classes(judged).davies_bouldin,
        "{:.2f}",
        "Width of the classes relative to the distances between them; lower is better.",
        (
            (0.5, "Good: classes are compact and well separated."),
            (1.0, "Fair: most classes are separated."),
            (2.0, "Weak: classes touch or overlap."),
        ),
        "Poor: classes lie on top of each other.",
        is_lower_better=True,
    ),
    Measure(
        "Calinski-Harabasz",
        lambda judged: _of_classes(judged).calinski_harabasz,
        "{:,.0f}",
        "Scatter between classes relative to the scatter within classes; higher is better.",
        (),
        "No absolute scale: use it only to compare maps of the same data.",
    ),
)


def _of_classes(judged: JudgedMap) -> ClassReport:
    assert judged.report.classes is not None  # read_measures calls this only with classes
    return judged.report.classes


def read_measures(maps: Sequence[JudgedMap], classes: Classes | None) -> list[Reading]:
    """Return one row for each measure; the verdicts are about the first map."""
    readings = [_read(measure, maps) for measure in NEIGHBORHOODS]
    if classes is not None and maps[0].report.classes is not None:
        readings += [_read(measure, maps) for measure in CLASSES]
        readings.append(_read_accuracy(maps, classes))
    return readings


def _read(measure: Measure, maps: Sequence[JudgedMap]) -> Reading:
    values = [measure.value(judged) for judged in maps]
    texts = tuple(measure.text.format(value) for value in values)
    verdict = next((words for limit, words in measure.limits if values[0] < limit), None)
    k = maps[0].report.k
    return Reading(
        measure.name,
        texts,
        _find_best(values, texts, is_lower_better=measure.is_lower_better),
        measure.meaning.format(k=k, next=k + 1),
        verdict or measure.otherwise,
    )


def _read_accuracy(maps: Sequence[JudgedMap], classes: Classes) -> Reading:
    """Interpret the k-NN accuracy relative to always predicting the largest class."""
    values = [_of_classes(judged).knn_accuracy for judged in maps]
    texts = tuple(f"{value:.3f}" for value in values)
    sizes = np.bincount(classes.of_point)[: classes.n_classes]
    largest = float(sizes.max() / sizes.sum())
    error = (1 - values[0]) / max(1 - largest, 1e-12)  # a single class leaves no error to compare
    verdict = (
        "Good: almost all neighbors on the map share a class."
        if error < GOOD_ERROR
        else "Fair: most neighbors on the map share a class."
        if error < FAIR_ERROR
        else "Weak: classes are mixed on the map."
    )
    k = maps[0].report.k
    return Reading(
        f"{k}-NN accuracy",
        texts,
        _find_best(values, texts),
        f"Accuracy of predicting the class of a point from its {k} nearest neighbors on the map; "
        f"always predicting the largest class would give {largest:.0%}.",
        verdict,
    )


def _find_best(
    values: Sequence[float], texts: Sequence[str], *, is_lower_better: bool = False
) -> int | None:
    """Return the index of the best value, or None if the second best may be as good."""
    if len(values) == 1:
        return None
    order = sorted(range(len(values)), key=values.__getitem__, reverse=not is_lower_better)
    first, second = order[:2]
    errors = [getattr(values[m], "standard_error", 0.0) for m in (first, second)]
    gap = abs(values[first] - values[second])
    # Two standard errors of a difference: about 95 % confidence.
    return None if texts[first] == texts[second] or gap <= 2 * math.hypot(*errors) else first


def read_trust(judged: JudgedMap) -> str:
    """Summarize the per-point trust of a map in a sentence or two."""
    kept = float((judged.trust.agreement >= HALF).mean())
    n_queries = len(judged.trust.points)
    sample = f" in a sample of {n_queries:,}" if n_queries < len(judged.embedding) else ""
    return (
        f"{judged.title}: {kept:.0%} of the points{sample} keep at least half of their "
        f"{judged.report.k} nearest neighbors. The mean is {judged.trust.agreement.mean():.0%}."
    )


class ClassTrust(NamedTuple):
    """A class, its size, and the mean fraction of preserved neighbors in each map."""

    name: str
    n_points: int
    kept: tuple[float, ...]


def trust_by_class(maps: Sequence[JudgedMap], classes: Classes) -> list[ClassTrust]:
    """Return the classes with the fewest preserved neighbors in the first map, worst first."""
    sizes = np.bincount(classes.of_point)
    rows = []
    for c, name in enumerate(classes.names[: classes.n_classes]):
        members = [classes.of_point[judged.trust.points] == c for judged in maps]
        if all(own.any() for own in members):
            kept = [
                float(m.trust.agreement[own].mean()) for m, own in zip(maps, members, strict=True)
            ]
            rows.append(ClassTrust(name, int(sizes[c]), tuple(kept)))
    return sorted(rows, key=lambda row: row.kept[0])[:MAX_CLASSES_LISTED]


def read_seconds(seconds: float) -> str:
    """Format a run time."""
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:,.1f} s"
