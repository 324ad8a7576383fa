"""Maps as pictures: the classes' share of each pixel is its color, the points in it its depth."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

# Ten colors that stay apart with the common kinds of color blindness (Petroff, arXiv 2107.02270),
# in an order that gives unlike colors to digits which lie side by side: 3, 5, 8 and 4, 7, 9.
PALETTE = (
    *("#717581", "#a96b59", "#92dadd", "#bd1f01", "#3f90da"),
    *("#ffa90e", "#94a4a2", "#e76300", "#832db6", "#b9ac70"),
)
FAINTEST = 0.3
"""Depth of a pixel with fewer points than any other."""
IN_VIEW = 0.9995
"""Share of the points, along each axis, that a picture has to show."""


def paint(Y: np.ndarray, classes: np.ndarray, side: int) -> np.ndarray:
    """Return the map as an image (side, side, 3) on white; both axes have the same scale.

    Depth goes by rank of the count, as many points are in few pixels: dense and thin parts are
    both seen.
    """
    low, high = np.quantile(Y, [1 - IN_VIEW, IN_VIEW], axis=0)
    middle, width = (low + high) / 2, 1.08 * float((high - low).max())
    edges = [np.linspace(c - width / 2, c + width / 2, side + 1) for c in middle]
    colors = np.array([matplotlib.colors.to_rgb(name) for name in PALETTE])
    _, of_point = np.unique(classes, return_inverse=True)
    total, image = np.zeros((side, side)), np.zeros((side, side, 3))
    for c, color in enumerate(colors):
        chosen = Y[of_point % len(colors) == c]
        counts, *_ = np.histogram2d(chosen[:, 1], chosen[:, 0], bins=edges[::-1])
        total += counts
        image += counts[:, :, None] * color
    filled = total > 0
    _, level, sizes = np.unique(total[filled], return_inverse=True, return_counts=True)
    rank = sizes.cumsum() / filled.sum()
    depth = (FAINTEST + (1 - FAINTEST) * rank)[level][:, None]
    picture = np.ones((side, side, 3))
    picture[filled] = 1 - depth + depth * image[filled] / total[filled][:, None]
    return picture


def pixels(n: int) -> int:
    """Return the side of an image for n points: few points need large pixels."""
    return int(np.clip(2 * n**0.5, 120, 1400))


def draw_maps(
    maps: list[tuple[dict[str, Any], np.ndarray]], classes: np.ndarray, title: str, path: Path
) -> None:
    """Draw maps of the first seed side by side, each with its figures above it."""
    n_across = min(3, len(maps))
    n_down = -(-len(maps) // n_across)
    size = (4.2 * n_across, 4.7 * n_down + 0.9)
    figure, axes = plt.subplots(n_down, n_across, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, (row, Y) in zip(axes.flat, maps, strict=False):
        show(axis, Y, classes)
        drawn = row["quality"][0]
        measures = (
            f"{row['warm_seconds']:.3g} s, AUC {drawn['auc_rnx']:.3f}, "
            f"DB {drawn['davies_bouldin']:.2f}, 10-NN {drawn['knn_accuracy']:.3f}"
        )
        axis.set_title(f"{row['method']}\n{measures}", fontsize=10)
    figure.suptitle(f"{title}: {len(classes):,} points".replace(",", " "), fontsize=12)
    add_legend(figure, classes)
    figure.savefig(path, dpi=200)
    plt.close(figure)


def draw_map(Y: np.ndarray, classes: np.ndarray, title: str, path: Path) -> None:
    """Draw one large map."""
    figure, axis = plt.subplots(figsize=(8, 8.4), layout="constrained")
    axis.set_axis_off()
    show(axis, Y, classes)
    axis.set_title(title, fontsize=11)
    add_legend(figure, classes)
    figure.savefig(path, dpi=200)
    plt.close(figure)


def show(axis: Any, Y: np.ndarray, classes: np.ndarray) -> None:
    """Show the image of a map."""
    image = paint(Y, classes, pixels(len(Y)))
    axis.imshow(image, origin="lower", interpolation="antialiased")


def add_legend(figure: Any, classes: np.ndarray) -> None:
    """Name the colors, unless several classes share one."""
    names = np.unique(classes)
    if len(names) > len(PALETTE):
        return
    points = [
        plt.Line2D([], [], marker="o", linestyle="", color=color, label=str(name))
        for name, color in zip(names, PALETTE, strict=False)
    ]
    figure.legend(handles=points, loc="outside lower center", ncols=len(names), frameon=False)
