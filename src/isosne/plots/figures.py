"""Figures without pyplot: styles, grids of axes, legends, titles, color bars, and image files.

A style gives sizes, fonts and colors. It holds for one figure and changes no setting of matplotlib
for others. Image files are written atomically and are reproducible byte by byte.
"""

import io
import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import TextPath
from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

from isosne._checks import check_number, check_suffix
from isosne._files import whole_file
from isosne._types import Array
from isosne.errors import ParameterError, keyword, suggest
from isosne.plots import palette
from isosne.plots.paint import Classes, Paint, Values

VARYING = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}  # metadata left out
N_STOPS = 64  # colors between which a color scale is interpolated
POINTS_PER_INCH = 72  # of typography
SMALL_FONT_ENTRIES = 12  # legends with more entries use the small font; chosen by eye
MAX_ROW = 4  # up to this many panels form one row; chosen
REPLACEMENT = "\ufffd"  # shown in place of a character that cannot be drawn
BAR_TITLE_LETTERS = 14  # per line of the title over a color bar, as wide as the tick labels
MAX_LEGEND = 8.0  # width in inches; chosen
# In inches for a font of 10 points; chosen.
LEGEND_ROW = 0.18  # height of a legend entry in the small font
LEGEND_MARKER = 0.6  # width of the marker of a legend entry and the space around it
MIN_LEGEND = 1.0  # width
TITLE_ROW = 0.2  # height of a line of a title
TITLE_SHARE = 0.8  # maximum width of a line of a title relative to the axes
VALUE_BAR, TRUST_BAR = 0.95, 1.2  # widths of a color bar with labels; those of trust are words


class Style(NamedTuple):
    """Sizes in inches, fonts in points, and colors."""

    side: float = 5.6  # of a single map
    panel: float = 3.4  # side of a map in a grid
    is_column: bool = False  # whether a legend beside a map narrows the map, not widens the figure
    font: float | None = None  # None: that of matplotlib's settings
    title: str = "large"
    background: str = "white"
    ink: str = "#000000"  # of texts, marks and leader lines
    frame: str = palette.FRAME
    pane: str = "#f9f9f9"  # background of a three-dimensional map
    colors: tuple[str, ...] = palette.COLORS
    plain: str = palette.PLAIN
    faint: str = palette.FAINT

    @property
    def is_dark(self) -> bool:
        """Whether the background is dark."""
        return self.colors is palette.DARK_COLORS

    def applied(self) -> AbstractContextManager[None]:
        """Return a context in which matplotlib makes figures and texts in this style."""
        settings: dict[Any, Any] = {"axes.titlesize": self.title}
        if self.font is not None:
            settings["font.size"] = self.font
        if self.is_dark:
            texts = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color")
            settings |= dict.fromkeys((*texts, "ytick.color"), self.ink)
            settings["figure.facecolor"] = settings["axes.facecolor"] = self.background
        return mpl.rc_context(settings)

    def paint(self, paint: Paint) -> Paint:
        """Return a paint in the colors of this style."""
        if isinstance(paint, Classes):
            return paint._replace(palette=self.colors, rest_color=self.faint)
        return paint._replace(on_dark=self.is_dark) if isinstance(paint, Values) else None


SCREEN = Style()
DARK = Style(
    background="#16181d",
    ink="#e8eaed",
    frame="#3a3f47",
    pane="#1c1f25",
    colors=palette.DARK_COLORS,
    plain=palette.DARK_PLAIN,
    faint=palette.DARK_FAINT,
)
STYLES = {
    "screen": SCREEN,
    # 89 mm is the width of a column of many journals.
    "paper": Style(side=89 / 25.4, panel=1.7, is_column=True, font=8.0, title="medium"),
    # 6.5 inches fit a slide of 7.5 under a heading.
    "slides": Style(side=6.5, panel=5.0, font=18.0, title="medium"),
    "dark": DARK,
}


def find_style(name: str) -> Style:
    """Return a style by its name."""
    if not isinstance(name, str) or name not in STYLES:
        hint = suggest(name, STYLES, f"Use {keyword('style', 'screen')} for the default.")
        raise ParameterError("style", f"be one of {', '.join(STYLES)}", name, hint)
    return STYLES[name]


