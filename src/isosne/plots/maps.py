"""Figures of maps: one map, or several in a grid; lanes in 1-D, a box in 3-D."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from isosne._checks import check_count, check_number
from isosne._types import Array
from isosne.errors import ParameterError, keyword
from isosne.plots import figures
from isosne.plots.annotations import ClassNames
from isosne.plots.figures import SCREEN, Style
from isosne.plots.paint import (
    Classes,
    Names,
    Paint,
    Values,
    as_paint,
    check_embedding,
    paint_maps,
    spread_colors,
)
from isosne.plots.palette import Floats
from isosne.plots.points import draw_marks, draw_points
from isosne.plots.raster import find_limits, frame_corners, own_aspect, position_points

# Chosen by eye.
ELEVATION, AZIMUTH = 22, -58  # viewing angles of a 3-D map in degrees
ZOOM = 1.12  # magnification at which a cube fills the axes without being cut off
STRIP_SHARE = 0.6  # height of a one-dimensional map relative to its width
AXES_SHARE = 0.77  # height of the axes in a figure before layout: matplotlib's 0.88 - 0.11


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
        `isosne.quality.compare(...).trust()`.
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
        Whether to write the names of the classes on the map, each where its class is densest. An
        array of labels names clusters of a map that is colored by something else.
    style : {"screen", "paper", "slides", "dark"}, default="screen"
        "paper" is as wide as a column of a journal, 89 mm, with fonts of 8 points.
    ax : Axes or None, default=None
        Axes to draw on; None creates a new figure, available as ``ax.figure``.

    Returns
    -------
    Axes
        The axes drawn on.

    Notes
    -----
    The axes have equal scales in two and three dimensions. Points are drawn in a fixed random
    order, so that no class hides another. Above 100,000 points the map is rasterized if
    ``point_size="auto"``. Above ten classes, their colors depend on the map, and above 60 they
    repeat. Names for which there is no room are left out with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import plot_map
    >>> ax = plot_map(np.eye(3)[:, :2], ["a", "b", "b"], mark=0)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    Y = check_embedding(embedding)
    look = figures.find_style(style)
    paint = spread_colors(look.paint(as_paint(color, len(Y), kind=kind, names=names)), Y)
    drawing = _Drawing(mark, point_size, annotate, names, look)
    named = drawing.check(Y, paint)
    explained = _find_explained(legend, paint, named)
    is_new = ax is None
    with look.applied():
        if ax is None:
            aspect = _find_aspect([Y], explained, look.side)
            ax, side = make_axes(Y.shape[1], explained, look, aspect)
        else:
            aspect, side = None, ax.get_window_extent().width / ax.figure.dpi
        _check_axes(ax, Y.shape[1])
        drawing.draw(ax, Y, paint, named, aspect)
        if title is not None:
            figures.add_titles([ax], [title], side, is_new=is_new)
        add_explanation([ax], explained, Y.shape[1])
    return ax


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
    style: str = "screen",
) -> Array:
    """Plot several maps in a grid, with one legend.

    Parameters
    ----------
    maps : mapping from str to array
        Titles to maps, all with the same number of columns.
    color : array, series, Trust, mapping or None, default=None
        What to color the points by: one column for all maps, or a mapping from titles to columns.
    columns : int or None, default=None
        Number of maps per row; None: one row for up to four maps, otherwise a square grid.
    kind, mark, point_size, legend, names, annotate, style
        See `plot_map`. The style "paper" is for two columns of a journal: four maps in a row are
        183 mm wide.

    Returns
    -------
    array of Axes
        One for each map, in order; ``axes[0].figure`` is the figure.

    Notes
    -----
    A class or a value has the same color in every map.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.plots import plot_maps
    >>> Y = np.eye(3)[:, :2]
    >>> [ax.get_title() for ax in plot_maps({"Gaussian": Y, "isolation": -Y}, ["a", "b", "b"])]
    ['Gaussian', 'isolation']
    """
    if not isinstance(maps, Mapping):
        hint = "Pass a mapping from titles to maps."
        raise ParameterError("maps", "map titles to coordinates", type(maps), hint)
    checked = {str(t): check_embedding(Y, name=f"The map {str(t)!r}") for t, Y in maps.items()}
    look, n_dims = figures.find_style(style), _common_dims(checked)
    paints = paint_maps(color, {t: len(Y) for t, Y in checked.items()}, kind=kind, names=names)
    paints = _share_colors({t: look.paint(paint) for t, paint in paints.items()}, checked)
    drawing = _Drawing(mark, point_size, annotate, names, look)
    named = {t: drawing.check(Y, paints[t]) for t, Y in checked.items()}
    if columns is not None:
        check_count(columns, "columns", low=1, hint="Leave it out to choose it.")
    first = next(iter(checked))
    explained = _find_explained(legend, paints[first], named[first])
    with look.applied():
        aspect = _find_aspect(list(checked.values()), explained, look.panel)
        shape: dict[str, Any] = {"side": look.panel, "aspect": aspect, "n_dims": n_dims}
        axes = figures.make_grid(len(checked), columns, explained, **shape)
        for ax, (title, Y) in zip(axes, checked.items(), strict=True):
            drawing.draw(ax, Y, paints[title], named[title], aspect)
        figures.add_titles(axes.tolist(), checked, look.panel, is_new=True)
        add_explanation(axes.tolist(), explained, n_dims)
    return axes


class _Drawing(NamedTuple):
    """What is drawn on a map beside its points, as the user asks for it."""

    mark: Any
    point_size: float | str
    annotate: Any
    names: Names
    style: Style

    def check(self, Y: Array, paint: Paint) -> Classes | None:
        """Refuse what a map cannot have; return the classes to name on it, or None."""
        self._marked(len(Y))
        if self.point_size != "auto":
            hint = f"Use {keyword('point_size', 'auto')} to choose it by the number of points."
            check_number(self.point_size, "point_size", low=0.01, hint=hint)
        if self.annotate is not False and Y.shape[1] != 2:
            rule = f"be left out for a map with {Y.shape[1]} column(s)"
            raise ParameterError("annotate", rule, hint="Use it with two-dimensional maps.")
        return self._find_named(paint, len(Y))

    def draw(
        self, ax: Axes, Y: Floats, paint: Paint, named: Classes | None, aspect: float | None
    ) -> None:
        """Draw a map that was checked."""
        positions = position_points(Y, paint)
        corners = find_limits(positions)
        frame_axes(ax, corners, paint, Y.shape[1], self.style, aspect=aspect)
        draw_points(ax, positions, paint, self.point_size, self.style)
        draw_marks(ax, positions, self._marked(len(Y)), self.style)
        if named is not None:
            ClassNames(ax, positions, named, self.style, in_color=named is paint)

    def _marked(self, n: int) -> NDArray[np.int64]:
        hint = "Pass a row index, or a list of row indices."
        entries = [] if self.mark is None else np.ravel(np.asarray(self.mark)).tolist()
        for i in entries:
            check_count(i, "mark", low=0, high=n - 1, hint=hint)
        return np.array(entries, np.int64)

    def _find_named(self, paint: Paint, n: int) -> Classes | None:
        if self.annotate is False:
            return None
        if self.annotate is True and isinstance(paint, Classes):
            return paint
        shape = np.shape(self.annotate)
        if shape != (n,):
            rule = (
                "be False, True for the classes that color the points, or an array with a label "
                f"for each of the {n:,} points"
            )
            given = ... if shape else self.annotate
            hint = f"Pass the labels, as in {keyword('annotate')}=y."
            raise ParameterError("annotate", rule, given, hint)
        named = as_paint(self.annotate, n, kind="labels", names=self.names)
        assert isinstance(named, Classes)  # because of kind="labels"
        return named


def make_axes(
    n_dims: int, explained: Paint, style: Style, aspect: float = 1.0
) -> tuple[Axes, float]:
    """Return the axes of a new figure with room for a legend beside them, and their width."""
    side = style.side
    beside = figures.legend_width(explained, AXES_SHARE * aspect * side)
    if style.is_column:  # only a long legend widens the figure
        side = max(side - beside, side / 2)
        beside = figures.legend_width(explained, AXES_SHARE * aspect * side)
    ax = figures.add_axes(figures.new_figure(side + beside, side * aspect), n_dims)
    ax.set_anchor("W")  # remaining space is on the side of the legend
    return ax, side


def add_explanation(axes: Sequence[Axes], paint: Paint, n_dims: int) -> None:
    """Add a legend or a color bar beside one or several maps."""
    if isinstance(paint, Values):
        figures.add_color_bar(axes, paint)
    elif isinstance(paint, Classes) and n_dims > 1:  # in 1-D the lanes are labeled
        beside = axes[0] if len(axes) == 1 else figures.figure_of(axes[0])
        figures.add_legend(beside, figures.class_handles(paint), title=paint.title)


def _check_axes(ax: Axes, n_dims: int) -> None:
    """Raise if a 3-D map would be drawn on 2-D axes, or the other way round."""
    if (ax.name == "3d") != (n_dims == 3):
        wanted, call = ("3-D Axes", "projection='3d'") if n_dims == 3 else ("2-D Axes", "")
        rule = f"be {wanted} for a map with {n_dims} column(s), not {type(ax).__name__}"
        hint = f"Pass figure.add_subplot({call}), or {keyword('ax', None)} for a new figure."
        raise ParameterError("ax", rule, hint=hint)


def _find_explained(legend: bool | str, paint: Paint, named: Classes | None) -> Paint:
    """Return the paint that needs a legend: not that of classes that are named on the map."""
    return paint if (named is not paint if legend == "auto" else legend) else None


def _share_colors(paints: dict[str, Paint], maps: Mapping[str, Array]) -> dict[str, Paint]:
    """Return paints in which a class has the same color in all maps, chosen for the first one."""
    title, Y = next(iter(maps.items()))
    first = spread_colors(paints[title], Y)
    if not isinstance(first, Classes):
        return paints
    return {
        t: paint._replace(palette=first.palette) if isinstance(paint, Classes) else paint
        for t, paint in paints.items()
    }


def _find_aspect(maps: Sequence[Floats], explained: Paint, side: float) -> float:
    """Return the height of panels relative to their width: the median of maps, or of a legend."""
    if maps[0].shape[1] != 2:
        return STRIP_SHARE if maps[0].shape[1] == 1 else 1.0
    aspect = float(np.median([own_aspect(find_limits(Y)) for Y in maps]))
    return max(aspect, min(1.0, figures.legend_height(explained) / side))


def _common_dims(maps: Mapping[str, Array]) -> int:
    dims = sorted({Y.shape[1] for Y in maps.values()})
    if not dims:
        hint = "Pass a mapping from titles to maps."
        raise ParameterError("maps", "contain at least one map", dict(maps), hint)
    if len(dims) > 1:
        rule = f"all have the same number of columns, not {dims[0]} and {dims[-1]}"
        hint = "Draw maps of different dimensions in separate figures."
        raise ParameterError("maps", rule, hint=hint)
    return int(dims[0])


def frame_axes(
    ax: Axes,
    corners: tuple[Array, Array],
    paint: Paint,
    n_dims: int,
    style: Style = SCREEN,
    *,
    aspect: float | None = None,
) -> None:
    """Set limits and style of the axes of a map: no ticks, equal scales."""
    low, high = corners
    figures.strip_axes(ax, style)
    if n_dims == 3:
        _frame_box(ax, low, high, style)
        return
    if n_dims == 2:
        (left, bottom), (right, top) = frame_corners(corners, aspect)
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        return
    ax.set(xlim=(low[0], high[0]), aspect="auto")
    if isinstance(paint, Classes):
        ax.set_ylim(0.5 - len(paint.names), 0.5)
        names = [figures.printable(name) for name in paint.names]
        ax.set_yticks(-np.arange(len(names)), labels=names, parse_math=False)
        ax.tick_params(axis="y", length=0)
        figures.fix_tick_labels(ax)
    else:
        ax.set_ylim(-0.5, 0.5)


def _frame_box(ax: Any, low: Array, high: Array, style: Style) -> None:
    """Set limits and style of 3-D axes; ``Any``, because their class has no type hints."""
    x, y, z = zip(low, high, strict=True)
    ax.set(xlim=x, ylim=y, zlim=z, zticks=[])
    sides = high - low
    # The diagonal relative to that of a cube: 1 for a cube, which fills the axes.
    oblong = np.linalg.norm(sides) / (np.sqrt(3) * sides.max())
    ax.set_box_aspect(sides, zoom=ZOOM * float(np.sqrt(oblong)))
    ax.computed_zorder = False  # markers stay in front
    ax.view_init(ELEVATION, AZIMUTH)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color(style.pane)
        axis.line.set_color(style.frame)
