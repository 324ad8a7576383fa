"""The figures of a comparison in words and one table."""

from statistics import mean, stdev
from typing import Any

from benchmarks.harness import table
from benchmarks.map_quality import ALL_QUERIES, MEASURES, N_CLASSIFIED, N_RANKED
from benchmarks.peers.child import FIRST_ROWS
from benchmarks.peers.methods import METHODS

Row = dict[str, Any]
DECIMALS = {"knn_accuracy": 4, "calinski_harabasz": 0}
"""Decimals of a measure in the table, if not 3."""
HEADER = [
    *("n", "method", "cold s", "warm s", "x fastest peer", "x openTSNE", "peak MB"),
    *MEASURES.values(),
]


def describe(rows: list[Row], source: str, n_columns: int) -> str:
    """Return the table of rows that have threads and seeds in common, and what its columns are."""
    threads, n_seeds = rows[0]["threads"], rows[0]["n_seeds"]
    used = {row["method"]: row["version"] for row in rows}
    commits = list(dict.fromkeys(row["commit"] for row in rows))
    notes = [
        f"{source}, {n_columns} columns; {threads} threads, {n_seeds} seeds; each method and size",
        f"in a process of its own. Commit {', '.join(commits)}.",
        ", ".join(f"{name} {version}" for name, version in used.items()) + ".",
        f"Cold: import, compilation and a first map, of at most {FIRST_ROWS} points, with an empty",
        "Numba cache. Warm: median of the seeds, all compiled; ratios are of warm seconds.",
        "Quality: mean of the seeds ± its standard error. AUC is AUC_RNX.",
        f"Above {ALL_QUERIES} points, AUC and R_NX are estimated from {N_RANKED} points, 10-NN",
        f"accuracy from {N_CLASSIFIED}; the points are the same for all maps of a size.",
        "umap-learn and PaCMAP run unseeded: a seed holds all or part of them to one thread.",
        "scikit-learn-intelex starts from principal components and draws nothing at random.",
        "openTSNE imports pynndescent where it is installed, which compiles at its import.",
    ]
    cells = [line(row, rows) for row in rows]
    return "### Peers\n\n" + "\n".join(notes) + f"\n\n{table(HEADER, cells)}"


def line(row: Row, rows: list[Row]) -> list[Any]:
    """Return the cells of a row."""
    first = [f"{row['n_points']:,}", row["method"]]
    if "failed" in row:
        return [*first, row["failed"].replace("|", "/"), *[""] * (len(HEADER) - 3)]
    times = [row["cold_seconds"], row["warm_seconds"], *ratios(row, rows), f"{row['peak_mb']:.0f}"]
    return [*first, *times, *(quality(row["quality"], key) for key in MEASURES)]


def ratios(row: Row, rows: list[Row]) -> list[str]:
    """Return how long a row of isosne takes beside the fastest peer of that size, and openTSNE."""
    peers = {
        other["method"]: other["warm_seconds"]
        for other in rows
        if other["n_points"] == row["n_points"] and is_peer(other) and "failed" not in other
    }
    if is_peer(row) or not peers:
        return ["", ""]
    fastest = min(peers, key=lambda name: peers[name])
    compared = row["warm_seconds"] / peers[fastest]
    against = peers.get("openTSNE")
    beside = f"{row['warm_seconds'] / against:.2g}" if against else ""
    return [f"{compared:.2g} ({fastest})", beside]


def is_peer(row: Row) -> bool:
    """Return whether a row is about another package."""
    return METHODS[row["key"]].package != "isosne"


def quality(measured: list[dict[str, float]], key: str) -> str:
    """Return the mean of a measure over the seeds, with its standard error if there are several."""
    values = [one[key] for one in measured]
    decimals = DECIMALS.get(key, 3)
    text = f"{mean(values):.{decimals}f}"
    if len(values) == 1:
        return text
    return f"{text} ± {stdev(values) / len(values) ** 0.5:.{decimals}f}"
