"""Figures of maps: one map, or several in a grid."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from isosne._checks import check_count
from isosne._types import Array
from isosne.errors import keyword
from isosne.plots.annotations import Scenery, annotate_classes
from isosne.plots.color_assignment import spread_colors
from isosne.plots.density import draw_density
from isosne.plots.figures import (
    add_title_height,
    arrange_below,
    arrange_grid,
    legend_width,
    make_grid,
    new_figure,
    set_wrapped_title,
)
from isosne.plots.frames import check_axes, check_embedding, check_mark
from isosne.plots.map_axes import (
    add_explanation,
    add_shared_explanation,
    check_plane,
    check_point_size,
    common_dims,
    draw_map,
    find_named,
    needs_legend,
    share_colors,
)
from isosne.plots.paint import Classes, Names, Paint, Values, as_paint, paint_maps
from isosne.plots.styles import Style, find_style
from isosne.plots.thumbnails import check_images, draw_thumbnails

STRIP_SHARE = 0.6
"""Height of a one-dimensional map relative to its width; chosen by eye."""
AXES_SHARE = 0.77
"""Height of the axes relative to the figure before layout: matplotlib's 0.88 - 0.11."""
TITLE_SHARE = 0.9
"""Maximum width of a title line relative to the axes, which leaves a margin; chosen."""
CLEARANCE = {False: 1, True: 3}
"""Distance of names from points in cells of 3 points, without and with contours around them."""


