"""The panes beside the maps: selected rows, a point, the quality of the maps, and files to save.

A button in a text has the attribute ``data-ask``, with the request that it sends to the page.
"""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, FixedTicker, Line, Range1d
from bokeh.models.widgets import DataTable, StringFormatter, TableColumn
from bokeh.plotting import figure

from isosne._html import Markup, escape, fill
from isosne._types import Array
from isosne.explorer import files
from isosne.explorer.assets import read_asset, text_pane, write
from isosne.explorer.canvas import Canvas
from isosne.explorer.checking import missing, weigh
from isosne.explorer.colors import LIGHT, Theme
from isosne.explorer.controls import Messages
from isosne.explorer.data import plain_values, show_values
from isosne.explorer.measuring import Difference, Neighborhood, compare_with_rest, find_others
from isosne.explorer.session import SELECTIONS, Session
from isosne.pages.report import DASHED, thin_curve
from isosne.studies.point_columns import Column

MAX_TABLE_ROWS = 5_000  # most selected rows that the table shows; files have all of them
MAX_TABLE_COLUMNS = 30
MAX_IMAGES = 24  # shown of a selection
N_BINS, BIN_WIDTH, BAR_HEIGHT = 16, 6, 26  # of a histogram, in pixels
VERDICT = '<p><b>{}</b></p><ul class="verdict">{}{}</ul>'
MARKS = {True: "yes", False: "no", None: "soft"}
NO_ROWS = (
    "No rows are selected. Draw around points with the lasso; hold Shift to add, or Ctrl to remove."
)
REST, NEAR = "all other rows", "the nearest rows on the map"


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
        stylesheets=[read_asset("parts.css")],
    )


class SelectionPane:
    """The selected rows: are they a group, how do they differ, a table, files, a name, a map.

    ``order`` are the columns that differ most, as indices.
    """

    def __init__(self, session: Session, canvas: Canvas, messages: Messages) -> None:
        self._session, self._canvas = session, canvas
        self.order: list[int] = []
        self._count, self._summary, self._verdict = text_pane(), text_pane(), text_pane()
        self._check = pn.widgets.Button(label="Is this group real?", color="primary")
        self._check.on_click(messages.guard(lambda event: session.check()))
        self._with = pn.widgets.Select(
            label="Compare with", options=[REST, NEAR], sizing_mode="stretch_width"
        )
        self._with.param.watch(messages.guard(lambda event: self.update()), "value")
        self._model: DataTable | None = None
        self._source = ColumnDataSource({})
        self._source.selected.on_change("indices", self._ask)
        self._table = pn.pane.Bokeh(sizing_mode="stretch_width")
        self._name = pn.widgets.TextInput(placeholder="name of the selection", width=180)
        actions: dict[str, Callable[[Any], None]] = {
            "Zoom in (Z)": lambda event: canvas.zoom(),
            "Clear (Esc)": lambda event: session.clear(),
            "Map only these rows": lambda event: session.reembed(),
            "Name the selection": self._keep,
        }
        buttons = [
            offer_file(
                session.file_name(f"selection.{kind}"),
                f"Save selected rows ({title})",
                partial(self._save, kind),
                messages,
            )
            for kind, title in (("csv", "CSV"), ("parquet", "Parquet"))
        ]
        for label, action in actions.items():
            buttons.append(pn.widgets.Button(label=label))
            buttons[-1].on_click(messages.guard(action))
        first = pn.FlexBox(self._check, *buttons[2:4])
        rest = pn.FlexBox(*buttons[:2], buttons[4], self._name, buttons[5])
        self._parts = first, self._verdict, self._with, self._summary, self._table, rest
        self.view = pn.Column(self._count, *self._parts, sizing_mode="stretch_width")

    def update(self) -> None:
        """Show the rows that are selected."""
        session, rows = self._session, self._session.selection
        for part in self._parts:
            part.visible = len(rows) > 0
        self.judge()
        self.order = []
        if not len(rows):
            write(self._count, NO_ROWS)
            return
        shown, n = rows[:MAX_TABLE_ROWS], session.rows.n_rows
        note = f" The table shows the first {len(shown):,}." if len(shown) < len(rows) else ""
        verb = "is" if len(rows) == 1 else "are"
        write(self._count, f"{len(rows):,} of {n:,} rows {verb} selected.{note}")
        self._compare(rows)
        table, columns = files.tabulate(session, shown), session.rows.described()
        first = ["id", session.rows.label_name, *(columns[c].name for c in self.order)]
        names = [*dict.fromkeys([*(name for name in first if name in table), *table])]
        self._fill({name: table[name] for name in names[:MAX_TABLE_COLUMNS]})

    def judge(self) -> None:
        """Show what is known about whether the selection is a group."""
        found, left = weigh(self._session), missing(self._session)
        votes = [one.is_for for one in found if one.is_for is not None]
        self._check.disabled = bool(self._session.wanted)
        if not votes:
            write(self._verdict, "")
            return
        head = f"{sum(votes)} of {len(votes)} checks support{'s' * (len(votes) == 1)} a group"
        wait = fill('<li class="soft">Still to come: {} ...</li>', ", ".join(left)) if left else ""
        line = '<li class="{}">{}</li>'
        listed = [fill(line, MARKS[one.is_for], one.sentence) for one in found]
        write(self._verdict, fill(VERDICT, head, listed, wait))

    def _ask(self, attr: str, old: list[int], new: list[int]) -> None:
        """Show the point of a row of the table that was clicked."""
        if new and new[0] < len(self._session.selection):
            self._session.asked = int(self._session.selection[new[0]])

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
                stylesheets=[read_asset("parts.css")],
            )
            self._table.object = self._model
            return
        self._model.height = height
        if [column.title for column in self._model.columns] != titles:
            self._model.columns = shown

    def _compare(self, rows: Array) -> None:
        """Show the columns that differ most, and images of the rows."""
        data, maps = self._session.rows, self._canvas.figures
        Y = maps[0].Y if maps else self._session.maps[0].Y
        others = find_others(Y, rows, is_near=self._with.value == NEAR)
        found = compare_with_rest(data.described(), rows, others)
        self.order = [one.index for one in found]
        pictures = [ask(f"point {row}", data.image(row)) for row in rows[:MAX_IMAGES].tolist()]
        shown = fill("<p>{}</p>", pictures) if data.images else ""
        columns = data.described()
        lines = [_difference_row(one, columns[one.index], rows, others) for one in found]
        head = "<th>column</th><th>selected</th><th>others</th><th>effect size</th><th></th>"
        table = '<table class="plain"><tr>{}</tr>{}</table>' if lines else ""
        write(self._summary, fill(f"{{}}{table}", shown, Markup(head), lines))

    def _save(self, kind: str) -> bytes:
        return files.save_rows(self._session, self._session.selection, kind)

    def _keep(self, event: Any) -> None:
        self._session.name_selection(self._name.value)
        self._session.color = SELECTIONS


