"""Animations of an optimization run as GIF files."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from isosne._checks import check_number, check_suffix
from isosne._files import whole_file
from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.plots.figures import figure_of
from isosne.plots.maps import frame_axes, plot_map
from isosne.plots.paint import Names, as_paint, check_embedding, spread_colors
from isosne.plots.points import MAX_SCATTER, auto_size, draw_points
from isosne.plots.raster import find_limits, position_points

LAST_SECONDS = 1.0  # for which the last frame stays; chosen
SMOOTHING_SECONDS = 0.3  # before and after a frame, over which its limits are smoothed; by eye


def animate(
    snapshots: Iterable[tuple[int, Any]],
    path: str | os.PathLike[str],
    color: Any = None,
    *,
    kind: str = "auto",
    names: Names = None,
    frames_per_second: float = 20.0,
    force: bool = True,
) -> Path:
    """Write an animation of a run as a GIF.

    Parameters
    ----------
    snapshots : iterable of (int, array) pairs
        Iterations and the maps (n, 1), (n, 2) or (n, 3) after them, in order. A callback of `TSNE`
        can collect them: ``(state.iteration, state.Y.T.copy())``.
    path : str or path
        Output file; ends in .gif.
    color, kind, names
        What to color the points by; see `plot_map`.
    frames_per_second : float, default=20.0
        Number of snapshots shown per second, up to 50.
    force : bool, default=True
        Whether to overwrite an existing file, once the new one is complete.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    The axis limits follow the map as it grows; every point is always visible. The last frame stays
    for another second.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from isosne.plots import animate
    >>> Y = np.random.default_rng(0).normal(size=(20, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate([(0, Y), (50, 2 * Y)], f"{folder}/run.gif").name
    'run.gif'
    """
    check_number(frames_per_second, "frames_per_second", low=0.1, high=50, hint="Try 20.")
    target = check_suffix(path, (".gif",))
    run = [(f"iteration {int(i)}", check_embedding(Y, name="A snapshot")) for i, Y in snapshots]
    shapes = sorted({Y.shape for _, Y in run})
    if len(shapes) != 1:
        given = "no map" if not shapes else f"shapes {shapes[0]} and {shapes[-1]}"
        raise DataError(
            f"{keyword('snapshots')} must contain at least one map, all of the same shape; "
            f"got {given}. Collect copies of the map in a callback of TSNE."
        )
    last = run[-1][1]
    n, n_dims = last.shape
    paint = spread_colors(as_paint(color, n, kind=kind, names=names), last)
    ax = plot_map(last, paint, title=run[-1][0])
    size = auto_size(ax, n) if n <= MAX_SCATTER else "auto"
    figure = figure_of(ax)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # from here on the axes do not move
    drawn = [position_points(Y, paint) for _, Y in run]
    canvas: Any = FigureCanvasAgg(figure)  # its methods have no types
    frames = []
    aspect = ax.bbox.height / ax.bbox.width  # of the last map, for all
    corners = smooth_limits(drawn, round(SMOOTHING_SECONDS * frames_per_second))
    for (title, _), positions, limits in zip(run, drawn, corners, strict=True):
        for artist in [*ax.collections, *ax.images]:
            artist.remove()  # the points; legend, color bar and frame stay
        frame_axes(ax, limits, paint, n_dims, aspect=aspect)
        draw_points(ax, positions, paint, size)
        ax.set_title(title, parse_math=False)
        canvas.draw()
        frames.append(Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB"))
    durations = [int(1000 / frames_per_second)] * len(frames)
    durations[-1] += round(1000 * LAST_SECONDS)
    how: dict[str, Any] = {"append_images": frames[1:], "duration": durations}
    with whole_file(target, force=force) as file:
        frames[0].save(file, "GIF", save_all=True, loop=0, **how)
    return target


def smooth_limits(positions: Iterable[Array], reach: int) -> list[tuple[Array, Array]]:
    """Return smoothed axis limits: the widest within reach, then their mean within reach.

    Each of the limits that are averaged for a frame encloses all its points, so the mean does too.
    """
    low, high = (np.array(ends) for ends in zip(*map(find_limits, positions), strict=True))
    low = _slide(_slide(low, reach, np.min), reach, np.mean)
    high = _slide(_slide(high, reach, np.max), reach, np.mean)
    return list(zip(low, high, strict=True))


def _slide(rows: Array, reach: int, summary: Any) -> Array:
    """Return a summary of each row and of those up to reach before and after it."""
    return np.array(
        [summary(rows[max(0, i - reach) : i + reach + 1], axis=0) for i in range(len(rows))]
    )
