"""What one map and a grid of maps share: checks, points with marks and names, and legends."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from isosne._checks import check_number
from isosne._types import Array
from isosne.errors import ParameterError, keyword
from isosne.plots.color_assignment import spread_colors
from isosne.plots.figures import add_color_bar, add_figure_legend, add_legend, class_handles
from isosne.plots.frames import (
    MARGIN,
    NAMES_MARGIN,
    find_limits,
    frame_axes,
    position_points,
)
from isosne.plots.paint import Classes, Names, Paint, Values, as_paint
from isosne.plots.points import draw_marks, draw_points, uses_shapes
from isosne.plots.styles import Style


def check_point_size(point_size: float | str) -> None:
    """Refuse a point size that is neither "auto" nor a positive number."""
    if point_size != "auto":
        hint = f"Use {keyword('point_size', 'auto')} to choose it by the number of points."
        check_number(point_size, "point_size", low=0.01, hint=hint)


def find_named(annotate: Any, paint: Paint, Y: Array, names: Names) -> Classes | None:
    """Return the classes to name on the map, or None."""
    if annotate is False:
        return None
    if Y.shape[1] != 2:
        raise ParameterError(
            "annotate",
            f"be False for a map with {Y.shape[1]} column(s)",
            hint="Only two-dimensional maps have room for names; use a legend.",
        )
    if annotate is True:
        if isinstance(paint, Classes):
            return paint
        raise ParameterError(
            "annotate",
            "be an array of labels if the points are not colored by class",
            annotate,
            f"Pass the labels, as in {keyword('annotate')}=y.",
        )
    shape = np.shape(annotate)
    if shape != (len(Y),):
        given = f", not an array of shape {shape}" if shape else ""
        raise ParameterError(
            "annotate",
            f"be True, False, or an array with a label for each of the {len(Y):,} points{given}",
            ... if shape else annotate,
            f"Use {keyword('annotate', True)} for the classes that color the points.",
        )
    named = as_paint(annotate, len(Y), kind="labels", names=names)
    assert isinstance(named, Classes)  # because of kind="labels"
    return named


def check_plane(n_dims: int, **asked: bool) -> None:
    """Refuse what only a two-dimensional map has room for."""
    for name, is_asked in asked.items():
        if is_asked and n_dims != 2:
            raise ParameterError(
                name,
                f"be left out for a map with {n_dims} column(s)",
                hint="Use it with two-dimensional maps.",
            )


def needs_legend(legend: bool | str, paint: Paint, named: Classes | None) -> bool:
    """Return whether to add a legend, which named classes do not need."""
    if legend not in (True, False, "auto"):
        raise ParameterError(
            "legend",
            "be True, False or 'auto'",
            legend,
            f"Use {keyword('legend', 'auto')} for a legend unless classes are named on the map.",
        )
    return named is None or named is not paint if legend == "auto" else bool(legend)


def draw_map(
    ax: Axes,
    Y: Array,
    paint: Paint,
    marked: Array,
    point_size: float | str,
    named: Classes | None,
    style: Style,
) -> Array:
    """Draw points and marks, with room for names of classes; return the positions of the points."""
    positions = position_points(Y, paint)
    margin = MARGIN if named is None else NAMES_MARGIN
    frame_axes(ax, find_limits(positions, margin=margin), paint, Y.shape[1])
    style.color_frame(ax)
    draw_points(ax, positions, paint, point_size, style)
    draw_marks(ax, positions, marked, style)
    return positions


def add_explanation(ax: Axes, paint: Paint, n: int, n_dims: int, *, columns: int = 0) -> None:
    """Add a legend or a color bar beside a map, or a legend in columns below it."""
    if isinstance(paint, Values):
        add_color_bar([ax], paint)
    elif isinstance(paint, Classes) and n_dims > 1:  # in 1-D the lanes are labeled
        handles = class_handles(paint, with_shapes=uses_shapes(paint, n, n_dims))
        if columns:
            figure = ax.get_figure(root=True)
            add_figure_legend(figure, handles, title=paint.title, columns=columns)  # type: ignore[arg-type]  # axes have a figure
        else:
            add_legend(ax, handles, title=paint.title)


def share_colors(paints: dict[str, Paint], maps: Mapping[str, Array]) -> dict[str, Paint]:
    """Return paints in which a class has the same color in all maps, chosen for the first one."""
    title, Y = next(iter(maps.items()))
    first = spread_colors(paints[title], Y)
    return {
        t: paint._replace(palette=first.palette)
        if isinstance(paint, Classes) and isinstance(first, Classes)
        else paint
        for t, paint in paints.items()
    }


def common_dims(maps: Mapping[str, Array]) -> int:
    """Return the number of columns that all maps have."""
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


def add_shared_explanation(axes: Array, paint: Paint, n: int, n_dims: int) -> None:
    """Add one legend or color bar to the figure of several maps."""
    if isinstance(paint, Values):
        add_color_bar(axes.tolist(), paint)
    elif isinstance(paint, Classes) and n_dims > 1:
        handles = class_handles(paint, with_shapes=uses_shapes(paint, n, n_dims))
        add_figure_legend(axes[0].figure, handles, title=paint.title)
