"""The maps of a session in a tab: frames, colors, selection, and neighbors of a point."""

import time
from typing import Any

import numpy as np
import panel as pn
from markupsafe import Markup
from numpy.typing import NDArray

from isosne._types import Array
from isosne.explorer.assets import text_pane, write
from isosne.explorer.colors import LIGHT, Painted, Theme, pack, paint
from isosne.explorer.figures import MAX_COMPUTED, MAX_IN_VIEW, MAX_POINTS, MapFigure, Points
from isosne.explorer.measuring import find_neighborhood
from isosne.explorer.session import DENSITY, TRUST, Session, ShownMap
from isosne.plots.palette import to_rgb
from isosne.plots.raster import Canvas as Pixels
from isosne.plots.raster import rasterize_colors
from isosne.quality.procrustes import find_similarity
from isosne.rows.columns import as_text


def into_square(Y: Array) -> NDArray[np.float32]:
    """Return a map (n, 2) moved and scaled so that it just fits the square from -1 to 1.

    Rows without a position (NaN) stay without one.
    """
    if np.isnan(Y).all():
        return np.asarray(Y, np.float32)
    low, high = np.nanmin(Y, axis=0), np.nanmax(Y, axis=0)
    half = max(float((high - low).max()) / 2, np.finfo(np.float32).tiny)
    return np.asarray((Y - (low + high) / 2) / half, np.float32)


def align(Y: Array, onto: Array) -> NDArray[np.float32]:
    """Return a map moved, turned, mirrored and scaled to lie on another.

    Only rows that both maps have count. With fewer than two of them, the map fills the square. The
    map gets the size of the other one (root mean square distance from the center): the factor that
    brings rows nearest to each other would shrink a map that has little in common with it.
    """
    known = np.isfinite(Y).all(axis=1) & np.isfinite(onto).all(axis=1)
    if known.sum() < 2:
        return into_square(Y)
    found = find_similarity(Y[known], onto[known])
    size, wanted = (float(np.sqrt(Z[known].var(axis=0).sum())) for Z in (Y, onto))
    return found._replace(factor=wanted / size if size > 0 else 1.0).apply(Y)


def moved_most(A: Array, B: Array, n: int) -> NDArray[np.int64]:
    """Return the rows whose two positions are farthest apart, in this order.

    Rows that only one of the two aligned maps has are left out.
    """
    distances = np.linalg.norm(A.astype(np.float64) - B, axis=1)
    known = np.flatnonzero(np.isfinite(distances))
    return known[np.argsort(-distances[known], kind="stable")[:n]]


PIXELS = 600
"""Pixels along each side of the image; chosen."""


def rows_in_view(Y: NDArray[np.float32], corners: Array) -> NDArray[np.int64]:
    """Return the rows between two corners of a map: low and high, each x and y."""
    low, high = np.asarray(corners, np.float32)
    is_inside = np.greater_equal(Y, low) & np.less_equal(Y, high)
    return np.flatnonzero(is_inside.all(axis=1))


def draw_image(
    Y: NDArray[np.float32], colors: NDArray[np.uint32], corners: Array, is_faint: Array | None
) -> NDArray[np.uint32]:
    """Return an image (h, w), bottom row first, of the points between two corners of a map.

    Rows that are faint are drawn only where there are no others.
    """
    low, high = np.asarray(corners, np.float64)
    canvas = Pixels(low, high, PIXELS, PIXELS)
    rows = rows_in_view(Y, corners)
    rgb = np.stack([(colors[rows] >> shift) & 255 for shift in (24, 16, 8)], axis=1) / 255
    is_behind = None if is_faint is None else is_faint[rows]
    picture = rasterize_colors(canvas.locate(Y[rows]), rgb, canvas, is_behind)
    whole = np.rint(255 * picture).astype(np.uint8)
    return np.ascontiguousarray(whole).view(np.uint32).reshape(PIXELS, PIXELS)


def inside(Y: NDArray[np.float32], xs: Array, ys: Array) -> NDArray[np.int64]:
    """Return the rows inside a polygon that was drawn on a map."""
    from matplotlib.path import Path

    corners = np.column_stack([xs, ys])
    near = rows_in_view(Y, np.stack([corners.min(axis=0), corners.max(axis=0)]))
    found: NDArray[np.int64] = near[Path(corners).contains_points(Y[near])]
    return found


def find_row(Y: NDArray[np.float32], x: float, y: float, radius: float) -> int | None:
    """Return the row nearest to a place on the map, if it is within a radius."""
    sq_dist = (Y[:, 0] - np.float32(x)) ** 2 + (Y[:, 1] - np.float32(y)) ** 2
    if np.isnan(sq_dist).all():
        return None
    nearest = int(np.nanargmin(sq_dist))
    return nearest if sq_dist[nearest] <= radius**2 else None


