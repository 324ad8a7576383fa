"""The panes beside the maps: selected rows, a point, and files to save."""

import html
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource
from bokeh.models.widgets import DataTable, StringFormatter, TableColumn

from isosne._types import Array
from isosne.explorer import exports
from isosne.explorer.assets import read_style, text_pane
from isosne.explorer.canvas import Canvas
from isosne.explorer.controls import Guard, Say
from isosne.explorer.measuring import Measurer
from isosne.explorer.questions import compare_with_rest
from isosne.explorer.run import as_sentence
from isosne.explorer.session import SELECTIONS, Session

MAX_TABLE_ROWS = 5_000
"""Most selected rows that the table shows; files have all of them."""
MAX_TABLE_COLUMNS = 30


def offer_file(name: str, label: str, make: Callable[[], bytes], say: Say) -> Any:
    """Return a button that saves a file; an error is shown in the page."""

    def send() -> io.BytesIO:
        try:
            return io.BytesIO(make())
        except Exception as error:
            say(as_sentence(error))
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

    def __init__(self, session: Session, guard: Guard, say: Say) -> None:
        self._session = session
        self._count = text_pane()
        self._summary = text_pane()
        self._model: DataTable | None = None
        self._source = ColumnDataSource({})
        self._table = pn.pane.Bokeh(sizing_mode="stretch_width")
        self._name = pn.widgets.TextInput(placeholder="name of the selection", width=180)
        keep = pn.widgets.Button(label="Name the selection")
        again = pn.widgets.Button(label="Map only these rows")
        clear = pn.widgets.Button(label="Clear")
        keep.on_click(guard(self._keep))
        again.on_click(guard(lambda event: session.reembed()))
        clear.on_click(lambda event: session.clear())
        files = [
            offer_file(f"selection.{kind}", f"Save as {title}", partial(self._save, kind), say)
            for kind, title in (("csv", "CSV"), ("parquet", "Parquet"))
        ]
        self._tools = pn.FlexBox(*files, again, clear, self._name, keep)
        self.view = pn.Column(
            self._count, self._tools, self._summary, self._table, sizing_mode="stretch_width"
        )

    def update(self) -> None:
        """Show the rows that are selected."""
        session, rows = self._session, self._session.selection
        has_rows = session.data is not None and len(rows) > 0
        self._tools.visible = self._table.visible = self._summary.visible = has_rows
        if not has_rows:
            self._count.object = "No rows are selected. Draw around points with the lasso."
            return
        shown = rows[:MAX_TABLE_ROWS]
        note = f" The table shows the first {len(shown):,}." if len(shown) < len(rows) else ""
        verb = "is" if len(rows) == 1 else "are"
        self._count.object = f"{len(rows):,} of {session.rows.n_rows:,} rows {verb} selected.{note}"
        self._summary.object = self._compare(rows)
        columns = dict(list(exports.tabulate(session, shown).items())[:MAX_TABLE_COLUMNS])
        self._fill(columns)

    def _fill(self, columns: dict[str, Array]) -> None:
        """Show columns in the table, which is made when rows are selected for the first time."""
        data = {f"c{i}": _as_shown(values) for i, values in enumerate(columns.values())}
        shown = [
            TableColumn(field=f"c{i}", title=name, formatter=StringFormatter(), width=110)
            for i, name in enumerate(columns)
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
        if [column.title for column in self._model.columns] != list(columns):
            self._model.columns = shown

    def _compare(self, rows: Array) -> str:
        found = compare_with_rest(self._session.rows.described(), rows)
        if not found:
            return ""
        lines = "".join(
            f"<tr><td>{html.escape(one.column)}</td><td>{one.inside:.4g}</td>"
            f"<td>{one.outside:.4g}</td><td>{one.effect:+.2f}</td></tr>"
            for one in found
        )
        return (
            '<table class="plain"><tr><th>column</th><th>mean or share, selected</th>'
            f"<th>others</th><th>effect size</th></tr>{lines}</table>"
        )

    def _save(self, kind: str) -> bytes:
        return exports.save_rows(self._session, self._session.selection, kind)

    def _keep(self, event: Any) -> None:
        self._session.name_selection(self._name.value)
        self._session.paint(SELECTIONS)


def _as_shown(values: Array) -> Array:
    """Return numbers with six digits, as text; other values as they are."""
    if values.dtype.kind != "f":
        return values
    return np.array(["" if value != value else f"{value:.6g}" for value in values.tolist()])


class PointPane:
    """One point: its row, its neighbors and its trust."""

    def __init__(self, session: Session, canvas: Canvas) -> None:
        self._session, self._canvas = session, canvas
        self._text = text_pane()
        self.view = pn.Column(self._text, sizing_mode="stretch_width")

    def update(self) -> None:
        """Show the point that is asked about."""
        session, row = self._session, self._session.asked
        if row is None or session.data is None:
            self._text.object = "Click a point to see its nearest neighbors."
            return
        data = session.rows
        parts = [f"<p><b>{html.escape(str(data.ids[row]))}</b>"]
        if data.labels is not None:
            parts.append(f", {html.escape(data.label_name)} {html.escape(str(data.labels[row]))}")
        parts.append("</p>")
        for shown, found in zip(session.maps, self._canvas.neighborhoods, strict=False):
            if found is None:
                parts.append(f"<p>{html.escape(shown.title)}: not on this map.</p>")
                continue
            true, false = (self._names(rows) for rows in (found.true, found.false))
            parts.append(
                f"<p><b>{html.escape(shown.title)}</b>: trust {found.trust:.0%}. "
                f"Nearest in the data (lines): {true}. "
                f"Near on the map, but not in the data (squares): {false or 'none'}.</p>"
            )
        values = "".join(
            f"<tr><td>{html.escape(c.name)}</td>"
            f"<td>{html.escape(data.texts(c, slice(row, row + 1))[0])}</td></tr>"
            for c in data.columns
        )
        self._text.object = "".join(parts) + f'<table class="plain">{values}</table>'

    def _names(self, rows: Array) -> str:
        data = self._session.rows
        return ", ".join(html.escape(str(data.ids[row])) for row in rows.tolist())


class KeepPane:
    """Files of the maps."""

    def __init__(self, session: Session, measurer: Measurer, canvas: Canvas, say: Say) -> None:
        self._session, self._measurer, self._canvas = session, measurer, canvas
        self._which = pn.widgets.RadioButtonGroup(options={"Map 1": 0, "Map 2": 1}, value=0)
        makers: list[tuple[str, str, Callable[[], bytes]]] = [
            ("map.png", "PNG", lambda: self._picture("png")),
            ("map.svg", "SVG", lambda: self._picture("svg")),
            ("map.html", "HTML page", lambda: exports.save_page(session, self._m)),
            ("map.parquet", "Map", lambda: exports.save_map(session, self._m)),
            ("model.isosne", "Model", lambda: exports.save_model(session, self._m)),
        ]
        files = [offer_file(name, label, make, say) for name, label, make in makers]
        self._model = files[-1]
        self.view = pn.FlexBox(self._which, *files)

    @property
    def _m(self) -> int:
        return min(int(self._which.value), len(self._session.maps) - 1)

    def tick(self) -> None:
        """Show what can be saved."""
        session = self._session
        has_two = len(session.maps) > 1
        if self._which.visible != has_two:
            self._which.visible = has_two
        has_model = bool(session.maps) and session.maps[self._m].fitted() is not None
        if self._model.disabled == has_model:
            self._model.disabled = not has_model

    def _picture(self, kind: str) -> bytes:
        m = self._m
        color = exports.find_color(self._session, m, self._measurer)
        return exports.save_picture(self._canvas.shown[m], color, self._canvas.limits(m), kind)
