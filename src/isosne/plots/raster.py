"""More points than can be drawn one by one: counted by pixel with datashader.

A pixel takes the mean color of its points, and is the more opaque the more there are, as if the
points had been drawn over each other. The picture has a fixed number of pixels; it is not drawn
anew when a window is zoomed.
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
from isosne.plots.figures import scale_of
from isosne.plots.paint import Classes, Values

logger = logging.getLogger("isosne")
PIXELS = 700
"""Pixels along the longer side of the axes."""
FAINTEST = 0.55
"""Opacity of a pixel with one point."""
LONE, SURROUNDINGS = 12, 21
MARK = 1.5
"""Pixels from the middle of a mark to its corners, and a little more."""


def has_datashader() -> bool:
    """Say whether datashader is installed, and log it once asked if not."""
    found = find_spec("datashader") is not None
    if not found:
        logger.info("datashader is not installed; points are drawn one by one, which takes longer")
    return found


def shade(ax: Axes, Y: Array, paint: Classes | Values | str) -> Artist:
    """Draw a map (n, 2) as a picture that fills the limits of the axes."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    counts, colors = _count(Y, paint, _canvas(ax))
    picture = spread(np.dstack([np.clip(colors, 0, 1), _opacity(counts)]))
    return ax.imshow(
        picture,
        extent=(left, right, bottom, top),
        origin="lower",
        aspect=ax.get_aspect(),
        interpolation="nearest",
    )


def spread(picture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a picture (h, w, 4) whose lone pixels are marks of 3 by 3, so that they are seen.

    A pixel is lone with at most `LONE` filled ones in the square of `SURROUNDINGS` around it. Its
    mark has its color and opacity, and covers nothing but empty pixels.
    """
    filled = picture[..., 3] > 0
    around = uniform_filter(filled.astype(np.float64), SURROUNDINGS, mode="constant")
    lone = filled & (around * SURROUNDINGS**2 < LONE + 0.5)
    if not lone.any():
        return picture
    distance, nearest = distance_transform_edt(~lone, return_indices=True)
    is_mark = ~filled & (distance < MARK)
    return np.where(is_mark[..., None], picture[tuple(nearest)], picture)


def _canvas(ax: Axes) -> Any:
    """Return a canvas whose pixels are as wide as high on the axes."""
    import datashader as ds

    x_range, y_range = ax.get_xlim(), ax.get_ylim()
    if ax.get_aspect() == "auto":
        sides = np.array(ax.get_window_extent().size)
    else:
        sides = np.array([x_range[1] - x_range[0], y_range[1] - y_range[0]])
    width, height = np.ceil(PIXELS * sides / sides.max()).astype(int).tolist()
    return ds.Canvas(width, height, x_range, y_range)


def _count(
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
        if paint.has_rest:  # points without a label are seen where there are no others
            by_class[..., -1] *= ~by_class[..., :-1].any(axis=2)
        counts = by_class.sum(axis=2)
        palette = np.array([to_rgb(color) for color in paint.colors])
        return counts, by_class @ palette / np.maximum(counts, 1)[..., None]
    counts = aggregate(ds.count())
    if isinstance(paint, Values):
        frame["value"] = paint.numbers
        mean = np.nan_to_num(aggregate(ds.mean("value")))
        return counts, np.asarray(scale_of(paint).to_rgba(mean))[..., :3]
    return counts, np.broadcast_to(to_rgb(paint), (*counts.shape, 3))


def _opacity(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an opacity for each pixel that grows with the logarithm of its points."""
    filled = counts > 0
    full = max(float(np.quantile(counts[filled], 0.98)), 2.0)
    share = np.minimum(np.log(np.maximum(counts, 1)) / np.log(full), 1.0)
    return np.where(filled, FAINTEST + (1 - FAINTEST) * share, 0.0)
