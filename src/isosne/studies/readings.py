"""Interpretation of measures: what each one means, whether its value is good, and the verdict.

The limits between good, fair, weak and poor are rules of thumb for two-dimensional maps. They were
chosen, not measured, and none is from the paper. Every sentence of the verdict at the top of a
report follows from the rows of the table of measures, so none can contradict another.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from isosne.plots.paint import Classes
from isosne.quality.comparison import size_limits
from isosne.quality.ranks import coarse_size
from isosne.studies.judged_maps import CLASS_MEASURES, SIZES, JudgedMap

HALF = 0.5
LEVEL = 0.05  # of the test: of two kernels with equal maps, one wins in this share of the rows
MIN_ERRORS = 2.0
"""Standard errors that a difference must exceed in any case. With 2, 3 and 5 seeds, 17, 11 and 8 %
of the rows of kernels compared with themselves on wine do; with Welch's t-test, 3 to 4 %."""
MAX_CLASSES_LISTED = 12  # in the table of classes; chosen so that it fits a screen
GOOD_ERROR, FAIR_ERROR = 0.1, 0.4  # relative to always predicting the largest class
PRESERVED = ((0.2, "poorly"), (0.35, "partly"), (0.5, "fairly well"), (math.inf, "well"))
"""Words for AUC_RNX below each limit, the limits of `NEIGHBORHOODS`."""


class Measure(NamedTuple):
    """How to interpret a measure: ``verdicts`` are upper limits with the words below each."""

    field: str
    name: str
    decimals: int
    meaning: str
    verdicts: Sequence[tuple[float, str]]
    is_lower_better: bool = False
    is_percentage: bool = False


AREA_MEANING = "AUC_RNX over neighborhoods of {} points; the smallest of them weigh most."
AREA_VERDICTS = (
    (0.2, "Poor: hardly better than a random map."),
    (HALF, "Fair: less than half of what a map can preserve is preserved."),
    (math.inf, "Good: at least half of what a map can preserve is preserved."),
)
PARTS = ("up to {small:,}", "{above_small:,} to {medium:,}", "more than {medium:,}")
NEIGHBORHOODS = (
    Measure(
        "auc_rnx",
        "AUC_RNX",
        3,
        "Preservation of neighborhoods of all sizes, with more weight on small ones: 0 is random, "
        "1 is perfect.",
        (
            AREA_VERDICTS[0],
            (0.35, "Weak: rely on the clusters, not on the distances between them."),
            (0.5, "Fair: typical of high-dimensional data."),
            AREA_VERDICTS[-1],
        ),
    ),
    *(
        Measure(f"auc_{size}", f"AUC_RNX, {size}", 3, AREA_MEANING.format(part), AREA_VERDICTS)
        for size, part in zip(SIZES, PARTS, strict=True)
    ),
    Measure(
        "neighbors_kept",
        "Neighbors kept",
        0,
        "Mean fraction of the {k} nearest neighbors in the data that are also among the {k} "
        "nearest on the map. A strict measure: a neighbor with rank {next} on the map counts as "
        "lost.",
        (
            (0.2, "Poor: few of the nearest neighbors are those in the data."),
            (HALF, "Fair: less than half of the nearest neighbors are those in the data."),
            (math.inf, "Good: at least half of the nearest neighbors are those in the data."),
        ),
        is_percentage=True,
    ),
    Measure(
        "coarse_kept",
        "Neighbors kept nearby",
        0,
        "Mean fraction of the {k} nearest neighbors in the data that are among the {wide} nearest "
        "on the map. A lenient measure: only neighbors that were torn apart count as lost.",
        (
            (0.6, "Poor: many neighbors in the data are far apart on the map."),
            (0.85, "Fair: most neighbors in the data are near each other on the map."),
            (math.inf, "Good: almost all neighbors in the data are near each other on the map."),
        ),
        is_percentage=True,
    ),
    Measure(
        "trustworthiness",
        "Trustworthiness",
        3,
        "Whether neighbors on the map are also close in the data; 1 is best. A lenient measure: "
        "errors are weighted by rank, and a false neighbor with rank {next} in the data costs "
        "almost nothing. It can be high even if few of the nearest neighbors are preserved.",
        (
            (0.8, "Poor: many points have false neighbors."),
            (0.92, "Fair: some points have false neighbors."),
            (math.inf, "Good: points shown close together are rarely far apart in the data."),
        ),
    ),
    Measure(
        "continuity",
        "Continuity",
        3,
        "Whether neighbors in the data are also close on the map; 1 is best. Also a lenient "
        "measure: errors are weighted by rank.",
        (
            (0.8, "Poor: many neighborhoods are split."),
            (0.92, "Fair: some neighborhoods are split."),
            (math.inf, "Good: points close in the data are rarely shown far apart."),
        ),
    ),
)
CLASSES = (
    Measure(
        "davies_bouldin",
        "Davies-Bouldin",
        2,
        "Width of the classes relative to the distances between them; lower is better.",
        (
            (0.5, "Good: classes are compact and well separated."),
            (1.0, "Fair: most classes are separated."),
            (2.0, "Weak: classes touch or overlap."),
            (math.inf, "Poor: classes lie on top of each other."),
        ),
        is_lower_better=True,
    ),
    Measure(
        "calinski_harabasz",
        "Calinski-Harabasz",
        0,
        "Scatter between classes relative to the scatter within classes; higher is better.",
        ((math.inf, "No absolute scale: use it only to compare maps of the same data."),),
    ),
)


