"""Maps guided by labels: accuracy with known, permuted and held-out labels, and what they cost."""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import minmax_scale

from benchmarks.harness import table
from benchmarks.paper.data import load
from isosne import TSNE, OwnerKernel
from isosne.quality import compare
from isosne.structure import label_test

SETS = ("wine", "dermatology", "parkinson", "digits", "segment", "spam", "usps")
WEIGHTS = (0.1, 0.3, 0.5)
SEEDS = 3
MOST_POINTS = 3000


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return at most MOST_POINTS points, with columns from 0 to 1, and their classes."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        found = load(name)
        X, y = np.asarray(found.X, np.float64), found.y
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_POINTS])
    return minmax_scale(X[kept]), np.asarray(y)[kept]


def row(name: str, weight: float, seeds: range) -> list[object]:
    """Return the means over the seeds for a data set and a weight."""
    X, y = read(name)
    scores, quality, seconds = [], [], []
    for seed in seeds:
        models = [TSNE(OwnerKernel(label_weight=w), random_state=seed) for w in (0, weight)]
        times = []
        for model in models:
            start = time.process_time()
            model.fit(X, y)
            times.append(time.process_time() - start)
        seconds.append(times[1] / times[0])
        quality.append([compare(X, model.embedding_).auc() for model in models])
        scores.append(label_test(models[1], X, y, random_state=seed))
    fitted, permuted, held_out, unguided = np.mean(scores, axis=0)
    error = np.std([s.held_out - s.unguided for s in scores], ddof=1) / np.sqrt(len(scores))
    free, guided = np.mean(quality, axis=0)
    shown = (fitted, permuted, unguided, held_out, held_out - unguided, error, free, guided)
    return [name, len(X), weight, *(f"{v:.3f}" for v in shown), f"{np.mean(seconds):.2f}"]


def run(quick: bool) -> str:
    """Return the table."""
    names, weights = (SETS[:2], (0.3,)) if quick else (SETS, WEIGHTS)
    rows = [row(name, weight, range(2 if quick else SEEDS)) for name in names for weight in weights]
    header = ["data", "n", "weight", "labels known", "permuted", "no labels", "held out", "gain",
              "standard error", "AUC, no labels", "AUC", "CPU time"]  # fmt: skip
    return "\n\n".join(["### Labels", table(header, rows)])
