"""Interpretation of measures: what each one means, whether its value is good, and the verdict.

The limits between good, fair, weak and poor are rules of thumb for two-dimensional maps. They were
chosen, not measured, and none is from the paper. The verdict at the top of a report says which map
preserves neighborhoods better, or that they tie. Every sentence of it follows from the rows of the
table of measures, so none can contradict another. The area under R_NX over all sizes decides; it is
a mean of those of small, medium and large neighborhoods.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isosne.plots.paint import Classes
from isosne.quality.comparison import size_limits
from isosne.studies.judged_maps import JudgedMap
from isosne.studies.scores import Mean, average, find_better

HALF = 0.5
"""Fraction of preserved neighbors from which the neighborhood of a point counts as reliable."""
MAX_CLASSES_LISTED = 12
"""Rows of the table of classes; chosen so that it fits a screen."""
GOOD_ERROR, FAIR_ERROR = 0.1, 0.4
"""Errors of the k-NN classifier, relative to always predicting the largest class."""
MORE_DECIMALS = 1
"""Decimals that a small standard error may add to a value."""
SIZES = {
    "small": "up to {small:,}",
    "medium": "{above_small:,} to {medium:,}",
    "large": "more than {medium:,}",
}
"""Parts of the range of neighborhood sizes, each a third of log k."""
PRESERVED = ((0.2, "poorly"), (0.35, "partly"), (0.5, "fairly well"))
"""Words for AUC_RNX below each limit, the limits of `NEIGHBORHOODS`."""

WEIGHTS = "In the AUC, neighborhoods of k points have weight 1/k: small ones count most."
"""Why a map may be better over all sizes that is better for small ones only."""


class Reading(NamedTuple):
    """A row of the table of measures.

    ``field``: name of the measure in `Scores`. ``values``: the mean of each map over its seeds as
    text, with its standard error. ``best``: index of the best map; None if the best two tie: their
    difference is not significant, or they print the same. ``meaning``: what the measure means.
    ``verdict``: whether the value of the first map is good.
    """

    field: str
    measure: str
    values: tuple[str, ...]
    best: int | None
    meaning: str
    verdict: str


class Measure(NamedTuple):
    """How to interpret a measure: ``limits`` are upper bounds with the verdict below each."""

    field: str
    name: str
    decimals: int
    meaning: str
    limits: tuple[tuple[float, str], ...]
    otherwise: str
    is_lower_better: bool = False
    is_percentage: bool = False


NEIGHBORHOODS = (
    Measure(
        "auc_rnx",
        "AUC R_NX",
        3,
        "Preservation of neighborhoods of all sizes, with more weight on small ones: 0 is random, "
        "1 is perfect.",
        (
            (0.2, "Poor: hardly better than a random map."),
            (0.35, "Weak: rely on the clusters, not on the distances between them."),
            (0.5, "Fair: typical of high-dimensional data."),
        ),
        "Good: at least half of what a map can preserve is preserved.",
    ),
    *(
        Measure(
            f"auc_{part}",
            f"AUC R_NX, {part}",
            3,
            f"AUC R_NX over neighborhoods of {sizes} points; the smallest of them weigh most.",
            (
                (0.2, "Poor: hardly better than a random map."),
                (HALF, "Fair: less than half of what a map can preserve is preserved."),
            ),
            "Good: at least half of what a map can preserve is preserved.",
        )
        for part, sizes in SIZES.items()
    ),
    Measure(
        "neighbors_preserved",
        "Neighbors preserved",
        0,
        "Mean fraction of the {k} nearest neighbors in the data that are also among the {k} "
        "nearest on the map. A strict measure: a neighbor with rank {next} on the map counts as "
        "lost.",
        (
            (0.2, "Poor: few of the nearest neighbors are those in the data."),
            (HALF, "Fair: less than half of the nearest neighbors are those in the data."),
        ),
        "Good: at least half of the nearest neighbors are those in the data.",
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
        ),
        "Good: points shown close together are rarely far apart in the data.",
    ),
    Measure(
        "continuity",
        "Continuity",
        3,
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
        "davies_bouldin",
        "Davies-Bouldin",
        2,
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
        "calinski_harabasz",
        "Calinski-Harabasz",
        0,
        "Scatter between classes relative to the scatter within classes; higher is better.",
        (),
        "No absolute scale: use it only to compare maps of the same data.",
    ),
)


CLASS_FIELDS = ("davies_bouldin", "calinski_harabasz", "knn_accuracy")
"""Measures that depend on the classes."""


def read_measures(maps: Sequence[JudgedMap], classes: Classes | None) -> list[Reading]:
    """Return one row for each measure; the verdicts are about the first map."""
    measures = [*NEIGHBORHOODS]
    if classes is not None and maps[0].report.classes is not None:
        measures += [*CLASSES, _accuracy(maps[0].report.k, classes)]
    return [_read(measure, maps) for measure in measures]


def _read(measure: Measure, maps: Sequence[JudgedMap]) -> Reading:
    means = average_field(maps, measure.field)
    texts = tuple(
        show_mean(mean, measure.decimals, is_percentage=measure.is_percentage) for mean in means
    )
    better = find_better(means, is_lower_better=measure.is_lower_better)
    is_tie = better is not None and texts.count(texts[better]) > 1
    verdict = next((words for limit, words in measure.limits if means[0].value < limit), None)
    k = maps[0].report.k
    small, medium = size_limits(len(maps[0].embedding))
    limits = {"small": small, "above_small": small + 1, "medium": medium}
    return Reading(
        measure.field,
        measure.name,
        texts,
        None if is_tie else better,
        measure.meaning.format(k=k, next=k + 1, **limits),
        verdict or measure.otherwise,
    )


def average_field(maps: Sequence[JudgedMap], field: str) -> list[Mean]:
    """Return the mean of a measure over the seeds of each map."""
    return [average([getattr(scores, field) for scores in judged.scores]) for judged in maps]


def show_mean(mean: Mean, decimals: int, *, is_percentage: bool = False) -> str:
    """Return a mean with its standard error as text, down to the first digit of the error.

    The error of a single map that is no estimate is left out: it is not known.
    """
    scale, unit = (100, "%") if is_percentage else (1, "")
    value, error = scale * mean.value, scale * mean.standard_error
    if error == 0:
        return f"{value:,.{decimals}f}{unit}" + (" \u00b1 0" if mean.n_maps > 1 else "")
    first_digit = -math.floor(math.log10(error))
    decimals = min(max(decimals, first_digit), decimals + MORE_DECIMALS)
    return f"{value:,.{decimals}f}{unit} \u00b1 {error:,.{decimals}f}{unit}"


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
        ),
        "Good: almost all neighbors on the map share a class.",
    )


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


def read_verdict(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Compare the maps in a sentence or two; summarize a single map."""
    if len(maps) == 1:
        return read_first(maps)
    titles = [judged.name for judged in maps]
    of_classes = [reading for reading in readings if reading.field in CLASS_FIELDS]
    sentences = [_compare_neighborhoods(titles, readings, len(maps[0].embedding))]
    sentences += [_compare_classes(titles, of_classes)] if of_classes else []
    return " ".join(sentences)


