"""Quality of maps by kernel and schedule, relative to the Gaussian kernel at perplexity 30.

Geometric means over the data sets of the folder ISOSNE_DATA with at most 5000 points, and the
figures of larger ones. Decisions 11 and 12 were made with it.
"""

import os
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz
from sklearn.decomposition import PCA
from sklearn.preprocessing import minmax_scale, normalize

from benchmarks.harness import table
from benchmarks.map_quality import MEASURES, measure
from isosne import TSNE, GaussianKernel

SMALL = (
    *("wine", "dermatology", "forest_type", "wdbc", "ilpd", "control", "pima", "parkinson"),
    *("biodeg", "mice", "messidor", "hill", "hill_nonoise", "coil20", "isolet", "rcv1_small"),
    *("segment", "news20_libsvm_test", "spam"),
)
LARGE = ("usps", "bendall20k", "mnist70k")
SEEDS = 5
MAPS: dict[str, dict[str, Any]] = {
    "Gaussian 30, standard": {"kernel": GaussianKernel(30), "schedule": "standard"},
    "Gaussian 30, annealed": {"kernel": GaussianKernel(30)},
    "isolation, standard": {"kernel": "isolation", "schedule": "standard"},
    "owner, standard": {"schedule": "standard"},
    "owner, annealed (default)": {},
}


def read(name: str) -> tuple[Any, np.ndarray] | None:
    """Return points and classes of a set; None if it is not there.

    Columns are scaled to [0, 1], rows of text to length 1; images become 50 principal components.
    """
    folder = Path(os.environ.get("ISOSNE_DATA", ""))
    if (folder / f"{name}.X.npz").exists():
        return normalize(csr_array(load_npz(folder / f"{name}.X.npz"))), np.load(
            folder / f"{name}.y.npy"
        )
    if not (folder / f"{name}.npz").exists():
        return None
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float32), file["y"]
    if len(X) > 5000 and X.shape[1] > 60:
        return PCA(50, random_state=0, svd_solver="randomized").fit_transform(X), y
    return minmax_scale(X), y


def measure_fit(X: Any, y: np.ndarray, parameters: dict[str, Any]) -> list[float]:
    """Return the measures of the map that t-SNE draws with these parameters."""
    return list(measure(X, TSNE(**parameters).fit_transform(X), y).values())


def ratios(found: np.ndarray) -> list[list[object]]:
    """Return a row per map; found (maps, sets, seeds, measures), the first map is the reference.

    Geometric means of ratios with standard errors over the seeds, and in brackets on how many sets
    the map is better. Accuracy is a difference of means.
    """
    rows = []
    for name, values in zip(MAPS, found, strict=True):
        row: list[object] = [name]
        for m, key in enumerate(MEASURES):
            ours, theirs = values[..., m], found[0, ..., m]
            if key == "knn_accuracy":
                row.append(f"{(ours - theirs).mean():+.4f}")
                continue
            logs = np.log(ours).mean(axis=1) - np.log(theirs).mean(axis=1)
            spread = np.log(ours).var(axis=1, ddof=1) + np.log(theirs).var(axis=1, ddof=1)
            error = np.sqrt((spread / ours.shape[1]).sum()) / len(logs)
            wins = (logs < 0).sum() if key == "davies_bouldin" else (logs > 0).sum()
            row.append(f"{np.exp(logs.mean()):.3f} ± {error:.3f} ({wins})")
        rows.append(row)
    return rows


def run(quick: bool) -> str:
    """Return the tables."""
    names, seeds = (SMALL[:4], 2) if quick else (SMALL, SEEDS)
    sets = [found for name in names if (found := read(name)) is not None]
    if not sets:
        return "### Kernels and schedules\n\nNo data sets: set ISOSNE_DATA to their folder."
    measured = np.array(
        [
            [
                [measure_fit(X, y, {**parameters, "random_state": seed}) for seed in range(seeds)]
                for X, y in sets
            ]
            for parameters in MAPS.values()
        ]
    )
    head = f"### Kernels and schedules, {len(sets)} sets, {seeds} seeds"
    parts = [f"{head}\n\n{table(['map', *MEASURES.values()], ratios(measured))}"]
    for name in () if quick else LARGE:
        found = read(name)
        if found is None:
            continue
        X, y = found
        rows = []
        for title, parameters in MAPS.items():
            began = perf_counter()
            Y = TSNE(random_state=0, **parameters).fit_transform(X)
            rows.append([title, perf_counter() - began, *measure(X, Y, y).values()])
        shape = f"{X.shape[0]} x {X.shape[1]}" + (" sparse" if issparse(X) else "")
        parts.append(f"{name}, {shape}\n\n{table(['map', 's', *MEASURES.values()], rows)}")
    return "\n\n".join(parts)
