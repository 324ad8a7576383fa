"""Tables of the evaluation results: one for each measure, and a count of wins."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.paper.artifacts import format_table
from benchmarks.paper.evaluation import METHODS, MeasuredSet
from benchmarks.paper.grids import PARTS, USUAL_PERPLEXITY, finest_exact
from isosne.studies.parameter_sweep import LOWER_IS_BETTER

Pick = Callable[[MeasuredSet, str, str], dict[str, Any] | None]
SMALLEST_PSI = 5
"""Smallest value of the paper's grid."""
CHOICE = "auc_rnx"
"""The measure of the selection that needs no labels."""
WINS = (
    "Number of data sets on which a method is better than the Gaussian kernel (GK); x: median "
    "ratio of its value to that of GK."
)


class Measure(NamedTuple):
    """A column of a sweep; ``field`` is its name in the records of the paper, or None."""

    name: str
    title: str
    digits: int
    field: str | None


class Missing(NamedTuple):
    """A data set that is not available, and the reason."""

    name: str
    reason: str


MEASURES = (
    Measure("auc_rnx", "AUC_RNX, all k", 3, None),
    Measure("auc_rnx_paper", "AUC_RNX, the paper's k", 3, "auc_rnx"),
    Measure("davies_bouldin", "DB (lower is better)", 2, "db"),
    Measure("calinski_harabasz", "CH", 0, "ch"),
)


def best_row(found: MeasuredSet, method: str, measure: str) -> dict[str, Any] | None:
    """Return the best row by the measure itself, the paper's protocol."""
    return found.sweeps[method].best_by(measure) if method in found.sweeps else None


def chosen_row(found: MeasuredSet, method: str, measure: str) -> dict[str, Any] | None:
    """Return the row with the best AUC_RNX, for any measure."""
    return best_row(found, method, CHOICE)


def unsearched_row(found: MeasuredSet, method: str, measure: str) -> dict[str, Any] | None:
    """Return the row of a method without a search: the usual perplexity, or automatic psi."""
    rows = found.sweeps[method].rows if method in found.sweeps else ()
    usual = [r for r in rows if r.get("perplexity") == USUAL_PERPLEXITY or r.get("psi") == "auto"]
    return usual[0] if usual else None


PROTOCOLS: tuple[tuple[str, Pick], ...] = (
    ("best for each measure", best_row),
    ("best by AUC_RNX", chosen_row),
    (f"no search: perplexity {USUAL_PERPLEXITY} or automatic psi", unsearched_row),
)


def page_parts(measured: Sequence[MeasuredSet], missing: Sequence[Missing]) -> list[str]:
    """Return the parts of the page."""
    parts = [_explanation(measured), "## Wins", WINS, wins_table(measured)]
    parts += ["## Best parameter for each measure, the paper's protocol"]
    for measure in MEASURES:
        parts += [f"### {measure.title}", measure_table(measured, measure, best_row)]
    parts += ["## Best parameter by AUC_RNX over all k, without labels"]
    parts += [parameter_table(measured)]
    for measure in MEASURES[1:]:
        parts += [f"### {measure.title}", measure_table(measured, measure, chosen_row)]
    return [*parts, *_notes(measured, missing)]


def measure_table(measured: Sequence[MeasuredSet], measure: Measure, pick: Pick) -> str:
    """Return one row per data set: the paper's values, if any, then ours, the best in bold."""
    printed = ["paper GK", "paper IK"] if measure.field else []
    rows = []
    for found in measured:
        values = [_value(pick(found, method.name, measure.name), measure) for method in METHODS]
        row = [_label(found), *_printed(found, measure), *_formatted(values, measure)]
        rows.append(row)
    return format_table(["set", *printed, *(method.title for method in METHODS)], rows)


def parameter_table(measured: Sequence[MeasuredSet]) -> str:
    """Return the perplexity and psi with the best AUC_RNX."""
    rows = []
    for found in measured:
        n = found.data.X.shape[0]
        picked = [chosen_row(found, method.name, CHOICE) for method in METHODS[:3]]
        values = [row.get("perplexity", row.get("psi")) if row else None for row in picked]
        rows.append([_label(found), n, found.grid, *(_share(value, n) for value in values)])
    titles = ["GK perplexity", "IK psi", "IK exact psi"]
    return format_table(["set", "points", "grid", *titles], rows)


