"""The panes beside the maps: selected rows, a point, the quality of the maps, and files to save.

A button in a text has the attribute ``data-ask``, with the request that it sends to the page.
"""

import io
import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import panel as pn

from isosne._html import Markup, fill
from isosne._types import Array
from isosne.explorer import files
from isosne.explorer.assets import read_asset, text_pane, write
from isosne.explorer.canvas import Canvas
from isosne.explorer.checking import missing, weigh
from isosne.explorer.controls import Messages
from isosne.explorer.data import Data, plain_values, show_values
from isosne.explorer.measuring import Neighborhood, compare_with_rest, find_others
from isosne.explorer.session import SELECTIONS, Session
from isosne.pages.report import thin_curve
from isosne.studies.point_columns import Column

MAX_TABLE_ROWS, MAX_TABLE_COLUMNS = 500, 12  # of the selection that are shown
N_BINS, BIN_WIDTH, BAR_HEIGHT = 16, 6, 26  # of a histogram
TOOLS = {"check": "Is this group real?", "zoom": "Zoom in (Z)", "clear": "Clear (Esc)"}
TOOLS |= {"reembed": "Map only these rows"}
MARKS = {True: "yes", False: "no", None: "soft"}
NO_ROWS = (
    "No rows are selected. Draw around points with the lasso; hold Shift to add, or Ctrl to remove."
)
ABOUT_FILES = Markup(
    "<p>PNG, SVG: a picture of the view.</p><p>HTML page: the map with hover and search, in one "
    "file.</p><p>Map: coordinates for isosne plot and report.</p><p>Model: places new rows.</p>"
)
WIDTH, HEIGHT = 400, 220  # of the R_NX curves
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
        self._verdict, self._table = text_pane(), text_pane()
        wide: Any = {"sizing_mode": "stretch_width"}
        self._with = pn.widgets.Select(label="Compare with", options=[REST, NEAR], **wide)
        self._with.param.watch(messages.guard(lambda event: self.update()), "value")
        self._name = pn.widgets.TextInput(placeholder="name of the selection", width=180)
        keep = pn.widgets.Button(label="Name the selection")
        keep.on_click(messages.guard(self._keep))
        saves = [
            offer_file(
                session.file_name(f"selection.{kind.lower()}"),
                f"Save selected rows ({kind})",
                partial(self._save, kind.lower()),
                messages,
            )
            for kind in ("CSV", "Parquet")
        ]
        tools = text_pane(fill("{}", [ask(*tool, look="tool") for tool in TOOLS.items()]))
        self._parts = tools, self._with, self._table, pn.FlexBox(*saves, self._name, keep)
        self.view = pn.Column(self._verdict, *self._parts, **wide)

    def update(self) -> None:
        """Show the rows that are selected."""
        rows = self._session.selection
        for part in self._parts:
            part.visible = len(rows) > 0
        self.judge()
        self.order = self._compare(rows) if len(rows) else []

    def judge(self) -> None:
        """Show how many rows are selected, and what is known about whether they are a group."""
        session, n = self._session, len(self._session.selection)
        found, left = weigh(session), missing(session)
        votes = [is_for for _, is_for in found if is_for is not None]
        head = f"{n:,} of {session.rows.n_rows:,} rows {'is' if n == 1 else 'are'} selected."
        if votes:
            head += f" {sum(votes)} of {len(votes)} checks speak for a group:"
        wait = fill('<li class="soft">Still to come: {} ...</li>', ", ".join(left)) if left else ""
        listed = [fill('<li class="{}">{}</li>', MARKS[is_for], words) for words, is_for in found]
        shown = fill('<b>{}</b><ul class="verdict">{}{}</ul>', head, listed, wait)
        write(self._verdict, shown if n else NO_ROWS)

    def _compare(self, rows: Array) -> list[int]:
        """Show the columns that differ most, and the rows; return these columns."""
        session, data, columns = self._session, self._session.rows, self._session.rows.described()
        others = find_others(session.maps[0].Y, rows, is_near=self._with.value == NEAR)
        found = compare_with_rest(columns, rows, others)
        line = "<tr><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:+.2f}</td><td>{}</td></tr>"
        drawn = [draw_histogram(columns[one.place], rows, others) for one in found]
        lines = [
            fill(line, ask(f"color {place}", name), *numbers, picture)
            for (name, *numbers, place), picture in zip(found, drawn, strict=True)
        ]
        heads = ("column", "selected", "others", "effect size", "")
        shown = [_table(heads, lines)] if lines else []
        listed = rows[:MAX_TABLE_ROWS]
        if len(listed) < len(rows):
            shown.append(fill("<p>The first {:,} rows; files have all.</p>", len(listed)))
        table = files.tabulate(session, listed)
        del table["id"]
        first = [data.label_name, *(columns[one.place].name for one in found)]
        chosen = [c for c in dict.fromkeys([*first, *table]) if c in table][:MAX_TABLE_COLUMNS]
        cells = [[fill("<td>{}</td>", text) for text in show_values(table[c])] for c in chosen]
        names = [fill("<tr><td>{}</td>", point(data, row)) for row in listed.tolist()]
        lines = [fill("{}", [*line]) for line in zip(names, *cells, strict=True)]
        shown.append(_table(["id", *chosen], lines))
        write(self._table, fill("{}", shown))
        return [one.place for one in found]

    def _save(self, kind: str) -> bytes:
        return files.save_rows(self._session, self._session.selection, kind)

    def _keep(self, event: Any) -> None:
        self._session.name_selection(self._name.value)
        self._session.color = SELECTIONS


