"""Fuzz isosne, for a time or for a number of cases, or repeat one case.

python -m tests.fuzz --seconds 60 --seed 0
python -m tests.fuzz --cases 1000 --area reader
python -m tests.fuzz AREA SEED

Case k of a run with seed s has the seed 10 000 000 s + k. The exit code is 1 if a case failed.
"""

import argparse
import itertools
import shutil
import sys

from tests.fuzz.host import AREAS, run_cases

PAGE = "page"  # of explorers, which need a browser

CASES_PER_SEED = 10_000_000


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("case", nargs="*", help="AREA and SEED of one case to repeat")
    parser.add_argument("--seconds", type=float, default=60, help="time of the run [default: 60]")
    parser.add_argument("--cases", type=int, help="cases per area, instead of a time")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run [default: 0]")
    parser.add_argument("--area", choices=[*AREAS, PAGE], help="one area [default: all]")
    options = parser.parse_args()
    if options.case:
        area, seed = options.case
        return _run(area, [int(seed)], report=_repeat)["failed"]
    areas = [options.area] if options.area else [*AREAS, *[PAGE] * bool(shutil.which("chromium"))]
    first, n_failed = options.seed * CASES_PER_SEED, 0
    for area in areas:
        seeds = range(first, first + options.cases) if options.cases else itertools.count(first)
        seconds = float("inf") if options.cases else options.seconds / len(areas)
        counts = _run(area, seeds, seconds=seconds, report=_report)
        print(f"{area:<12}{counts.total():>8,} cases  {dict(counts)}")
        n_failed += counts["failed"]
    return int(n_failed > 0)


def _run(area, seeds, **how):
    if area != PAGE:
        return run_cases(area, seeds, **how)
    from tests.fuzz.explorers import run_pages  # needs Selenium, and packages of the extra explore

    return run_pages(seeds, **how)


def _repeat(result) -> None:
    print(f"{result.details}\n{result.outcome}: {result.reason}")


def _report(result) -> None:
    if result.outcome == "failed":
        print(f"failed: {result.reason[:400]}\n    {result.command}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