def wins_table(measured: Sequence[MeasuredSet]) -> str:
    """Return how often each method beats the Gaussian kernel, and the median ratio."""
    rows: list[list[str]] = []
    printed = [_count_printed(measured, measure) for measure in MEASURES]
    rows.append(["printed in the paper", "IK", *printed])
    for title, pick in PROTOCOLS:
        for method in METHODS[1:]:
            cells = [_compare(measured, measure, method.name, pick) for measure in MEASURES]
            if any(cells):
                rows.append([title, method.title, *cells])
    return format_table(["protocol", "against GK", *(measure.title for measure in MEASURES)], rows)


def plain_values(measured: Sequence[MeasuredSet], missing: Sequence[Missing]) -> dict[str, Any]:
    """Return the content of the tables and the rows that it comes from."""
    return {
        "sets": {
            found.paper.name: {
                "shape": list(found.data.X.shape),
                "is_stand_in": found.is_stand_in,
                "grid": found.grid,
                "notes": found.data.notes,
                "best": {
                    method: {m.name: best_row(found, method, m.name) for m in MEASURES}
                    for method in found.sweeps
                },
                "chosen": {method: chosen_row(found, method, CHOICE) for method in found.sweeps},
            }
            for found in measured
        },
        "missing": dict(missing),
    }


def _explanation(measured: Sequence[MeasuredSet]) -> str:
    numbers, shares = PARTS["thin"]
    few, few_shares = PARTS["least"]
    return (
        "GK: Gaussian kernel. IK: isolation kernel with t = 200 or exact. 3 scales: automatic psi "
        "(0.8, 0.2 and 0.05 of n), a single map without a search. The authors' schedule, random "
        "start, all pairs, seed 0, attributes scaled to 0..1. DB and CH of the map scaled to 0..1. "
        "\\* a substitute, not the paper's data. The best value of each row is bold.\n\n"
        "Grids: *paper*, the whole grid without 1; *thin*, "
        f"{_join(numbers)} and {_join(shares)} of n; *least*, {_join(few)} and "
        f"{_join(few_shares)} of n. The exact kernel skips values of psi that would take "
        "minutes" + _describe_skipped(measured) + "."
    )


def _describe_skipped(measured: Sequence[MeasuredSet]) -> str:
    """Return the data sets on which the exact kernel was not tried on the whole grid."""
    parts = []
    for found in measured:
        smallest = finest_exact(found.data.X.shape[0])
        if smallest > SMALLEST_PSI:
            parts.append(f"{found.paper.title} below {smallest}")
    return f" ({'; '.join(parts)})" if parts else ""


def _notes(measured: Sequence[MeasuredSet], missing: Sequence[Missing]) -> list[str]:
    """Return notes about data sets that differ from the paper's or are missing."""
    lines = [f"- {found.paper.title}: {found.data.notes}" for found in measured if found.data.notes]
    lines += [f"- {name}: not available. {reason}" for name, reason in missing]
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


def _join(values: Sequence[float]) -> str:
    return ", ".join(map(str, values))


def _is_better(value: float, other: float, measure: Measure) -> bool:
    return value < other if measure.name in LOWER_IS_BETTER else value > other


def _count_printed(measured: Sequence[MeasuredSet], measure: Measure) -> str:
    if measure.field is None:
        return ""
    pairs = [getattr(found.paper, measure.field) for found in measured]
    wins = sum(_is_better(pair.isolation, pair.gaussian, measure) for pair in pairs)
    return _tally(wins, [pair.isolation / pair.gaussian for pair in pairs])


def _compare(measured: Sequence[MeasuredSet], measure: Measure, method: str, pick: Pick) -> str:
    """Return on how many data sets a method beats the Gaussian kernel, and the median ratio."""
    wins, ratios = 0, []
    for found in measured:
        ours = _value(pick(found, method, measure.name), measure)
        gaussian = _value(pick(found, "gaussian", measure.name), measure)
        if ours is not None and gaussian is not None:
            wins += _is_better(ours, gaussian, measure)
            ratios.append(ours / gaussian)
    return _tally(wins, ratios) if ratios else ""


def _tally(wins: int, ratios: Sequence[float]) -> str:
    """Format the number of wins and the median ratio."""
    return f"{wins} of {len(ratios)}, x {median(ratios):.3f}"
