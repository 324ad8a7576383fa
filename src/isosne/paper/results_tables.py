"""Tables of the evaluation results: a table for each measure, and who is ahead how often."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

from isosne.paper.grids import PARTS, USUAL_PERPLEXITY, finest_exact
from isosne.paper.outputs import table
from isosne.paper.sweeps import WAYS, MeasuredSet
from isosne.studies.parameter_sweep import LOWER_IS_BETTER

Pick = Callable[[MeasuredSet, str, str], dict[str, Any] | None]
CHOICE = "auc_rnx"
"""The measure by which the one choice without labels is made."""
WINS = (
    "Sets on which each way is ahead of the Gaussian kernel; x: the median of its value over GK's."
)


class Measure(NamedTuple):
    """A column of a sweep; `field` is its name in the paper's records, if they have it."""

    name: str
    title: str
    digits: int
    field: str | None


class Missing(NamedTuple):
    """A set that could not be had, and why."""

    name: str
    reason: str


MEASURES = (
    Measure("auc_rnx", "AUC_RNX, all k", 3, None),
    Measure("auc_rnx_paper", "AUC_RNX, the paper's k", 3, "auc_rnx"),
    Measure("davies_bouldin", "DB (low is good)", 2, "db"),
    Measure("calinski_harabasz", "CH", 0, "ch"),
)


def best_row(found: MeasuredSet, way: str, measure: str) -> dict[str, Any] | None:
    """Return the best map by the measure itself, as the paper picks it."""
    return found.sweeps[way].best_by(measure) if way in found.sweeps else None


def chosen_row(found: MeasuredSet, way: str, measure: str) -> dict[str, Any] | None:
    """Return the map that AUC_RNX chooses, whatever is measured of it."""
    return best_row(found, way, CHOICE)


def unsearched_row(found: MeasuredSet, way: str, measure: str) -> dict[str, Any] | None:
    """Return the map of a way that searches nothing: a usual perplexity, or psi by rule."""
    rows = found.sweeps[way].rows if way in found.sweeps else ()
    usual = [r for r in rows if r.get("perplexity") == USUAL_PERPLEXITY or r.get("psi") == "auto"]
    return usual[0] if usual else None


PROTOCOLS: tuple[tuple[str, Pick], ...] = (
    ("best for each measure", best_row),
    ("one choice, by AUC_RNX", chosen_row),
    (f"no search: perplexity {USUAL_PERPLEXITY} or psi by rule", unsearched_row),
)


def page_parts(measured: Sequence[MeasuredSet], missing: Sequence[Missing]) -> list[str]:
    """Return the parts of the page."""
    parts = [_explanation(measured), "## Who is ahead", WINS, wins_table(measured)]
    parts += ["## Best for each measure, as the paper picks"]
    for measure in MEASURES:
        parts += [f"### {measure.title}", measure_table(measured, measure, best_row)]
    parts += ["## One choice for each map, by AUC_RNX over all k, without labels"]
    parts += [parameter_table(measured)]
    for measure in MEASURES[1:]:
        parts += [f"### {measure.title}", measure_table(measured, measure, chosen_row)]
    return [*parts, *_notes(measured, missing)]


def measure_table(measured: Sequence[MeasuredSet], measure: Measure, pick: Pick) -> str:
    """Return a row for each set: the paper's figures if there are any, then ours, best in bold."""
    printed = ["paper GK", "paper IK"] if measure.field else []
    rows = []
    for found in measured:
        values = [_value(pick(found, way.name, measure.name), measure) for way in WAYS]
        row = [_label(found), *_printed(found, measure), *_formatted(values, measure)]
        rows.append(row)
    return table(["set", *printed, *(way.title for way in WAYS)], rows)


def parameter_table(measured: Sequence[MeasuredSet]) -> str:
    """Return the values of perplexity and psi that AUC_RNX chooses."""
    rows = []
    for found in measured:
        n = found.data.X.shape[0]
        picked = [chosen_row(found, way.name, CHOICE) for way in WAYS[:3]]
        values = [row.get("perplexity", row.get("psi")) if row else None for row in picked]
        rows.append([_label(found), n, found.grid, *(_share(value, n) for value in values)])
    titles = ["GK perplexity", "IK psi", "IK exact psi"]
    return table(["set", "points", "grid", *titles], rows)


def wins_table(measured: Sequence[MeasuredSet]) -> str:
    """Return how often each way is ahead of the Gaussian kernel, and the median factor."""
    rows: list[list[str]] = []
    printed = [_count_printed(measured, measure) for measure in MEASURES]
    rows.append(["printed in the paper", "IK", *printed])
    for title, pick in PROTOCOLS:
        for way in WAYS[1:]:
            cells = [_compare(measured, measure, way.name, pick) for measure in MEASURES]
            if any(cells):
                rows.append([title, way.title, *cells])
    return table(["protocol", "against GK", *(measure.title for measure in MEASURES)], rows)


