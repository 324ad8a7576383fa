"""Small images on a map, for data whose rows are images.

Not every image has room. They are taken in the order of density on the map: the densest point whose
image overlaps none before it is next. Every part of the map is therefore represented, and every
point without an image is within the width of one that has one.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.plots.figures import make_color_scale
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.styles import Style

SHARE = 0.05
"""Longer side of an image relative to the side of the axes; chosen by eye."""
SPACING = 1.12
"""Distance of two images relative to their size, so that their borders do not touch."""
N_COLORS = 3
"""Values of a pixel of a color image: red, green and blue."""


class Images(NamedTuple):
    """Images (n, h, w) or (n, h, w, 3), and the values that are drawn black and white."""

    pixels: Array
    low: float
    high: float

    def take(self, rows: Any) -> NDArray[np.uint8]:
        """Return some of the images with values from 0 to 255."""
        chosen = np.asarray(self.pixels[rows])
        if chosen.dtype == np.uint8:
            return chosen
        share = (chosen.astype(np.float64) - self.low) / ((self.high - self.low) or 1.0)
        return np.asarray(np.round(255 * share), np.uint8)


def check_images(images: Any, n: int) -> Images:
    """Return n images: numbers of shape (n, h, w), or (n, h, w, 3) for red, green and blue."""
    pixels = images if isinstance(images, np.ndarray) else np.asarray(images)
    is_color = pixels.ndim == 4 and pixels.shape[3] == N_COLORS
    if len(pixels) != n or not (pixels.ndim == 3 or is_color) or 0 in pixels.shape:
        raise DataError(
            f"{keyword('images')} must have the shape (n, height, width) or (n, height, width, 3), "
            f"with one image per point; got shape {pixels.shape} for {n} points. "
            "Reshape rows of pixels first, for example with X.reshape(-1, 28, 28)."
        )
    if pixels.dtype.kind not in "buif":
        raise DataError(
            f"{keyword('images')} must hold numbers; got dtype {pixels.dtype}. "
            "Pass the pixels, not the names of files."
        )
    low, high = float(pixels.min()), float(pixels.max())
    if not np.isfinite([low, high]).all():
        raise DataError(
            f"{keyword('images')} must be finite; got NaN or infinite pixels. "
            "Replace them, for example with np.nan_to_num."
        )
    return Images(pixels, low, high)


def draw_thumbnails(
    ax: Axes, positions: NDArray[np.float64], images: Images, paint: Paint, style: Style
) -> NDArray[np.float64]:
    """Draw as many images as have room, at their points, with a border in the color of the point.

    Return their low and high corners (k, 2, 2).
    """
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    height, width = images.pixels.shape[1:3]
    size = SHARE * np.diff(limits)[:, 0] * np.array([width, height]) / max(width, height)
    inside = ((positions - size / 2 > limits[:, 0]) & (positions + size / 2 < limits[:, 1])).all(1)
    rows = np.flatnonzero(inside)
    rows = rows[choose_apart(positions[rows], SPACING * size)]
    colors = _border_colors(paint, rows, style)
    for row, picture, color in zip(rows.tolist(), images.take(rows), colors, strict=True):
        left, bottom = positions[row] - size / 2
        extent = (left, left + size[0], bottom, bottom + size[1])
        ax.imshow(
            picture, cmap="gray", vmin=0, vmax=255, extent=extent, aspect=ax.get_aspect(), zorder=4
        )
        border = Rectangle((left, bottom), *size, fill=False, color=color, lw=1.0, zorder=4.5)
        ax.add_patch(border)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    return np.stack([positions[rows] - size / 2, positions[rows] + size / 2], axis=1)


def choose_apart(positions: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return points, densest first, at which boxes of this size (2,) do not overlap.

    O(n) time per chosen point.
    """
    low = positions.min(axis=0, initial=np.inf)
    cells = np.floor((positions - low) / (size / 2)).astype(np.int64)
    counts = np.zeros(cells.max(axis=0, initial=0) + 1)
    np.add.at(counts, tuple(cells.T), 1)
    density = gaussian_filter(counts, 1.0, mode="constant")[tuple(cells.T)]
    order = np.argsort(-density, kind="stable")
    chosen = []
    waiting = positions[order]
    while len(order):
        chosen.append(order[0])
        free = (np.abs(waiting - waiting[0]) >= size).any(axis=1)
        order, waiting = order[free], waiting[free]
    return np.array(chosen, np.int64)


def _border_colors(paint: Paint, rows: NDArray[np.int64], style: Style) -> list[Any]:
    if isinstance(paint, Classes):
        return [paint.colors[c] for c in paint.of_point[rows].tolist()]
    if isinstance(paint, Values):
        known = np.isfinite(paint.numbers[rows])
        rgb = np.asarray(make_color_scale(paint).to_rgba(np.nan_to_num(paint.numbers[rows])))
        rgb[~known, :3] = to_rgb(style.faint)
        return list(rgb)
    return [style.plain] * len(rows)
