"""Very many points as an image of the part of a map that is in view."""

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.plots.raster import enlarge_isolated, opacity_of

MAX_POINTS = 100_000
"""Most points that the browser draws one by one while a whole map is shown."""
MAX_IN_VIEW = 20_000
"""Of more points, those in view are drawn one by one if they are at most so many."""
PIXELS = 600
"""Pixels along each side of the image; chosen."""


def rows_in_view(Y: NDArray[np.float32], corners: Array) -> NDArray[np.int64]:
    """Return the rows between two corners of a map: low and high, each x and y."""
    low, high = np.asarray(corners, np.float32)
    is_inside = np.greater_equal(Y, low) & np.less_equal(Y, high)
    return np.flatnonzero(is_inside.all(axis=1))


def draw_image(
    Y: NDArray[np.float32], colors: NDArray[np.uint32], corners: Array, is_faint: Array | None
) -> NDArray[np.uint32]:
    """Return an image (h, w), bottom row first, of the points between two corners of a map.

    A pixel has the mean color of its points, and its opacity grows with their number, as in
    `isosne.plots.plot_map`. Rows that are faint are drawn only where there are no others.
    """
    rows = rows_in_view(Y, corners)
    low, high = np.asarray(corners, np.float64)
    if not len(rows):
        return np.zeros((PIXELS, PIXELS), np.uint32)
    scaled = ((Y[rows] - low) / (high - low) * PIXELS).astype(np.int64)
    columns, lines = np.minimum(scaled, PIXELS - 1).T
    cells = lines * PIXELS + columns
    weights = np.ones(len(rows))
    channels = np.stack([(colors[rows] >> shift) & 255 for shift in (24, 16, 8)]).astype(float)
    if is_faint is not None:
        weights[is_faint[rows]] = 1e-3
    n_cells = PIXELS * PIXELS
    counts = np.bincount(cells, minlength=n_cells).astype(float)
    total = np.maximum(np.bincount(cells, weights, minlength=n_cells), 1e-12)
    means = [np.bincount(cells, weights * c, minlength=n_cells) / total / 255 for c in channels]
    opacity = opacity_of(counts.reshape(PIXELS, PIXELS))
    picture = np.dstack([*(mean.reshape(PIXELS, PIXELS) for mean in means), opacity])
    whole = np.rint(255 * enlarge_isolated(picture)).astype(np.uint8)
    return np.ascontiguousarray(whole).view(np.uint32).reshape(PIXELS, PIXELS)


def inside(Y: NDArray[np.float32], xs: Array, ys: Array) -> NDArray[np.int64]:
    """Return the rows inside a polygon that was drawn on a map."""
    from matplotlib.path import Path

    corners = np.column_stack([xs, ys])
    near = rows_in_view(Y, np.stack([corners.min(axis=0), corners.max(axis=0)]))
    found: NDArray[np.int64] = near[Path(corners).contains_points(Y[near])]
    return found
