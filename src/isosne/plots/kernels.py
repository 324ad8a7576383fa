"""Kernels of two-dimensional data: similarity contours, and the cells of a partitioning."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray
from scipy.spatial import Voronoi
from sklearn.utils.validation import check_is_fitted

from isosne._checks import check_count
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.plots.figures import as_axes
from isosne.plots.palette import COLORS, FRAME
from isosne.plots.points import auto_size, draw_marks
from isosne.plots.raster import auto_alpha, find_limits

LEVELS = np.linspace(0, 1, 11)
"""Contours at 0, 0.1, ..., 1."""
POINT_COLOR = "#4a4a4a"
FAR = 1e3
"""Distance of the points that close the outer Voronoi cells, in widths of the figure."""
Extent = tuple[float, float, float, float]


def plot_contours(
    kernel: MetricKernel,
    center: Any,
    *,
    extent: Extent | None = None,
    resolution: int = 200,
    ax: Axes | None = None,
) -> Axes:
    """Plot contours of the similarity to one point of the plane.

    Parameters
    ----------
    kernel : kernel
        A kernel fitted on data with two columns.
    center : pair of floats
        The point to compare with, drawn as a cross.
    extent : (x_low, x_high, y_low, y_high) or None, default=None
        Limits of the figure; None uses those of the fitted points.
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
    Departures from the paper: none.

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
    cross = _check_center(center)
    check_count(resolution, "resolution", low=2, hint="Try 200.")
    box = _check_extent(extent, points)
    grid, x, y = _make_grid_points(box, resolution)
    similarity = kernel.similarity(cross, grid).reshape(resolution, resolution)
    ax = as_axes(ax, width=5.8, height=4.8)
    filled = ax.contourf(x, y, similarity, LEVELS, cmap="Blues")
    ax.contour(x, y, similarity, LEVELS[1:-1], colors="#3b5b7d", linewidths=0.5)
    _draw_fitted(ax, points)
    draw_marks(ax, cross, np.array([0]))
    _frame_plane(ax, box)
    bar = ax.get_figure(root=True).colorbar(filled, ax=ax, shrink=0.85)  # type: ignore[union-attr]
    bar.set_label("similarity to the cross")
    return ax


