"""The maps of a session in a tab: frames, colors, selection, and neighbors of a point."""

import html
import time
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from isosne._types import Array
from isosne.explorer.aggregate import MAX_IN_VIEW, MAX_POINTS, draw_image, inside, rows_in_view
from isosne.explorer.alignment import align, into_square
from isosne.explorer.assets import text_pane
from isosne.explorer.colors import Painted, pack, paint
from isosne.explorer.figures import MAX_COMPUTED, MAX_WIDTH, MapFigure, Points, find_row
from isosne.explorer.measuring import Measurer
from isosne.explorer.questions import Neighborhood, find_neighborhood
from isosne.explorer.session import TRUST, Session, ShownMap
from isosne.explorer.themes import LIGHT, Theme

N_TIPS = 6
"""Columns that are shown on hover, besides the identifier and the label."""
TAP_RADIUS = 0.025
"""How near to a point a click must be, as a fraction of the width of the view."""
CARD = {"flex": "1 1 340px", "min-width": "300px", "max-width": "800px"}
"""Styles of a map and its title: two maps share a row if each is 340 pixels wide."""
NEIGHBORS_SECONDS = 1.0
"""Shortest time between two searches for the neighbors of a point while its map moves."""


class Canvas:
    """The figures of one tab.

    Parameters
    ----------
    session : Session
        What is shown.
    measurer : Measurer
        Measures the maps.
    """

    def __init__(self, session: Session, measurer: Measurer) -> None:
        self._session, self._measurer, self._theme = session, measurer, LIGHT
        self.legend = text_pane()
        self.view = pn.FlexBox(sizing_mode="stretch_width")
        self._points: Points | None = None
        self._every: list[MapFigure] = []
        self._cards: list[Any] = []
        self._titles: list[Any] = []
        self._chosen: list[int] = []
        self._figures: list[MapFigure] = []
        self._is_filled = False
        self._numbers: list[int] = []
        self._is_sampled: list[bool] = []
        self.shown: list[NDArray[np.float32]] = []
        self.painted: Painted | None = None
        self.neighborhoods: list[Neighborhood | None] = []
        self._searched = 0.0
        self.is_view_new = False
        self._n_measured = -1

    def build(self) -> None:
        """Make the figures of the rows: the first map, a second one linked to it, and one alone.

        All are made at once and hidden until they are needed; Bokeh is not good at new ones.
        """
        n = self._session.rows.n_rows
        self._points = points = Points(n, self._tips())
        tips = self._tip_texts()
        first = MapFigure(0, points, n, tips)
        linked, alone = MapFigure(1, points, n, tips, first.ranges), MapFigure(1, points, n, tips)
        self._every = [first, linked, alone]
        self._titles = [text_pane() for _ in self._every]
        self._cards = []
        for drawn, title in zip(self._every, self._titles, strict=True):
            self._listen(drawn)
            drawn.set_theme(self._theme)
            figure = pn.pane.Bokeh(drawn.figure, sizing_mode="scale_width", max_width=MAX_WIDTH)
            self._cards.append(pn.Column(title, figure, styles=CARD, visible=False))
        points.source.selected.on_change("indices", self._selected)
        self.view.objects = self._cards
        self._is_filled = False

    def arrange(self) -> None:
        """Show a figure for each map, because maps have come or gone."""
        n, maps = self._session.rows.n_rows, self._session.maps
        self._chosen = [0, 1 if len(maps) > 1 and maps[1].rows is None else 2][: len(maps)]
        self._figures = [self._every[c] for c in self._chosen]
        for c, (card, drawn) in enumerate(zip(self._cards, self._every, strict=True)):
            card.visible = c in self._chosen
            drawn.figure.name = f"map{self._chosen.index(c)}" if c in self._chosen else None
        self._numbers = [-1] * len(maps)
        self._is_sampled = [False] * len(maps)
        self.shown = [np.full((n, 2), np.nan, np.float32) for _ in maps]
        self.repaint()
        self.select()
        self._move()
        self.ask()

    def _listen(self, drawn: MapFigure) -> None:
        drawn.figure.on_event("tap", lambda event: self._tap(drawn.m, event))
        drawn.figure.on_event("selectiongeometry", lambda event: self._lasso(drawn.m, event))
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
        for c, shown in zip(self._chosen, self._session.maps, strict=False):
            text = _describe(shown, shown.n_moving > MAX_COMPUTED and not self._is_image)
            if self._titles[c].object != text:
                self._titles[c].object = text
        if self._session.color == TRUST and self._measurer.n_measured != self._n_measured:
            self._prefer()
            self.repaint()
        self._move()

    def _prefer(self) -> None:
        """Ask for the trust of the selected rows first, or of those in view."""
        for m, shown in enumerate(self._session.maps[: len(self._figures)]):
            rows = self._session.selection
            if not len(rows):
                rows = rows_in_view(self.shown[m], self._corners(m))
            self._measurer.prefer(shown, rows)

    def repaint(self) -> None:
        """Color the points by what is chosen."""
        self._n_measured = self._measurer.n_measured
        self.painted = paint(self._session, self._measurer, self._measurer.density, self._theme)
        self.legend.object = f'<div class="legend">{self.painted.legend}</div>'
        self.is_view_new = True
        if self._points is None or self._is_image:
            return
        for m in range(len(self._figures)):
            self._points.paint(m, self.painted.colors[min(m, len(self.painted.colors) - 1)])

    def select(self) -> None:
        """Show the selection of the session."""
        if self._points is not None:
            self._points.select(self._session.selection)
            self.is_view_new = True

    def ask(self) -> None:
        """Show the neighbors of the point that is asked about."""
        session, row = self._session, self._session.asked
        self._searched = time.monotonic()
        self.neighborhoods = []
        for m, drawn in enumerate(self._figures):
            found, Y = None, self.shown[m]
            if row is not None and not np.isnan(Y[row]).any():
                metric = session.metric_of(session.maps[m])
                found = find_neighborhood(session.rows.X, Y, row, metric)
            self.neighborhoods.append(found)
            drawn.show_neighbors(Y, found)

    def limits(self, m: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the limits of the axes of a map, as they are in view."""
        x, y = self._figures[m].ranges
        return (x.start, x.end), (y.start, y.end)  # type: ignore[return-value]  # no dates here

    def _corners(self, m: int) -> Array:
        """Return the low and the high corner of the view of a map, each x and y."""
        return np.array(self.limits(m)).T

    @property
    def _is_image(self) -> bool:
        return self._session.rows.n_rows > MAX_POINTS

    def _move(self) -> None:
        """Show the latest frame of each map, if it is new."""
        session = self._session
        maps = session.maps[: len(self._figures)]
        frames = [shown.view(session.rows.n_rows) for shown in maps]
        is_new = [number != old for (number, _), old in zip(frames, self._numbers, strict=True)]
        is_aligned = len(frames) == 2 and maps[1].rows is None
        if is_aligned:
            is_new[1] |= is_new[0]
        for m, (number, Y) in enumerate(frames):
            if is_new[m]:
                self._numbers[m] = number
                self.shown[m] = align(Y, self.shown[0]) if m and is_aligned else into_square(Y)
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
        for m, drawn in enumerate(self._figures):
            is_switched = sampled[m] != self._is_sampled[m]
            if not (is_new[m] or is_switched or (sampled[m] and self.is_view_new)):
                continue
            if sampled[m]:
                rows = self._points.sample(self.shown[m], self._session.selection)
                drawn.show_sample(self.shown[m][rows], self._colors_of(m)[rows])
            else:
                self._points.move(m, self.shown[m])
                drawn.show_every()
        self._is_sampled = sampled

    def _draw_images(self) -> None:
        """Show what is in view: exact points if they are few, or an image."""
        assert self._points is not None
        few: Array = np.empty(0, np.int64)
        for m, drawn in enumerate(self._figures):
            corners = self._corners(m)
            rows = rows_in_view(self.shown[m], corners)
            if len(rows) <= MAX_IN_VIEW:
                few = np.union1d(few, rows)
                drawn.show_image(None, corners)
            else:
                Y, colors, is_faint = self.shown[m], self._colors_of(m), self._find_faint()
                drawn.show_image(draw_image(Y, colors, corners, is_faint), corners)
        if len(few) or len(self._points.rows):
            self._fill(few)

    def _fill(self, rows: Array) -> None:
        """Draw some rows one by one, and show the selection."""
        assert self._points is not None
        assert self.painted is not None
        self._points.fill(rows, list(self.shown), self.painted.colors)
        self._points.select(self._session.selection)

    def _colors_of(self, m: int) -> NDArray[np.uint32]:
        """Return the color of each row in a map; all but the selected rows are faint."""
        assert self.painted is not None
        colors = self.painted.colors[min(m, len(self.painted.colors) - 1)]
        is_faint = self._find_faint()
        return colors if is_faint is None else np.where(is_faint, pack([self._theme.faint]), colors)

    def _find_faint(self) -> NDArray[np.bool_] | None:
        """Return whether each row is not selected; None if no row is."""
        selection = self._session.selection
        if not len(selection):
            return None
        is_faint = np.ones(self._session.rows.n_rows, bool)
        is_faint[selection] = False
        return is_faint

    def _tips(self) -> dict[str, Array]:
        data = self._session.rows
        # As text: Bokeh sends no integers of 64 bits.
        tips: dict[str, Array] = {"id": data.ids.astype(np.str_)}
        if data.labels is not None:
            tips["label"] = data.labels.astype(np.str_)
        for c, column in enumerate(data.columns[:N_TIPS]):
            words = column.words
            is_text = words is not None
            tips[f"t{c}"] = np.array(words, object)[column.data] if is_text else column.data
        return tips

    def _tip_texts(self) -> list[tuple[str, str]]:
        data = self._session.rows
        tips = [("id", "@id")]
        if data.labels is not None:
            tips.append((data.label_name, "@label"))
        return tips + [(c.name, f"@t{i}") for i, c in enumerate(data.columns[:N_TIPS])]

    def _selected(self, attr: str, old: list[int], new: list[int]) -> None:
        if self._points is not None and not self._is_image:
            self._session.select(self._points.rows_of(new))

    def _lasso(self, m: int, event: Any) -> None:
        if not event.final or not (self._is_image or self._is_sampled[m]):
            return
        geometry = event.geometry
        if geometry["type"] == "poly":
            xs, ys = np.asarray(geometry["x"], float), np.asarray(geometry["y"], float)
        else:
            x0, x1, y0, y1 = (float(geometry[name]) for name in ("x0", "x1", "y0", "y1"))
            xs, ys = np.array([x0, x1, x1, x0]), np.array([y0, y0, y1, y1])
        self._session.select(inside(self.shown[m], xs, ys))

    def _tap(self, m: int, event: Any) -> None:
        (left, right), _ = self.limits(m)
        row = find_row(self.shown[m], event.x, event.y, TAP_RADIUS * (right - left))
        self._session.ask(row)

    def _view_changed(self, attr: str, old: float, new: float) -> None:
        self.is_view_new = True


def _describe(shown: ShownMap, is_sampled: bool) -> str:
    """Return the title of a map, how far its run has come, and a bar that keeps its place."""
    status = shown.status
    words = "" if status is None else html.escape(str(status))
    if is_sampled:
        words += f" ({MAX_COMPUTED:,} points shown)"
    share = 100 * status.share if status is not None and status.is_active else 0
    return (
        f'<div class="maptitle" title="{words}"><b>{html.escape(shown.title)}</b> '
        f"<span>{words}</span></div>"
        f'<div class="progress"><i style="width: {share:.0f}%"></i></div>'
    )