def plain_values(measured: Sequence[MeasuredSet], missing: Sequence[Missing]) -> dict[str, Any]:
    """Return all that the tables show, and the rows behind it."""
    return {
        "sets": {
            found.paper.name: {
                "shape": list(found.data.X.shape),
                "is_stand_in": found.is_stand_in,
                "grid": found.grid,
                "notes": found.data.notes,
                "best": {
                    way: {m.name: best_row(found, way, m.name) for m in MEASURES}
                    for way in found.sweeps
                },
                "chosen": {way: chosen_row(found, way, CHOICE) for way in found.sweeps},
            }
            for found in measured
        },
        "missing": dict(missing),
    }


def _explanation(measured: Sequence[MeasuredSet]) -> str:
    numbers, shares = PARTS["thin"]
    few, few_shares = PARTS["least"]
    return (
        "GK: Gaussian kernel. IK: isolation kernel, t = 200 or exact; 3 scales: psi by rule (0.8, "
        "0.2 and 0.05 of n), one map, nothing searched. Authors' schedule, random start, all "
        "pairs, seed 0, attributes scaled to 0..1. DB and CH of the scaled map. \\* a stand-in, "
        "not the paper's data. Best of each row in bold.\n\n"
        "Grids: *paper*, its whole grid without 1; *thin*, "
        f"{_listed(numbers)} and {_listed(shares)} of n; *least*, {_listed(few)} and "
        f"{_listed(few_shares)} of n. The exact kernel skips values of psi that would take "
        "minutes" + _skipped(measured) + "."
    )


def _skipped(measured: Sequence[MeasuredSet]) -> str:
    """Say where the exact kernel was not tried on the whole grid."""
    parts = []
    for found in measured:
        smallest = finest_exact(found.data.X.shape[0])
        if smallest > 5:
            parts.append(f"{found.paper.title} below {smallest}")
    return f" ({'; '.join(parts)})" if parts else ""


def _notes(measured: Sequence[MeasuredSet], missing: Sequence[Missing]) -> list[str]:
    """Return what differs from the paper's data, if anything does."""
    lines = [f"- {found.paper.title}: {found.data.notes}" for found in measured if found.data.notes]
    lines += [f"- {name}: not at hand. {reason}" for name, reason in missing]
    return ["## Notes on the data", "\n".join(lines)] if lines else []


def _value(row: dict[str, Any] | None, measure: Measure) -> float | None:
    return None if row is None else float(row[measure.name])


def _label(found: MeasuredSet) -> str:
    return found.paper.title + (" \\*" if found.is_stand_in else "")


def _printed(found: MeasuredSet, measure: Measure) -> list[str]:
    if measure.field is None:
        return []
    return [f"{value:g}" for value in getattr(found.paper, measure.field)]


def _formatted(values: Sequence[float | None], measure: Measure) -> list[str]:
    known = [value for value in values if value is not None]
    best = min(known) if measure.name in LOWER_IS_BETTER else max(known)
    texts = []
    for value in values:
        digits = max(measure.digits, 1) if value is not None and value < 10 else measure.digits
        text = "" if value is None else f"{value:.{digits}f}"
        texts.append(f"**{text}**" if value == best else text)
    return texts


def _share(value: Any, n: int) -> str:
    return "" if value is None else f"{value} ({value / n:.2g} n)"


def _listed(values: Sequence[float]) -> str:
    return ", ".join(map(str, values))


def _is_ahead(value: float, other: float, measure: Measure) -> bool:
    return value < other if measure.name in LOWER_IS_BETTER else value > other


def _count_printed(measured: Sequence[MeasuredSet], measure: Measure) -> str:
    if measure.field is None:
        return ""
    pairs = [getattr(found.paper, measure.field) for found in measured]
    ahead = sum(_is_ahead(pair.isolation, pair.gaussian, measure) for pair in pairs)
    return _tally(ahead, [pair.isolation / pair.gaussian for pair in pairs])


def _compare(measured: Sequence[MeasuredSet], measure: Measure, way: str, pick: Pick) -> str:
    """Return the sets on which a way is ahead of the Gaussian kernel, and the median ratio."""
    ahead, ratios = 0, []
    for found in measured:
        ours = _value(pick(found, way, measure.name), measure)
        gaussian = _value(pick(found, "gaussian", measure.name), measure)
        if ours is not None and gaussian is not None:
            ahead += _is_ahead(ours, gaussian, measure)
            ratios.append(ours / gaussian)
    return _tally(ahead, ratios) if ratios else ""


def _tally(ahead: int, ratios: Sequence[float]) -> str:
    """Return counts and the median of ratios."""
    return f"{ahead} of {len(ratios)}, x {median(ratios):.3f}"
