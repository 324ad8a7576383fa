"""Animation of an optimization run."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.axes import Axes

from isosne._checks import check_number
from isosne._files import whole_file
from isosne._types import Array
from isosne.errors import DataError, MissingPackageError, keyword
from isosne.plots.embeddings import plot_map
from isosne.plots.frames import check_embedding, find_limits, frame_axes, position_points
from isosne.plots.image_files import check_suffix
from isosne.plots.paint import Names, Paint, as_paint
from isosne.plots.points import draw_points

DPI = 100
"""Resolution of a frame, matplotlib's default."""
REST_SECONDS = 1.0
"""How long the last frame is shown; chosen."""
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
    target = check_suffix(path, (".gif", ".mp4"))
    writer = _make_writer(target, frames_per_second)
    iterations, maps = _check_snapshots(snapshots)
    paint = as_paint(color, len(maps[0]), kind=kind, names=names)
    positions = [position_points(Y, paint) for Y in maps]
    corners = smooth_limits(positions, round(SMOOTHING_SECONDS * frames_per_second))
    ax = plot_map(maps[-1], color, kind=kind, names=names, title=f"iteration {iterations[-1]}")
    figure = ax.get_figure(root=True)
    assert figure is not None  # plot_map has just created it
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # from here on the axes do not move
    _clear(ax)
    n_dims = maps[0].shape[1]
    with whole_file(target, force=force) as file, TemporaryDirectory() as folder:
        film = Path(folder) / f"film{target.suffix}"  # writers choose the format by the suffix
        with writer.saving(figure, str(film), DPI):
            for iteration, Y, limits in zip(iterations, positions, corners, strict=True):
                _draw_frame(ax, Y, paint, limits, n_dims)
                ax.set_title(f"iteration {iteration}")
                writer.grab_frame()
                if Y is not positions[-1]:
                    _clear(ax)
            for _ in range(round(REST_SECONDS * frames_per_second)):
                writer.grab_frame()
        with film.open("rb") as finished:
            shutil.copyfileobj(finished, file)
    return target


def _draw_frame(ax: Axes, Y: Array, paint: Paint, limits: tuple[Array, Array], n_dims: int) -> None:
    frame_axes(ax, limits, paint, n_dims)
    draw_points(ax, Y, paint, "auto")


def _clear(ax: Axes) -> None:
    """Remove the points; legend, color bar and frame stay."""
    for artist in [*ax.collections, *ax.images]:
        artist.remove()


def _make_writer(target: Path, frames_per_second: float) -> AbstractMovieWriter:
    if target.suffix.lower() == ".gif":
        return PillowWriter(fps=frames_per_second)  # type: ignore[arg-type]  # a float works
    if not FFMpegWriter.isAvailable():
        raise MissingPackageError(
            f"Writing {target} needs the program ffmpeg, which is not installed. "
            f"Install ffmpeg, or write {target.stem}.gif instead."
        )
    return FFMpegWriter(fps=frames_per_second, metadata={})  # type: ignore[arg-type]


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


def smooth_limits(positions: list[Array], reach: int) -> list[tuple[Array, Array]]:
    """Return smoothed axis limits: the widest within reach, then their mean within reach.

    Each of the limits that are averaged for a frame encloses all its points, so the mean does too.
    """
    found = [find_limits(Y) for Y in positions]
    low, high = np.array([a for a, _ in found]), np.array([b for _, b in found])
    low = _slide(_slide(low, reach, np.min), reach, np.mean)
    high = _slide(_slide(high, reach, np.max), reach, np.mean)
    return list(zip(low, high, strict=True))


def _slide(rows: Array, reach: int, summary: Any) -> Array:
    """Return a summary of a sliding window: each row and those up to reach before and after it."""
    spans = [rows[max(0, i - reach) : i + reach + 1] for i in range(len(rows))]
    return np.array([summary(span, axis=0) for span in spans])
