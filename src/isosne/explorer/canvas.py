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
from isosne.explorer.colors import TRUST, Painted, paint
from isosne.explorer.figures import MAX_WIDTH, MapFigure, Points, find_row
from isosne.explorer.measuring import Measurer
from isosne.explorer.questions import Neighborhood, find_neighborhood
from isosne.explorer.session import Session

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
        self._session, self._measurer = session, measurer
        self.legend = text_pane()
        self.view = pn.FlexBox(sizing_mode="stretch_width")
        self._points: Points | None = None
        self._figures: list[MapFigure] = []
        self._titles: list[Any] = []
        self._numbers: list[int] = []
        self.shown: list[NDArray[np.float32]] = []
        self.painted: Painted | None = None
        self.neighborhoods: list[Neighborhood | None] = []
        self._searched = 0.0
        self._is_view_new = False
        self._n_measured = -1

    def build(self) -> None:
        """Make new figures for the maps that there are."""
        session = self._session
        if session.data is None or not session.maps:
            self.view.objects, self._figures = [], []
            return
        n = session.data.n_rows
        self._points = Points(n, self._tips())
        self._figures, self._titles, self._numbers, self.shown = [], [], [], []
        cards = []
        for m, shown in enumerate(session.maps):
            is_linked = m > 0 and shown.rows is None
            ranges = self._figures[0].ranges if is_linked else None
            drawn = MapFigure(m, self._points, n, self._tip_texts(), ranges)
            drawn.figure.on_event("tap", lambda event, m=m: self._tap(m, event))
            if n > MAX_POINTS:
                drawn.figure.on_event("selectiongeometry", lambda e, m=m: self._lasso(m, e))
                for axis in drawn.ranges:
                    axis.on_change("start", self._view_changed)
            title = text_pane()
            self._figures.append(drawn)
            self._titles.append(title)
            figure = pn.pane.Bokeh(drawn.figure, sizing_mode="scale_width", max_width=MAX_WIDTH)
            cards.append(pn.Column(title, figure, styles=CARD))
            self._numbers.append(-1)
            self.shown.append(np.full((n, 2), np.nan, np.float32))
        self._points.source.selected.on_change("indices", self._selected)
        self.view.objects = cards
        self.repaint()
        self._move(is_first=True)
        self.select()
        self.ask()

    def tick(self) -> None:
        """Show what is new since the last time."""
        for title, shown in zip(self._titles, self._session.maps, strict=False):
            status = "" if shown.status is None else html.escape(str(shown.status))
            name = f"<b>{html.escape(shown.title)}</b> <span>{status}</span>"
            text = f'<div class="maptitle">{name}</div>'
            if title.object != text:
                title.object = text
        if self._session.color == TRUST and self._measurer.n_measured != self._n_measured:
            self.repaint()
        self._move()

    def repaint(self) -> None:
        """Color the points by what is chosen."""
        self._n_measured = self._measurer.n_measured
        self.painted = paint(self._session, self._measurer, self._measurer.density)
        self.legend.object = f'<div class="legend">{self.painted.legend}</div>'
        if self._points is None:
            return
        if self._is_image:
            self._is_view_new = True
            return
        for m in range(len(self._figures)):
            self._points.paint(m, self.painted.colors[min(m, len(self.painted.colors) - 1)])

    def select(self) -> None:
        """Show the selection of the session."""
        if self._points is not None:
            self._points.select(self._session.selection)
            self._is_view_new = True

    def ask(self) -> None:
        """Show the neighbors of the point that is asked about."""
        session, row = self._session, self._session.asked
        self._searched = time.monotonic()
        self.neighborhoods = []
        for m, drawn in enumerate(self._figures):
            found, Y = None, self.shown[m]
            if row is not None and not np.isnan(Y[row]).any():
                found = find_neighborhood(session.rows.X, Y, row, session.maps[m].metric)
            self.neighborhoods.append(found)
            drawn.show_neighbors(Y, found)

    def limits(self, m: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the limits of the axes of a map, as they are in view."""
        x, y = self._figures[m].ranges
        return (x.start, x.end), (y.start, y.end)  # type: ignore[return-value]  # no dates here

    @property
    def _is_image(self) -> bool:
        return self._session.rows.n_rows > MAX_POINTS

    def _move(self, *, is_first: bool = False) -> None:
        """Show the latest frame of each map, if it is new."""
        session = self._session
        frames = [shown.frame(session.rows.n_rows) for shown in session.maps[: len(self._figures)]]
        is_new = [number != old for (number, _), old in zip(frames, self._numbers, strict=True)]
        is_aligned = len(frames) == 2 and session.maps[1].rows is None
        for m, (number, Y) in enumerate(frames):
            if not (is_new[m] or (m == 1 and is_new[0] and is_aligned)):
                continue
            self._numbers[m] = number
            self.shown[m] = align(Y, self.shown[0]) if m == 1 and is_aligned else into_square(Y)
            if not self._is_image and not is_first and self._points is not None:
                self._points.move(m, self.shown[m])
        if self._is_image:
            if any(is_new) or self._is_view_new:
                self._draw_images()
        elif is_first and self._points is not None and self.painted is not None:
            every = np.arange(session.rows.n_rows)
            self._points.fill(every, list(self.shown), self.painted.colors)
        if any(is_new) and session.asked is not None:
            is_running = any(shown.is_active for shown in session.maps)
            if not is_running or time.monotonic() > self._searched + NEIGHBORS_SECONDS:
                self.ask()

    def _draw_images(self) -> None:
        """Show what is in view: exact points if they are few, or an image."""
        assert self._points is not None
        assert self.painted is not None
        self._is_view_new = False
        selection = self._session.selection
        is_faint = None
        if len(selection):
            is_faint = np.ones(self._session.rows.n_rows, bool)
            is_faint[selection] = False
        few: Array = np.empty(0, np.int64)
        for m, drawn in enumerate(self._figures):
            (left, right), (bottom, top) = self.limits(m)
            corners = np.array([[left, bottom], [right, top]])
            rows = rows_in_view(self.shown[m], corners)
            if len(rows) <= MAX_IN_VIEW:
                few = np.union1d(few, rows)
                drawn.show_image(None, corners)
            else:
                colors = self.painted.colors[min(m, len(self.painted.colors) - 1)]
                drawn.show_image(draw_image(self.shown[m], colors, corners, is_faint), corners)
        if len(few) or len(self._points.rows):
            self._points.fill(few, list(self.shown), self.painted.colors)
            self._points.select(selection)

    def _tips(self) -> dict[str, Array]:
        data = self._session.rows
        tips: dict[str, Array] = {"id": data.ids}
        if data.labels is not None:
            tips["label"] = data.labels
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
        if not event.final:
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
        self._is_view_new = True