def plot_cells(
    kernel: IsolationKernel,
    partition: int = 0,
    *,
    extent: Extent | None = None,
    resolution: int = 300,
    ax: Axes | None = None,
) -> Axes:
    """Plot the cells of one partitioning of an isolation kernel.

    Parameters
    ----------
    kernel : IsolationKernel
        A kernel with sampled partitionings, fitted on data with two columns.
    partition : int, default=0
        Index of the partitioning; those of the first scale come first.
    extent : (x_low, x_high, y_low, y_high) or None, default=None
        Limits of the figure; None uses those of the fitted points.
    resolution : int, default=300
        Number of grid points along each side at which cells are evaluated; used for
        ``partition="forest"`` and for metrics other than Euclidean, whose edges are not computed.
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    Axes
        The axes drawn on: cell edges, fitted points in gray, sampled points in color.

    Notes
    -----
    The paper's figure of two partitionings of data with two densities. Departures from the paper:
    none.

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
    if not isinstance(kernel, IsolationKernel) or not kernel.partitions_:
        raise ParameterError(
            "kernel",
            "be an IsolationKernel with sampled partitionings",
            kernel,
            f"Fit IsolationKernel with {keyword('n_partitions', 200)}.",
        )
    scales = [part.samples for part in kernel.partitions_]
    n_drawn = len(scales[0])
    hint = f"The kernel has {len(scales) * n_drawn} partitionings."
    check_count(partition, "partition", low=0, high=len(scales) * n_drawn - 1, hint=hint)
    check_count(resolution, "resolution", low=2, hint="Try 300.")
    box = _check_extent(extent, points)
    scale, p = divmod(partition, n_drawn)
    centers = points[scales[scale][p]]
    if kernel.partition == "voronoi" and kernel.metric == "euclidean":
        edges = _voronoi_edges(centers, box)
    else:
        edges = _grid_edges(kernel, partition, box, resolution)
    ax = as_axes(ax, width=5.2, height=5.2)
    _draw_fitted(ax, points)
    ax.add_collection(LineCollection(edges, colors="#1a1a1a", linewidths=1.0))
    ax.scatter(
        centers[:, 0],
        centers[:, 1],
        s=22,
        color=COLORS[2],
        edgecolors="white",
        linewidths=0.6,
        zorder=4,
    )
    _frame_plane(ax, box)
    return ax


def _voronoi_edges(centers: Array, box: Extent) -> list[Array]:
    """Return the edges of Voronoi cells; four far points close the outer cells."""
    low, high = np.array(box[::2]), np.array(box[1::2])
    middle, reach = (low + high) / 2, FAR * max(float((high - low).max()), float(np.ptp(centers)))
    far = middle + reach * np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
    diagram = Voronoi(np.vstack([np.unique(centers, axis=0), far]))
    return [diagram.vertices[ends] for ends in diagram.ridge_vertices if -1 not in ends]


def _grid_edges(
    kernel: IsolationKernel, partition: int, box: Extent, resolution: int
) -> list[Array]:
    """Return the sides of grid squares across which the cell changes."""
    grid, x, y = _make_grid_points(box, resolution)
    cells = kernel.cells(grid)[:, partition].reshape(resolution, resolution)
    half_x, half_y = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    edges = []
    for i, j in np.argwhere(cells[:, 1:] != cells[:, :-1]):
        at = x[j] + half_x
        edges.append(np.array([[at, y[i] - half_y], [at, y[i] + half_y]]))
    for i, j in np.argwhere(cells[1:] != cells[:-1]):
        at = y[i] + half_y
        edges.append(np.array([[x[j] - half_x, at], [x[j] + half_x, at]]))
    return edges


def _make_grid_points(box: Extent, resolution: int) -> tuple[Array, Array, Array]:
    """Return grid points (resolution^2, 2), row by row from below, and their x and y."""
    x = np.linspace(box[0], box[1], resolution)
    y = np.linspace(box[2], box[3], resolution)
    return np.column_stack([np.tile(x, resolution), np.repeat(y, resolution)]), x, y


def _draw_fitted(ax: Axes, points: Array) -> None:
    n = len(points)
    size = auto_size(ax, 4 * n)  # a quarter of the usual area: the points are background
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=size,
        color=POINT_COLOR,
        alpha=0.6 * auto_alpha(n),
        linewidths=0,
    )


def _frame_plane(ax: Axes, box: Extent) -> None:
    """Set limits and equal scales; ticks stay, because columns of data have a meaning."""
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlim(box[0], box[1])
    ax.set_ylim(box[2], box[3])
    for spine in ax.spines.values():
        spine.set_color(FRAME)


def _check_plane(kernel: MetricKernel) -> NDArray[np.float64]:
    check_is_fitted(kernel)
    points = kernel.X_fit_
    if not isinstance(points, np.ndarray) or points.shape[1] != 2 or kernel.metric == "precomputed":
        raise DataError(
            f"{keyword('kernel')} must be fitted on dense data with two columns; got "
            f"{points.shape[1]} column(s) with {keyword('metric', kernel.metric)}. "
            "Fit the kernel on two columns."
        )
    return points.astype(np.float64)


def _check_center(center: Any) -> NDArray[np.float64]:
    point = np.asarray(center, np.float64)
    if point.shape != (2,) or not np.isfinite(point).all():
        hint = "Pass coordinates such as (0.5, 0.5)."
        raise ParameterError("center", "be two finite numbers", center, hint)
    return point[None]


def _check_extent(extent: Any, points: Array) -> Extent:
    if extent is None:
        low, high = find_limits(points)
        extent = (low[0], high[0], low[1], high[1])
    box = np.asarray(extent, np.float64)
    if box.shape != (4,) or not np.isfinite(box).all() or box[0] >= box[1] or box[2] >= box[3]:
        raise ParameterError(
            "extent",
            "be four finite numbers x_low < x_high, y_low < y_high",
            extent,
            f"Use {keyword('extent', None)} for the limits of the fitted points.",
        )
    x_low, x_high, y_low, y_high = box.tolist()
    return (x_low, x_high, y_low, y_high)
