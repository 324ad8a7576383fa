"""Points and marks on axes: size and opacity depend on the number of points.

Up to `MAX_SCATTER` points are drawn one by one; more are rasterized (`raster`).
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from isosne._types import Array
from isosne.plots.figures import SCREEN, Style
from isosne.plots.paint import Paint, Values, point_colors
from isosne.plots.raster import COVERAGE, Canvas, auto_alpha, drawing_order, rasterize

MAX_SCATTER = 100_000  # most points that are drawn one by one; chosen, not measured
MAX_VECTORS = 5_000  # above this number points are too many for vector graphics; chosen
PIXELS = 700  # along the longer side of a raster: 5.6 inches at 125 dpi; chosen by eye
MIN_AREA, MAX_AREA = 0.4, 36.0  # of a point in square points; chosen by eye


def auto_size(ax: Axes, n: int) -> float:
    """Return the area of a marker, in square points, for n points on these axes."""
    box = ax.get_window_extent()
    inches = box.width * box.height / ax.get_figure(root=True).dpi ** 2  # type: ignore[union-attr]
    area = inches * 72**2
    return float(np.clip(COVERAGE * area / n, MIN_AREA, min(MAX_AREA, area / 4000)))


def draw_points(
    ax: Axes, Y: Array, paint: Paint, point_size: float | str, style: Style = SCREEN
) -> None:
    """Draw a map (n, 2) or (n, 3); axis limits and aspect stay as they are."""
    n, n_dims = Y.shape
    if n > MAX_SCATTER and n_dims == 2 and point_size == "auto":
        _draw_raster(ax, Y, paint, style)
        return
    order = drawing_order(paint, n)
    look: dict[str, Any] = {
        "c": point_colors(paint, order, style.plain, style.faint),
        "s": auto_size(ax, n) if point_size == "auto" else float(point_size),
        "alpha": auto_alpha(n),
        "linewidths": 0,
        "rasterized": n > MAX_VECTORS,
    }
    if n_dims == 3:
        look["depthshade"] = not isinstance(paint, Values)  # shading would change the value
    ax.scatter(*Y[order].T, **look)


def _draw_raster(ax: Axes, Y: Array, paint: Paint, style: Style) -> None:
    """Draw a map as an image with square pixels that fills the axis limits, at this zoom."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    is_free = ax.get_aspect() == "auto"
    sides = ax.get_window_extent().size if is_free else (right - left, top - bottom)
    width, height = np.ceil(PIXELS * np.array(sides) / max(sides)).astype(int).tolist()
    canvas = Canvas((left, bottom), (right, top), height, width)
    look: dict[str, Any] = {"aspect": ax.get_aspect(), "interpolation": "nearest"}
    picture = rasterize(Y, paint, canvas, style.plain, style.faint)
    ax.imshow(picture, extent=(left, right, bottom, top), origin="lower", **look)


def draw_marks(ax: Axes, Y: Array, marked: Array, style: Style = SCREEN) -> None:
    """Draw a cross with an outline, black and white for a light style, over the marked points."""
    halo = [withStroke(linewidth=4.5, foreground=style.background)]
    look: dict[str, Any] = {"marker": "x", "s": 90, "c": style.ink, "linewidths": 2.2, "zorder": 5}
    if len(marked):
        ax.scatter(*Y[marked].T, path_effects=halo, **look)