N_TIPS = 6
"""Columns that are shown on hover, besides the identifier and the label."""
TAP_RADIUS = 0.025
"""How near to a point a click must be, as a fraction of the width of the view."""
NEIGHBORS_SECONDS = 1.0
"""Shortest time between two searches for the neighbors of a point while its map moves."""


class Canvas:
    """The figures of one tab."""

    def __init__(self, session: Session) -> None:
        self._session, self._theme = session, LIGHT
        self.legend = text_pane()
        self.view = pn.FlexBox(sizing_mode="stretch_width")
        self._points: Points | None = None
        self._every: list[MapFigure] = []
        self.figures: list[MapFigure] = []
        self._is_filled = False
        self.painted: Painted | None = None
        self._searched = 0.0
        self.is_view_new = False
        self._n_measured = -1

    def build(self) -> None:
        """Make the figures of the rows: the first map, a second one linked to it, and one alone.

        All are made at once and hidden until they are needed; Bokeh is not good at new ones.
        """
        n, told = self._session.rows.n_rows, self._tips()
        self._points = points = Points(n, {field: values for field, (_, values) in told.items()})
        tips = [(title, f"@{field}") for field, (title, _) in told.items()]
        first = MapFigure(0, points, n, tips)
        self._every = [first, MapFigure(1, points, n, tips, first.ranges)]
        self._every.append(MapFigure(1, points, n, tips))
        for drawn in self._every:
            self._listen(drawn)
            drawn.set_theme(self._theme)
        points.source.selected.on_change("indices", self._selected)
        self.view.objects = [drawn.card for drawn in self._every]
        self._is_filled = False

    def arrange(self) -> None:
        """Show a figure for each map, because maps have come or gone."""
        n, maps = self._session.rows.n_rows, self._session.maps
        first, linked, alone = self._every
        is_linked = len(maps) > 1 and maps[1].rows is None
        self.figures = [first, linked if is_linked else alone][: len(maps)]
        for drawn in self._every:
            drawn.clear(n, is_shown=drawn in self.figures)
        self.repaint()
        self.select()
        self._move()
        self.ask()

    def _listen(self, drawn: MapFigure) -> None:
        drawn.figure.on_event("tap", lambda event: self._tap(drawn, event))
        drawn.figure.on_event("selectiongeometry", lambda event: self._lasso(drawn, event))
        if self._is_image:
            for axis in drawn.ranges:
                axis.on_change("start", self._view_changed)

    def set_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        for drawn in self._every:
            drawn.set_theme(theme)
        self.repaint()

    def tick(self) -> None:
        """Show what is new since the last time."""
        for drawn, shown in zip(self.figures, self._session.maps, strict=False):
            is_sampled = shown.n_moving > MAX_COMPUTED and not self._is_image
            write(drawn.title, _describe(shown, is_sampled))
        is_measured = self._session.color in (TRUST, DENSITY)
        if is_measured and self._session.n_measured != self._n_measured:
            self.repaint()
        self._move()

    def repaint(self) -> None:
        """Color the points by what is chosen."""
        self._n_measured = self._session.n_measured
        self.painted = paint(self._session, self._theme)
        write(self.legend, Markup('<div class="legend">{}</div>').format(self.painted.legend))
        self.is_view_new = True
        if self._points is None or self._is_image:
            return
        for drawn in self.figures:
            self._points.paint(drawn.m, self.painted.colors[drawn.m])

    def select(self) -> None:
        """Show the selection of the session."""
        if self._points is not None:
            self._points.select(self._session.selection)
            self.is_view_new = True

    def ask(self) -> None:
        """Show the neighbors of the point that is asked about."""
        session, row = self._session, self._session.asked
        self._searched = time.monotonic()
        for drawn, shown in zip(self.figures, session.maps, strict=False):
            found, Y = None, drawn.Y
            if row is not None and not np.isnan(Y[row]).any():
                found = find_neighborhood(session.rows.X, Y, row, session.metric_of(shown))
            drawn.show_neighbors(found)

    @property
    def _is_image(self) -> bool:
        return self._session.rows.n_rows > MAX_POINTS

    def _move(self) -> None:
        """Show the latest frame of each map, if it is new."""
        session = self._session
        maps = session.maps[: len(self.figures)]
        frames = [shown.frame(session.rows.n_rows) for shown in maps]
        pairs = list(zip(self.figures, frames, strict=True))
        is_new = [number != drawn.number for drawn, (number, _) in pairs]
        is_aligned = len(frames) == 2 and maps[1].rows is None
        if is_aligned:
            is_new[1] |= is_new[0]
        for drawn, (number, Y) in pairs:
            if is_new[drawn.m]:
                drawn.number = number
                onto = self.figures[0].Y if drawn.m and is_aligned else None
                drawn.Y = into_square(Y) if onto is None else align(Y, onto)
        if self._is_image:
            if any(is_new) or self.is_view_new:
                self._draw_images()
        else:
            self._draw_points(is_new)
        self.is_view_new = False
        if any(is_new) and session.asked is not None:
            is_running = any(shown.is_active for shown in session.maps)
            if not is_running or time.monotonic() > self._searched + NEIGHBORS_SECONDS:
                self.ask()

    def _draw_points(self, is_new: list[bool]) -> None:
        """Show the points of each map, or a sample of them while a large map is computed."""
        assert self._points is not None
        sampled = [shown.n_moving > MAX_COMPUTED for shown in self._session.maps]
        if not self._is_filled and not all(sampled):
            self._fill(np.arange(self._session.rows.n_rows))
            self._is_filled = True
            is_new = [False] * len(is_new)
        for drawn in self.figures:
            is_sampled = sampled[drawn.m]
            is_switched, drawn.is_sampled = is_sampled != drawn.is_sampled, is_sampled
            if not (is_new[drawn.m] or is_switched or (is_sampled and self.is_view_new)):
                continue
            if is_sampled:
                rows = self._points.sample(drawn.Y, self._session.selection)
                drawn.show_sample(drawn.Y[rows], self._colors_of(drawn.m)[rows])
            else:
                self._points.move(drawn.m, drawn.Y)
                drawn.show_every()

    def _draw_images(self) -> None:
        """Show what is in view: exact points if they are few, or an image."""
        assert self._points is not None
        few: Array = np.empty(0, np.int64)
        for drawn in self.figures:
            Y, corners = drawn.Y, drawn.corners
            rows = rows_in_view(Y, corners)
            if len(rows) <= MAX_IN_VIEW:
                few = np.union1d(few, rows)
                drawn.show_image(None, corners)
            else:
                image = draw_image(Y, self._colors_of(drawn.m), corners, self._find_faint())
                drawn.show_image(image, corners)
        if len(few) or len(self._points.rows):
            self._fill(few)

    def _fill(self, rows: Array) -> None:
        """Draw some rows one by one, and show the selection."""
        assert self._points is not None
        assert self.painted is not None
        self._points.fill(rows, [drawn.Y for drawn in self.figures], self.painted.colors)
        self._points.select(self._session.selection)

    def _colors_of(self, m: int) -> NDArray[np.uint32]:
        """Return the color of each row in a map; all but the selected rows are faint."""
        assert self.painted is not None
        colors = self.painted.colors[m]
        is_faint, faint = self._find_faint(), pack(to_rgb([self._theme.faint]))
        return colors if is_faint is None else np.where(is_faint, faint, colors)

    def _find_faint(self) -> NDArray[np.bool_] | None:
        """Return whether each row is not selected; None if no row is."""
        selection = self._session.selection
        if not len(selection):
            return None
        is_faint = np.ones(self._session.rows.n_rows, bool)
        is_faint[selection] = False
        return is_faint

    def _tips(self) -> dict[str, tuple[str, Array]]:
        """Return titles and values of what is shown on hover, by field."""
        data = self._session.rows
        # As text: Bokeh sends no integers of 64 bits.
        tips = {"id": ("id", as_text(data.ids))}
        if data.labels is not None:
            tips["label"] = data.label_name, as_text(data.labels)
        for c, column in enumerate(data.columns[:N_TIPS]):
            words = column.words
            values = column.data if words is None else np.array(words, object)[column.data]
            tips[f"t{c}"] = column.name, values
        return tips

    def _selected(self, attr: str, old: list[int], new: list[int]) -> None:
        if self._points is not None and not self._is_image:
            self._session.select(self._points.rows_of(new))

    def _lasso(self, drawn: MapFigure, event: Any) -> None:
        if not event.final or not (self._is_image or drawn.is_sampled):
            return
        geometry = event.geometry
        if geometry["type"] == "poly":
            xs, ys = np.asarray(geometry["x"], float), np.asarray(geometry["y"], float)
        else:
            x0, x1, y0, y1 = (float(geometry[name]) for name in ("x0", "x1", "y0", "y1"))
            xs, ys = np.array([x0, x1, x1, x0]), np.array([y0, y0, y1, y1])
        self._session.select(inside(drawn.Y, xs, ys))

    def _tap(self, drawn: MapFigure, event: Any) -> None:
        (left, _), (right, _) = drawn.corners
        self._session.asked = find_row(drawn.Y, event.x, event.y, TAP_RADIUS * (right - left))

    def _view_changed(self, attr: str, old: float, new: float) -> None:
        self.is_view_new = True


def _describe(shown: ShownMap, is_sampled: bool) -> Markup:
    """Return the title of a map, how far its run has come, and a bar that keeps its place."""
    words = str(shown.status)
    if is_sampled:
        words += f" ({MAX_COMPUTED:,} points shown)"
    share = 100 * shown.status.share if shown.is_active else 0
    return Markup(
        '<div class="maptitle" title="{words}"><b>{title}</b> <span>{words}</span></div>'
        '<div class="progress"><i style="width: {share:.0f}%"></i></div>'
    ).format(words=words, title=shown.title, share=share)
