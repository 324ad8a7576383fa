"""Measures in plain words: what each means, and whether its value is good.

The limits between good, fair and poor are rules of thumb for maps in two dimensions; none is of the
paper.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isosne.plots.paint import Classes
from isosne.quality import ClassReport
from isosne.quality.sampling import estimate_mean
from isosne.studies.compare import JudgedMap

HALF = 0.5
"""Share of its neighbors from which a point's surroundings are taken for believable."""
MOST_CLASSES_LISTED = 12


class Reading(NamedTuple):
    """A row of the table: the value of each map as text, the place of the best, a sentence.

    ``best`` is None where the best two print the same, or differ by no more than a sample may.
    """

    measure: str
    values: tuple[str, ...]
    best: int | None
    meaning: str
    verdict: str


class Measure(NamedTuple):
    """How to read one measure: its value, its text, and limits with the words below each."""

    name: str
    value: Callable[[JudgedMap], float]
    text: str
    meaning: str
    limits: tuple[tuple[float, str], ...]
    otherwise: str
    is_small_good: bool = False


NEIGHBORHOODS = (
    Measure(
        "AUC R_NX",
        lambda judged: judged.report.auc_rnx,
        "{:.3f}",
        "How much of neighborhoods of every size the map keeps, small ones counting most: 0 is "
        "chance, 1 is all.",
        (
            (0.2, "Poor: little more than chance."),
            (0.35, "Weak: distances are kept in part; trust groups, not gaps."),
            (0.5, "Fair, and usual for data of many dimensions."),
        ),
        "Good: half or more of what can be kept is kept.",
    ),
    Measure(
        "Neighbors kept",
        lambda judged: estimate_mean(judged.trust.agreement, len(judged.embedding)),
        "{:.0%}",
        "How many of a point's {k} nearest in the data are among its {k} nearest on the map. "
        "Strict: a neighbor at place {next} on the map is lost.",
        (
            (0.2, "Poor: who stands next to whom is mostly not as in the data."),
            (HALF, "Fair: more than half of the very nearest are others than in the data."),
        ),
        "Good: half or more of the very nearest are those of the data.",
    ),
    Measure(
        "Trustworthiness",
        lambda judged: judged.report.trustworthiness,
        "{:.3f}",
        "Whether points shown close together are close in the data; 1 is best. Forgiving: it "
        "counts how far off intruders are, and one at place {next} in the data costs next to "
        "nothing. So it can be high where few of the very nearest are kept.",
        (
            (0.8, "Poor: many points stand beside strangers."),
            (0.92, "Fair: some points stand beside strangers."),
        ),
        "Good: points shown close together are rarely far apart in the data.",
    ),
    Measure(
        "Continuity",
        lambda judged: judged.report.continuity,
        "{:.3f}",
        "Whether points close in the data are shown close together; 1 is best. Forgiving, too: it "
        "counts how far off they are shown.",
        (
            (0.8, "Poor: many neighborhoods are torn apart."),
            (0.92, "Fair: some neighborhoods are torn apart."),
        ),
        "Good: points close in the data are rarely shown far apart.",
    ),
)
CLASSES = (
    Measure(
        "Davies-Bouldin",
        lambda judged: _of_classes(judged).davies_bouldin,
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
        lambda judged: _of_classes(judged).calinski_harabasz,
        "{:,.0f}",
        "How far classes are apart, compared with their width; larger is better.",
        (),
        "It has no scale of its own: compare maps of the same data by it, nothing else.",
    ),
)


def _of_classes(judged: JudgedMap) -> ClassReport:
    assert judged.report.classes is not None  # asked for only where classes were measured
    return judged.report.classes


def read_measures(maps: Sequence[JudgedMap], classes: Classes | None) -> list[Reading]:
    """Return a row for each measure; sentences speak of the first map."""
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
        _best(values, texts, is_small_good=measure.is_small_good),
        measure.meaning.format(k=k, next=k + 1),
        verdict or measure.otherwise,
    )


def _read_accuracy(maps: Sequence[JudgedMap], classes: Classes) -> Reading:
    """Read the accuracy of nearest neighbors beside that of naming the largest class."""
    values = [_of_classes(judged).knn_accuracy for judged in maps]
    texts = tuple(f"{value:.3f}" for value in values)
    sizes = np.bincount(classes.of_point)[: classes.n_classes]
    largest = float(sizes.max() / sizes.sum())
    left = (1 - values[0]) / max(1 - largest, 1e-12)
    verdict = (
        "Good: neighbors on the map are of one class."
        if left < 0.1
        else "Fair: most neighbors on the map are of one class."
        if left < 0.4
        else "Weak: classes are mixed on the map."
    )
    return Reading(
        f"{maps[0].report.k}-NN accuracy",
        texts,
        _best(values, texts),
        "How often the nearest points on the map name a point's class; naming the largest class "
        f"always is right {largest:.0%} of the time.",
        verdict,
    )


def _best(
    values: Sequence[float], texts: Sequence[str], *, is_small_good: bool = False
) -> int | None:
    """Return the place of the best value, if it is better than the next as far as one can see."""
    if len(values) == 1:
        return None
    first, second = sorted(range(len(values)), key=values.__getitem__, reverse=not is_small_good)[
        :2
    ]
    errors = [getattr(values[place], "standard_error", 0.0) for place in (first, second)]
    gap = abs(values[first] - values[second])
    return None if texts[first] == texts[second] or gap <= 2 * math.hypot(*errors) else first


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
    for c, name in enumerate(classes.names[: classes.n_classes]):
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
