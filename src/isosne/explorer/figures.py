"""A map as a Bokeh figure: its points, and links to neighbors.

Both maps draw from one data source, so that selecting and hovering is linked by itself. A new
frame patches the coordinates only. Rows are in a random order, in which no class hides another.
Of very many points the source has a sample, as of those of a map that is being computed, because
each frame takes time from the computation.
"""

import math
from typing import Any

import bokeh.models as bk
import numpy as np
import panel as pn
from bokeh.plotting import figure
from numpy.typing import NDArray

from isosne._types import Array
from isosne.explorer.assets import text_pane
from isosne.explorer.colors import LIGHT, Theme
from isosne.explorer.measuring import Neighborhood
from isosne.pages.scene import MAX_SIZE, MIN_SIZE, SIDE
from isosne.plots.raster import COVERAGE, auto_alpha

X_LIMITS: dict[str, Any] = {"start": -1.13, "end": 1.13}  # maps fit the square from -1 to 1
Y_LIMITS: dict[str, Any] = {"start": -1.06, "end": 1.2}  # the tools are above it
MAX_MOVING, N_MOVING = 5_000, 2_000
"""Above so many points, a browser without WebGL draws about 2,000 while the view moves: 100,000
points then take 28 ms of CPU time per frame, and 67 ms if it draws 8,000 (measured)."""
ZOOM_ROOM, MIN_HALF = 1.25, 0.02  # side of a close view relative to its points; least half side
MAX_WIDTH = 1000  # largest side of a map in pixels
CARD = {"flex": "1 1 320px", "min-width": "300px", "max-width": "max(320px, 100vh - 190px)"}
"""Styles of a map and its title, which fit the screen; two share a row from 700 pixels on."""


class Points:
    """The data source of all maps: coordinates, colors, and values for hovering.

    ``tips`` has the values of all rows by field; their fields stay the same. ``rows`` are the rows
    in the source, in their order there.
    """

    def __init__(self, n_rows: int) -> None:
        self.tips: dict[str, Array] = {}
        self._shuffled = np.random.default_rng(0).permutation(n_rows)
        self.rows = np.empty(0, np.int64)
        fields = [f"{axis}{m}" for axis in "xyc" for m in (0, 1)]
        self.source = bk.ColumnDataSource({field: [] for field in fields}, name="events")

    def choose(self, is_wanted: Array, selection: Array, limit: int) -> NDArray[np.int64]:
        """Return the wanted rows, or a sample of them, of which the selected ones are up to a half.

        The selected rows of a sample come last, so that they are in front.
        """
        wanted = self._shuffled[is_wanted[self._shuffled]]
        if len(wanted) <= limit:
            return wanted
        is_selected = np.isin(wanted, selection)
        chosen, others = wanted[is_selected], wanted[~is_selected]
        half = limit // 2
        return np.concatenate([chosen[:half], others, chosen[half:]])[:limit][::-1]

    def fill(self, rows: Array, Ys: list[Array], colors: tuple[Array, ...]) -> None:
        """Show some rows at their positions in each map, and no others."""
        self.rows = rows
        data: dict[str, Any] = {name: values[rows] for name, values in self.tips.items()}
        for m in (0, 1):
            Y = Ys[m][rows] if m < len(Ys) else np.full((len(rows), 2), np.nan, np.float32)
            data[f"x{m}"], data[f"y{m}"] = np.ascontiguousarray(Y.T)
            data[f"c{m}"] = colors[m][rows]
        self.source.data = data

    def move(self, m: int, Y: NDArray[np.float32]) -> None:
        """Give the points of map m new positions."""
        self._patch({f"{a}{m}": c for a, c in zip("xy", Y[self.rows].T, strict=True)})

    def paint(self, m: int, colors: NDArray[np.uint32]) -> None:
        """Give the points of map m other colors."""
        chosen = colors[self.rows]
        if not np.array_equal(chosen, self.source.data[f"c{m}"]):
            self._patch({f"c{m}": chosen})

    def retip(self, tips: dict[str, Array]) -> None:
        """Replace values for hovering."""
        self.tips |= tips
        self._patch({field: values[self.rows] for field, values in tips.items()})

    def select(self, rows: Array) -> None:
        """Select those of some rows that are shown."""
        wanted = np.flatnonzero(np.isin(self.rows, rows)).tolist()
        if wanted != self.source.selected.indices:
            self.source.selected.indices = wanted

    def _patch(self, columns: dict[str, Array]) -> None:
        whole = slice(0, len(self.rows))
        if len(self.rows):
            patches = {name: [(whole, np.ascontiguousarray(c))] for name, c in columns.items()}
            self.source.patch(patches)


