"""The course of a run as a moving picture."""

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
from isosne.errors import DataError, MissingPackageError
from isosne.plots.frames import check_embedding, frame, limits, place
from isosne.plots.embeddings import plot_map
from isosne.plots.paint import Names, Paint, as_paint
from isosne.plots.points import draw_points
from isosne.plots.image_files import check_suffix

DOTS_AN_INCH = 100
REST_SECONDS = 1.0
"""How long the last picture stays."""
LOOK_AROUND = 0.3
"""Seconds before and after a picture over which its limits are smoothed."""


def animate(
    snapshots: Iterable[tuple[int, Any]],
    path: str | os.PathLike[str],
    color: Any = None,
    *,
    kind: str = "auto",
    names: Names = None,
    frames_a_second: float = 20.0,
    force: bool = True,
) -> Path:
    """Write the course of a run as a GIF, or as an MP4 where ffmpeg is installed.

    Parameters
    ----------
    snapshots : iterable of (int, array) pairs
        Iterations and the maps (n, 1), (n, 2) or (n, 3) after them, in order. A callback of `TSNE`
        can collect them: ``(state.iteration, state.Y.T.copy())``.
    path : str or path
        Where to write; ends in .gif or .mp4.
    color : array, series, Trust or None, default=None
        What to color the points by, as in `plot_map`.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        What color means.
    names : mapping, sequence of str or None, default=None
        Names of the labels.
    frames_a_second : float, default=20.0
        Snapshots shown in a second, up to 50.
    force : bool, default=True
        Whether to replace a file of that name, once the new one is complete.

    Returns
    -------
    Path
        Where the film is.

    Notes
    -----
    The view follows the map as it grows, and every point is in sight at all times. The last
    picture stays for a second. Not in the paper.

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
    check_number(frames_a_second, "frames_a_second", low=0.1, high=50, hint="20 is usual.")
    target = check_suffix(path, (".gif", ".mp4"))
    writer = _writer(target, frames_a_second)
    iterations, maps = _check_snapshots(snapshots)
    paint = as_paint(color, len(maps[0]), kind=kind, names=names)
    positions = [place(Y, paint) for Y in maps]
    corners = smooth_limits(positions, round(LOOK_AROUND * frames_a_second))
    ax = plot_map(maps[-1], color, kind=kind, names=names, title=f"iteration {iterations[-1]}")
    figure = ax.get_figure(root=True)
    assert figure is not None  # plot_map has just made it
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the axes stay where they are from here on
    _clear(ax)
    n_dims = maps[0].shape[1]
    with whole_file(target, force=force) as file, TemporaryDirectory() as folder:
        film = Path(folder) / f"film{target.suffix}"  # writers look at the suffix
        with writer.saving(figure, str(film), DOTS_AN_INCH):
            for iteration, Y, seen in zip(iterations, positions, corners, strict=True):
                _draw_frame(ax, Y, paint, seen, n_dims)
                ax.set_title(f"iteration {iteration}")
                writer.grab_frame()
                if Y is not positions[-1]:
                    _clear(ax)
            for _ in range(round(REST_SECONDS * frames_a_second)):
                writer.grab_frame()
        with film.open("rb") as finished:
            shutil.copyfileobj(finished, file)
    return target


def _draw_frame(ax: Axes, Y: Array, paint: Paint, seen: tuple[Array, Array], n_dims: int) -> None:
    frame(ax, seen, paint, n_dims)
    draw_points(ax, Y, paint, "auto")


def _clear(ax: Axes) -> None:
    """Take points away; legend, color bar and frame stay."""
    for artist in [*ax.collections, *ax.images]:
        artist.remove()


def _writer(target: Path, frames_a_second: float) -> AbstractMovieWriter:
    if target.suffix.lower() == ".gif":
        return PillowWriter(fps=frames_a_second)  # type: ignore[arg-type]  # any number does
    if not FFMpegWriter.isAvailable():
        raise MissingPackageError(
            f"An MP4 needs the program ffmpeg, which was not found; got {str(target)!r}. "
            f"Install ffmpeg, or write {target.stem}.gif."
        )
    return FFMpegWriter(fps=frames_a_second, metadata={})  # type: ignore[arg-type]


def _check_snapshots(snapshots: Iterable[tuple[int, Any]]) -> tuple[list[int], list[Array]]:
    pairs = [(int(iteration), check_embedding(Y, name="A snapshot")) for iteration, Y in snapshots]
    shapes = sorted({Y.shape for _, Y in pairs})
    if len(shapes) != 1:
        came = "none" if not shapes else f"shapes {shapes[0]} and {shapes[-1]}"
        raise DataError(
            f"snapshots must hold at least one map, and all of the same shape; got {came}. "
            "Collect copies of the map in a callback of TSNE."
        )
    return [iteration for iteration, _ in pairs], [Y for _, Y in pairs]


def smooth_limits(positions: list[Array], reach: int) -> list[tuple[Array, Array]]:
    """Return the corners of each view: widest within reach, then the mean of these within reach.

    Each of the views that are averaged for a picture holds all its points, and so does the mean.
    """
    found = [limits(Y) for Y in positions]
    low, high = np.array([a for a, _ in found]), np.array([b for _, b in found])
    low = _slide(_slide(low, reach, np.min), reach, np.mean)
    high = _slide(_slide(high, reach, np.max), reach, np.mean)
    return list(zip(low, high, strict=True))


def _slide(rows: Array, reach: int, summary: Any) -> Array:
    """Return the summary of each row and of those up to reach before and after it."""
    spans = [rows[max(0, i - reach) : i + reach + 1] for i in range(len(rows))]
    return np.array([summary(span, axis=0) for span in spans])
