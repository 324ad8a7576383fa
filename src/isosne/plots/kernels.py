"""Kernels of two-dimensional data: similarity contours, and the cells of a partitioning."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from scipy.spatial import Voronoi
from sklearn.utils.validation import check_is_fitted

from isosne._checks import check_count
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.plots.figures import as_axes
from isosne.plots.palette import COLORS, FRAME, Floats
from isosne.plots.points import auto_size, draw_marks
from isosne.plots.raster import auto_alpha, find_limits

LEVELS = np.linspace(0, 1, 11)  # of the contours
FAR = 1e3  # distance of the points that close the outer Voronoi cells, in widths of the figure


def plot_contours(
    kernel: MetricKernel, center: Any, *, resolution: int = 200, ax: Axes | None = None
) -> Axes:
    """Plot contours of the similarity to one point of the plane.

    Parameters
    ----------
    kernel : kernel
        A kernel fitted on data with two columns.
    center : pair of floats
        The point to compare with, drawn as a cross.
    resolution : int, default=200
        Number of grid points along each side at which the similarity is computed.
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    The figures of App. B. For a Gaussian kernel the bandwidth is that of the center (Eq. 1).
    Cost: ``resolution ** 2`` similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import IsolationKernel
    >>> from isosne.plots import plot_contours
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> ax = plot_contours(IsolationKernel(8).fit(X), (0.5, 0.5), resolution=20)
    >>> len(ax.collections) > 1
    True
    """
    points = _check_plane(kernel)
    cross = np.asarray(center, np.float64)
    if cross.shape != (2,) or not np.isfinite(cross).all():
        hint = "Pass coordinates such as (0.5, 0.5)."
        raise ParameterError("center", "be two finite numbers", center, hint)
    check_count(resolution, "resolution", low=2, hint="Try 200.")
    x, y = np.linspace(*find_limits(points), resolution).T
    grid = np.column_stack([np.tile(x, resolution), np.repeat(y, resolution)])
    similarity = kernel.similarity(cross[None], grid).reshape(resolution, resolution)
    ax = as_axes(ax, width=5.8, height=4.8)
    filled = ax.contourf(x, y, similarity, LEVELS, cmap="Blues")
    ax.contour(x, y, similarity, LEVELS[1:-1], colors="#3b5b7d", linewidths=0.5)
    _draw_fitted(ax, points)
    draw_marks(ax, cross[None], np.array([0]))
    bar = ax.get_figure(root=True).colorbar(filled, ax=ax, shrink=0.85)  # type: ignore[union-attr]
    bar.set_label("similarity to the cross")
    return ax


def plot_cells(kernel: IsolationKernel, partition: int = 0, *, ax: Axes | None = None) -> Axes:
    """Plot the cells of one partitioning of an isolation kernel.

    Parameters
    ----------
    kernel : IsolationKernel
        A kernel with sampled Voronoi cells and Euclidean metric, fitted on data with two columns.
    partition : int, default=0
        Index of the partitioning; those of the first scale come first.
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    Axes
        The axes drawn on: cell edges, fitted points in gray, sampled points in color.

    Notes
    -----
    The paper's figure of two partitionings.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import IsolationKernel
    >>> from isosne.plots import plot_cells
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> ax = plot_cells(IsolationKernel(8, random_state=0).fit(X))
    >>> len(ax.collections[-1].get_offsets())
    8
    """
    points = _check_plane(kernel)
    is_drawable = isinstance(kernel, IsolationKernel) and kernel.partitions_
    if not is_drawable or (kernel.partition, kernel.metric) != ("voronoi", "euclidean"):
        rule = "be an IsolationKernel with sampled Voronoi cells and Euclidean metric"
        hint = f"Fit IsolationKernel with {keyword('n_partitions', 200)}."
        raise ParameterError("kernel", rule, kernel, hint)
    samples = [drawn for part in kernel.partitions_ for drawn in part.samples]
    hint = f"The kernel has {len(samples)} partitionings."
    check_count(partition, "partition", low=0, high=len(samples) - 1, hint=hint)
    centers = points[samples[partition]]
    ax = as_axes(ax, width=5.2, height=5.2)
    _draw_fitted(ax, points)
    ax.add_collection(
        LineCollection(_voronoi_edges(points, centers), colors="#1a1a1a", linewidths=1.0)
    )
    look: dict[str, Any] = {"s": 22, "color": COLORS[1], "edgecolors": "white", "zorder": 4}
    ax.scatter(*centers.T, **look, linewidths=0.6)
    return ax


def _voronoi_edges(points: Floats, centers: Floats) -> list[Array]:
    """Return the edges of Voronoi cells; four far points close the outer cells."""
    low, high = find_limits(points)
    reach = FAR * max(float((high - low).max()), float(np.ptp(centers)))
    far = (low + high) / 2 + reach * np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
    diagram = Voronoi(np.vstack([np.unique(centers, axis=0), far]))
    return [diagram.vertices[ends] for ends in diagram.ridge_vertices if -1 not in ends]


def _draw_fitted(ax: Axes, points: Floats) -> None:
    """Draw the points in gray, at equal scales; ticks stay, because columns have a meaning."""
    n = len(points)
    # A quarter of the usual area: the points are background.
    look: dict[str, Any] = {"s": auto_size(ax, 4 * n), "alpha": 0.6 * auto_alpha(n)}
    ax.scatter(*points.T, **look, color="#4a4a4a", linewidths=0)
    (left, bottom), (right, top) = find_limits(points)
    ax.set_aspect("equal", adjustable="box")
    ax.set(xlim=(left, right), ylim=(bottom, top))
    for spine in ax.spines.values():
        spine.set_color(FRAME)


def _check_plane(kernel: MetricKernel) -> Floats:
    check_is_fitted(kernel)
    points = kernel.X_fit_
    if not isinstance(points, np.ndarray) or points.shape[1] != 2 or kernel.metric == "precomputed":
        raise DataError(
            f"{keyword('kernel')} must be fitted on dense data with two columns; got "
            f"{points.shape[1]} column(s) with {keyword('metric', kernel.metric)}. "
            "Fit the kernel on two columns."
        )
    return points.astype(np.float64)