class MapFigure:
    """One map: its title and figure, the positions that it shows, and what lies above its points.

    ``Y`` (n, 2) are the positions that ``seen`` was moved to, and ``found`` the neighbors that are
    marked.
    """

    def __init__(
        self,
        m: int,
        points: Points,
        n: int,
        name: str,
        ranges: tuple[bk.Range1d, bk.Range1d] | None = None,
    ) -> None:
        self.m, self.title = m, text_pane()
        self.ranges = ranges or (bk.Range1d(**X_LIMITS), bk.Range1d(**Y_LIMITS))
        self.figure = _make_figure(self.ranges)
        pane = pn.pane.Bokeh(self.figure, sizing_mode="scale_width", max_width=MAX_WIDTH)
        self.card = pn.Column(self.title, pane, styles=CARD)
        self.clear(n, is_shown=False)
        looks: Any = {"x": f"x{m}", "y": f"y{m}", "line_color": None}
        self._dots = bk.Scatter(**looks, fill_color=f"c{m}")
        self._faint = bk.Scatter(**looks, fill_alpha=0.45)
        self._hovered = bk.Scatter(**looks, fill_color=f"c{m}", line_width=2)
        self.set_size(n)
        states: Any = {"nonselection_glyph": self._faint, "hover_glyph": self._hovered}
        every = self.figure.add_glyph(points.source, self._dots, **states, name="points")
        lasso, box = bk.LassoSelectTool(continuous=False), bk.BoxSelectTool()
        lasso.renderers = box.renderers = [every]
        self.hover = bk.HoverTool(renderers=[every], visible=False)
        self.figure.add_tools(lasso, box, bk.ResetTool(), bk.SaveTool(filename=name), self.hover)
        self.figure.toolbar.active_drag = lasso
        ring = {"fill_color": None, "line_width": 2}
        self._links, self._link = _empty(bk.Segment, "x0", "y0", "x1", "y1", line_width=1.5)
        self._marks, self._mark = _empty(bk.Scatter, "x", "y", size=13, marker="square", **ring)
        self._center, self._ring = _empty(bk.Scatter, "x", "y", size=16, marker="circle", **ring)
        self.figure.add_glyph(self._links, self._link, name="true neighbors")
        self.figure.add_glyph(self._marks, self._mark, name="false neighbors")
        self.figure.add_glyph(self._center, self._ring, name="asked")
        self.set_theme(LIGHT)

    def clear(self, n: int, *, is_shown: bool) -> None:
        """Begin without positions of the n rows; the page has figures that are not shown."""
        self.card.visible, self.figure.name = is_shown, f"map{self.m}" if is_shown else None
        self.Y = self.seen = np.full((n, 2), np.nan, np.float32)
        self.found: Neighborhood | None = None

    @property
    def corners(self) -> Array:
        """The low and the high corner of the view, each x and y."""
        return np.array([(axis.start, axis.end) for axis in self.ranges], np.float64).T

    def zoom(self, rows: Array) -> None:
        """Show some rows closely, or the whole map if there are none."""
        shown = self.Y[rows][np.isfinite(self.Y[rows, 0])].astype(np.float64)
        limits = [X_LIMITS, Y_LIMITS]
        if len(shown):
            low, high = shown.min(axis=0), shown.max(axis=0)
            half = max(ZOOM_ROOM * float((high - low).max()) / 2, MIN_HALF)
            limits = [{"start": c - half, "end": c + half} for c in ((low + high) / 2).tolist()]
        for axis, ends in zip(self.ranges, limits, strict=True):
            axis.update(**ends)

    def set_theme(self, theme: Theme) -> None:
        """Draw on the background of a theme."""
        self.figure.background_fill_color = self.figure.border_fill_color = theme.background
        self.figure.outline_line_color = theme.frame
        self._faint.fill_color = theme.faint
        self._hovered.line_color = theme.ink
        self._link.line_color = self._ring.line_color = theme.ink
        self._mark.line_color = theme.mark

    def set_size(self, n_drawn: int) -> None:
        """Draw points as large and as opaque as so many may be."""
        area = COVERAGE * SIDE**2 / max(n_drawn, 1)
        size = float(np.clip(math.sqrt(area), MIN_SIZE, MAX_SIZE))
        self._dots.size = self._faint.size = size
        self._hovered.size = size + 5
        self._dots.fill_alpha = auto_alpha(max(n_drawn, 1))
        self.figure.lod_factor = max(math.ceil(n_drawn / N_MOVING), 1)

    def show_neighbors(self, found: Neighborhood | None) -> None:
        """Draw lines from a row to its true neighbors, and mark its false ones."""
        self.found, Y = found, self.Y
        none = np.empty(0, np.int64)
        true, false, own = (found.true, found.false, [found.row]) if found else (none,) * 3
        if not len(own) and not len(self._center.data["x"]):
            return
        x, y = np.broadcast_to(Y[own].T, (2, len(true)))
        self._links.data = {"x0": x, "y0": y, "x1": Y[true, 0], "y1": Y[true, 1]}
        self._marks.data = {"x": Y[false, 0], "y": Y[false, 1]}
        self._center.data = {"x": Y[own, 0], "y": Y[own, 1]}


def _empty(glyph: Any, *fields: str, **looks: Any) -> tuple[bk.ColumnDataSource, Any]:
    """Return a source without rows, and a glyph whose properties are the fields of the source."""
    source = bk.ColumnDataSource({field: [] for field in fields})
    return source, glyph(**{field: field for field in fields}, **looks)


def _make_figure(ranges: tuple[bk.Range1d, bk.Range1d]) -> Any:
    wheel = bk.WheelZoomTool()
    made = figure(
        x_range=ranges[0],
        y_range=ranges[1],
        title=None,
        x_axis_type=None,
        y_axis_type=None,
        aspect_ratio=1,
        max_width=MAX_WIDTH,
        sizing_mode="scale_width",
        tools=[bk.PanTool(), wheel, bk.BoxZoomTool(match_aspect=True)],
        active_scroll=wheel,
        toolbar_location="above",
        toolbar_inner=True,  # so that the frame is square
        output_backend="webgl",
        lod_threshold=MAX_MOVING,
        lod_timeout=300,
        min_border=0,
    )
    made.grid.visible = False
    made.toolbar.logo = None
    made.toolbar.stylesheets = [":host(.bk-inner) { background: transparent; }"]
    return made