class _Shown:
    """Axes that a notebook shows as the picture of their figure."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        figure_of(self).savefig(content, format="png")
        return content.getvalue()


class MapAxes(_Shown, Axes):
    """Axes of a new figure."""


class MapAxes3D(_Shown, Axes3D):  # type: ignore[misc]  # has no types
    """Three-dimensional axes of a new figure."""


def add_axes(figure: Figure, n_dims: int = 2, *place: int) -> Axes:
    """Return new axes; ``place``: rows, columns and number in a grid."""
    return figure.add_subplot(*place, axes_class=MapAxes3D if n_dims == 3 else MapAxes)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, size in inches, with a layout that fits legends and color bars."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def as_axes(ax: Axes | None, *, width: float = 6.4, height: float = 4.4) -> Axes:
    """Return the given Axes, or the Axes of a new figure."""
    return add_axes(new_figure(width, height)) if ax is None else ax


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
    return float(np.clip(max(entries, title), font_scale() * MIN_LEGEND, MAX_LEGEND))


def legend_height(paint: Paint) -> float:
    """Return the height in inches of a legend with one column, a title and space around it."""
    return font_scale() * LEGEND_ROW * (len(paint.names) + 3 if isinstance(paint, Classes) else 0)


def font_scale() -> float:
    """Return the font size relative to matplotlib's default, for which the lengths are chosen."""
    return float(rcParams["font.size"]) / 10


def text_width(text: str, size: float | str, weight: str = "normal") -> float:
    """Return the width of a text in inches; the period gives blank texts an extent."""
    escaped = printable(text).replace("$", r"\$")  # otherwise two of them enclose a formula
    path = TextPath((0, 0), f"{escaped}.", prop=FontProperties(size=size, weight=weight))
    return float(path.get_extents().width) / POINTS_PER_INCH


def add_titles(axes: Sequence[Axes], titles: Iterable[str], side: float, *, is_new: bool) -> None:
    """Add titles, wrapped to the side of the axes; a new figure grows, so that this stays."""
    size = FontProperties(size=rcParams["axes.titlesize"]).get_size_in_points()
    n_lines = 1
    for ax, title in zip(axes, titles, strict=True):
        lines = []
        for line in str(title).splitlines():
            letters = len(line) * TITLE_SHARE * side / text_width(line, size)
            lines += wrap(line, max(int(letters), 8)) or [""]
        set_literal(ax.set_title("\n".join(lines)))
        n_lines = max(n_lines, len(lines))
    if is_new:
        figure = figure_of(axes[0])
        figure.set_figheight(figure.get_figheight() + font_scale() * TITLE_ROW * (n_lines - 1))


def printable(text: str) -> str:
    """Return a text without characters that an SVG file cannot contain, such as control codes."""
    shown = "".join(c if c in "\n\t" or ord(c) >= ord(" ") else REPLACEMENT for c in text)
    return shown.encode("utf-8", "replace").decode()


def set_literal(text: Text) -> None:
    """Show a text as it is written: dollar signs in names and titles enclose no formula."""
    text.set_parse_math(False)
    text.set_text(printable(text.get_text()))


