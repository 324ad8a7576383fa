"""COIL20 in two and three dimensions: five objects and a picture that is near to all of them.

The paper names neither the five classes nor the picture. Here it is the picture whose fifth
nearest other class is nearest; those five classes are mapped with it.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances

from isosne._types import Array
from isosne.datasets import load
from isosne.plots import plot_maps, save_figure
from isosne.quality import auc_rnx, calinski_harabasz, davies_bouldin
from isosne.reproduction.outputs import table, write_page, write_values
from isosne.reproduction.settings import Settings, paper_tsne
from isosne.reproduction.sweeps import scale_points
from isosne.sweep import MAIN_PARAMETER, make_kernel

TITLE = "COIL20 in two dimensions, and five of its classes in three"
VALUES = {"gaussian": 29, "isolation": 288}
"""A usual perplexity, and a fifth of the points for psi; the paper prints neither."""
N_CLASSES = 5


class Selection(NamedTuple):
    """Points of five classes and a reference point, which comes first; with their classes."""

    rows: Array
    labels: Array


def reproduce(settings: Settings) -> None:
    """Write maps with both kernels, and how far the reference point is from its classes."""
    data = load("coil20", folder=settings.data)
    X = np.asarray(scale_points(data.X))
    chosen = select(X, data.y)
    flat = {kernel: _map(kernel, X, 2, settings) for kernel in VALUES}
    deep = {kernel: _map(kernel, X[chosen.rows], 3, settings) for kernel in VALUES}
    titles = {kernel: f"{kernel}, {MAIN_PARAMETER[kernel]}" for kernel in VALUES}
    axes = plot_maps({titles[k]: Y for k, Y in flat.items()}, color=data.y + 1)
    save_figure(axes, settings.out / "coil20-2d.png")
    named = np.array(["R", *map(str, chosen.labels[1:] + 1)])
    axes = plot_maps({titles[k]: Y for k, Y in deep.items()}, color=named, mark=[0])
    save_figure(axes, settings.out / "coil20-3d.png")
    rows = [_measure(k, X, data.y, flat[k], deep[k], chosen) for k in VALUES]
    cells = [[row["kernel"], *(f"{v:.3g}" for v in list(row.values())[1:])] for row in rows]
    classes = ", ".join(map(str, np.unique(chosen.labels[1:]) + 1))
    parts = [
        (
            f"Perplexity {VALUES['gaussian']}, psi {VALUES['isolation']} in two dimensions, and "
            "the same share of the points for psi in three. The classes "
            f"{classes} and the point R, number {chosen.rows[0]} of the set: the one whose fifth "
            "nearest other class is nearest; the paper does not say how it chose. Distances of R "
            "from the nearest and the farthest of the five classes are in widths of the map."
        ),
        table(list(rows[0]), cells),
        "![two dimensions](coil20-2d.png)\n![three dimensions](coil20-3d.png)",
    ]
    write_page(settings, "coil20", TITLE, parts)
    write_values(settings, "coil20", rows)


def select(X: Array, y: Array) -> Selection:
    """Return the point nearest to five classes other than its own, and those classes."""
    distances = pairwise_distances(X)
    to_class = np.column_stack([distances[:, y == c].min(axis=1) for c in range(y.max() + 1)])
    to_class[np.arange(len(y)), y] = np.inf
    fifth = np.sort(to_class, axis=1)[:, N_CLASSES - 1]
    reference = int(fifth.argmin())
    classes = np.argsort(to_class[reference], kind="stable")[:N_CLASSES]
    rows = np.concatenate([[reference], np.flatnonzero(np.isin(y, classes))])
    return Selection(rows, y[rows])


def _map(kernel: str, X: Array, n_components: int, settings: Settings) -> Array:
    value = VALUES[kernel]
    if n_components == 3:  # fewer points: the same share of them for psi
        value = min(value, len(X) // 5)
    made = make_kernel(kernel, {MAIN_PARAMETER[kernel]: value})
    model = paper_tsne(kernel=made, n_components=n_components, n_jobs=settings.n_jobs)
    settings.say(f"coil20: {kernel}, {n_components} dimensions")
    Y: Array = model.fit_transform(X)
    return Y


def _measure(
    kernel: str, X: Array, y: Array, flat: Array, deep: Array, chosen: Selection
) -> dict[str, Any]:
    gaps = [
        np.linalg.norm(deep[1:][chosen.labels[1:] == c] - deep[0], axis=1).min()
        for c in np.unique(chosen.labels[1:])
    ]
    width = np.ptp(deep, axis=0).max()
    return {
        "kernel": kernel,
        "AUC_RNX 2-D": float(auc_rnx(X, flat)),
        "DB 2-D": davies_bouldin(flat, y),
        "CH 2-D": calinski_harabasz(flat, y),
        "AUC_RNX 3-D": float(auc_rnx(X[chosen.rows], deep)),
        "R to nearest class": float(min(gaps) / width),
        "R to farthest class": float(max(gaps) / width),
    }
