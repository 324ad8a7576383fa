"""Write the frames of an animation to a GIF or an MP4 file."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.axes import Axes

from isosne._files import whole_file
from isosne._types import Array
from isosne.errors import MissingPackageError
from isosne.plots.frames import find_limits, frame_axes
from isosne.plots.paint import Paint
from isosne.plots.points import draw_points

ENDINGS = (".gif", ".mp4")
DPI = 100
"""Resolution of a frame, matplotlib's default."""
REST_SECONDS = 1.0
"""How long the last frame is shown; chosen."""


class Frame(NamedTuple):
    """A frame: its title, the positions of points with their colors, and the axis limits."""

    title: str
    positions: Array
    paint: Paint
    limits: tuple[Array, Array]
    point_size: float | str = "auto"


def write_film(
    target: Path,
    ax: Axes,
    frames: list[Frame],
    n_dims: int,
    frames_per_second: float,
    *,
    force: bool,
) -> Path:
    """Write frames, drawn on axes that show the last map already, to a file; return the file.

    The last frame is shown for a second. Legend, color bar and layout are those of the axes.
    """
    writer = make_writer(target, frames_per_second)
    figure = ax.get_figure(root=True)
    assert figure is not None  # plot_map has just created it
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # from here on the axes do not move
    _clear(ax)
    with whole_file(target, force=force) as file, TemporaryDirectory() as folder:
        film = Path(folder) / f"film{target.suffix}"  # writers choose the format by the suffix
        with writer.saving(figure, str(film), DPI):
            for frame in frames:
                _clear(ax)
                frame_axes(ax, frame.limits, frame.paint, n_dims)
                draw_points(ax, frame.positions, frame.paint, frame.point_size)
                ax.set_title(frame.title)
                writer.grab_frame()
            for _ in range(round(REST_SECONDS * frames_per_second)):
                writer.grab_frame()
        with film.open("rb") as finished:
            shutil.copyfileobj(finished, file)
    return target


def _clear(ax: Axes) -> None:
    """Remove the points; legend, color bar and frame stay."""
    for artist in [*ax.collections, *ax.images]:
        artist.remove()


def make_writer(target: Path, frames_per_second: float) -> AbstractMovieWriter:
    """Return the writer for a file; raise an error if its program is not installed."""
    if target.suffix.lower() == ".gif":
        return PillowWriter(fps=frames_per_second)  # type: ignore[arg-type]  # a float works
    if not FFMpegWriter.isAvailable():
        raise MissingPackageError(
            f"Writing {target} needs the program ffmpeg, which is not installed. "
            f"Install ffmpeg, or write {target.stem}.gif instead."
        )
    return FFMpegWriter(fps=frames_per_second, metadata={})  # type: ignore[arg-type]


def smooth_limits(positions: Iterable[Array], reach: int) -> list[tuple[Array, Array]]:
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
