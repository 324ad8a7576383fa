"""Scatter plots whose order, point size and opacity depend on the number of points.

Up to `MAX_SCATTER` points are drawn one by one; more are rasterized (`raster`).
"""

import math
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.markers import MarkerStyle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from isosne._types import Array
from isosne.plots.figures import make_color_scale
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import MAX_CIRCLE_CLASSES
from isosne.plots.raster import has_datashader, shade
from isosne.plots.styles import SCREEN, Style

MAX_SCATTER = 100_000
"""Most points that are drawn one by one; chosen, not measured."""
MAX_SHAPES = 5_000
"""Above this number points are too small for shapes and too many for vector graphics; chosen."""
COVERAGE = 0.3
"""Fraction of the axes that the points would cover if none overlapped; chosen by eye."""
MIN_AREA, MAX_AREA = 0.4, 36.0
"""Limits of the area of a point in square points; chosen by eye."""


def auto_size(ax: Axes, n: int) -> float:
    """Return the area of a marker, in square points, for n points on these axes."""
    box = ax.get_window_extent()
    inches = box.width * box.height / ax.get_figure(root=True).dpi ** 2  # type: ignore[union-attr]
    area = inches * 72**2
    return float(np.clip(COVERAGE * area / n, MIN_AREA, min(MAX_AREA, area / 4000)))


def auto_alpha(n: int) -> float:
    """Return the opacity of n points: 0.9 up to about 100 points, 0.55 for 100 000; by eye."""
    return float(np.clip(1.15 - 0.12 * math.log10(n), 0.5, 0.9))


def uses_shapes(paint: Paint, n: int, n_dims: int) -> bool:
    """Return whether classes also differ in shape: many classes, few points, at most 2-D."""
    has_many = isinstance(paint, Classes) and paint.n_classes > MAX_CIRCLE_CLASSES
    return has_many and n <= MAX_SHAPES and n_dims < 3


def draw_points(
    ax: Axes, Y: Array, paint: Paint, point_size: float | str, style: Style = SCREEN
) -> list[Artist]:
    """Draw a map (n, 2) or (n, 3); axis limits and aspect stay as they are."""
    drawn: list[Artist] = []
    if isinstance(paint, Values) and np.isnan(paint.numbers).any():
        known = np.isfinite(paint.numbers)
        drawn = _draw_layer(ax, Y, style.faint, point_size)
        Y, paint = Y[known], paint.part(known)
    return drawn + _draw_layer(ax, Y, style.plain if paint is None else paint, point_size)


def _draw_layer(
    ax: Axes, Y: Array, paint: Classes | Values | str, point_size: float | str
) -> list[Artist]:
    n, n_dims = Y.shape
    if n > MAX_SCATTER and n_dims == 2 and point_size == "auto" and has_datashader():
        return [shade(ax, Y, paint)]
    order = drawing_order(paint, n)
    size = auto_size(ax, n) if point_size == "auto" else float(point_size)
    style: dict[str, Any] = {
        "c": _colors(paint, order),
        "s": size,
        "alpha": auto_alpha(n),
        "linewidths": 0,
        "rasterized": n > MAX_SHAPES,
    }
    if n_dims == 3:
        style["depthshade"] = not isinstance(paint, Values)  # shading would change the value
    points = ax.scatter(*Y[order].T, **style)
    if isinstance(paint, Classes) and uses_shapes(paint, n, n_dims):
        _give_shapes(points, paint, order)
    return [points]


def drawing_order(paint: Paint | str, n: int) -> NDArray[np.int64]:
    """Return a fixed random order, in which no class hides another; unlabeled points come first."""
    order = np.random.default_rng(0).permutation(n)
    if isinstance(paint, Classes) and paint.has_rest:
        order = order[np.argsort(~paint.is_rest[order], kind="stable")]
    return order


def _colors(paint: Classes | Values | str, order: Array) -> NDArray[np.float64]:
    if isinstance(paint, str):
        return np.array([to_rgb(paint)])
    if isinstance(paint, Classes):
        palette = np.array([to_rgb(color) for color in paint.colors])
        return np.asarray(palette[paint.of_point[order]])
    return np.asarray(make_color_scale(paint).to_rgba(paint.numbers[order]))


def _give_shapes(points: PathCollection, classes: Classes, order: Array) -> None:
    """Set the marker of each point by its class; a single collection keeps the drawing order."""
    styles = [MarkerStyle(shape) for shape in classes.shapes]
    paths = [style.get_path().transformed(style.get_transform()) for style in styles]
    points.set_paths([paths[c] for c in classes.of_point[order]])


def draw_marks(ax: Axes, Y: Array, marked: Array, style: Style = SCREEN) -> list[Artist]:
    """Draw a cross with an outline, black and white for a light style, over the marked points."""
    if len(marked) == 0:
        return []
    halo = [withStroke(linewidth=4.5, foreground=style.background)]
    look: dict[str, Any] = {"marker": "x", "s": 90, "c": style.ink, "linewidths": 2.2, "zorder": 5}
    return [ax.scatter(*Y[marked].T, path_effects=halo, **look)]