def read_first(maps: Sequence[JudgedMap]) -> str:
    """Say how well the first map preserves neighborhoods, whatever the others do."""
    first = maps[0]
    (area,) = average_field([first], "auc_rnx")
    (kept,) = average_field([first], "neighbors_preserved")
    how = next((words for limit, words in PRESERVED if area.value < limit), "well")
    return (
        f"{first.title}: the map preserves neighborhoods {how} (AUC {area.value:.2f}), and on "
        f"average {kept.value:.0%} of the {first.report.k} nearest neighbors of a point."
    )


def read_basis(maps: Sequence[JudgedMap]) -> str:
    """Say what the values of the table are, and when a difference counts."""
    n_seeds = len(maps[0].scores)
    is_sampled = maps[0].report.is_sampled
    values = rule = caution = ""
    if n_seeds > 1:
        values = (
            f"Each value is the mean of {n_seeds} maps with different seeds, \u00b1 its standard "
            "error. The first of these maps is shown."
        )
    elif is_sampled:
        values = "Each value is estimated from a sample of the points, \u00b1 its standard error."
    if len(maps) > 1:
        rule = (
            "Differences that are not significant (Welch's t-test, 5% level) are ties; one row in "
            "20 may differ by chance."
            if n_seeds > 1
            else "Differences of at most two standard errors are ties."
            if is_sampled
            else "Values that are equal as printed tie."
        )
        caution = "With one map each, a difference may be due to the seed." if n_seeds == 1 else ""
    return " ".join(sentence for sentence in (values, rule, caution) if sentence)


