"""Animations as GIF or MP4 files: of an optimization run, and from one map to the next."""

import os
import shutil
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from numpy.typing import NDArray

from isosne._checks import check_number, check_suffix
from isosne._files import whole_file
from isosne._matching import check_ids, match_ids
from isosne._types import Array
from isosne.errors import DataError, MissingPackageError, ParameterError, keyword
from isosne.plots.figures import figure_of
from isosne.plots.maps import frame_axes, plot_map
from isosne.plots.paint import Names, as_paint, check_embedding
from isosne.plots.palette import Floats
from isosne.plots.points import MAX_SCATTER, auto_size, draw_points
from isosne.plots.raster import find_limits, position_points
from isosne.quality.procrustes import find_similarity

DPI = 100  # of a frame, matplotlib's default
LAST_SECONDS = 1.0  # how long the last frame is shown; chosen
SMOOTHING_SECONDS = 0.3
"""Time before and after a frame of a run over which its axis limits are smoothed; by eye."""
REST_SECONDS, MOVE_SECONDS = 0.8, 1.2
"""How long a map is shown, and how long its points move to the next; chosen by eye."""


class _Stop(NamedTuple):
    """A map of some rows of the last map: its title, its rows, and their places."""

    title: str
    rows: NDArray[np.int64]
    places: Floats


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
    target = _check_target(path, frames_per_second)
    stops = [
        _Stop(
            f"iteration {int(iteration)}", np.arange(len(Y)), check_embedding(Y, name="A snapshot")
        )
        for iteration, Y in snapshots
    ]
    shapes = sorted({stop.places.shape for stop in stops})
    if len(shapes) != 1:
        given = "no map" if not shapes else f"shapes {shapes[0]} and {shapes[-1]}"
        raise DataError(
            f"{keyword('snapshots')} must contain at least one map, all of the same shape; "
            f"got {given}. Collect copies of the map in a callback of TSNE."
        )
    film = _Film(color, kind, names, frames_per_second, SMOOTHING_SECONDS)
    return film.write(target, stops, force=force)


def animate_between(
    maps: Sequence[Any],
    path: str | os.PathLike[str],
    color: Any = None,
    *,
    ids: Sequence[Any] | None = None,
    titles: Sequence[str] | None = None,
    kind: str = "auto",
    names: Names = None,
    frames_per_second: float = 20.0,
    force: bool = True,
) -> Path:
    """Write an animation from map to map as a GIF, or as an MP4 if ffmpeg is installed.

    Parameters
    ----------
    maps : sequence of arrays of shape (n, n_components)
        At least two maps, in order.
    path : str or path
        Output file; ends in .gif or .mp4.
    color, kind, names
        What to color the points of the last map by; see `plot_map`.
    ids : sequence of arrays or None, default=None
        Unique identifiers of the rows of each map. None: all maps have the same rows.
    titles : sequence of str or None, default=None
        Title of each map. None: "map 1", "map 2" and so on.
    frames_per_second, force
        See `animate`.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    The rows are those of the last map; rows that an earlier map does not have appear with the first
    map that has them. Each map is rotated, mirrored and scaled to lie as near as possible to the
    next one. Points move in straight lines, which are not steps of an optimization.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from isosne.plots import animate_between
    >>> Y = np.random.default_rng(0).normal(size=(20, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate_between([Y, Y[:, ::-1] + 0.1], f"{folder}/change.gif").name
    'change.gif'
    """
    target = _check_target(path, frames_per_second)
    stops = _find_stops(maps, ids, titles)
    film = _Film(color, kind, names, frames_per_second, REST_SECONDS)
    return film.write(target, _interpolate(stops, frames_per_second), force=force)


class _Film(NamedTuple):
    """How maps are drawn as frames; axis limits are smoothed over some seconds."""

    color: Any
    kind: str
    names: Names
    frames_per_second: float
    smoothing_seconds: float

    def write(self, target: Path, stops: Sequence[_Stop], *, force: bool) -> Path:
        """Write one frame for each map to a file; the last one is shown for a second.

        Legend, color bar and layout are those of the last map.
        """
        writer = _make_writer(target, self.frames_per_second)
        last = stops[-1]
        n, n_dims = last.places.shape
        paint = as_paint(self.color, n, kind=self.kind, names=self.names)
        ax = plot_map(last.places, self.color, kind=self.kind, names=self.names, title=last.title)
        size = auto_size(ax, n) if n <= MAX_SCATTER else "auto"
        figure = figure_of(ax)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # from here on the axes do not move
        paints = [None if paint is None else paint.part(stop.rows) for stop in stops]
        drawn = [position_points(s.places, own) for s, own in zip(stops, paints, strict=True)]
        corners = smooth_limits(drawn, round(self.smoothing_seconds * self.frames_per_second))
        with whole_file(target, force=force) as file, TemporaryDirectory() as folder:
            film = Path(folder) / f"film{target.suffix}"  # writers choose the format by the suffix
            with writer.saving(figure, str(film), DPI):
                for stop, own, Y, limits in zip(stops, paints, drawn, corners, strict=True):
                    for artist in [*ax.collections, *ax.images]:
                        artist.remove()  # the points; legend, color bar and frame stay
                    frame_axes(ax, limits, own, n_dims)
                    draw_points(ax, Y, own, size)
                    ax.set_title(stop.title, parse_math=False)
                    writer.grab_frame()
                for _ in range(round(LAST_SECONDS * self.frames_per_second)):
                    writer.grab_frame()
            with film.open("rb") as finished:
                shutil.copyfileobj(finished, file)
        return target


