"""Animation of an optimization run."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isosne._checks import check_number
from isosne._types import Array
from isosne.errors import DataError, keyword
from isosne.plots.embeddings import plot_map
from isosne.plots.film import ENDINGS, Frame, make_writer, smooth_limits, write_film
from isosne.plots.frames import check_embedding, position_points
from isosne.plots.image_files import check_suffix
from isosne.plots.paint import Names, as_paint

SMOOTHING_SECONDS = 0.3
"""Time before and after a frame over which its axis limits are smoothed; chosen by eye."""


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
    """Write an animation of a run as a GIF, or as an MP4 if ffmpeg is installed.

    Parameters
    ----------
    snapshots : iterable of (int, array) pairs
        Iterations and the maps (n, 1), (n, 2) or (n, 3) after them, in order. A callback of `TSNE`
        can collect them: ``(state.iteration, state.Y.T.copy())``.
    path : str or path
        Output file; ends in .gif or .mp4.
    color : array, series, Trust or None, default=None
        What to color the points by; see `plot_map`.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        How to interpret ``color``; see `plot_map`.
    names : mapping, sequence of str or None, default=None
        Names of the labels; see `plot_map`.
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
    The axis limits follow the map as it grows; every point is always visible. The last frame is
    shown for one second. Not in the paper.

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
    target = check_suffix(path, ENDINGS)
    make_writer(target, frames_per_second)  # before the work, if it cannot be made
    iterations, maps = _check_snapshots(snapshots)
    paint = as_paint(color, len(maps[0]), kind=kind, names=names)
    positions = [position_points(Y, paint) for Y in maps]
    corners = smooth_limits(positions, round(SMOOTHING_SECONDS * frames_per_second))
    titles = [f"iteration {iteration}" for iteration in iterations]
    frames = [
        Frame(title, Y, paint, limits)
        for title, Y, limits in zip(titles, positions, corners, strict=True)
    ]
    ax = plot_map(maps[-1], color, kind=kind, names=names, title=titles[-1])
    return write_film(target, ax, frames, maps[0].shape[1], frames_per_second, force=force)


def _check_snapshots(snapshots: Iterable[tuple[int, Any]]) -> tuple[list[int], list[Array]]:
    pairs = [(int(iteration), check_embedding(Y, name="A snapshot")) for iteration, Y in snapshots]
    shapes = sorted({Y.shape for _, Y in pairs})
    if len(shapes) != 1:
        found = "no map" if not shapes else f"shapes {shapes[0]} and {shapes[-1]}"
        raise DataError(
            f"{keyword('snapshots')} must contain at least one map, all of the same shape; "
            f"got {found}. Collect copies of the map in a callback of TSNE."
        )
    return [iteration for iteration, _ in pairs], [Y for _, Y in pairs]