def _compare_neighborhoods(titles: list[str], readings: Sequence[Reading], n: int) -> str:
    overall, *parts = (
        next(reading for reading in readings if reading.field == field)
        for field in ("auc_rnx", "auc_small", "auc_medium", "auc_large")
    )
    winners = {reading.best for reading in parts}
    by_size = _compare_sizes(titles, parts, n)
    if overall.best is None:
        areas = " and ".join(overall.values)
        head = _capital(f"{_tie(titles)} in the preservation of neighborhoods")
        if winners == {None}:
            return f"{head} (AUC {areas}), of small ones as of large ones."
        return f"{head} of all sizes together (AUC {areas}). {by_size}"
    order = sorted(range(len(titles)), key=lambda m: m != overall.best)  # the best map first
    first, *others = (titles[m] for m in order)
    area, *lower = (overall.values[m] for m in order)
    better = f"better than {' and '.join(others)} (AUC {area} against {' and '.join(lower)})"
    if winners == {overall.best}:
        return _capital(f"{first} preserves neighborhoods of all sizes {better}.")
    verdict = f"Over all sizes, {first} preserves neighborhoods {better}. {by_size}"
    has_won_small = parts[0].best == overall.best
    return f"{verdict} {WEIGHTS}" if has_won_small and winners - {overall.best, None} else verdict


def _compare_sizes(titles: list[str], parts: Sequence[Reading], n: int) -> str:
    """Say which map is better for small, medium and large neighborhoods, each taken alone."""
    small, medium = size_limits(n)
    names = (
        f"small ones (up to {small:,} points)",
        f"medium ones (up to {medium:,})",
        "large ones",
    )
    groups: dict[int | None, list[str]] = {}
    for name, reading in zip(names, parts, strict=True):
        groups.setdefault(reading.best, []).append(name)
    if len(groups) == 1:
        (m,) = groups
        sizes = f"{names[0]}, {names[1]} and {names[2]}, each taken alone"
        return f"For {sizes}, {_say_best(titles, m)}."
    clauses = (f"for {' and '.join(own)}, {_say_best(titles, m)}" for m, own in groups.items())
    return _capital(f"{'; '.join(clauses)}.")


def _compare_classes(titles: list[str], readings: Sequence[Reading]) -> str:
    """Say which map separates the classes better, by the class measures."""
    won = [[row.measure for row in readings if row.best == m] for m in range(len(titles))]
    winners = [m for m, measures in enumerate(won) if measures]
    if not winners:
        return f"In the class measures, {_tie(titles)}."
    if len(winners) > 1:
        each = "; ".join(f"{titles[m]} is better in {' and '.join(won[m])}" for m in winners)
        return f"The class measures disagree: {each}."
    (m,) = winners
    if len(won[m]) == len(readings):
        return _capital(f"{titles[m]} is better in all class measures.")
    tied = [row.measure for row in readings if row.best is None]
    return _capital(
        f"{titles[m]} is better in the class measure{'s' if len(won[m]) > 1 else ''} "
        f"{' and '.join(won[m])}; {_tie(titles)} in {' and '.join(tied)}."
    )


def _say_best(titles: list[str], best: int | None) -> str:
    return _tie(titles) if best is None else f"{titles[best]} is better"


def _tie(titles: list[str]) -> str:
    return "the maps tie" if len(titles) == 2 else "the best maps tie"


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