class Reading(NamedTuple):
    """A row of the table of measures, with the ``field`` of the scores that it shows.

    ``values``: the mean of each map as text. ``best``: index of the best map; None if the best two
    tie. ``verdict``: whether the value of the first map is good.
    """

    field: str
    measure: str
    values: tuple[str, ...]
    best: int | None
    meaning: str
    verdict: str


class Mean(NamedTuple):
    """The mean of a measure over repeated maps, and the two parts of its standard error.

    ``seed_error`` is from the variation between the maps, 0 for one map; ``sampling_error`` from
    the sample of points, which is the same for all maps, 0 if all were evaluated.
    """

    value: float
    seed_error: float = 0.0
    sampling_error: float = 0.0
    n_maps: int = 1

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return math.hypot(self.seed_error, self.sampling_error)


def read_measures(maps: Sequence[JudgedMap], classes: Classes | None) -> list[Reading]:
    """Return one row for each measure; the verdicts are about the first map."""
    measures = [*NEIGHBORHOODS]
    if classes is not None and maps[0].report.classes is not None:
        measures += [*CLASSES, _accuracy(maps[0].report.k, classes)]
    return [_read(measure, maps) for measure in measures]


def _read(measure: Measure, maps: Sequence[JudgedMap]) -> Reading:
    means = average_field(maps, measure.field)
    texts = tuple(show_mean(mean, measure) for mean in means)
    best = find_better(means, is_lower_better=measure.is_lower_better)
    if best is not None and texts.count(texts[best]) > 1:
        best = None  # they print the same
    k, (small, medium) = maps[0].report.k, size_limits(len(maps[0].embedding))
    sizes = {"small": small, "above_small": small + 1, "medium": medium}
    wide = coarse_size(k, len(maps[0].embedding))
    meaning = measure.meaning.format(k=k, next=k + 1, wide=f"{wide:,}", **sizes)
    verdict = _find_words(measure.verdicts, means[0].value)
    return Reading(measure.field, measure.name, texts, best, meaning, verdict)


def _find_words(verdicts: Sequence[tuple[float, str]], value: float) -> str:
    """Return the words below the first limit that a value does not reach; the last for NaN."""
    return next((words for limit, words in verdicts if value < limit), verdicts[-1][1])


def _accuracy(k: int, classes: Classes) -> Measure:
    """Return the k-NN accuracy, read relative to always predicting the largest class."""
    sizes = np.bincount(classes.of_point)[: classes.n_classes]
    largest = float(sizes.max() / sizes.sum())
    good, fair = (1 - error * (1 - largest) for error in (GOOD_ERROR, FAIR_ERROR))
    return Measure(
        "knn_accuracy",
        f"{k}-NN accuracy",
        3,
        "Accuracy of predicting the class of a point from its {k} nearest neighbors on the map; "
        f"always predicting the largest class would give {largest:.0%}.",
        (
            (fair, "Weak: classes are mixed on the map."),
            (good, "Fair: most neighbors on the map share a class."),
            (math.inf, "Good: almost all neighbors on the map share a class."),
        ),
    )


