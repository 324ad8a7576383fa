"""Run the methods one after the other, size by size; keep the figures, maps and pictures.

Figures are written after each method and size. A run that is started again on the same day and
commit skips what is measured; with uncommitted changes, everything is measured again.
"""

import datetime
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import RESULTS, commit, machine, versions
from benchmarks.map_quality import measure
from benchmarks.peers.child import ChildError, fit_in_child
from benchmarks.peers.growth import draw_growth
from benchmarks.peers.methods import METHODS
from benchmarks.peers.pictures import draw_maps
from benchmarks.peers.points import LabeledPoints, draw_points
from benchmarks.peers.summary import describe
from isosne.errors import DataError, ParameterError

Row = dict[str, Any]
PACKAGES = [
    *dict.fromkeys(method.package for method in METHODS.values()),
    *("numpy", "scipy", "numba", "pynndescent"),
]


class Plan(NamedTuple):
    """What is measured, apart from the methods."""

    dataset: str
    sizes: list[int] | list[None]
    """Numbers of points; None: all points of the set."""
    seeds: int
    threads: int


def compare(plan: Plan, methods: list[str] | None) -> str:
    """Return the table of a set; the results folder gets figures, maps and pictures."""
    unknown = sorted(set(methods or []) - set(METHODS))
    if unknown:
        return f"No method {', '.join(unknown)}: choose from {', '.join(METHODS)}."
    keys = methods or [key for key, method in METHODS.items() if method.usual]
    path = RESULTS / f"peers-{plan.dataset}-{datetime.date.today()}.json"
    try:
        for n in plan.sizes:
            points = draw_points(plan.dataset, n)
            for key in keys:
                measure_once(key, points, plan, path)
    except (DataError, ParameterError) as error:
        return f"### Peers\n\nNo comparison on {plan.dataset}. {error}"
    rows = [row for row in read_rows(path) if is_of_plan(row, plan)]
    draw_growth(rows, points.source, path.with_suffix(".png"))
    draw_side_by_side(rows, points, path)
    return describe(rows, points.source, points.X.shape[1])


def measure_once(key: str, points: LabeledPoints, plan: Plan, path: Path) -> None:
    """Add the figures of a method and size to the file, unless this commit's are there."""
    now = commit()
    rows = read_rows(path)
    same = [row for row in rows if is_of_plan(row, plan) and is_about(row, key, points)]
    if any(row["commit"] == now and "failed" not in row for row in same) and "+" not in now:
        return
    print(f"{METHODS[key].name} on {points.label} ...", file=sys.stderr, flush=True)
    rows = [row for row in rows if row not in same]
    write_rows(path, [*rows, run_method(key, points, plan)])


def is_of_plan(row: Row, plan: Plan) -> bool:
    """Return whether a row was measured with the plan's threads and seeds."""
    return (row["threads"], row["n_seeds"]) == (plan.threads, plan.seeds)


def is_about(row: Row, key: str, points: LabeledPoints) -> bool:
    """Return whether a row is about this method and number of points."""
    return (row["key"], row["n_points"]) == (key, len(points.X))


def run_method(key: str, points: LabeledPoints, plan: Plan) -> Row:
    """Return the figures of one method, or why there are none; save the map of its first seed."""
    method = METHODS[key]
    row: Row = {
        "key": key,
        "method": method.name,
        "version": versions([method.package])[method.package],
        "n_points": len(points.X),
        "threads": plan.threads,
        "n_seeds": plan.seeds,
        "time": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit(),
    }
    try:
        took, maps = fit_in_child(key, points.X, plan.threads, plan.seeds)
        row |= took
        save_map(points, key, maps[0])
        row["quality"] = [measure(points.X, Y, points.classes) for Y in maps]
    except (ChildError, DataError) as error:
        row["failed"] = str(error)
    return row


def read_rows(path: Path) -> list[Row]:
    """Return the rows that were measured before."""
    return json.loads(path.read_text())["rows"] if path.exists() else []


def write_rows(path: Path, rows: list[Row]) -> None:
    """Replace the file: rows by size and method, and what they depend on."""
    order = list(METHODS)
    rows = sorted(rows, key=lambda row: (row["n_points"], order.index(row["key"])))
    figures = {"machine": machine(), "versions": versions(PACKAGES), "rows": rows}
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(figures, indent=1) + "\n")
    part.replace(path)


def draw_side_by_side(rows: list[Row], points: LabeledPoints, path: Path) -> None:
    """Draw the maps of these points, one for each method."""
    n = len(points.X)
    drawn = [row for row in rows if row["n_points"] == n and "failed" not in row]
    maps = [(row, load_map(points.label, row["key"])) for row in drawn]
    if maps:
        draw_maps(maps, points.classes, points.source, path.with_name(f"{path.stem}-maps-{n}.png"))


def map_path(label: str, key: str) -> Path:
    """Return where a method's latest map of a set is kept."""
    return RESULTS / "maps" / label / f"{key}.npz"


def save_map(points: LabeledPoints, key: str, Y: np.ndarray) -> None:
    """Keep a map, the classes of its points, and which rows of the set they are."""
    path = map_path(points.label, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, Y=Y, classes=points.classes, rows=points.rows)


def load_map(label: str, key: str) -> np.ndarray:
    """Return the latest map."""
    with np.load(map_path(label, key)) as file:
        return file["Y"]
