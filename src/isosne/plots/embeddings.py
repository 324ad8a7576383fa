"""Maps as pictures: one, or several beside each other."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from isosne._checks import check_count, check_number
from isosne._types import Array
from isosne.errors import ParameterError
from isosne.plots.figures import (
    class_handles,
    color_bar,
    grid_of_axes,
    legend_beside,
    legend_of_figure,
    make_room_above,
    new_figure,
    put_title,
    room_beside,
)
from isosne.plots.frames import check_axes, check_embedding, check_mark, frame, limits, place
from isosne.plots.paint import Classes, Names, Paint, Values, as_paint, paint_maps
from isosne.plots.points import draw_marks, draw_points, uses_shapes

SIDE = 5.6
"""Inches of a map that stands alone."""
AXES_SHARE = 0.77
"""Share of a figure's height that axes have until they are laid out."""
TITLE_SHARE = 0.9
"""Share of the width of axes that a line of their title takes at the most."""
PANEL = 3.4
"""Inches of a map among others."""


def plot_map(
    embedding: Any,
    color: Any = None,
    *,
    kind: str = "auto",
    mark: Any = None,
    title: str | None = None,
    point_size: float | str = "auto",
    legend: bool = True,
    names: Names = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map, colored by classes, by a number, or by how far it can be trusted.

    Parameters
    ----------
    embedding : array or data frame of shape (n, 1), (n, 2) or (n, 3)
        The map. One dimension is drawn in lanes, three in a box.
    color : array, series, Trust or None, default=None
        What to color the points by: a label or a number for each, or what
        `isosne.quality.trust` returns.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        What color means. "auto": numbers with a fraction, or more than 30 distinct whole ones, are
        values; all else is labels.
    mark : int, sequence of int or None, default=None
        Points to mark with a cross, by row.
    title : str or None, default=None
        Title of the picture.
    point_size : float or "auto", default="auto"
        Area of a point in square points, as in matplotlib. "auto" follows the number of points.
    legend : bool, default=True
        Whether to explain the colors, by a legend or a color bar beside the map.
    names : mapping, sequence of str or None, default=None
        Names of the labels: by label, or by place where labels count from 0.
    ax : Axes or None, default=None
        Where to draw; None: on a figure of its own, which is ``ax.figure``.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    Axes have no ticks and, in two and three dimensions, one scale: only distances mean something.
    Points are drawn in a random order that is always the same, so that no class hides another.
    Above 100 000 points pixels are shaded by the points in them, if datashader is installed and
    the point size is left to the rule. Not in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import plot_map
    >>> ax = plot_map(np.eye(3)[:, :2], ["a", "b", "b"], mark=0)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    Y = check_embedding(embedding)
    paint = as_paint(color, len(Y), kind=kind, names=names)
    marked = check_mark(mark, len(Y))
    _check_point_size(point_size)
    is_ours = ax is None
    if ax is None:
        ax = _own_axes(Y.shape[1], paint if legend else None)
    check_axes(ax, Y.shape[1])
    _draw(ax, Y, paint, marked, point_size)
    if title is not None:
        _head(ax, title, is_ours=is_ours)
    if legend:
        _explain(ax, paint, len(Y), Y.shape[1])
    return ax


def _own_axes(n_dims: int, explained: Paint) -> Axes:
    height = SIDE if n_dims > 1 else 0.6 * SIDE
    figure = new_figure(SIDE + room_beside(explained, AXES_SHARE * height), height)
    ax = figure.add_subplot(projection="3d" if n_dims == 3 else None)
    ax.set_anchor("W")  # what room is left is on the side of the legend
    return ax


def _head(ax: Axes, title: str, *, is_ours: bool) -> None:
    width = SIDE if is_ours else ax.get_window_extent().width / ax.figure.dpi
    n_lines = put_title(ax, title, inches=TITLE_SHARE * width)
    if is_ours:
        make_room_above(ax.figure, n_lines)  # type: ignore[arg-type]  # no figure within another


def _check_point_size(point_size: float | str) -> None:
    if point_size != "auto":
        check_number(point_size, "point_size", low=0.01, hint="Pass 'auto' to leave it to a rule.")


def _draw(ax: Axes, Y: Array, paint: Paint, marked: Array, point_size: float | str) -> None:
    positions = place(Y, paint)
    frame(ax, limits(positions), paint, Y.shape[1])
    draw_points(ax, positions, paint, point_size)
    draw_marks(ax, positions, marked)


def _explain(ax: Axes, paint: Paint, n: int, n_dims: int) -> None:
    if isinstance(paint, Values):
        color_bar([ax], paint)
    elif isinstance(paint, Classes) and n_dims > 1:  # in one dimension lanes carry the names
        handles = class_handles(paint, with_shapes=uses_shapes(paint, n, n_dims))
        legend_beside(ax, handles, title=paint.title)


def plot_maps(
    maps: Mapping[str, Any],
    color: Any = None,
    *,
    kind: str = "auto",
    columns: int | None = None,
    mark: Any = None,
    point_size: float | str = "auto",
    legend: bool = True,
    names: Names = None,
) -> Array:
    """Draw several maps beside each other, with one legend for all.

    Parameters
    ----------
    maps : mapping from str to array
        The maps by their titles, all of one number of dimensions.
    color : array, series, Trust, mapping or None, default=None
        What to color the points by: one column for all maps, or a mapping from titles to columns.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        What color means, as in `plot_map`.
    columns : int or None, default=None
        Maps in a row; None: up to four in one row, more in a square.
    mark : int, sequence of int or None, default=None
        Points to mark with a cross, by row, in every map.
    point_size : float or "auto", default="auto"
        Area of a point in square points.
    legend : bool, default=True
        Whether to explain the colors beside the maps.
    names : mapping, sequence of str or None, default=None
        Names of the labels.

    Returns
    -------
    array of Axes
        One for each map, in order; ``axes[0].figure`` is the figure.

    Notes
    -----
    The same class, or the same number, has the same color in every map. Not in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import plot_maps
    >>> Y = np.eye(3)[:, :2]
    >>> [ax.get_title() for ax in plot_maps({"Gaussian": Y, "isolation": -Y}, ["a", "b", "b"])]
    ['Gaussian', 'isolation']
    """
    checked = {str(t): check_embedding(Y, name=f"The map {str(t)!r}") for t, Y in maps.items()}
    n_dims = _common_dims(checked)
    paints = paint_maps(color, {t: len(Y) for t, Y in checked.items()}, kind=kind, names=names)
    marked = {title: check_mark(mark, len(Y)) for title, Y in checked.items()}
    _check_point_size(point_size)
    if columns is not None:
        check_count(columns, "columns", low=1, hint="Leave it out to have it chosen.")
    explained = next(iter(paints.values())) if legend else None
    beside = room_beside(explained, SIDE)
    axes = grid_of_axes(len(checked), columns, side=PANEL, beside=beside, n_dims=n_dims)
    n_lines = 1
    for ax, (title, Y) in zip(axes, checked.items(), strict=True):
        n_lines = max(n_lines, put_title(ax, title, inches=TITLE_SHARE * PANEL))
        _draw(ax, Y, paints[title], marked[title], point_size)
    make_room_above(axes[0].figure, n_lines)
    _explain_all(axes, explained, max(map(len, checked.values())), n_dims)
    return axes


def _common_dims(maps: Mapping[str, Array]) -> int:
    dims = sorted({Y.shape[1] for Y in maps.values()})
    if len(dims) != 1:
        came = "none" if not dims else f"{dims[0]} and {dims[-1]}"
        raise ParameterError(
            "maps must hold at least one map, and all of the same number of dimensions; "
            f"got {came}. Pass a mapping from titles to maps, and draw flat maps by themselves."
        )
    return int(dims[0])


def _explain_all(axes: Array, paint: Paint, n: int, n_dims: int) -> None:
    if isinstance(paint, Values):
        color_bar(axes.tolist(), paint)
    elif isinstance(paint, Classes) and n_dims > 1:
        handles = class_handles(paint, with_shapes=uses_shapes(paint, n, n_dims))
        legend_of_figure(axes[0].figure, handles, title=paint.title)
