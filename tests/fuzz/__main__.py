"""Fuzz isosne, for a time or for a number of cases, or repeat one case.

python -m tests.fuzz --seconds 60 --seed 0
python -m tests.fuzz --cases 1000 --area reader
python -m tests.fuzz AREA SEED

Case k of a run with seed s has the seed 10 000 000 s + k. The exit code is 1 if a case failed.
"""

import argparse
import itertools
import sys
from collections import Counter

from tests.fuzz.host import OUTCOMES, Result, run_cases
from tests.fuzz.worker import AREAS

CASES_PER_SEED = 10_000_000


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    options = _parser().parse_args()
    if options.case:
        return _repeat(options.case[0], int(options.case[1]))
    areas = [options.area] if options.area else list(AREAS)
    sys.stdout.write(f"seed {options.seed}, areas: {', '.join(areas)}\n")
    first = options.seed * CASES_PER_SEED + options.skip
    counts, reasons = {}, Counter()

    def report(result: Result) -> None:
        _report(result)
        reasons[f"{result.area}, {result.outcome}: {result.reason[:100]}"] += 1

    for area in areas:
        seeds = itertools.count(first)
        if options.cases:
            seeds = range(first, first + options.cases)
        seconds = float("inf") if options.cases else options.seconds / len(areas)
        counts[area] = run_cases(area, seeds, seconds=seconds, report=report)
    for reason, count in reasons.most_common(options.reasons):
        sys.stdout.write(f"{count:>8,}  {reason}\n")
    sys.stdout.write(_table(counts))
    return int(any(found["failed"] for found in counts.values()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__.split("\n")[0]
    )
    parser.add_argument("case", nargs="*", help="AREA and SEED of one case to repeat")
    parser.add_argument("--seconds", type=float, default=60, help="time of the run [default: 60]")
    parser.add_argument("--cases", type=int, help="cases per area, instead of a time")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run [default: 0]")
    parser.add_argument("--skip", type=int, default=0, help="number of the first case [default: 0]")
    parser.add_argument("--area", choices=AREAS, help="one area [default: all]")
    parser.add_argument("--reasons", type=int, default=0, help="print the N commonest reasons")
    return parser


def _repeat(area: str, seed: int) -> int:
    results: list[Result] = []
    run_cases(area, [seed], report=results.append)
    result = results[0]
    sys.stdout.write(f"{result.details}\n{result.outcome}: {result.reason}\n")
    return int(result.outcome == "failed")


def _report(result: Result) -> None:
    if result.outcome == "failed":
        sys.stdout.write(f"failed: {result.reason[:400]}\n    {result.command()}\n")
        sys.stdout.flush()


def _table(counts: dict[str, Counter[str]]) -> str:
    total = sum(counts.values(), Counter())
    lines = [f"{'area':<12}{'cases':>10}" + "".join(f"{name:>12}" for name in OUTCOMES)]
    for name, found in [*counts.items(), ("total", total)]:
        numbers = "".join(f"{found[outcome]:>12,}" for outcome in OUTCOMES)
        lines.append(f"{name:<12}{found.total():>10,}{numbers}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
