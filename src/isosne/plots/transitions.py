"""Animation from one map to the next: where points move when data or parameters change."""

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_number
from isosne._matching import check_ids, match_ids
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.layout.procrustes import find_similarity
from isosne.plots.embeddings import plot_map
from isosne.plots.film import ENDINGS, Frame, make_writer, smooth_limits, write_film
from isosne.plots.frames import check_embedding, position_points
from isosne.plots.image_files import check_suffix
from isosne.plots.paint import Names, Paint, as_paint
from isosne.plots.points import MAX_SCATTER, auto_size

REST_SECONDS, MOVE_SECONDS = 0.8, 1.2
"""How long a map is shown, and how long its points move to the next; chosen by eye."""


class _Stop(NamedTuple):
    """A map on the way: its title, rows of the last map that it has, and their places."""

    title: str
    rows: NDArray[np.int64]
    places: NDArray[np.float64]


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
    color : array, series, Trust or None, default=None
        What to color the points of the last map by; see `plot_map`.
    ids : sequence of arrays or None, default=None
        Unique identifiers of the rows of each map. None: all maps have the same rows.
    titles : sequence of str or None, default=None
        Title of each map. None: "map 1", "map 2" and so on.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        How to interpret ``color``; see `plot_map`.
    names : mapping, sequence of str or None, default=None
        Names of the labels; see `plot_map`.
    frames_per_second : float, default=20.0
        Number of frames per second, up to 50.
    force : bool, default=True
        Whether to overwrite an existing file, once the new one is complete.

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
    check_number(frames_per_second, "frames_per_second", low=0.1, high=50, hint="Try 20.")
    target = check_suffix(path, ENDINGS)
    make_writer(target, frames_per_second)  # before the work, if it cannot be made
    stops = _find_stops(maps, ids, titles)
    last = stops[-1]
    paint = as_paint(color, len(last.rows), kind=kind, names=names)
    ax = plot_map(last.places, color, kind=kind, names=names, title=last.title)
    n = len(last.rows)
    size: float | str = auto_size(ax, n) if n <= MAX_SCATTER else "auto"
    shown = _interpolate(stops, frames_per_second)
    positions = [position_points(stop.places, _part(paint, stop.rows)) for stop in shown]
    corners = smooth_limits(positions, round(REST_SECONDS * frames_per_second))
    frames = [
        Frame(stop.title, Y, _part(paint, stop.rows), limits, size)
        for stop, Y, limits in zip(shown, positions, corners, strict=True)
    ]
    n_dims = last.places.shape[1]
    return write_film(target, ax, frames, n_dims, frames_per_second, force=force)


def _part(paint: Paint, rows: Array) -> Paint:
    return None if paint is None else paint.part(rows)


def _find_stops(maps: Sequence[Any], ids: Any, titles: Sequence[str] | None) -> list[_Stop]:
    """Return the maps with rows counted as in the last one, each laid onto the next."""
    found = [check_embedding(Y, name="A map") for Y in maps]
    if len(found) < 2 or len({Y.shape[1] for Y in found}) > 1:
        raise DataError(
            f"{keyword('maps')} must contain at least two maps with the same number of dimensions; "
            f"got {len(found)} map(s). Pass the maps in order."
        )
    for name, values in (("ids", ids), ("titles", titles)):
        if values is not None and len(values) != len(found):
            hint = "Pass one for each map."
            raise ParameterError(name, f"have {len(found)} entries, one for each map", hint=hint)
    if ids is None:
        if len({len(Y) for Y in found}) > 1:
            raise ParameterError(
                "ids",
                "be given for maps with different numbers of points",
                None,
                "Pass the identifiers of the rows of each map.",
            )
        ids = [np.arange(len(Y)) for Y in found]
    keys = [check_ids(own, len(Y), "ids") for own, Y in zip(ids, found, strict=True)]
    titles = titles or [f"map {k + 1}" for k in range(len(found))]
    stops: list[_Stop] = []
    for Y, own, title in reversed(list(zip(found, keys, titles, strict=True))):
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
