"""Rasterization of very many points with datashader.

A pixel has the mean color of its points, and its opacity grows with their number, as if the points
had been drawn on top of each other. The image has a fixed resolution; it is not recomputed when a
window is zoomed.
"""

import logging
from importlib.util import find_spec
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, uniform_filter

from isosne._types import Array
from isosne.plots.figures import make_color_scale
from isosne.plots.paint import Classes, Values

logger = logging.getLogger("isosne")
PIXELS = 700
"""Pixels along the longer side of the axes: 5.6 inches at 125 dpi; chosen by eye."""
MIN_OPACITY = 0.55
"""Opacity of a pixel with one point; chosen by eye."""
FULL_QUANTILE = 0.98
"""Quantile of the points per pixel that is drawn fully opaque, so that few dense pixels do not
make all others faint; chosen by eye."""
MAX_ISOLATED, WINDOW = 12, 21
"""A pixel is isolated if at most 12 pixels of the 21 x 21 window around it are filled; by eye."""
MARKER_RADIUS = 1.5
"""Just more than sqrt(2), the distance from the middle of a 3 x 3 marker to its corners."""


def has_datashader() -> bool:
    """Return whether datashader is installed; log a message if not."""
    found = find_spec("datashader") is not None
    if not found:
        logger.info("datashader is not installed; drawing points one by one, which is slower")
    return found


def shade(ax: Axes, Y: Array, paint: Classes | Values | str) -> Artist:
    """Draw a map (n, 2) as an image that fills the axis limits."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    counts, colors = _count_points(Y, paint, _make_canvas(ax))
    picture = enlarge_isolated(np.dstack([np.clip(colors, 0, 1), opacity_of(counts)]))
    return ax.imshow(
        picture,
        extent=(left, right, bottom, top),
        origin="lower",
        aspect=ax.get_aspect(),
        interpolation="nearest",
    )


def enlarge_isolated(picture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an image (h, w, 4) whose isolated pixels are 3 x 3 markers, so that they are visible.

    A marker has the color and opacity of its pixel, and covers only empty pixels.
    """
    filled = picture[..., 3] > 0
    density = uniform_filter(filled.astype(np.float64), WINDOW, mode="constant")
    isolated = filled & (density * WINDOW**2 < MAX_ISOLATED + 0.5)
    if not isolated.any():
        return picture
    distance, nearest = distance_transform_edt(~isolated, return_indices=True)
    is_marker = ~filled & (distance < MARKER_RADIUS)
    return np.where(is_marker[..., None], picture[tuple(nearest)], picture)


def _make_canvas(ax: Axes) -> Any:
    """Return a canvas with square pixels."""
    import datashader as ds

    x_range, y_range = ax.get_xlim(), ax.get_ylim()
    if ax.get_aspect() == "auto":
        sides = np.array(ax.get_window_extent().size)
    else:
        sides = np.array([x_range[1] - x_range[0], y_range[1] - y_range[0]])
    width, height = np.ceil(PIXELS * sides / sides.max()).astype(int).tolist()
    return ds.Canvas(width, height, x_range, y_range)


def _count_points(
    Y: Array, paint: Classes | Values | str, canvas: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of points (h, w) in each pixel and their mean color (h, w, 3)."""
    import datashader as ds
    import pandas as pd

    frame = pd.DataFrame({"x": Y[:, 0], "y": Y[:, 1]})

    def aggregate(reduction: Any) -> NDArray[np.float64]:
        return np.asarray(canvas.points(frame, "x", "y", reduction).values, np.float64)

    if isinstance(paint, Classes):
        numbers = range(len(paint.names))
        frame["class"] = pd.Categorical.from_codes(paint.of_point, categories=list(numbers))
        by_class = aggregate(ds.count_cat("class"))
        if paint.has_rest:  # unlabeled points show only where there are no labeled ones
            by_class[..., -1] *= ~by_class[..., :-1].any(axis=2)
        counts = by_class.sum(axis=2)
        palette = np.array([to_rgb(color) for color in paint.colors])
        return counts, by_class @ palette / np.maximum(counts, 1)[..., None]
    counts = aggregate(ds.count())
    if isinstance(paint, Values):
        frame["value"] = paint.numbers
        mean = np.nan_to_num(aggregate(ds.mean("value")))
        return counts, np.asarray(make_color_scale(paint).to_rgba(mean))[..., :3]
    return counts, np.broadcast_to(to_rgb(paint), (*counts.shape, 3))


def full_count(counts: Array) -> float:
    """Return the number of points from which a pixel is fully opaque, of all filled pixels."""
    return max(float(np.quantile(counts, FULL_QUANTILE)), 2.0)


def opacity_of(counts: NDArray[np.float64], full: float | None = None) -> NDArray[np.float64]:
    """Return the opacity of each pixel, which grows with the logarithm of its number of points."""
    filled = counts > 0
    full = full_count(counts[filled]) if full is None else full
    share = np.minimum(np.log(np.maximum(counts, 1)) / np.log(full), 1.0)
    return np.where(filled, MIN_OPACITY + (1 - MIN_OPACITY) * share, 0.0)
