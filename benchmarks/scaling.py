"""isosne as n grows to a million: seconds, growth, and memory beyond the input."""

import datetime
import json
import math
import sys
from typing import Any

from benchmarks.harness import RESULTS, commit, machine, table, versions
from benchmarks.peers.child import ChildError, fit_in_child
from benchmarks.peers.comparison import save_map
from benchmarks.peers.pictures import draw_map
from benchmarks.peers.points import draw_points


def run(quick: bool, threads: int = 2) -> str:
    """Return the table; the largest map is saved and drawn."""
    sizes = [5000, 10_000, 20_000] if quick else [100_000, 300_000, 1_000_000]
    rows: list[dict[str, Any]] = []
    for n in sizes:
        points = draw_points("mixture", n)
        print(f"isosne on {points.label} ...", file=sys.stderr, flush=True)
        try:
            took, (Y,) = fit_in_child("isosne", points.X, threads)
        except ChildError as error:
            return f"### Growth with n\n\nNo map of {n} points: {error}"
        save_map(points, "isosne", Y)
        rows.append({"n_points": n, **took})
    seconds = rows[-1]["warm_seconds"]
    stem = f"scaling-{sizes[-1]}-{datetime.date.today()}"
    title = f"isosne, {points.source}: {len(Y)} points in {seconds:.0f} s"
    draw_map(Y, points.classes, title, RESULTS / f"{stem}.png")
    figures = {
        "machine": machine(),
        "versions": versions(["isosne", "numpy", "scipy", "numba"]),
        "commit": commit(),
        "threads": threads,
        "rows": rows,
    }
    (RESULTS / f"{stem}.json").write_text(json.dumps(figures, indent=1) + "\n")
    header = ["n", "s", "growth, n to the power", "peak MB", "bytes a point"]
    title = f"Growth with n: {points.source}, n x 50, {threads} threads, warm"
    return f"### {title}\n\n{table(header, cells(rows))}"


def cells(rows: list[dict[str, Any]]) -> list[list[Any]]:
    """Return the table's rows; growth is that from the size before."""
    lines: list[list[Any]] = []
    for i, row in enumerate(rows):
        n, seconds = row["n_points"], row["warm_seconds"]
        growth: Any = ""
        if i:
            before = rows[i - 1]
            growth = math.log(seconds / before["warm_seconds"]) / math.log(n / before["n_points"])
        size = row["peak_mb"] * 2**20 / n
        lines.append([n, f"{seconds:.1f}", growth, f"{row['peak_mb']:.0f}", f"{size:.0f}"])
    return lines