def ask(request: str, content: str) -> Markup:
    """Return a button in a text that sends a request to the page."""
    return fill('<button class="link" data-ask="{}">{}</button>', request, content)


def _difference_row(one: Difference, column: Column, rows: Array, others: Array) -> Markup:
    cells = "<tr><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:+.2f}</td><td>{}</td></tr>"
    name, inside, outside, effect, index = one
    picture = draw_histogram(column, rows, others)
    return fill(cells, ask(f"color {index}", name), inside, outside, effect, picture)


def draw_histogram(column: Column, rows: Array, others: Array) -> Markup:
    """Return the shares of the values of a column: bars of the rows, a line of the others."""
    parts = [column.data[part].astype(np.float64) for part in (rows, others)]
    parts = [part[np.isfinite(part)] for part in parts]
    every = np.concatenate(parts)
    bins = min(N_BINS, len(column.words)) if column.words is not None else N_BINS
    shares = [np.histogram(part, bins, (every.min(), every.max()))[0] / len(part) for part in parts]
    top = max(share.max() for share in shares)
    left, right = BIN_WIDTH * np.arange(bins), BIN_WIDTH * (np.arange(bins) + 1)
    bars, line = (
        "".join(f"L{a} {y:.1f}L{b} {y:.1f}" for a, b, y in zip(left, right, tops, strict=True))
        for tops in (BAR_HEIGHT * (1 - share / top) for share in shares)
    )
    width = BIN_WIDTH * bins
    return fill(
        '<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-label="selected rows '
        '(bars) and others (line)"><path class="bars" d="M0 {1}{2}L{0} {1}"/>'
        '<path class="line" d="M0 {1}{3}L{0} {1}"/></svg>',
        *(width, BAR_HEIGHT, bars, line),
    )


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
        parts = [fill("<p>{}<b>{}</b>{}</p>", data.image(row), data.ids[row], label)]
        for shown, drawn in zip(session.maps, self._canvas.figures, strict=False):
            parts.append(self._describe(shown.title, drawn.found))
        line, here = "<tr><td>{}</td><td>{}</td></tr>", slice(row, row + 1)
        values = [fill(line, c.name, *show_values(plain_values(c, here))) for c in data.columns]
        write(self._text, fill('{}<table class="plain">{}</table>', parts, values))

    def _describe(self, title: str, found: Neighborhood | None) -> Markup:
        if found is None:
            return fill("<p>{}: not on this map.</p>", title)
        data = self._session.rows
        true, false = (
            [ask(f"point {row}", fill("{}{} ", data.image(row), data.ids[row])) for row in rows]
            for rows in (found.true.tolist(), found.false.tolist())
        )
        return fill(
            "<p><b>{}</b>: {:.0%} of its neighbors kept. Nearest in the data (lines): {}</p>"
            "<p>Near on the map, but not in the data (squares): {}</p>",
            *(title, found.trust, true, false or "none"),
        )


class KeepPane:
    """Files of the maps."""

    def __init__(self, session: Session, canvas: Canvas, messages: Messages) -> None:
        self._session, self._canvas = session, canvas
        self._which = pn.widgets.RadioButtonGroup(options={"Map 1": 0, "Map 2": 1}, value=0)
        makers: dict[str, tuple[str, Callable[[], bytes], str]] = {
            "map{}.png": ("PNG", lambda: self._picture("png"), "The view as a picture"),
            "map{}.svg": ("SVG", lambda: self._picture("svg"), "The view as a drawing to edit"),
            "map{}.html": (
                "HTML page",
                lambda: files.save_page(session, self._m),
                "The map with hover and search, in one file to share",
            ),
            "map{}.parquet": (
                "Map",
                lambda: files.save_map(session, self._m),
                "Coordinates, for isosne plot, measure and report",
            ),
            "model{}.isosne": (
                "Model",
                lambda: files.save_model(session, self._m),
                "To place new rows with isosne place",
            ),
        }
        self._buttons, rows = {}, []
        for name, (label, make, about) in makers.items():
            self._buttons[name] = button = offer_file(name.format(""), label, make, messages)
            rows.append(pn.Row(button, text_pane(about, soft=True)))
        self.view = pn.Column(self._which, *rows, sizing_mode="stretch_width")

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