def make_grid(
    n: int,
    columns: int | None,
    explained: Paint,
    *,
    side: float,
    aspect: float = 1,
    n_dims: int = 2,
) -> Array:
    """Return n Axes of a new figure in rows and columns, with room for a legend beside them."""
    if columns is None:
        columns = n if n <= MAX_ROW else int(np.ceil(np.sqrt(n)))
    columns = min(columns, n)
    rows = -(-n // columns)
    height = side * aspect * rows
    figure = new_figure(side * columns + legend_width(explained, height), height)
    axes = np.empty(n, object)
    axes[:] = [add_axes(figure, n_dims, rows, columns, i + 1) for i in range(n)]
    return axes


def strip_axes(ax: Axes, style: Style = SCREEN) -> None:
    """Remove the ticks and keep a thin frame: the coordinates of a map have no meaning."""
    ax.set(xticks=[], yticks=[])
    if style.is_dark:
        ax.set_facecolor(style.background)
    for spine in ax.spines.values():
        spine.set_color(style.frame)
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


def add_legend(drawn: Axes | Figure, handles: Sequence[Artist], *, title: str = "") -> None:
    """Add a legend to the right of axes, or of all axes of a figure."""
    if isinstance(drawn, Axes):
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        height = drawn.get_window_extent().height / drawn.figure.dpi
    else:
        place, height = {"loc": "outside right center"}, drawn.get_figheight()
    look = _legend_style(len(handles), height) | place
    legend = drawn.legend(handles=list(handles), title=title or None, **look)
    for text in (legend.get_title(), *legend.get_texts()):
        set_literal(text)


def _legend_style(n: int, inches: float) -> dict[str, Any]:
    """Return the style of a legend of n entries that is at most this high."""
    # Less a title, and space above and below.
    rows = max(1, int(inches / (font_scale() * LEGEND_ROW)) - 3)
    return {
        "frameon": False,
        "fontsize": "small" if n > SMALL_FONT_ENTRIES else "medium",
        "ncols": -(-n // rows),
        "handletextpad": 0.4,
        "columnspacing": 1.0,
        "borderaxespad": 0.0,
        "alignment": "left",  # of the title with the entries
    }


def class_handles(classes: Classes) -> list[Line2D]:
    """Return the legend entry of each class."""
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0}
    # matplotlib hides names that begin with an underscore
    labels = [f" {name}" if name.startswith("_") else name for name in classes.names]
    return [
        Line2D([], [], markersize=6 * font_scale(), color=color, label=label, **look)
        for label, color in zip(labels, classes.colors, strict=True)
    ]


def add_color_bar(axes: Sequence[Axes], values: Values) -> None:
    """Add a color bar to the right of some axes of one figure."""
    scale = LinearSegmentedColormap.from_list("scale", values.sample_scale(N_STOPS))
    colors = ScalarMappable(Normalize(values.low, values.high), scale)
    bar = axes[0].figure.colorbar(colors, ax=list(axes), shrink=0.75, aspect=28, pad=0.02)
    bar.outline.set_visible(False)
    fix_tick_labels(bar.ax)
    if values.is_trust:  # the tick labels are words; a label beside them would be far from the bar
        low, high = values.ends
        middle = (values.low + values.high) / 2
        bar.set_ticks([values.low, middle, values.high], labels=[low, f"{middle:.0%}", high])
        title = "\n".join(wrap(values.title, BAR_TITLE_LETTERS))
        bar.ax.set_title(title, loc="left", fontsize="medium", pad=8)
    else:
        bar.set_label(values.title)
        set_literal(bar.ax.yaxis.label)


def save_figure(
    drawn: Any, path: str | os.PathLike[str], *, dpi: float = 150.0, force: bool = True
) -> Path:
    """Write a figure as PNG, SVG or PDF, depending on the file suffix.

    Parameters
    ----------
    drawn : Axes, array of Axes or Figure
        A result of a function of `isosne.plots`, or a figure.
    path : str or path
        Output file.
    dpi : float, default=150.0
        Resolution of PNG files, and of the rasterized parts of SVG and PDF files.
    force : bool, default=True
        Whether to overwrite an existing file, once the new one is complete.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    No dates and no random identifiers are written, so the same figure gives the same bytes. Not in
    the paper.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.plots import plot_map, save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(plot_map([[0, 0], [1, 1]]), f"{folder}/map.png").name
    'map.png'
    """
    figure = figure_of(drawn)
    check_number(dpi, "dpi", low=1, hint="Try 150, or 300 for print.")
    target = check_suffix(path, tuple(VARYING))
    suffix = target.suffix.lower()
    # Without a layout engine, enlarge the image by what lies outside of the figure.
    box = None if figure.get_layout_engine() is not None else "tight"
    how: dict[str, Any] = {"dpi": dpi, "metadata": {VARYING[suffix]: None}, "bbox_inches": box}
    settings: dict[Any, Any] = {"svg.hashsalt": "isosne", "pdf.fonttype": 42}
    with mpl.rc_context(settings), whole_file(target, force=force) as file:
        picture = io.BytesIO()  # matplotlib hides the error of a full disk behind others
        figure.savefig(picture, format=suffix[1:], **how)
        file.write(picture.getbuffer())
    return target


def figure_of(drawn: Any) -> Figure:
    """Return the figure of Axes or of an array of Axes."""
    if isinstance(drawn, np.ndarray) and drawn.size:
        drawn = drawn.flat[0]
    figure = drawn.get_figure(root=True) if isinstance(drawn, Axes) else drawn
    if not isinstance(figure, Figure):
        rule = f"be Axes, an array of Axes or a Figure, not {type(drawn).__name__}"
        hint = "Pass the result of a function of isosne.plots."
        raise ParameterError("drawn", rule, hint=hint)
    return figure
