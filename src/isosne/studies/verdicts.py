"""The verdict at the top of a report: which map preserves neighborhoods better, or that they tie.

Every sentence follows from the rows of the table of measures, so none can contradict another. The
area under R_NX over all sizes decides; it is a mean of those of small, medium and large
neighborhoods.
"""

from collections.abc import Sequence

from isosne.quality.comparison import size_limits
from isosne.studies.judged_maps import JudgedMap
from isosne.studies.readings import CLASS_FIELDS, Reading, average_field

PRESERVED = ((0.2, "poorly"), (0.35, "partly"), (0.5, "fairly well"))
"""Words for AUC_RNX below each limit, the limits of `readings`."""

WEIGHTS = "In the AUC, neighborhoods of k points have weight 1/k: small ones count most."
"""Why a map may be better over all sizes that is better for small ones only."""


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
    return _capital(
        f"{titles[m]} is better in the class measure{'s' if len(won[m]) > 1 else ''} "
        f"{' and '.join(won[m])}; {_tie(titles)} in the rest."
    )


def _say_best(titles: list[str], best: int | None) -> str:
    return _tie(titles) if best is None else f"{titles[best]} is better"


def _tie(titles: list[str]) -> str:
    return "the maps tie" if len(titles) == 2 else "the best maps tie"


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
