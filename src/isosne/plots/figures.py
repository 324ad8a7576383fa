"""Figures of our own, without pyplot; frames, legends beside the axes, color bars."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from isosne._types import Array
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import TRUST_SCALE, VALUE_SCALE

FRAME = "#d4d4d4"
LEGEND_ROW = 0.18
"""Inches of an entry of a long legend."""
BESIDE_NAME, POINTS = 0.6, 72
"""Inches of a legend's marker and air; points of an inch."""
TITLE_ROW = 0.2
"""Inches of a line of a title."""
WIDEST_LEGEND = 8.0
TRUST_TITLE = 14
"""Letters of a line over a color bar."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that makes room for legends and color bars."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def as_axes(ax: Axes | None, *, width: float = 6.4, height: float = 4.4) -> Axes:
    """Return the Axes, or those of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def room_beside(explained: Paint, height: float) -> float:
    """Return the inches that a color bar takes, or a legend beside axes of some height."""
    if isinstance(explained, Values):
        return 1.5 if explained.is_trust else 0.95
    if explained is None:
        return 0.0
    style = _legend_style(len(explained.names), height)
    widest = max(_text_width(name, style["fontsize"]) for name in explained.names)
    wide = max(
        style["ncols"] * (BESIDE_NAME + widest), _text_width(explained.title, "medium") + 0.2
    )
    return float(np.clip(wide, 1.0, WIDEST_LEGEND))


def _text_width(text: str, size: float | str) -> float:
    """Return the inches of a text; the stop after it is there for those that show no letter."""
    path = TextPath((0, 0), f"{text}.", prop=FontProperties(size=size))
    return float(path.get_extents().width) / POINTS


def put_title(ax: Axes, title: str, *, inches: float) -> int:
    """Put a title of some width over the axes, in as many lines as it takes; return how many."""
    size = FontProperties(size=rcParams["axes.titlesize"]).get_size_in_points()
    lines = []
    for line in title.splitlines():
        letters = len(line) * inches / _text_width(line, size)
        lines += wrap(line, max(int(letters), 8)) or [""]
    ax.set_title("\n".join(lines))
    return len(lines)


def make_room_above(figure: Figure, n_lines: int) -> None:
    """Raise a figure by the lines of titles beyond the first, so that axes keep their size."""
    figure.set_figheight(figure.get_figheight() + TITLE_ROW * max(n_lines - 1, 0))


def grid_of_axes(
    n: int, columns: int | None, *, side: float, beside: float, n_dims: int = 2
) -> Array:
    """Return n Axes of a new figure in rows and columns; places left over are empty."""
    if columns is None:
        columns = n if n <= 4 else int(np.ceil(np.sqrt(n)))
    columns = min(columns, n)
    rows = -(-n // columns)
    figure = new_figure(side * columns + beside, side * rows)
    projection = "3d" if n_dims == 3 else None
    made = [figure.add_subplot(rows, columns, i + 1, projection=projection) for i in range(n)]
    axes = np.empty(n, object)
    axes[:] = made
    return axes


def strip_axes(ax: Axes) -> None:
    """Leave a thin frame: the coordinates of a map mean nothing."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(FRAME)
        spine.set_linewidth(0.8)


def plain_axes(ax: Axes, x_label: str, y_label: str) -> None:
    """Dress the axes of a curve: two lines, a faint grid, labels."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)


def legend_beside(ax: Axes, handles: Sequence[Artist], *, title: str = "") -> None:
    """Put a legend to the right of the axes, where it covers nothing."""
    ax.legend(
        handles=list(handles),
        title=title or None,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        **_legend_style(len(handles), ax.get_window_extent().height / ax.figure.dpi),
    )


def legend_of_figure(figure: Figure, handles: Sequence[Artist], *, title: str = "") -> None:
    """Put one legend to the right of all axes of a figure of ours."""
    figure.legend(
        handles=list(handles),
        title=title or None,
        loc="outside right center",
        **_legend_style(len(handles), figure.get_figheight()),
    )


def _legend_style(n: int, inches: float) -> dict[str, Any]:
    """Return the look of a legend of n entries that is not higher than some inches."""
    rows = max(1, int(inches / LEGEND_ROW) - 3)  # a title, and air above and below
    return {
        "frameon": False,
        "fontsize": "small" if n > 12 else "medium",
        "ncols": -(-n // rows),
        "handletextpad": 0.4,
        "columnspacing": 1.0,
        "borderaxespad": 0.0,
        "alignment": "left",  # of the title with the entries
    }


def class_handles(classes: Classes, *, with_shapes: bool) -> list[Line2D]:
    """Return a marker for each class that the legend shows."""
    looks = zip(classes.names, classes.colors, classes.shapes, strict=True)
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=shape if with_shapes else "o",
            markersize=6,
            color=color,
            markeredgewidth=0,
            label=name if not name.startswith("_") else f" {name}",  # matplotlib hides "_names"
        )
        for name, color, shape in looks
    ]


def scale_of(values: Values) -> ScalarMappable:
    """Return the color scale of values: numbers to colors."""
    scale = TRUST_SCALE if values.is_trust else VALUE_SCALE
    return ScalarMappable(Normalize(values.low, values.high), scale)


def color_bar(axes: Sequence[Axes], values: Values) -> None:
    """Put a color bar to the right of some axes of one figure."""
    figure = axes[0].figure
    bar = figure.colorbar(scale_of(values), ax=list(axes), shrink=0.75, aspect=28, pad=0.02)
    bar.outline.set_visible(False)
    if values.is_trust:  # its ticks are words; beside them a label would stand far from the bar
        bar.set_ticks([0, 0.5, 1], labels=["0  not believable", "0.5", "1  believable"])
        title = "\n".join(wrap(values.title, TRUST_TITLE))
        bar.ax.set_title(title, loc="left", fontsize="medium", pad=8)
    else:
        bar.set_label(values.title)
