"""Run the methods one after the other; write what came out as a table, figures and pictures."""

import datetime
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import RESULTS, commit, machine, table, versions
from benchmarks.map_quality import measure
from benchmarks.peers.child import FIRST_ROWS, ChildError, fit_in_child
from benchmarks.peers.methods import METHODS
from benchmarks.peers.pictures import draw_maps
from benchmarks.peers.points import LabeledPoints, draw_points
from isosne.errors import DataError, ParameterError

Row = dict[str, Any]
BESIDE = {"x openTSNE": "openTSNE", "x umap-learn": "umap-learn"}
"""Columns of ratios of warm seconds, and the method that each is a ratio to."""
PACKAGES = [
    *dict.fromkeys(method.package for method in METHODS.values()),
    *("numpy", "scipy", "numba", "pynndescent"),
]


def compare(dataset: str, n: int | None, methods: list[str] | None, threads: int) -> str:
    """Return the table of a set; the results folder gets figures, maps and a picture."""
    unknown = sorted(set(methods or []) - set(METHODS))
    if unknown:
        return f"No method {', '.join(unknown)}: choose from {', '.join(METHODS)}."
    try:
        points = draw_points(dataset, n)
    except (DataError, ParameterError) as error:
        return f"### Peers\n\nNo comparison on {dataset}. {error}"
    path = RESULTS / f"{points.label}-{datetime.date.today()}.json"
    rows = [run_method(key, points, threads) for key in methods or usual(len(points.X))]
    kept = earlier_rows(path, rows, threads)
    rows = sorted(rows + kept, key=lambda row: list(METHODS).index(row["key"]))
    figures = {
        "set": points.label,
        "source": points.source,
        "n_points": len(points.X),
        "n_columns": points.X.shape[1],
        "machine": machine(),
        "versions": versions(PACKAGES),
        "rows": rows,
    }
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n")
    pictured = [(row, load_map(points.label, row["key"])) for row in rows if "failed" not in row]
    if pictured:
        draw_maps(pictured, points.classes, points.label, path.with_suffix(".png"))
    return describe(points, rows, threads, kept)


def usual(n: int) -> list[str]:
    """Return the methods that are run on n points if none are named."""
    return [key for key, method in METHODS.items() if n <= method.most_rows]


def run_method(key: str, points: LabeledPoints, threads: int) -> Row:
    """Return the figures of one method, or why there are none; save its map."""
    method = METHODS[key]
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    row: Row = {
        "key": key,
        "method": method.name,
        "version": versions([method.package])[method.package],
        "threads": threads,
        "time": now,
        "commit": commit(),
    }
    print(f"{method.name} on {points.label} ...", file=sys.stderr, flush=True)
    try:
        took, Y = fit_in_child(key, points.X, threads)
        row |= took
        save_map(points, key, Y)
        row |= measure(points.X, Y, points.classes)
    except (ChildError, DataError) as error:
        row["failed"] = str(error)
    return row


def earlier_rows(path: Path, rows: list[Row], threads: int) -> list[Row]:
    """Return rows of the same day, set and thread count whose methods were not run now."""
    if not path.exists():
        return []
    before = json.loads(path.read_text())["rows"]
    now = {row["key"] for row in rows}
    return [row for row in before if row["key"] not in now and row["threads"] == threads]


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


def describe(points: LabeledPoints, rows: list[Row], threads: int, kept: list[Row]) -> str:
    """Return the figures in words and a table."""
    header = ["method", "version", "cold s", "warm s", *BESIDE, "peak MB"]
    header += ["AUC_RNX", "CH", "DB", "10-NN accuracy"]
    warm = {row["method"]: row["warm_seconds"] for row in rows if "failed" not in row}
    cells = [line(row, warm, len(header)) for row in rows]
    n, d = points.X.shape
    notes = [
        f"{points.source}, {n} x {d}; {threads} threads, each method in a process of its own.",
        f"Cold: import, compilation and a first map, of {min(n, FIRST_ROWS)} points, in a new",
        "process with an empty Numba cache. Warm: all points, all compiled; ratios are warm.",
        "umap-learn and PaCMAP run unseeded: a seed holds all or part of them to one thread.",
        "openTSNE imports pynndescent where it is installed, which compiles at its import.",
    ]
    if kept:
        notes.append(f"From an earlier run today: {', '.join(row['method'] for row in kept)}.")
    return f"### Peers: {points.label}\n\n" + "\n".join(notes) + f"\n\n{table(header, cells)}"


def line(row: Row, warm: dict[str, float], n_cells: int) -> list[Any]:
    """Return the cells of a row."""
    if "failed" in row:
        cells = [row["method"], row["version"], row["failed"].replace("|", "/")]
        return cells + [""] * (n_cells - len(cells))
    seconds = row["warm_seconds"]
    ratios = [seconds / warm[other] if other in warm else "" for other in BESIDE.values()]
    return [
        *(row["method"], row["version"], row["cold_seconds"], seconds, *ratios),
        *(f"{row['peak_mb']:.0f}", f"{row['auc_rnx']:.3f}", f"{row['calinski_harabasz']:.0f}"),
        *(f"{row['davies_bouldin']:.3f}", f"{row['knn_accuracy']:.4f}"),
    ]
