"""Figures without pyplot: grids of axes, legends beside the axes, titles, color bars."""

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
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import TextPath

from isosne._types import Array
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import (
    DARK_TRUST_SCALE,
    DARK_VALUE_SCALE,
    TRUST_SCALE,
    VALUE_SCALE,
)

FRAME = "#d4d4d4"
"""Light gray of the frame around a map."""
LEGEND_ROW = 0.18
"""Height of a legend entry in the small font, in inches for a font of 10 points; chosen."""
LEGEND_MARKER = 0.6
"""Width of the marker of a legend entry and the space around it, in inches for 10 points."""
POINTS_PER_INCH = 72  # of typography
TITLE_ROW = 0.2
"""Height of a line of a title, in inches for a font of 10 points."""
MIN_LEGEND, MAX_LEGEND = 1.0, 8.0
"""Limits of the width of a legend, in inches, the first for a font of 10 points; chosen."""
VALUE_BAR, TRUST_BAR = 0.95, 1.5
"""Width of a color bar with its labels, in inches for a font of 10 points; the labels of trust are
words."""
SMALL_FONT_ENTRIES = 12
"""Legends with more entries use the small font; chosen by eye."""
MAX_ROW = 4
"""Up to this many panels form one row; chosen."""
REPLACEMENT = "\ufffd"
"""Shown in place of a character that cannot be drawn."""
BAR_TITLE_LETTERS = 14
"""Letters per line of the title over a color bar, so that it is no wider than the tick labels."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, size in inches, with a layout that fits legends and color bars."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def as_axes(ax: Axes | None, *, width: float = 6.4, height: float = 4.4) -> Axes:
    """Return the given Axes, or the Axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def legend_width(paint: Paint, height: float) -> float:
    """Return the width in inches of the legend or color bar beside axes of this height."""
    if isinstance(paint, Values):
        return font_scale() * (TRUST_BAR if paint.is_trust else VALUE_BAR)
    if paint is None:
        return 0.0
    style = _legend_style(len(paint.names), height)
    widest = max(text_width(name, style["fontsize"]) for name in paint.names)
    title = text_width(paint.title, "medium") + 0.2
    entries = style["ncols"] * (font_scale() * LEGEND_MARKER + widest)
    narrowest = font_scale() * MIN_LEGEND
    return float(np.clip(max(entries, title), narrowest, MAX_LEGEND))


def font_scale() -> float:
    """Return the font size relative to matplotlib's default, for which the lengths are chosen."""
    return float(rcParams["font.size"]) / 10


def text_width(text: str, size: float | str) -> float:
    """Return the width of a text in inches; the period gives blank texts an extent."""
    escaped = printable(text).replace("$", r"\$")  # otherwise two of them enclose a formula
    path = TextPath((0, 0), f"{escaped}.", prop=FontProperties(size=size))
    return float(path.get_extents().width) / POINTS_PER_INCH


def set_wrapped_title(ax: Axes, title: str, *, inches: float) -> int:
    """Set a title wrapped to a width; return the number of lines."""
    size = FontProperties(size=rcParams["axes.titlesize"]).get_size_in_points()
    lines = []
    for line in title.splitlines():
        letters = len(line) * inches / text_width(line, size)
        lines += wrap(line, max(int(letters), 8)) or [""]
    set_literal(ax.set_title("\n".join(lines)))
    return len(lines)


def printable(text: str) -> str:
    """Return a text without characters that an SVG file cannot contain, such as control codes."""
    shown = "".join(c if c in "\n\t" or ord(c) >= ord(" ") else REPLACEMENT for c in text)
    return shown.encode("utf-8", "replace").decode()


def set_literal(text: Text) -> None:
    """Show a text as it is written: dollar signs in names and titles enclose no formula."""
    text.set_parse_math(False)
    text.set_text(printable(text.get_text()))


def add_title_height(figure: Figure, n_lines: int) -> None:
    """Enlarge a figure by the title lines beyond the first, so that the axes keep their size."""
    figure.set_figheight(figure.get_figheight() + font_scale() * TITLE_ROW * max(n_lines - 1, 0))