def ask(request: str, content: str, look: str = "link") -> Markup:
    """Return a button in a text that sends a request to the page."""
    return fill('<button class="{}" data-ask="{}">{}</button>', look, request, content)


def point(data: Data, row: int) -> Markup:
    """Return a button that asks about a point: its image and its identifier."""
    return ask(f"point {row}", fill("{}{}", data.image(row), data.ids[row]))


def _table(heads: Iterable[str], lines: list[Markup]) -> Markup:
    shown = [fill("<th>{}</th>", head) for head in heads]
    return fill('<div class="box"><table class="plain"><tr>{}</tr>{}</table></div>', shown, lines)


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
        write(self._text, fill("{}{}", parts, _table((), values)))

    def _describe(self, title: str, found: Neighborhood | None) -> Markup:
        if found is None:
            return fill("<p>{}: not on this map.</p>", title)
        data = self._session.rows
        near = found.true.tolist(), found.false.tolist()
        true, false = ([point(data, row) for row in rows] for rows in near)
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
        buttons = pn.FlexBox(self._which, *self._buttons.values())
        self.view = pn.Column(buttons, text_pane(ABOUT_FILES), sizing_mode="stretch_width")

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
        self._session, self.view = session, text_pane()

    def update(self) -> None:
        """Show the measures of the maps."""
        measures, lines, curves = self._session.measures, [], []
        for m, shown in enumerate(self._session.maps):
            if (found := measures.get(shown)) is None:
                continue
            is_sample = found.n_queries < found.n_points
            state = f", estimated from {found.n_queries:,} points" if is_sample else ""
            line = '<p><i class="curve{}"></i> {}: area under R_NX {:.3f}{}</p>'
            lines.append(fill(line, m, shown.title, found.auc, state))
            curves.append((m, thin_curve(found.curve)))
        failure = self._session.failure
        if not lines:
            write(self.view, failure or "The maps are measured when they are complete.")
            return
        write(self.view, fill("{}{}{}", lines, draw_curves(curves), failure))


def draw_curves(curves: list[tuple[int, dict[str, Array]]]) -> Markup:
    """Return R_NX curves as a drawing; the number of each gives its look."""
    longest = max(math.log10(curve["k"][-1]) for _, curve in curves)
    unit, powers = WIDTH / longest, range(math.floor(longest) + 1)
    text = '<text x="{:.0f}" y="{:.0f}">{}</text>'
    shown = [fill(text, unit * power, HEIGHT + 15, 10**power) for power in powers]
    shown += [fill(text, -24, HEIGHT * (1 - r) + 4, r) for r in (0.0, 0.5, 1.0)]
    for m, curve in curves:
        places = zip(unit * np.log10(curve["k"]), HEIGHT * (1 - curve["r"]), strict=True)
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        shown.append(fill('<polyline class="curve{}" points="{}"/>', m, line))
    return fill(
        '<svg viewBox="-30 -10 {} {}" role="img" aria-label="curves"><rect class="line" width="{}" '
        'height="{}"/>{}</svg><p class="soft">R_NX over neighbors k</p>',
        *(WIDTH + 40, HEIGHT + 30, WIDTH, HEIGHT, shown),
    )