def plot_map(
    embedding: Any,
    color: Any = None,
    *,
    kind: str = "auto",
    mark: Any = None,
    title: str | None = None,
    point_size: float | str = "auto",
    legend: bool | str = "auto",
    names: Names = None,
    annotate: Any = False,
    contours: bool = False,
    images: Any = None,
    style: str = "screen",
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
    legend : bool or "auto", default="auto"
        Whether to add a legend or a color bar. "auto": unless the classes are named on the map.
    names : mapping, sequence of str or None, default=None
        Names of the labels: a mapping from labels, or a sequence indexed by labels 0, 1, ...
    annotate : bool or array of shape (n,), default=False
        Whether to write the names of the classes on the map, each beside its cluster. An array of
        labels names clusters of a map that is colored by something else.
    contours : bool, default=False
        Whether to draw lines of equal density, which enclose 95, 75, 50 and 25 % of the points.
    images : array of shape (n, height, width) or (n, height, width, 3), or None, default=None
        Images of the points, gray or red, green and blue. As many as have room are drawn.
    style : {"screen", "paper", "slides", "dark"}, default="screen"
        "paper" is as wide as a column of a journal, 89 mm, with fonts of 8 points and the legend
        below the map.
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
    100 000 points the map is rasterized if datashader is installed and ``point_size="auto"``.

    The colors of up to ten classes can be told apart with common forms of color blindness. Above
    ten classes, those that are near each other on the map get colors that differ most, so that a
    class may have another color on another map. Above 60 classes, colors repeat with other shapes.

    Names do not overlap and stay inside the axes, at any size of the figure. If there is no room,
    their font is reduced, down to 60 %; what then has no place is left out with a warning. Images
    do not overlap; the densest places have the first choice. 8-bit images are drawn as they are,
    others from black for the lowest value to white for the highest. Not in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import plot_map
    >>> ax = plot_map(np.eye(3)[:, :2], ["a", "b", "b"], mark=0)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    Y = check_embedding(embedding)
    look = find_style(style)
    paint = spread_colors(look.paint(as_paint(color, len(Y), kind=kind, names=names)), Y)
    marked = check_mark(mark, len(Y))
    check_point_size(point_size)
    named = find_named(annotate, paint, Y, names)
    check_plane(Y.shape[1], contours=contours, images=images is not None)
    pictures = None if images is None else check_images(images, len(Y))
    explained = paint if needs_legend(legend, paint, named) else None
    is_new = ax is None
    with look.applied():
        columns = 0
        if ax is None:
            ax, columns = make_axes(Y.shape[1], explained, look)
        check_axes(ax, Y.shape[1])
        positions = draw_map(ax, Y, paint, marked, point_size, named, look)
        if contours:
            draw_density(ax, positions, look)
        boxes = np.empty((0, 2, 2))
        if pictures is not None:
            boxes = draw_thumbnails(ax, positions, pictures, paint, look)
        if named is not None:
            scenery = Scenery(positions, boxes, CLEARANCE[contours])
            annotate_classes(ax, scenery, named, look, in_color=named is paint)
        if title is not None:
            add_title(ax, title, look, is_new=is_new)
        add_explanation(ax, explained, len(Y), Y.shape[1], columns=columns)
    return ax


def make_axes(n_dims: int, explained: Paint, style: Style) -> tuple[Axes, int]:
    """Return the axes of a new figure, and the columns of the legend if it is below them."""
    columns, below = 0, 0.0
    if style.width is None:
        width = style.side + legend_width(explained, AXES_SHARE * style.side)
        side = style.side
    elif isinstance(explained, Classes) and n_dims > 1:
        width = side = style.width
        columns, below = arrange_below(explained, width)
    else:
        beside = legend_width(explained, style.width) if isinstance(explained, Values) else 0.0
        width, side = style.width, style.width - beside
    figure = new_figure(width, (side if n_dims > 1 else STRIP_SHARE * side) + below)
    ax = figure.add_subplot(projection="3d" if n_dims == 3 else None)
    ax.set_anchor("W")  # remaining space is on the side of the legend
    return ax, columns


def add_title(ax: Axes, title: str, style: Style, *, is_new: bool) -> None:
    """Add a title, wrapped to the width of the axes."""
    width = style.side if is_new else ax.get_window_extent().width / ax.figure.dpi
    n_lines = set_wrapped_title(ax, title, inches=TITLE_SHARE * width)
    if is_new:
        add_title_height(ax.figure, n_lines)  # type: ignore[arg-type]  # not a SubFigure


def plot_maps(
    maps: Mapping[str, Any],
    color: Any = None,
    *,
    kind: str = "auto",
    columns: int | None = None,
    mark: Any = None,
    point_size: float | str = "auto",
    legend: bool | str = "auto",
    names: Names = None,
    annotate: Any = False,
    contours: bool = False,
    style: str = "screen",
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
    legend : bool or "auto", default="auto"
        Whether to add a legend or a color bar; see `plot_map`.
    names : mapping, sequence of str or None, default=None
        Names of the labels; see `plot_map`.
    annotate : bool or array of shape (n,), default=False
        Whether to write the names of the classes on the maps; see `plot_map`.
    contours : bool, default=False
        Whether to draw lines of equal density; see `plot_map`.
    style : {"screen", "paper", "slides", "dark"}, default="screen"
        Sizes, fonts and colors; see `plot_map`. "paper" is for two columns of a journal: four maps
        in a row are 183 mm wide.

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
    look, n_dims = find_style(style), common_dims(checked)
    paints = paint_maps(color, {t: len(Y) for t, Y in checked.items()}, kind=kind, names=names)
    paints = share_colors({t: look.paint(paint) for t, paint in paints.items()}, checked)
    marked = {title: check_mark(mark, len(Y)) for title, Y in checked.items()}
    check_point_size(point_size)
    check_plane(n_dims, contours=contours)
    named = {t: find_named(annotate, paints[t], Y, names) for t, Y in checked.items()}
    if columns is not None:
        hint = f"Use {keyword('columns', None)} to choose it by the number of maps."
        check_count(columns, "columns", low=1, hint=hint)
    first = next(iter(checked))
    explained = paints[first] if needs_legend(legend, paints[first], named[first]) else None
    with look.applied():
        height = look.panel * arrange_grid(len(checked), columns)[0]
        beside = legend_width(explained, height)
        axes = make_grid(len(checked), columns, side=look.panel, beside=beside, n_dims=n_dims)
        n_lines = 1
        for ax, (title, Y) in zip(axes, checked.items(), strict=True):
            n_lines = max(n_lines, set_wrapped_title(ax, title, inches=TITLE_SHARE * look.panel))
            paint = paints[title]
            classes = named[title]
            drawn = draw_map(ax, Y, paint, marked[title], point_size, classes, look)
            if contours:
                draw_density(ax, drawn, look)
            if classes is not None:
                scenery = Scenery(drawn, np.empty((0, 2, 2)), CLEARANCE[contours])
                annotate_classes(ax, scenery, classes, look, in_color=classes is paint)
        add_title_height(axes[0].figure, n_lines)
        add_shared_explanation(axes, explained, max(map(len, checked.values())), n_dims)
    return axes