def arrange_grid(n: int, columns: int | None) -> tuple[int, int]:
    """Return the rows and columns of n panels."""
    if columns is None:
        columns = n if n <= MAX_ROW else int(np.ceil(np.sqrt(n)))
    columns = min(columns, n)
    return -(-n // columns), columns


def make_grid(n: int, columns: int | None, *, side: float, beside: float, n_dims: int = 2) -> Array:
    """Return n Axes of a new figure, arranged in rows and columns."""
    rows, columns = arrange_grid(n, columns)
    figure = new_figure(side * columns + beside, side * rows)
    projection = "3d" if n_dims == 3 else None
    made = [figure.add_subplot(rows, columns, i + 1, projection=projection) for i in range(n)]
    axes = np.empty(n, object)
    axes[:] = made
    return axes


def strip_axes(ax: Axes) -> None:
    """Remove the ticks and keep a thin frame: the coordinates of a map have no meaning."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(FRAME)
        spine.set_linewidth(0.8)


def fix_tick_labels(ax: Axes) -> None:
    """Keep the present font size and color: matplotlib makes some labels when it draws them."""
    size = FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points()
    ax.tick_params(labelsize=size, color=rcParams["ytick.color"], labelcolor=rcParams["text.color"])


def style_axes(ax: Axes, x_label: str, y_label: str) -> None:
    """Style the axes of a line plot: two spines, a faint grid, labels."""
    for text in (ax.set_xlabel(x_label), ax.set_ylabel(y_label)):
        set_literal(text)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)


def add_legend(ax: Axes, handles: Sequence[Artist], *, title: str = "") -> None:
    """Add a legend to the right of the axes."""
    legend = ax.legend(
        handles=list(handles),
        title=title or None,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        **_legend_style(len(handles), ax.get_window_extent().height / ax.figure.dpi),
    )
    _show_as_written(legend)


def add_figure_legend(
    figure: Figure, handles: Sequence[Artist], *, title: str = "", columns: int = 0
) -> None:
    """Add one legend to the axes of a figure with constrained layout.

    It is to the right of them, or below them in ``columns``, if there are any.
    """
    look = _legend_style(len(handles), figure.get_figheight())
    if columns:
        look |= {"ncols": columns, "alignment": "center"}
    legend = figure.legend(
        handles=list(handles),
        title=title or None,
        loc="outside lower center" if columns else "outside right center",
        **look,
    )
    _show_as_written(legend)


def arrange_below(classes: Classes, width: float) -> tuple[int, float]:
    """Return the columns and the height in inches of a legend below axes of this width."""
    n = len(classes.names)
    size = _legend_style(n, width)["fontsize"]
    entry = font_scale() * LEGEND_MARKER + max(text_width(name, size) for name in classes.names)
    columns = int(np.clip(width / entry, 1, n))
    rows = -(-n // columns) + bool(classes.title)
    return columns, font_scale() * TITLE_ROW * (rows + 0.5)  # and space around it


def _show_as_written(legend: Legend) -> None:
    for text in (legend.get_title(), *legend.get_texts()):
        set_literal(text)


def _legend_style(n: int, inches: float) -> dict[str, Any]:
    """Return the style of a legend of n entries that is at most this high."""
    rows = max(
        1, int(inches / (font_scale() * LEGEND_ROW)) - 3
    )  # a title, and space above and below
    return {
        "frameon": False,
        "fontsize": "small" if n > SMALL_FONT_ENTRIES else "medium",
        "ncols": -(-n // rows),
        "handletextpad": 0.4,
        "columnspacing": 1.0,
        "borderaxespad": 0.0,
        "alignment": "left",  # of the title with the entries
    }


def class_handles(classes: Classes, *, with_shapes: bool) -> list[Line2D]:
    """Return the legend entry of each class."""
    looks = zip(classes.names, classes.colors, classes.shapes, strict=True)
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=shape if with_shapes else "o",
            markersize=6 * font_scale(),
            color=color,
            markeredgewidth=0,
            label=name if not name.startswith("_") else f" {name}",  # matplotlib hides "_names"
        )
        for name, color, shape in looks
    ]


def make_color_scale(values: Values) -> ScalarMappable:
    """Return the mapping from values to colors."""
    on_white = TRUST_SCALE if values.is_trust else VALUE_SCALE
    on_dark = DARK_TRUST_SCALE if values.is_trust else DARK_VALUE_SCALE
    scale = on_dark if values.on_dark else on_white
    return ScalarMappable(Normalize(values.low, values.high), scale)


def add_color_bar(axes: Sequence[Axes], values: Values) -> None:
    """Add a color bar to the right of some axes of one figure."""
    figure = axes[0].figure
    bar = figure.colorbar(make_color_scale(values), ax=list(axes), shrink=0.75, aspect=28, pad=0.02)
    bar.outline.set_visible(False)
    fix_tick_labels(bar.ax)
    if values.is_trust:  # the tick labels are words; a label beside them would be far from the bar
        bar.set_ticks([0, 0.5, 1], labels=["0  unreliable", "0.5", "1  reliable"])
        title = "\n".join(wrap(values.title, BAR_TITLE_LETTERS))
        bar.ax.set_title(title, loc="left", fontsize="medium", pad=8)
    else:
        bar.set_label(values.title)
        set_literal(bar.ax.yaxis.label)
