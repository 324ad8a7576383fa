"""Points on axes: a scatter whose order, size and opacity follow from their number.

Up to `CROWD` points are drawn one by one; more are counted by pixel in `crowd`.
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
from isosne.plots.raster import has_datashader, shade
from isosne.plots.figures import scale_of
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import (
    FAINT,
    FEW_CLASSES,
    PLAIN,
)

CROWD = 100_000
"""Points above which pixels are shaded instead of points drawn."""
DOTS = 5_000
"""Points above which they are too small for shapes, and too many for lines in SVG and PDF."""
COVERED = 0.3
"""Share of the axes that the points would cover if none overlapped."""


def auto_size(ax: Axes, n: int) -> float:
    """Return the area of a marker, in square points, for n points on these axes."""
    box = ax.get_window_extent()
    inches = box.width * box.height / ax.get_figure(root=True).dpi ** 2  # type: ignore[union-attr]
    area = inches * 72**2
    return float(np.clip(COVERED * area / n, 0.4, min(36.0, area / 4000)))


def auto_alpha(n: int) -> float:
    """Return the opacity of n points: the more, the fainter."""
    return float(np.clip(1.15 - 0.12 * math.log10(n), 0.5, 0.9))


def uses_shapes(paint: Paint, n: int, n_dims: int) -> bool:
    """Say whether classes differ in shape too: many classes, few points, a flat map."""
    return isinstance(paint, Classes) and paint.n_classes > FEW_CLASSES and n <= DOTS and n_dims < 3


def draw_points(ax: Axes, Y: Array, paint: Paint, point_size: float | str) -> list[Artist]:
    """Draw a map (n, 2) or (n, 3) in its paint, limits and aspect left alone."""
    drawn: list[Artist] = []
    if isinstance(paint, Values) and np.isnan(paint.numbers).any():
        asked = np.isfinite(paint.numbers)
        drawn = _draw_layer(ax, Y, FAINT, point_size)
        Y, paint = Y[asked], paint.part(asked)
    return drawn + _draw_layer(ax, Y, PLAIN if paint is None else paint, point_size)


def _draw_layer(
    ax: Axes, Y: Array, paint: Classes | Values | str, point_size: float | str
) -> list[Artist]:
    n, n_dims = Y.shape
    if n > CROWD and n_dims == 2 and point_size == "auto" and has_datashader():
        return [shade(ax, Y, paint)]
    order = drawing_order(paint, n)
    size = auto_size(ax, n) if point_size == "auto" else float(point_size)
    style: dict[str, Any] = {
        "c": _colors(paint, order),
        "s": size,
        "alpha": auto_alpha(n),
        "linewidths": 0,
        "rasterized": n > DOTS,
    }
    if n_dims == 3:
        style["depthshade"] = not isinstance(paint, Values)  # a color that fades is another value
    points = ax.scatter(*Y[order].T, **style)
    if isinstance(paint, Classes) and uses_shapes(paint, n, n_dims):
        _give_shapes(points, paint, order)
    return [points]


def drawing_order(paint: Paint | str, n: int) -> NDArray[np.int64]:
    """Return n points in random order, so that no class hides another; first those without one."""
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
    return np.asarray(scale_of(paint).to_rgba(paint.numbers[order]))


def _give_shapes(points: PathCollection, classes: Classes, order: Array) -> None:
    """Give each point the shape of its class; one collection keeps the drawing order."""
    styles = [MarkerStyle(shape) for shape in classes.shapes]
    paths = [style.get_path().transformed(style.get_transform()) for style in styles]
    points.set_paths([paths[c] for c in classes.of_point[order]])


def draw_marks(ax: Axes, Y: Array, marked: Array) -> list[Artist]:
    """Draw a black cross with a white rim over each of some points."""
    if len(marked) == 0:
        return []
    halo = [withStroke(linewidth=4.5, foreground="white")]
    style: dict[str, Any] = {"marker": "x", "s": 90, "c": "black", "linewidths": 2.2, "zorder": 5}
    return [ax.scatter(*Y[marked].T, path_effects=halo, **style)]
