"""Positions and axis limits of a map: lanes in 1-D, a square in 2-D, a box in 3-D."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from isosne._checks import check_count, check_points
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.plots.figures import FRAME, fix_tick_labels, printable, strip_axes
from isosne.plots.paint import Classes, Paint

MARGIN = 0.04
"""Margin around a map relative to its longest side; chosen by eye."""
NAMES_MARGIN = 0.1
"""Margin around a map with names on it; chosen by eye."""
LANE = 0.38
"""Half the width of a lane; lanes are one unit apart, so neighbors do not touch."""
DENSITY_BINS = 80
"""Bins of the histogram that gives the width of a single lane; chosen by eye."""
ELEVATION, AZIMUTH = 22, -58
"""Viewing angles of a 3-D map in degrees; chosen by eye."""
ZOOM = 1.12
"""Magnification at which a cube fills the axes without being cut off; chosen by eye."""


def check_embedding(embedding: Any, *, name: str = "embedding") -> NDArray[np.float64]:
    """Return a map as a finite array with one to three columns."""
    points = check_points(embedding, name=name)
    if not isinstance(points, np.ndarray) or points.shape[1] > 3:
        raise DataError(
            f"{name} must be a dense array with 1 to 3 columns; got shape {points.shape}. "
            "Pass the embedding, such as TSNE().fit(X).embedding_, not the data."
        )
    return points.astype(np.float64)


def check_mark(mark: Any, n: int, *, name: str = "mark") -> NDArray[np.int64]:
    """Return the indices of the points to mark."""
    if mark is None:
        return np.empty(0, np.int64)
    hint = "Pass a row index, or a list of row indices."
    entries = np.ravel(np.asarray(mark)).tolist()
    return np.array([check_count(i, name, low=0, high=n - 1, hint=hint) for i in entries], np.int64)


def check_axes(ax: Axes, n_dims: int) -> None:
    """Raise if a 3-D map would be drawn on 2-D axes, or the other way round."""
    if (ax.name == "3d") != (n_dims == 3):
        wanted = "3-D Axes" if n_dims == 3 else "2-D Axes"
        call = "figure.add_subplot(projection='3d')" if n_dims == 3 else "figure.add_subplot()"
        raise ParameterError(
            "ax",
            f"be {wanted} for a map with {n_dims} column(s), not {type(ax).__name__}",
            hint=f"Pass {call}, or {keyword('ax', None)} for a new figure.",
        )


def position_points(Y: NDArray[np.float64], paint: Paint) -> NDArray[np.float64]:
    """Return the positions of the points: their coordinates, or in 1-D points spread over lanes.

    Each class has its own lane. Without classes there is one lane, wide where points are dense.
    """
    if Y.shape[1] > 1:
        return Y
    n = len(Y)
    jitter = np.random.default_rng(0).uniform(-LANE, LANE, n)
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


def frame_axes(ax: Axes, corners: tuple[Array, Array], paint: Paint, n_dims: int) -> None:
    """Set limits and style of the axes of a map: no ticks, equal scales."""
    low, high = corners
    if n_dims == 3:
        _frame_box(ax, low, high)
        return
    strip_axes(ax)
    if n_dims == 2:
        middle, half = (low + high) / 2, (high - low).max() / 2  # a square, to compare maps
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        ax.set_aspect("equal")
        return
    ax.set_xlim(low[0], high[0])
    ax.set_aspect("auto")
    if isinstance(paint, Classes):
        ax.set_ylim(0.5 - len(paint.names), 0.5)
        names = [printable(name) for name in paint.names]
        ax.set_yticks(-np.arange(len(names)), labels=names, parse_math=False)
        ax.tick_params(axis="y", length=0)
        fix_tick_labels(ax)
    else:
        ax.set_ylim(-0.5, 0.5)


def _frame_box(ax: Any, low: Array, high: Array) -> None:
    """Set limits and style of 3-D axes; ``Any``, because their class has no type hints."""
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set(xticks=[], yticks=[], zticks=[])
    sides = high - low
    # The diagonal relative to that of a cube: 1 for a cube, which fills the axes.
    oblong = np.linalg.norm(sides) / (np.sqrt(3) * sides.max())
    ax.set_box_aspect(sides, zoom=ZOOM * float(np.sqrt(oblong)))
    ax.computed_zorder = False  # markers stay in front
    ax.view_init(ELEVATION, AZIMUTH)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.975, 0.975, 0.975, 1.0))
        axis.line.set_color(FRAME)
