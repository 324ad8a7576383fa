"""Sample weights: distinct rows with counts beside all rows, and landmarks with weights.

Columns are rounded to few values, so that rows repeat. Both maps are measured by the distinct rows:
R_NX of the map of counts, and of the means of the copies on the map of all rows.
"""

import time
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.preprocessing import minmax_scale

from benchmarks.harness import table
from benchmarks.paper.data import load
from isosne import TSNE
from isosne.quality import compare

SETS = {"pendig": 4, "segment": 16, "pima": 4}
"""Steps from 0 to 1 that the first columns are rounded to."""
N_COLUMNS = 8
SEEDS = 3
N_LANDMARKS, PLACED = 2000, ("pendig", "usps")


def read(name: str) -> np.ndarray:
    """Return the points of a data set, with columns from 0 to 1."""
    return minmax_scale(np.asarray(load(name).X, np.float64))


def counts_row(name: str, seeds: range) -> list[Any]:
    """Return AUC_RNX and R_NX(10) of maps of a table with repeated rows, and the CPU time."""
    X = np.rint(read(name)[:, :N_COLUMNS] * SETS[name]) / SETS[name]
    distinct, where, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    found = []
    for seed in seeds:
        maps, times = [], [time.process_time()]
        for rows, weights in ((X, None), (distinct, None), (distinct, counts)):
            maps.append(TSNE(random_state=seed).fit_transform(rows, sample_weight=weights))
            times.append(time.process_time())
        centers = np.zeros(maps[1].shape)
        np.add.at(centers, where.ravel(), maps[0])
        judged = [compare(distinct, Y) for Y in (centers / counts[:, None], *maps[1:])]
        whole, _, weighted = np.diff(times)
        measures = [*(c.auc() for c in judged), *(c.curve().r[9] for c in judged)]
        found.append([*measures, weighted / whole])
    shown = (f"{value:.3f}" for value in np.mean(found, axis=0))
    return [name, len(X), len(distinct), counts.max(), *shown]


def landmark_row(name: str, seeds: range) -> list[Any]:
    """Return AUC_RNX and R_NX(10) of all rows, placed on landmarks without and with weights."""
    X, found = read(name), []
    for seed in seeds:
        # Another seed than that of the queries, which would be the landmarks otherwise.
        chosen = np.random.default_rng(seed + 1).choice(len(X), N_LANDMARKS, replace=False)
        _, nearest = cKDTree(X[chosen]).query(X)
        counts = np.bincount(nearest, minlength=N_LANDMARKS)
        for weights in (None, counts * (N_LANDMARKS / len(X))):
            model = TSNE(random_state=seed).fit(X[chosen], sample_weight=weights)
            judged = compare(X, model.transform(X), n_queries=2000, random_state=0)
            found.append([judged.auc(), judged.curve().r[9]])
    plain, weighted = np.mean(found[::2], axis=0), np.mean(found[1::2], axis=0)
    return [name, len(X), *(f"{value:.3f}" for value in (*plain, *weighted))]


def run(quick: bool) -> str:
    """Return the tables."""
    seeds, last = range(1 if quick else SEEDS), 1 if quick else None
    counted = ["data", "rows", "distinct", "largest count", "AUC, all rows", "AUC, distinct",
               "AUC, weights", "R(10), all rows", "distinct", "weights", "CPU time"]  # fmt: skip
    placed = ["data", "rows", "AUC", "R(10)", "AUC, weights", "R(10), weights"]
    return "\n\n".join(
        [
            "### Distinct rows with counts",
            table(counted, [counts_row(name, seeds) for name in list(SETS)[:last]]),
            f"### {N_LANDMARKS:,} landmarks weighted by the rows nearest to them",
            table(placed, [landmark_row(name, seeds) for name in PLACED[:last]]),
        ]
    )