def average_field(maps: Sequence[JudgedMap], field: str) -> list[Mean]:
    """Return the mean of a measure over the seeds of each map."""
    return [average([scores[field] for scores in judged.scores]) for judged in maps]


def average(values: Sequence[float]) -> Mean:
    """Return the mean of a measure over repeated maps; values may have a sampling error."""
    n = len(values)
    numbers = [float(value) for value in values]
    seed_error = statistics.stdev(numbers) / math.sqrt(n) if n > 1 else 0.0
    sampling = [getattr(value, "standard_error", 0.0) ** 2 for value in values]
    return Mean(statistics.mean(numbers), seed_error, math.sqrt(statistics.mean(sampling)), n)


def show_mean(mean: Mean, measure: Measure) -> str:
    """Return a mean with its standard error as text; that of a single map is not known."""
    scale, unit = (100, "%") if measure.is_percentage else (1, "")
    value, error, decimals = scale * mean.value, scale * mean.standard_error, measure.decimals
    if error == 0:
        return f"{value:,.{decimals}f}{unit}" + (" \u00b1 0" if mean.n_maps > 1 else "")
    if error < 0.1**decimals:
        decimals += 1
    return f"{value:,.{decimals}f}{unit} \u00b1 {error:,.{decimals}f}{unit}"


def find_better(means: Sequence[Mean], *, is_lower_better: bool = False) -> int | None:
    """Return the index of the best mean; None for one map, or if the second best ties with it."""
    if len(means) == 1:
        return None
    sign = 1 if is_lower_better else -1
    order = sorted(range(len(means)), key=lambda m: sign * means[m].value)
    return order[0] if _differ(means[order[0]], means[order[1]]) else None


def _differ(first: Mean, second: Mean) -> bool:
    """Return whether two means differ clearly, by Welch's t-test with known sampling errors."""
    # Not reduced for maps that are evaluated at the same points: the test is conservative there.
    error, needed = math.hypot(first.standard_error, second.standard_error), MIN_ERRORS
    # Degrees of freedom after Welch and Satterthwaite: of the variances that were estimated.
    uncertain = sum(m.seed_error**4 / (m.n_maps - 1) for m in (first, second) if m.seed_error)
    if uncertain:
        needed = max(needed, float(stdtrit(error**4 / uncertain, 1 - LEVEL / 2)))
    return abs(first.value - second.value) > needed * error


class ClassTrust(NamedTuple):
    """A class, its size, and the mean fractions of neighbors kept, and kept nearby, in each map."""

    name: str
    n_points: int
    kept: tuple[float, ...]
    nearby: tuple[float, ...]


def trust_by_class(maps: Sequence[JudgedMap], classes: Classes) -> list[ClassTrust]:
    """Return the classes with the fewest neighbors kept in the first map, worst first."""
    sizes = np.bincount(classes.of_point)
    rows = []
    for c, name in enumerate(classes.names[: classes.n_classes]):
        own = [(m.trust, classes.of_point[m.trust.points] == c) for m in maps]
        if all(chosen.any() for _, chosen in own):
            kept = tuple(float(trust.agreement[chosen].mean()) for trust, chosen in own)
            nearby = tuple(float(trust.coarse[chosen].mean()) for trust, chosen in own)
            rows.append(ClassTrust(name, int(sizes[c]), kept, nearby))
    return sorted(rows, key=lambda row: row.kept[0])[:MAX_CLASSES_LISTED]


def read_basis(maps: Sequence[JudgedMap]) -> str:
    """Say what the values of the table are, and when a difference counts."""
    n_seeds, is_sampled = len(maps[0].scores), maps[0].report.is_sampled
    basis, ties = "", "Values that are equal as printed tie. "
    seed = "With one map each, a difference may be due to the seed."
    if n_seeds > 1:
        basis = (
            f"Each value is the mean of {n_seeds} maps with different seeds, \u00b1 its standard "
            "error. The first of these maps is shown. "
        )
        ties = "Differences that are not significant (Welch's t-test, 5% level) are ties; "
        seed = "one row in 20 may differ by chance."
    elif is_sampled:
        basis = "Each value is estimated from a sample of the points, \u00b1 its standard error. "
        ties = "Differences of at most two standard errors are ties. "
    return f"{basis}{ties}{seed}" if len(maps) > 1 else basis.rstrip()


