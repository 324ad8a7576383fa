"""The summary at the top of a report: all measures and curves in a few sentences."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from isosne.studies.judged_maps import JudgedMap
from isosne.studies.readings import Reading

PRESERVED = ((0.2, "poorly"), (0.35, "partly"), (0.5, "fairly well"))
"""Words for AUC_RNX below each limit, the limits of `readings`."""
MIN_GAP = 0.01
"""Difference of R_NX below which curves count as equal; chosen, not measured."""
N_RANGES = 12
"""Ranges of neighborhood sizes, equally wide in log k, over which curves are compared; chosen."""


def read_verdict(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Return the summary of a report."""
    first = maps[0]
    area, kept = first.report.auc_rnx, first.trust.agreement.mean()
    how = next((words for limit, words in PRESERVED if area < limit), "well")
    summary = (
        f"{first.title}: the map preserves neighborhoods {how} (AUC {area:.2f}), and on average "
        f"{kept:.0%} of the {first.report.k} nearest neighbors of a point."
    )
    if len(maps) == 1:
        return summary
    return f"{summary} {_count_best(maps, readings)} {read_sizes(maps)}"


def _count_best(maps: Sequence[JudgedMap], readings: Sequence[Reading]) -> str:
    """Count the measures in which each map is best, and name the better map if there is one."""
    n_best = [sum(reading.best == m for reading in readings) for m in range(len(maps))]
    n_tied = len(readings) - sum(n_best)
    (title, n), *others = zip((judged.title for judged in maps), n_best, strict=True)
    counts = f"Of the {len(readings)} measures below, the {title} is best in {n}"
    counts += "".join(f", the {title} in {n}" for title, n in others)
    counts += f", and {n_tied} {'is' if n_tied == 1 else 'are'} tied" if n_tied else ""
    most = max(n_best)
    if 2 * most <= len(readings):
        return f"{counts}. Overall, neither map is clearly better."
    how_many = "all" if most == len(readings) else "most"
    best = maps[n_best.index(most)].title
    return f"{counts}. Overall, the {best} is better in {how_many} measures."


def read_sizes(maps: Sequence[JudgedMap]) -> str:
    """Compare the R_NX curve of the first map with those of the others."""
    return " ".join(_compare_curves(maps[0], other) for other in maps[1:])


def _compare_curves(first: JudgedMap, other: JudgedMap) -> str:
    gaps = first.curve.r - other.curve.r
    edges = np.geomspace(1, max(len(gaps) // 2, 2), N_RANGES + 1).astype(int)
    edges = np.unique(edges)  # beyond n / 2 all curves converge
    means = np.array([gaps[a - 1 : b - 1].mean() for a, b in pairwise(edges.tolist())])
    differs = np.abs(means) > MIN_GAP
    signs, starts = np.sign(means[differs]), edges[:-1][differs]
    if len(signs) == 0:
        return (
            f"The {first.title} and the {other.title} preserve neighborhoods of all sizes about "
            "equally well."
        )
    order, reverse = ("better", "worse") if signs[0] > 0 else ("worse", "better")
    turns = np.flatnonzero(np.diff(signs)) + 1
    if len(turns) == 0:
        share = float(differs.mean())
        sizes = "all sizes" if share == 1 else "most sizes" if share > 0.5 else "some sizes"
        return (
            f"The {first.title} preserves neighborhoods of {sizes} {order} than the {other.title}."
        )
    if len(turns) == 1:
        limit = float(f"{starts[turns[0]]:.1g}")
        return (
            f"The {first.title} preserves neighborhoods of up to about {limit:,.0f} points {order} "
            f"than the {other.title}, and larger ones {reverse}."
        )
    return (
        f"The {first.title} preserves the smallest neighborhoods {order} than the {other.title}; "
        "for larger ones the order changes with the size."
    )
