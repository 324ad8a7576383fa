"""Where the points of a map go: lanes for one dimension, a plane for two, a box for three."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from isosne._checks import check_count, check_points
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.plots.figures import strip_axes
from isosne.plots.paint import Classes, Paint

MARGIN = 0.04
LANE = 0.38
"""Half the width of a lane, where lanes are one apart."""
DENSITY_BINS = 80
ELEVATION, AZIMUTH = 22, -58
"""Degrees from which a box is seen."""
ZOOM = 1.12


def check_embedding(embedding: Any, *, name: str = "embedding") -> NDArray[np.float64]:
    """Return a map as a finite array of one to three columns."""
    points = check_points(embedding, name=name)
    if not isinstance(points, np.ndarray) or points.shape[1] > 3:
        raise DataError(
            f"{name} must be a dense array of 1 to 3 columns; got shape {points.shape}. "
            "Pass the map, such as TSNE().fit(X).embedding_, not the data."
        )
    return points.astype(np.float64)


def check_mark(mark: Any, n: int) -> NDArray[np.int64]:
    """Return the indices of the points to mark."""
    if mark is None:
        return np.empty(0, np.int64)
    hint = "Pass the row of the point, counted from 0, or a list of rows."
    entries = np.ravel(np.asarray(mark)).tolist()
    return np.array(
        [check_count(i, "mark", low=0, high=n - 1, hint=hint) for i in entries], np.int64
    )


def check_axes(ax: Axes, n_dims: int) -> None:
    """Refuse flat axes for a map in space, and the other way round."""
    if (ax.name == "3d") != (n_dims == 3):
        wanted = "3-D Axes" if n_dims == 3 else "flat Axes"
        hint = "figure.add_subplot(projection='3d')" if n_dims == 3 else "figure.add_subplot()"
        raise ParameterError(
            f"ax must be {wanted} for a map of {n_dims} dimension(s); got {type(ax).__name__}. "
            f"Pass {hint}, or leave ax out."
        )


def place(Y: NDArray[np.float64], paint: Paint) -> NDArray[np.float64]:
    """Return the positions of a map's points: as they are, or spread over lanes for one dimension.

    With classes each has a lane of its own; without, one lane is as wide as points are dense.
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


def limits(positions: Array) -> tuple[Array, Array]:
    """Return the lower and the upper corner of a map with a margin around it."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    margin = MARGIN * max(float((high - low).max()), 1e-12)
    return low - margin, high + margin


def frame(ax: Axes, corners: tuple[Array, Array], paint: Paint, n_dims: int) -> None:
    """Dress the axes for positions within two corners: no ticks, one scale for all directions."""
    low, high = corners
    if n_dims == 3:
        _frame_box(ax, low, high)
        return
    strip_axes(ax)
    if n_dims == 2:
        middle, half = (low + high) / 2, (high - low).max() / 2  # a square, for maps to compare
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        ax.set_aspect("equal")
        return
    ax.set_xlim(low[0], high[0])
    ax.set_aspect("auto")
    if isinstance(paint, Classes):
        ax.set_ylim(0.5 - len(paint.names), 0.5)
        ax.set_yticks(-np.arange(len(paint.names)), labels=paint.names)
        ax.tick_params(axis="y", length=0)
    else:
        ax.set_ylim(-0.5, 0.5)


def _frame_box(ax: Any, low: Array, high: Array) -> None:
    """Dress 3-D axes, whose class carries no types."""
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set(xticks=[], yticks=[], zticks=[])
    sides = high - low
    oblong = np.linalg.norm(sides) / (
        np.sqrt(3) * sides.max()
    )  # 1 for a cube, which fills the axes
    ax.set_box_aspect(sides, zoom=ZOOM * float(np.sqrt(oblong)))
    ax.computed_zorder = False  # so that marks stay in front
    ax.view_init(ELEVATION, AZIMUTH)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.975, 0.975, 0.975, 1.0))
        axis.line.set_color("#d4d4d4")
