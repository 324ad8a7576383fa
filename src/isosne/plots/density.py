"""Lines of equal density over a map.

The density is a histogram, smoothed with a Gaussian: O(n) time, and the grid in memory. A level is
the density that a given fraction of the points exceed, so that the lines enclose that fraction.
"""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from isosne.plots.styles import Style

GRID = 256
"""Cells along each side of the axes: less than two points each; chosen."""
ENCLOSED = (0.95, 0.75, 0.5, 0.25)
"""Fractions of the points that the lines enclose; chosen."""
WIDEST, NARROWEST = 0.025, 0.009
"""Standard deviation of the smoothing relative to the side of the axes, for few and for many
points; chosen by eye."""


def draw_density(ax: Axes, positions: NDArray[np.float64], style: Style) -> None:
    """Draw the lines that enclose 95, 75, 50 and 25 % of the points, in two dimensions."""
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    density = estimate_density(positions, limits)
    levels = find_levels(density, positions, limits)
    centers = [low + (np.arange(GRID) + 0.5) * (high - low) / GRID for low, high in limits]
    ax.contour(
        *centers, density.T, levels=levels, colors=style.ink, linewidths=0.7, alpha=0.65, zorder=3
    )


def estimate_density(
    positions: NDArray[np.float64], limits: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the smoothed number of points in each cell of a grid over the limits (2, 2)."""
    # The exponent of Scott's rule in two dimensions; the factor is for 1,000 points.
    share = np.clip(WIDEST * (len(positions) / 1000) ** (-1 / 6), NARROWEST, WIDEST)
    cells = _find_cells(positions, limits)
    counts = np.bincount(cells, minlength=GRID * GRID).reshape(GRID, GRID)
    return np.asarray(gaussian_filter(counts.astype(np.float64), share * GRID, mode="constant"))


def find_levels(
    density: NDArray[np.float64], positions: NDArray[np.float64], limits: NDArray[np.float64]
) -> list[float]:
    """Return the densities that enclose the given fractions of the points, in increasing order."""
    at_points = density.flat[_find_cells(positions, limits)]
    levels = np.unique(np.quantile(at_points, [1 - fraction for fraction in ENCLOSED]))
    below = np.nextafter(density.max(), 0)  # coinciding points: the only level is the maximum
    return [float(level) for level in np.unique(np.minimum(levels, below))]


def _find_cells(positions: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.int64]:
    low, high = limits.T
    cells = np.clip((positions - low) / (high - low) * GRID, 0, GRID - 1).astype(np.int64)
    return np.asarray(cells[:, 0] * GRID + cells[:, 1])
