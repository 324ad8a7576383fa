"""The sentences at the head of a report: what all measures and curves say together."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from isosne.studies.compare import JudgedMap
from isosne.studies.readings import Reading

KEPT = ((0.2, "poorly"), (0.35, "in part"), (0.5, "fairly well"))
"""Words for areas below each limit."""
LEAST_GAP = 0.01
"""Difference of curves below which they are taken for equal."""
N_RANGES = 12
"""Ranges of sizes, equally wide in the logarithm, over which curves are compared."""


def read_verdict(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Return the sentences at the head of a report."""
    first = maps[0]
    area, kept = first.report.auc_rnx, first.trust.agreement.mean()
    how = next((words for limit, words in KEPT if area < limit), "well")
    said = (
        f"{first.title}: the map keeps neighborhoods {how} (AUC {area:.2f}), and {kept:.0%} of the "
        f"{first.report.k} nearest neighbors of a point."
    )
    if len(maps) == 1:
        return said
    return f"{said} {_count_best(maps, readings)} {read_sizes(maps)}"


def _count_best(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Return in how many measures each map is ahead, and whether that makes one the better."""
    n_ahead = [sum(reading.best == m for reading in readings) for m in range(len(maps))]
    n_equal = len(readings) - sum(n_ahead)
    (title, n), *others = zip((judged.title for judged in maps), n_ahead, strict=True)
    said = f"Of the {len(readings)} measures below, the {title} is ahead in {n}"
    said += "".join(f", the {title} in {n}" for title, n in others)
    said += f", and {n_equal} {'is' if n_equal == 1 else 'are'} equal" if n_equal else ""
    most = max(n_ahead)
    if 2 * most <= len(readings):
        return f"{said}: on the whole no map is better."
    how_many = "all" if most == len(readings) else "most"
    best = maps[n_ahead.index(most)].title
    return f"{said}: by {how_many} of them the map of the {best} is the better one."


def read_sizes(maps: Sequence[JudgedMap]) -> str:
    """Return in which sizes of neighborhoods the first map keeps more than the others."""
    return " ".join(_compare_curves(maps[0], other) for other in maps[1:])


def _compare_curves(first: JudgedMap, other: JudgedMap) -> str:
    gaps = first.curve.r - other.curve.r
    edges = np.geomspace(1, max(len(gaps) // 2, 2), N_RANGES + 1).astype(int)
    edges = np.unique(edges)  # beyond half of the points curves end at the same place
    means = np.array([gaps[a - 1 : b - 1].mean() for a, b in pairwise(edges.tolist())])
    is_told = np.abs(means) > LEAST_GAP
    signs, starts = np.sign(means[is_told]), edges[:-1][is_told]
    if len(signs) == 0:
        return f"The {first.title} and the {other.title} keep neighborhoods of any size alike."
    words = {1.0: "ahead of", -1.0: "behind"}
    head = f"The {first.title} is {words[signs[0]]} the {other.title} in"
    turns = np.flatnonzero(np.diff(signs)) + 1
    if len(turns) == 0:
        share = float(is_told.mean())
        sizes = "any size" if share == 1 else "most sizes" if share > 0.5 else "some sizes"
        return f"{head} neighborhoods of {sizes}."
    if len(turns) == 1:
        place = float(f"{starts[turns[0]]:.1g}")
        back = "behind" if signs[0] > 0 else "ahead"
        return f"{head} small neighborhoods, up to some {place:,.0f} points, {back} in larger ones."
    return f"{head} the smallest neighborhoods; in larger ones the two take turns."
