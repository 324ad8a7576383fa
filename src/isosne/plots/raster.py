"""Where the points of a map are drawn, and images of very many points; needs no plotting package.

A pixel has the mean color of its points, and its opacity grows with the logarithm of their number,
as if the points had been drawn on top of each other. Images have their lowest row first. Time and
memory are O(n + pixels).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, uniform_filter
from scipy.optimize import isotonic_regression

from isosne._types import Array
from isosne.plots.paint import Classes, Paint
from isosne.plots.palette import FAINT, PLAIN, Floats, to_rgb

# Chosen by eye.
MARGIN = 0.04  # around a map, relative to its longest side
ASPECTS = (0.5, 1.2)  # lowest and highest height of a map relative to its width
LANE = 0.38  # half the width of a lane; lanes are one unit apart, so neighbors do not touch
DENSITY_BINS = 80  # of the histogram that gives the width of a single lane
COVERAGE = 0.3  # fraction of the axes that the points would cover if none overlapped
MIN_OPACITY = 0.55  # of a pixel with one point
FULL_QUANTILE = 0.98  # of the points per pixel: from it on opaque, whatever the densest pixels have
MAX_ISOLATED, WINDOW = 12, 21  # a pixel is isolated if at most 12 of 21 x 21 around it are filled
MARKER_RADIUS = 1.5  # just more than sqrt(2), from the middle of a 3 x 3 marker to its corners


def position_points(Y: Floats, paint: Paint) -> Floats:
    """Return the positions of the points: their coordinates, or in 1-D points spread over lanes.

    Each class has its own lane. Without classes there is one lane, wide where points are dense.
    """
    if Y.shape[1] > 1:
        return Y
    jitter = np.random.default_rng(0).uniform(-LANE, LANE, len(Y))
    if isinstance(paint, Classes):
        return np.column_stack([Y[:, 0], jitter - paint.of_point])
    counts, edges = np.histogram(Y[:, 0], DENSITY_BINS)
    width = np.interp(Y[:, 0], (edges[:-1] + edges[1:]) / 2, counts / counts.max())
    return np.column_stack([Y[:, 0], jitter * width])


def find_limits(positions: Array, *, margin: float = MARGIN) -> tuple[Array, Array]:
    """Return the lower and the upper corner of a map, with a margin relative to its side."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    margin *= max(float((high - low).max()), 1e-12)  # coinciding points need an extent
    return low - margin, high + margin


def own_aspect(corners: tuple[Array, Array]) -> float:
    """Return the height of a map relative to its width, within `ASPECTS`."""
    width, height = (corners[1] - corners[0]).tolist()
    return float(np.clip(height / width, *ASPECTS))


def frame_corners(corners: tuple[Array, Array], aspect: float | None = None) -> tuple[Array, Array]:
    """Return the corners of the smallest frame around a map that has an aspect; None: its own."""
    low, high = corners
    aspect = aspect or own_aspect(corners)
    width = max(float(high[0] - low[0]), float(high[1] - low[1]) / aspect)
    half = np.array([width, width * aspect]) / 2
    return (low + high) / 2 - half, (low + high) / 2 + half


def spread_apart(places: Sequence[float], gap: float, low: float) -> Array:
    """Return heights of labels, as near to places as gaps between them, and one above low, allow.

    Of equal places, the first gets the highest.
    """
    wanted, steps = np.asarray(places), gap * np.arange(len(places))
    order = np.lexsort((-steps, wanted))
    spread = np.empty(len(wanted))
    spread[order] = isotonic_regression(wanted[order] - steps).x + steps
    return np.asarray(spread + max(low + gap / 2 - spread.min(), 0.0))


def drawing_order(paint: Paint, n: int) -> NDArray[np.int64]:
    """Return a fixed random order, in which no class hides another; unknown points come first."""
    order = np.random.default_rng(0).permutation(n)
    if paint is None:
        return order
    is_known = ~paint.is_rest if isinstance(paint, Classes) else np.isfinite(paint.numbers)
    return order[np.argsort(is_known[order], kind="stable")]


def auto_alpha(n: int) -> float:
    """Return the opacity of n points: 0.9 up to about 100 points, 0.55 for 100,000; by eye."""
    return float(np.clip(1.15 - 0.12 * math.log10(n), 0.5, 0.9))