def read_schedule(maps: Sequence[JudgedMap]) -> str:
    """Say which schedule the Gaussian kernel was mapped with, if it is one of the kernels."""
    schedules = [m.settings.get("schedule", "") for m in maps if m.title == "Gaussian kernel"]
    if not schedules or schedules[0] in ("", "'standard'"):
        return ""
    given = schedules[0].strip("'")
    which = "listed with all parameters" if given.startswith("Schedule(") else given
    return (
        f"Both kernels are mapped with the same schedule ({which}). Other packages map the "
        'Gaussian kernel with another one, schedule="standard" of TSNE; such maps may differ.'
    )


def read_first(maps: Sequence[JudgedMap]) -> str:
    """Say how well the first map preserves neighborhoods, whatever the others do."""
    first = maps[0]
    (area,) = average_field([first], "auc_rnx")
    kept, meaning = read_kept(first)
    return (
        f"{first.title}: the map preserves neighborhoods {_find_words(PRESERVED, area.value)} "
        f"(AUC_RNX {area.value:.2f}). {kept} {meaning}"
    )


def read_kept(judged: JudgedMap) -> tuple[str, str]:
    """Return the share of neighbors kept, and the sentence that begins with it."""
    (kept,), (coarse,) = (average_field([judged], f) for f in ("neighbors_kept", "coarse_kept"))
    k = judged.report.k
    meaning = (
        f"of the {k} nearest neighbors of a point are also among its {k} nearest on the map; "
        f"{coarse.value:.0%} are among its {coarse_size(k, len(judged.embedding)):,} nearest there."
    )
    return f"{kept.value:.0%}", meaning


def read_verdict(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Compare the maps in a few sentences; summarize a single map."""
    if len(maps) == 1:
        return read_first(maps)
    titles = [judged.name for judged in maps]
    rows = {reading.field: reading for reading in readings}
    small, medium = size_limits(len(maps[0].embedding))
    sizes = {
        f"small ones (up to {small:,} points)": rows["auc_small"].best,
        f"medium ones (up to {medium:,})": rows["auc_medium"].best,
        "large ones": rows["auc_large"].best,
    }
    of_classes = {
        rows[field].measure: rows[field].best for field in CLASS_MEASURES if field in rows
    }
    sentences = [_compare_areas(titles, rows["auc_rnx"]), _group_by_best(titles, sizes, "for")]
    if of_classes:
        sentences.append(_group_by_best(titles, of_classes, "in"))
    return " ".join(sentences)


def _compare_areas(titles: list[str], area: Reading) -> str:
    if area.best is None:
        values = " and ".join(area.values)
        return f"Over all sizes of neighborhoods, {_say_best(titles, None)} (AUC_RNX {values})."
    order = sorted(range(len(titles)), key=lambda m: m != area.best)  # the best map first
    first, *others = (titles[m] for m in order)
    value, *lower = (area.values[m] for m in order)
    return (
        f"Over all sizes, {first} preserves neighborhoods better than {' and '.join(others)} "
        f"(AUC_RNX {value} against {' and '.join(lower)})."
    )


def _group_by_best(titles: list[str], bests: dict[str, int | None], preposition: str) -> str:
    """Say which map is best for, or in, each of some names."""
    groups: dict[int | None, list[str]] = {}
    for name, best in bests.items():
        groups.setdefault(best, []).append(name)
    clauses = (
        f"{_say_best(titles, best)} {preposition} {_enumerate(names)}"
        for best, names in groups.items()
    )
    sentence = "; ".join(clauses)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _say_best(titles: list[str], best: int | None) -> str:
    if best is not None:
        return f"{titles[best]} is better"
    return "the maps tie" if len(titles) == 2 else "the best maps tie"


def _enumerate(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
