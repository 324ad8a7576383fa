"""Figures of maps: one map, or several in a grid."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from isosne._checks import check_count, check_number
from isosne._types import Array
from isosne.errors import ParameterError, keyword
from isosne.plots.figures import (
    add_color_bar,
    add_figure_legend,
    add_legend,
    add_title_height,
    class_handles,
    legend_width,
    make_grid,
    new_figure,
    set_wrapped_title,
)
from isosne.plots.frames import (
    check_axes,
    check_embedding,
    check_mark,
    find_limits,
    frame_axes,
    position_points,
)
from isosne.plots.paint import Classes, Names, Paint, Values, as_paint, paint_maps
from isosne.plots.points import draw_marks, draw_points, uses_shapes

SIDE = 5.6
"""Side of a single map in inches; chosen."""
STRIP_SHARE = 0.6
"""Height of a one-dimensional map relative to its width; chosen by eye."""
AXES_SHARE = 0.77
"""Height of the axes relative to the figure before layout: matplotlib's 0.88 - 0.11."""
TITLE_SHARE = 0.9
"""Maximum width of a title line relative to the axes, which leaves a margin; chosen."""
PANEL = 3.4
"""Side of a map in a grid, in inches; chosen."""


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
    """Plot a map, colored by class, by value or by per-point trust.

    Parameters
    ----------
    embedding : array or data frame of shape (n, 1), (n, 2) or (n, 3)
        The map. A one-dimensional map is drawn in lanes, a three-dimensional one in a box.
    color : array, series, Trust or None, default=None
        What to color the points by: one label or number per point, or the result of
        `isosne.quality.trust`.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        How to interpret ``color``. "auto": floats, and integers with more than 30 distinct values,
        are values; everything else is labels.
    mark : int, sequence of int or None, default=None
        Row indices of points to mark with a cross.
    title : str or None, default=None
        Title of the figure; dollar signs in it do not enclose formulas.
    point_size : float or "auto", default="auto"
        Area of a point in square points, as in matplotlib. "auto" depends on the number of points.
    legend : bool, default=True
        Whether to add a legend or a color bar.
    names : mapping, sequence of str or None, default=None
        Names of the labels: a mapping from labels, or a sequence indexed by labels 0, 1, ...
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure, available as ``ax.figure``.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    The axes have no ticks and, in two and three dimensions, equal scales: only distances have a
    meaning. Points are drawn in a fixed random order, so that no class hides another. Above
    100 000 points the map is rasterized if datashader is installed and ``point_size="auto"``. Not
    in the paper.

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
    is_new = ax is None
    if ax is None:
        ax = _make_axes(Y.shape[1], paint if legend else None)
    check_axes(ax, Y.shape[1])
    _draw(ax, Y, paint, marked, point_size)
    if title is not None:
        _add_title(ax, title, is_new=is_new)
    if legend:
        _add_explanation(ax, paint, len(Y), Y.shape[1])
    return ax


def _make_axes(n_dims: int, explained: Paint) -> Axes:
    height = SIDE if n_dims > 1 else STRIP_SHARE * SIDE
    figure = new_figure(SIDE + legend_width(explained, AXES_SHARE * height), height)
    ax = figure.add_subplot(projection="3d" if n_dims == 3 else None)
    ax.set_anchor("W")  # remaining space is on the side of the legend
    return ax


def _add_title(ax: Axes, title: str, *, is_new: bool) -> None:
    width = SIDE if is_new else ax.get_window_extent().width / ax.figure.dpi
    n_lines = set_wrapped_title(ax, title, inches=TITLE_SHARE * width)
    if is_new:
        add_title_height(ax.figure, n_lines)  # type: ignore[arg-type]  # not a SubFigure


def _check_point_size(point_size: float | str) -> None:
    if point_size != "auto":
        hint = f"Use {keyword('point_size', 'auto')} to choose it by the number of points."
        check_number(point_size, "point_size", low=0.01, hint=hint)


def _draw(ax: Axes, Y: Array, paint: Paint, marked: Array, point_size: float | str) -> None:
    positions = position_points(Y, paint)
    frame_axes(ax, find_limits(positions), paint, Y.shape[1])
    draw_points(ax, positions, paint, point_size)
    draw_marks(ax, positions, marked)


def _add_explanation(ax: Axes, paint: Paint, n: int, n_dims: int) -> None:
    if isinstance(paint, Values):
        add_color_bar([ax], paint)
    elif isinstance(paint, Classes) and n_dims > 1:  # in 1-D the lanes are labeled
        handles = class_handles(paint, with_shapes=uses_shapes(paint, n, n_dims))
        add_legend(ax, handles, title=paint.title)


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
    """Plot several maps in a grid, with one legend.

    Parameters
    ----------
    maps : mapping from str to array
        Titles to maps, all with the same number of columns.
    color : array, series, Trust, mapping or None, default=None
        What to color the points by: one column for all maps, or a mapping from titles to columns.
    kind : {"auto", "labels", "values", "trust"}, default="auto"
        How to interpret ``color``; see `plot_map`.
    columns : int or None, default=None
        Number of maps per row; None: one row for up to four maps, otherwise a square grid.
    mark : int, sequence of int or None, default=None
        Row indices of points to mark with a cross in every map.
    point_size : float or "auto", default="auto"
        Area of a point in square points; see `plot_map`.
    legend : bool, default=True
        Whether to add a legend or a color bar.
    names : mapping, sequence of str or None, default=None
        Names of the labels; see `plot_map`.

    Returns
    -------
    array of Axes
        One for each map, in order; ``axes[0].figure`` is the figure.

    Notes
    -----
    A class or a value has the same color in every map. Not in the paper.

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
        hint = f"Use {keyword('columns', None)} to choose it by the number of maps."
        check_count(columns, "columns", low=1, hint=hint)
    explained = next(iter(paints.values())) if legend else None
    beside = legend_width(explained, SIDE)
    axes = make_grid(len(checked), columns, side=PANEL, beside=beside, n_dims=n_dims)
    n_lines = 1
    for ax, (title, Y) in zip(axes, checked.items(), strict=True):
        n_lines = max(n_lines, set_wrapped_title(ax, title, inches=TITLE_SHARE * PANEL))
        _draw(ax, Y, paints[title], marked[title], point_size)
    add_title_height(axes[0].figure, n_lines)
    _add_shared_explanation(axes, explained, max(map(len, checked.values())), n_dims)
    return axes


def _common_dims(maps: Mapping[str, Array]) -> int:
    dims = sorted({Y.shape[1] for Y in maps.values()})
    if not dims:
        hint = "Pass a mapping from titles to maps."
        raise ParameterError("maps", "contain at least one map", dict(maps), hint)
    if len(dims) > 1:
        raise ParameterError(
            "maps",
            f"all have the same number of columns, not {dims[0]} and {dims[-1]}",
            hint="Draw maps of different dimensions in separate figures.",
        )
    return int(dims[0])


def _add_shared_explanation(axes: Array, paint: Paint, n: int, n_dims: int) -> None:
    if isinstance(paint, Values):
        add_color_bar(axes.tolist(), paint)
    elif isinstance(paint, Classes) and n_dims > 1:
        handles = class_handles(paint, with_shapes=uses_shapes(paint, n, n_dims))
        add_figure_legend(axes[0].figure, handles, title=paint.title)
