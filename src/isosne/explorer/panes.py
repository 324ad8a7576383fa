"""The panes beside the maps: selected rows, a point, the quality of the maps, and files to save."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from bokeh.models import ColumnDataSource, FixedTicker, Line, Range1d
from bokeh.models.widgets import DataTable, StringFormatter, TableColumn
from bokeh.plotting import figure

from isosne._html import Markup, escape, fill
from isosne._types import Array
from isosne.explorer import files
from isosne.explorer.assets import read_style, text_pane, write
from isosne.explorer.canvas import Canvas
from isosne.explorer.colors import LIGHT, Theme
from isosne.explorer.controls import Messages
from isosne.explorer.data import plain_values, show_values
from isosne.explorer.measuring import Neighborhood, compare_with_rest
from isosne.explorer.session import SELECTIONS, Session
from isosne.pages.report import DASHED, thin_curve

MAX_TABLE_ROWS = 5_000  # most selected rows that the table shows; files have all of them
MAX_TABLE_COLUMNS = 30


def offer_file(name: str, label: str, make: Callable[[], bytes], messages: Messages) -> Any:
    """Return a button that saves a file; an error is shown in the page."""

    def send() -> io.BytesIO:
        try:
            return io.BytesIO(make())
        except Exception as error:
            messages.warn(error)
            raise

    return pn.widgets.FileDownload(
        callback=send,
        filename=name,
        label=label,
        color="default",
        stylesheets=[read_style("parts.css")],
    )


class SelectionPane:
    """The selected rows: a table, how they differ from the rest, files, a name, and a map."""

    def __init__(self, session: Session, messages: Messages) -> None:
        self._session = session
        self._count, self._summary = text_pane(), text_pane()
        self._model: DataTable | None = None
        self._source = ColumnDataSource({})
        self._table = pn.pane.Bokeh(sizing_mode="stretch_width")
        self._name = pn.widgets.TextInput(placeholder="name of the selection", width=180)
        actions: dict[str, Callable[[Any], None]] = {
            "Map only these rows": lambda event: session.reembed(),
            "Clear": lambda event: session.clear(),
            "Name the selection": self._keep,
        }
        buttons = [
            offer_file(
                session.file_name(f"selection.{kind}"),
                f"Save as {title}",
                partial(self._save, kind),
                messages,
            )
            for kind, title in (("csv", "CSV"), ("parquet", "Parquet"))
        ]
        for label, action in actions.items():
            buttons.append(pn.widgets.Button(label=label))
            buttons[-1].on_click(messages.guard(action))
        self._tools = pn.FlexBox(*buttons[:-1], self._name, buttons[-1])
        self.view = pn.Column(
            self._count, self._tools, self._summary, self._table, sizing_mode="stretch_width"
        )

    def update(self) -> None:
        """Show the rows that are selected."""
        session, rows = self._session, self._session.selection
        has_rows = len(rows) > 0
        self._tools.visible = self._table.visible = self._summary.visible = has_rows
        if not has_rows:
            write(self._count, "No rows are selected. Draw around points with the lasso.")
            return
        shown, n = rows[:MAX_TABLE_ROWS], session.rows.n_rows
        note = f" The table shows the first {len(shown):,}." if len(shown) < len(rows) else ""
        verb = "is" if len(rows) == 1 else "are"
        write(self._count, f"{len(rows):,} of {n:,} rows {verb} selected.{note}")
        write(self._summary, self._compare(rows))
        self._fill(dict(list(files.tabulate(session, shown).items())[:MAX_TABLE_COLUMNS]))

    def _fill(self, columns: dict[str, Array]) -> None:
        """Show columns in the table, which is made when rows are selected for the first time."""
        data = {f"c{i}": show_values(values) for i, values in enumerate(columns.values())}
        titles = [str(escape(name)) for name in columns]  # the head of a table is HTML
        shown = [
            TableColumn(field=f"c{i}", title=title, formatter=StringFormatter(), width=110)
            for i, title in enumerate(titles)
        ]
        height = min(60 + 25 * len(data["c0"]), 300)
        self._source.data = data
        if self._model is None:
            self._model = DataTable(
                source=self._source,
                columns=shown,
                height=height,
                sizing_mode="stretch_width",
                autosize_mode="none",
                reorderable=False,  # it needs jQuery UI, which Bokeh does not have
                index_position=None,
                name="rows",
                stylesheets=[read_style("parts.css")],
            )
            self._table.object = self._model
            return
        self._model.height = height
        if [column.title for column in self._model.columns] != titles:
            self._model.columns = shown

    def _compare(self, rows: Array) -> Markup:
        found = compare_with_rest(self._session.rows.described(), rows)
        if not found:
            return Markup()
        line = "<tr><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:+.2f}</td></tr>"
        return fill(
            '<table class="plain"><tr><th>column</th><th>mean or share, selected</th>'
            "<th>others</th><th>effect size</th></tr>{}</table>",
            [fill(line, *one) for one in found],
        )

    def _save(self, kind: str) -> bytes:
        return files.save_rows(self._session, self._session.selection, kind)

    def _keep(self, event: Any) -> None:
        self._session.name_selection(self._name.value)
        self._session.color = SELECTIONS


class PointPane:
    """One point: its row, its neighbors and its trust."""

    def __init__(self, session: Session, canvas: Canvas) -> None:
        self._session, self._canvas = session, canvas
        self._text = text_pane()
        self.view = pn.Column(self._text, sizing_mode="stretch_width")

    def update(self) -> None:
        """Show the point that is asked about."""
        session, row = self._session, self._session.asked
        if row is None:
            write(self._text, "Click a point to see its nearest neighbors.")
            return
        data = session.rows
        label = "" if data.labels is None else f", {data.label_name} {data.labels[row]}"
        parts = [fill("<p><b>{}</b>{}</p>", data.ids[row], label)]
        for shown, drawn in zip(session.maps, self._canvas.figures, strict=False):
            parts.append(self._describe(shown.title, drawn.found))
        line, here = "<tr><td>{}</td><td>{}</td></tr>", slice(row, row + 1)
        values = [fill(line, c.name, *show_values(plain_values(c, here))) for c in data.columns]
        write(self._text, fill('{}<table class="plain">{}</table>', parts, values))

    def _describe(self, title: str, found: Neighborhood | None) -> Markup:
        if found is None:
            return fill("<p>{}: not on this map.</p>", title)
        ids = self._session.rows.ids
        true, false = (", ".join(map(str, ids[rows])) for rows in (found.true, found.false))
        return fill(
            "<p><b>{}</b>: trust {:.0%}. Nearest in the data (lines): {}. "
            "Near on the map, but not in the data (squares): {}.</p>",
            *(title, found.trust, true, false or "none"),
        )


class KeepPane:
    """Files of the maps."""

    def __init__(self, session: Session, canvas: Canvas, messages: Messages) -> None:
        self._session, self._canvas = session, canvas
        self._which = pn.widgets.RadioButtonGroup(options={"Map 1": 0, "Map 2": 1}, value=0)
        makers: dict[str, tuple[str, Callable[[], bytes]]] = {
            "map{}.png": ("PNG", lambda: self._picture("png")),
            "map{}.svg": ("SVG", lambda: self._picture("svg")),
            "map{}.html": ("HTML page", lambda: files.save_page(session, self._m)),
            "map{}.parquet": ("Map", lambda: files.save_map(session, self._m)),
            "model{}.isosne": ("Model", lambda: files.save_model(session, self._m)),
        }
        self._buttons = {
            name: offer_file(name.format(""), *maker, messages) for name, maker in makers.items()
        }
        self.view = pn.FlexBox(self._which, *self._buttons.values())

    @property
    def _m(self) -> int:
        return min(int(self._which.value), len(self._session.maps) - 1)

    def tick(self) -> None:
        """Show what can be saved."""
        maps = self._session.maps
        self._which.visible = len(maps) > 1
        for name, button in self._buttons.items():
            button.filename = self._session.file_name(name.format("2" * self._m))
        button.disabled = not maps or not maps[self._m].status.has_model  # the last one: of a model

    def _picture(self, kind: str) -> bytes:
        drawn = self._canvas.figures[self._m]
        paint = self._canvas.painted.paints[self._m]
        return files.save_picture(drawn.Y, paint, drawn.corners, kind)


class QualityPane:
    """The R_NX curves of the maps."""

    def __init__(self, session: Session) -> None:
        self._session = session
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

    def update(self) -> None:
        """Show the measures of the maps."""
        lines, maps = [], self._session.maps
        for m, source in enumerate(self._sources):
            found = self._session.measures.get(maps[m]) if m < len(maps) else None
            if found is None:
                source.data = {"k": [], "r": []}
                continue
            source.data = thin_curve(found.curve)
            is_sample = found.n_queries < found.n_points
            state = f", estimated from {found.n_queries:,} points" if is_sample else ""
            self._figure.x_range.end = max(float(found.curve.k[-1]), self._figure.x_range.end)  # type: ignore[attr-defined]
            line = (
                '<p><i class="line" style="border-color: {}; border-top-style: {}"></i> {}: '
                "area under R_NX {:.3f}{}</p>"
            )
            color, dash = self._theme.lines[m], DASHED[m]
            lines.append(fill(line, color, dash, maps[m].title, found.auc, state))
        empty = "The maps are measured when they are complete."
        write(self._text, fill("{}{}", lines, self._session.failure) or empty)