@dataclass(frozen=True)
class Canvas:
    """Pixels (height, width) between two corners of a map, each x and y."""

    low: Sequence[float] | Array
    high: Sequence[float] | Array
    height: int
    width: int

    def locate(self, Y: Array) -> NDArray[np.int64]:
        """Return the pixel of each point (n, 2), row by row from below; -1 outside the corners."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        share = (Y - low) / np.where(high > low, high - low, 1.0)
        inside = ((share >= 0) & (share <= 1)).all(axis=1)
        size = np.array([self.width, self.height])
        cells = np.minimum(np.where(inside[:, None], share, 0) * size, size - 1).astype(np.int64)
        return np.where(inside, cells[:, 1] * self.width + cells[:, 0], -1)

    def count(self, pixels: NDArray[np.int64], weights: Array | None = None) -> Floats:
        """Return the number of points in each pixel (h, w), or the sum of their weights."""
        inside = pixels >= 0
        if not inside.all():
            pixels, weights = pixels[inside], None if weights is None else weights[inside]
        sums = np.bincount(pixels, weights, self.height * self.width)
        return sums.astype(np.float64).reshape(self.height, self.width)


def rasterize(
    Y: Array, paint: Paint, canvas: Canvas, plain: str = PLAIN, faint: str = FAINT
) -> Floats:
    """Return an image (h, w, 4) of a map: its colors, ``plain`` without, ``faint`` if unknown."""
    pixels = canvas.locate(Y)
    if isinstance(paint, Classes):
        return _rasterize_classes(pixels, paint, canvas)
    counts = canvas.count(pixels)
    if paint is None:
        return shade(counts, to_rgb([plain])[0])
    known = np.isfinite(paint.numbers)
    n_known = canvas.count(pixels[known])
    means = canvas.count(pixels[known], paint.numbers[known]) / np.maximum(n_known, 1)
    colors = np.where(n_known[..., None] > 0, paint.colors_of(means), to_rgb([faint])[0])
    return shade(counts, colors)


def _rasterize_classes(pixels: NDArray[np.int64], classes: Classes, canvas: Canvas) -> Floats:
    """Return an image (h, w, 4); unlabeled points are drawn only in pixels without labeled ones."""
    weights, is_rest = np.ones(len(pixels)), classes.is_rest
    is_covered = canvas.count(pixels[~is_rest]) > 0
    weights[is_rest] = ~is_covered.flat[pixels[is_rest]]
    counts = canvas.count(pixels, weights)
    colors = to_rgb(classes.colors)[classes.of_point]
    channels = [canvas.count(pixels, weights * channel) for channel in colors.T]
    return shade(counts, np.dstack(channels) / np.maximum(counts, 1)[..., None])


def mix_classes(by_class: Array, classes: Classes) -> tuple[Floats, Floats]:
    """Return counts (h, w) and mean colors (h, w, 3) of the numbers of points (classes, h, w).

    Unlabeled points count only in pixels without labeled ones.
    """
    weights = np.asarray(by_class, np.float64).copy()
    if classes.has_rest:
        weights[-1] *= ~weights[:-1].any(axis=0)
    counts = weights.sum(axis=0)
    colors = np.tensordot(weights, to_rgb(classes.colors), axes=(0, 0))
    return counts, colors / np.maximum(counts, 1)[..., None]


def shade(counts: Floats, colors: Floats) -> Floats:
    """Return an image (h, w, 4) from numbers of points and their colors (h, w, 3), or one (3,)."""
    colors = np.broadcast_to(np.clip(colors, 0, 1), (*counts.shape, 3))
    return enlarge_isolated(np.dstack([colors, opacity_of(counts)]))


def opacity_of(counts: Floats) -> Floats:
    """Return the opacity of each pixel, which grows with the logarithm of its number of points."""
    filled = counts > 0
    full = max(float(np.quantile(counts[filled], FULL_QUANTILE)), 2.0) if filled.any() else 2.0
    share = np.minimum(np.log(np.maximum(counts, 1)) / np.log(full), 1.0)
    return np.where(filled, MIN_OPACITY + (1 - MIN_OPACITY) * share, 0.0)


def enlarge_isolated(picture: Floats) -> Floats:
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
