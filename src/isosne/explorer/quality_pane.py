"""The pane with the quality of the maps: R_NX curves, and the points that moved most."""

import html

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, FixedTicker, Line, Range1d
from bokeh.plotting import figure

from isosne.explorer.alignment import moved_most
from isosne.explorer.assets import text_pane
from isosne.explorer.canvas import Canvas
from isosne.explorer.measuring import Measurer
from isosne.explorer.session import Session
from isosne.explorer.themes import LIGHT, Theme
from isosne.pages.curves import DASHED, MAX_CURVE_POINTS

N_MOVED = 10
"""Rows that are listed as those that moved most."""


class QualityPane:
    """The R_NX curves of the maps, and the points that moved most between them."""

    def __init__(self, session: Session, measurer: Measurer, canvas: Canvas) -> None:
        self._session, self._measurer, self._canvas = session, measurer, canvas
        self._n_measured = -1
        self._sources = [ColumnDataSource({"k": [], "r": []}) for _ in (0, 1)]
        self._figure = figure(
            x_axis_type="log",
            x_range=Range1d(start=1, end=10),
            y_range=Range1d(start=-0.02, end=1.0),
            height=260,
            sizing_mode="stretch_width",
            tools="",
            toolbar_location=None,
            x_axis_label="neighbors k",
            y_axis_label="R_NX",
            name="curves",
        )
        self._figure.yaxis.ticker = FixedTicker(ticks=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        self._lines = [Line(x="k", y="r", line_dash=DASHED[m], line_width=2.5) for m in (0, 1)]
        for source, line in zip(self._sources, self._lines, strict=True):
            self._figure.add_glyph(source, line)
        self._text = text_pane()
        self.set_theme(LIGHT)
        pane = pn.pane.Bokeh(self._figure, sizing_mode="stretch_width")
        self.view = pn.Column(self._text, pane, sizing_mode="stretch_width")

    def set_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme, drawn = theme, self._figure
        drawn.background_fill_color = drawn.border_fill_color = theme.background
        drawn.grid.grid_line_color = drawn.outline_line_color = theme.frame
        for name in ("axis_line_color", "major_tick_line_color", "minor_tick_line_color"):
            setattr(drawn.axis, name, theme.soft)
        drawn.axis.axis_label_text_color = drawn.axis.major_label_text_color = theme.soft
        for line, color in zip(self._lines, theme.lines, strict=True):
            line.line_color = color
        self._n_measured = -1

    def tick(self, *, is_forced: bool = False) -> None:
        """Show new measures."""
        if self._measurer.n_measured == self._n_measured and not is_forced:
            return
        self._n_measured = self._measurer.n_measured
        lines = []
        maps = self._session.maps
        for m, source in enumerate(self._sources):
            found = self._measurer.of(maps[m]) if m < len(maps) else None
            if found is None:
                source.data = {"k": [], "r": []}
                continue
            k, r = found.curve
            kept = np.unique(np.geomspace(1, len(k), MAX_CURVE_POINTS).astype(int)) - 1
            source.data = {"k": k[kept].astype(float), "r": r[kept]}
            is_sample = found.n_queries < found.n_points
            state = f", estimated from {found.n_queries:,} points" if is_sample else ""
            self._figure.x_range.end = max(float(k[-1]), self._figure.x_range.end)  # type: ignore[attr-defined]
            lines.append(
                f'<p><i class="line" style="border-color: {self._theme.lines[m]}; '
                f'border-top-style: {DASHED[m]}"></i> {html.escape(maps[m].title)}: '
                f"area under R_NX {found.auc:.3f}{state}</p>"
            )
        lines += [self._list_moved(), html.escape(self._measurer.failure)]
        self._text.object = "".join(lines) or "The maps are measured when they are complete."

    def _list_moved(self) -> str:
        maps, data = self._session.maps, self._session.data
        if len(maps) < 2 or maps[1].rows is not None or data is None:
            return ""
        rows, _ = moved_most(self._canvas.shown[0], self._canvas.shown[1], N_MOVED)
        if not len(rows):
            return ""
        names = ", ".join(html.escape(str(data.ids[row])) for row in rows.tolist())
        return f"<p>Rows that differ most between the aligned maps: {names}.</p>"