def _check_target(path: str | os.PathLike[str], frames_per_second: float) -> Path:
    """Return the output file; raise before the work if it cannot be made."""
    check_number(frames_per_second, "frames_per_second", low=0.1, high=50, hint="Try 20.")
    target = check_suffix(path, (".gif", ".mp4"))
    _make_writer(target, frames_per_second)
    return target


def _make_writer(target: Path, frames_per_second: float) -> AbstractMovieWriter:
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
    low, high = (np.array(ends) for ends in zip(*map(find_limits, positions), strict=True))
    low = _slide(_slide(low, reach, np.min), reach, np.mean)
    high = _slide(_slide(high, reach, np.max), reach, np.mean)
    return list(zip(low, high, strict=True))


def _slide(rows: Array, reach: int, summary: Any) -> Array:
    """Return a summary of each row and of those up to reach before and after it."""
    return np.array(
        [summary(rows[max(0, i - reach) : i + reach + 1], axis=0) for i in range(len(rows))]
    )


def _find_stops(maps: Sequence[Any], ids: Any, titles: Sequence[str] | None) -> list[_Stop]:
    """Return the maps with rows counted as in the last one, each laid onto the next."""
    checked = [check_embedding(Y, name="A map") for Y in maps]
    if len(checked) < 2 or len({Y.shape[1] for Y in checked}) > 1:
        raise DataError(
            f"{keyword('maps')} must contain at least two maps with the same number of dimensions; "
            f"got {len(checked)} map(s). Pass the maps in order."
        )
    for name, values in (("ids", ids), ("titles", titles)):
        if values is not None and len(values) != len(checked):
            hint = "Pass one for each map."
            raise ParameterError(name, f"have {len(checked)} entries, one for each map", hint=hint)
    if ids is None:
        if len({len(Y) for Y in checked}) > 1:
            rule = "be given for maps with different numbers of points"
            hint = "Pass the identifiers of the rows of each map."
            raise ParameterError("ids", rule, None, hint)
        ids = [np.arange(len(Y)) for Y in checked]
    keys = [check_ids(own, len(Y), "ids") for own, Y in zip(ids, checked, strict=True)]
    titles = titles or [f"map {k + 1}" for k in range(len(checked))]
    stops: list[_Stop] = []
    for Y, own, title in reversed(list(zip(checked, keys, titles, strict=True))):
        rows, within = match_ids(keys[-1], own)
        stop = _Stop(title, rows, Y[within])
        stops.insert(0, _laid_onto(stop, stops[0]) if stops else stop)
    return stops


def _laid_onto(stop: _Stop, later: _Stop) -> _Stop:
    _, here, there = np.intersect1d(stop.rows, later.rows, return_indices=True)
    if len(here) < 2:
        raise DataError(
            f"Maps that follow each other must have at least 2 rows in common; {stop.title!r} and "
            f"{later.title!r} have {len(here)}. Pass maps of the same rows."
        )
    similarity = find_similarity(stop.places[here], later.places[there])
    return stop._replace(places=similarity.apply(stop.places).astype(np.float64))


def _interpolate(stops: list[_Stop], frames_per_second: float) -> list[_Stop]:
    """Return the maps of all frames; points start and arrive slowly."""
    n_rest = max(1, round(REST_SECONDS * frames_per_second))
    n_moves = max(1, round(MOVE_SECONDS * frames_per_second))
    shown = [stops[0]] * n_rest
    for stop, later in pairwise(stops):
        rows, here, there = np.intersect1d(stop.rows, later.rows, return_indices=True)
        for step in range(1, n_moves):
            share = (step / n_moves) ** 2 * (3 - 2 * step / n_moves)
            places = (1 - share) * stop.places[here] + share * later.places[there]
            shown.append(_Stop(later.title, rows, places))
        shown += [later] * n_rest
    return shown
