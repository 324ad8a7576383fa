"""The maps of a session in a tab: frames, colors, selection, and neighbors of a point."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from isosne._html import Markup, fill
from isosne._types import Array
from isosne.explorer.assets import text_pane, write
from isosne.explorer.colors import LIGHT, Theme, paint
from isosne.explorer.figures import MapFigure, Points
from isosne.explorer.maps import RUNNING, ShownMap
from isosne.explorer.measuring import find_neighborhood
from isosne.explorer.session import Measured, Session
from isosne.plots.paint import Classes
from isosne.quality.procrustes import find_similarity
from isosne.rows.columns import as_text

MAX_COMPUTED = 2_000  # drawn of a map while it is computed: 50 ms of CPU time without WebGL
MAX_POINTS, MAX_IN_VIEW = 100_000, 20_000  # drawn of a whole map; of a larger one, of those in view
N_TIPS = 6  # columns that are shown on hover, besides the identifier
TAP_RADIUS = 0.025  # how near to a point a click must be, as a fraction of the width of the view
TINY = float(np.finfo(np.float32).tiny)
NEIGHBORS_SECONDS = 1.0  # least time between searches for neighbors of a point on a moving map


def into_square(Y: Array) -> NDArray[np.float32]:
    """Return a map (n, 2) moved and scaled so that it just fits the square from -1 to 1."""
    if np.isnan(Y).all():
        return np.asarray(Y, np.float32)
    low, high = np.nanmin(Y, axis=0), np.nanmax(Y, axis=0)
    half = max(float((high - low).max()) / 2, TINY)
    return np.asarray((Y - (low + high) / 2) / half, np.float32)


def align(Y: Array, onto: Array) -> NDArray[np.float32]:
    """Return a map moved, turned, mirrored and scaled to lie on another by the rows of both maps.

    It gets the size of the other one (root mean square distance from the center), or less if it
    would not fit the same square: the factor that brings rows nearest to each other would shrink a
    map that has little in common with it.
    """
    known = np.isfinite(Y).all(axis=1) & np.isfinite(onto).all(axis=1)
    if known.sum() < 2:
        return into_square(Y)
    found = find_similarity(Y[known], onto[known])
    size, wanted = (float(np.sqrt(Z[known].var(axis=0).sum())) for Z in (Y, onto))
    moved = found._replace(factor=wanted / size if size > 0 else 1.0).apply(Y)
    center, half = onto[known].mean(axis=0), np.nanmax(np.abs(onto))
    away = moved - center
    room = (half - np.sign(away) * center) / np.maximum(np.abs(away), TINY)
    return np.asarray(center + away * min(1.0, np.nanmin(room)), np.float32)


def are_in_view(Y: NDArray[np.float32], corners: Array) -> NDArray[np.bool_]:
    """Return whether each row is between two corners of a map: low and high, each x and y."""
    low, high = np.asarray(corners, np.float32)
    return np.asarray(((low <= Y) & (high >= Y)).all(axis=1))


def inside(Y: NDArray[np.float32], xs: Array, ys: Array) -> NDArray[np.int64]:
    """Return the rows inside a polygon that was drawn on a map."""
    from matplotlib.path import Path

    corners = np.column_stack([xs, ys])
    near = np.flatnonzero(are_in_view(Y, np.stack([corners.min(axis=0), corners.max(axis=0)])))
    return np.asarray(near[Path(corners).contains_points(Y[near])])


def find_row(Y: NDArray[np.float32], x: float, y: float, radius: float) -> int | None:
    """Return the row nearest to a place on the map, if it is within a radius."""
    sq_dist = (Y[:, 0] - np.float32(x)) ** 2 + (Y[:, 1] - np.float32(y)) ** 2
    if np.isnan(sq_dist).all():
        return None
    nearest = int(np.nanargmin(sq_dist))
    return nearest if sq_dist[nearest] <= radius**2 else None


class Canvas:
    """The figures of one tab: the first map, a second one linked to it, and one alone.

    All are made at once and hidden until they are needed; Bokeh is not good at new ones.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._theme = session, LIGHT
        self._n, self._hidden = session.rows.n_rows, frozenset[int]()
        self._images = np.array([str(session.rows.image(row)) for row in range(self._n)], object)
        self._points = points = Points(self._n)
        self.source = points.source
        names = session.file_name("map"), session.file_name("map2")
        first, alone = (MapFigure(m, points, self._n, names[m]) for m in (0, 1))
        self._every = [first, MapFigure(1, points, self._n, names[1], first.ranges), alone]
        points.retip({field: values for field, (_, values) in self._tips(()).items()})
        self.figures: list[MapFigure] = []
        for drawn in self._every:
            self._listen(drawn)
        points.source.selected.on_change("indices", self._selected)
        self.legend = text_pane()
        self.view = pn.FlexBox(*[drawn.card for drawn in self._every], sizing_mode="stretch_width")
        self.painted, self._color = paint(session, self._theme), session.color
        self._searched, self._is_outdated = 0.0, False
        self.is_view_new = False

    def _tips(self, order: Sequence[int]) -> dict[str, tuple[str, Array]]:
        """Return titles and values of what is shown on hover, by field; order: of the columns."""
        data, columns = self._session.rows, self._session.rows.described()
        tips = {"image": ("", self._images)} if data.images else {}
        tips["id"] = "id", as_text(data.ids)  # as text: Bokeh sends no integers of 64 bits
        first = range(data.labels is not None)
        chosen = dict.fromkeys([*first, *order, *range(len(columns))])
        for field, c in enumerate([*chosen][:N_TIPS]):
            name, values, words = columns[c]
            shown = values if words is None else np.array(words, object)[values]
            tips[f"t{field}"] = name, shown
        titles = [(title, f"@{field}") for field, (title, _) in tips.items()]
        if data.images:
            titles[0] = "", "@image{safe}"  # markup that is made here; all else is text
        for drawn in self._every:
            drawn.hover.tooltips = titles
        return tips

    def order_tips(self, order: Sequence[int]) -> None:
        """Show some columns first when the pointer is above a point."""
        told = self._tips(order)
        self._points.retip({field: v for field, (_, v) in told.items() if field[0] == "t"})

    def hide(self, code: int) -> None:
        """Hide a class of the legend, or show it again."""
        self._hidden ^= {code}
        self.repaint()

    def zoom(self) -> None:
        """Show the selected rows closely, or those that are linked; without any, the whole map."""
        for drawn in self.figures:
            rows, found = self._session.selection, drawn.found
            if not len(rows) and found is not None:
                rows = np.array([found.row, *found.true, *found.false])
            drawn.zoom(rows)

    def is_visible(self) -> NDArray[np.bool_]:
        """Return whether the class of each row is shown."""
        paint = self.painted.paints[0]
        if not self._hidden or not isinstance(paint, Classes):
            return np.ones(self._n, bool)
        return ~np.isin(paint.of_point, list(self._hidden))

    def _listen(self, drawn: MapFigure) -> None:
        drawn.figure.on_event("tap", lambda event: self._tap(drawn, event))
        drawn.figure.on_event("selectiongeometry", lambda event: self._lasso(drawn, event))
        if self._n > MAX_POINTS:
            for axis in drawn.ranges:
                axis.on_change("start", self._view_changed)

    def arrange(self) -> None:
        """Show a figure for each map, because maps have come or gone."""
        maps = self._session.maps
        first, linked, alone = self._every
        is_linked = len(maps) > 1 and maps[1].rows is None
        self.figures = [first, linked if is_linked else alone][: len(maps)]
        for drawn in self._every:
            drawn.clear(self._n, is_shown=drawn in self.figures)
        self.repaint()
        self.tick()
        self.ask()

    def set_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        for drawn in self._every:
            drawn.set_theme(theme)
        self.repaint()

    def repaint(self) -> None:
        """Color the points by what is chosen."""
        if self._color != self._session.color:
            self._color, self._hidden = self._session.color, frozenset()
        self.painted = paint(self._session, self._theme, self._hidden)
        write(self.legend, fill('<div class="legend">{}</div>', self.painted.legend))
        for drawn in self.figures:
            self._points.paint(drawn.m, self.painted.colors[drawn.m])

    def ask(self) -> None:
        """Show the neighbors of the point that is asked about."""
        session, row = self._session, self._session.asked
        self._searched, self._is_outdated = time.monotonic(), False
        for drawn, shown in self._pairs():
            found, Y = None, drawn.Y
            if row is not None and not np.isnan(Y[row]).any():
                found = find_neighborhood(session.rows.X, Y, row, session.metric_of(shown))
            drawn.show_neighbors(found)

    def _pairs(self) -> list[tuple[MapFigure, ShownMap]]:
        return list(zip(self.figures, self._session.maps, strict=False))

    def tick(self) -> None:
        """Show what is new since the last time: positions, the rows to draw, and the selection."""
        maps, is_new = self._session.maps, self._move()
        self.is_view_new = False
        rows = self._choose_rows()
        if not np.array_equal(rows, self._points.rows):
            self._points.fill(rows, [drawn.Y for drawn in self.figures], self.painted.colors)
            for drawn in self._every:
                drawn.set_size(len(rows))
        else:
            for drawn in self.figures:
                if is_new[drawn.m]:
                    self._points.move(drawn.m, drawn.Y)
        self._points.select(self._session.selection)
        for drawn, shown in self._pairs():
            measured = self._session.measures.get(shown)
            write(drawn.title, _describe(shown, len(rows), measured))
        self._is_outdated |= any(is_new)
        if self._is_outdated and self._session.asked is not None:
            is_active = any(shown.status.is_active for shown in maps)
            if not is_active or time.monotonic() > self._searched + NEIGHBORS_SECONDS:
                self.ask()

    def _move(self) -> list[bool]:
        """Move new positions of the maps into the view; return which maps have some."""
        pairs = self._pairs()
        positions = [shown.Y for _, shown in pairs]
        is_new = [drawn.seen is not Y for (drawn, _), Y in zip(pairs, positions, strict=True)]
        is_aligned = len(pairs) == 2 and pairs[1][1].rows is None
        if is_aligned:
            is_new[1] |= is_new[0]
        for drawn, Y in zip(self.figures, positions, strict=False):
            if is_new[drawn.m]:
                onto = self.figures[0].Y if drawn.m and is_aligned else None
                drawn.seen, drawn.Y = Y, into_square(Y) if onto is None else align(Y, onto)
        return is_new

    def _choose_rows(self) -> NDArray[np.int64]:
        """Return the rows to draw: those that have a position in a map, or a sample of them."""
        running = [
            drawn
            for drawn, shown in self._pairs()
            if shown.status.state == RUNNING and shown.n_points > MAX_COMPUTED
        ]
        is_placed = np.zeros(self._n, bool)
        for drawn in running or self.figures:
            if self._n <= MAX_POINTS or running:
                is_placed |= np.isfinite(drawn.Y[:, 0])
            else:
                is_placed |= are_in_view(drawn.Y, drawn.corners)
        limit = self._n if self._n <= MAX_POINTS else MAX_IN_VIEW
        limit = MAX_COMPUTED if running else limit
        is_placed &= self.is_visible()
        return self._points.choose(is_placed, self._session.selection, limit)

    def _selected(self, attr: str, old: list[int], new: list[int]) -> None:
        if len(self._points.rows) == self._n:
            self._session.select(self._points.rows[np.asarray(new, np.int64)])

    def _lasso(self, drawn: MapFigure, event: Any) -> None:
        """Select the rows inside a shape if not all are drawn; otherwise the browser has."""
        if not event.final or len(self._points.rows) == self._n:
            return
        geometry = event.geometry
        if geometry["type"] == "poly":
            xs, ys = np.asarray(geometry["x"], float), np.asarray(geometry["y"], float)
        else:
            x0, x1, y0, y1 = (float(geometry[name]) for name in ("x0", "x1", "y0", "y1"))
            xs, ys = np.array([x0, x1, x1, x0]), np.array([y0, y0, y1, y1])
        rows = inside(drawn.Y, xs, ys)
        self._session.select(rows[self.is_visible()[rows]])

    def _tap(self, drawn: MapFigure, event: Any) -> None:
        (left, _), (right, _) = drawn.corners
        self._session.asked = find_row(drawn.Y, event.x, event.y, TAP_RADIUS * (right - left))

    def _view_changed(self, attr: str, old: float, new: float) -> None:
        self.is_view_new = True


def _describe(shown: ShownMap, n_drawn: int, measured: Measured | None) -> Markup:
    """Return the title of a map, how far its run has come, and a bar that keeps its place."""
    status, words = shown.status, str(shown.status)
    if measured is not None and not status.is_active:
        words = f"neighbors kept {np.nanmean(measured.trust):.0%}{', ' * bool(words)}{words}"
    if 0 < n_drawn < shown.n_points:
        words += f" ({n_drawn:,} points shown)"
    share = 100 * min(status.iteration / max(status.n_iter, 1), 1) if status.is_active else 0
    return fill(
        '<div class="maptitle" title="{words}"><b>{title}</b> <span>{words}</span></div>'
        '<div class="progress"><i style="width: {share:.0f}%"></i></div>',
        **{"words": words, "title": shown.title, "share": share},
    )
