"""The page: what one tab of the browser shows of a session."""

import time
from collections.abc import Callable
from typing import Any

import panel as pn
from panel.io.callbacks import PeriodicCallback

from isosne._html import Markup
from isosne.explorer.assets import read_asset, text_pane, write
from isosne.explorer.canvas import Canvas
from isosne.explorer.colors import DARK, LIGHT, list_choices
from isosne.explorer.controls import CommandPane, MapControls, Messages, SecondMap
from isosne.explorer.measuring import search_rows
from isosne.explorer.panes import KeepPane, PointPane, QualityPane, SelectionPane
from isosne.explorer.session import TRUST, Session

SELECTION_TAB, POINT_TAB = 0, 1  # the other tabs stay open
GLANCE_MS = 100  # time between two glances at the session: at most ten frames per second
LOOK_SECONDS = 1.0  # longest time between two looks at the session, also if no change was noticed
FACTS = ("maps", "selection", "asked", "names", "color", "measures", "failure", "checks", "inside")
"""What the page shows of a session, besides the maps themselves."""
PANES = {"flex": "1 1 380px", "min-width": "0"}
MAPS = {"flex": "3 1 680px", "max-width": "none"}
MAP = MAPS | {"max-width": "max(480px, 100vh - 150px)"}
"""Styles of the panes, of two maps, and of one map; panes are beside them on a wide screen."""


class Page:
    """One tab, which shows the maps of a session and what is measured of them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: dict[str, Any] = {}
        self._glimpsed: Any = None
        self._looked = 0.0
        self._theme = LIGHT
        self._messages = messages = Messages()
        self._canvas = canvas = Canvas(session)
        self._controls = [MapControls(session, m, messages) for m in (0, 1)]
        self._second = SecondMap(session, self._controls[1], messages)
        self._color = pn.widgets.Select(label="Color by", width=165)
        self._search = pn.widgets.TextInput(
            label="Search", placeholder="identifier or text", width=165
        )
        self._found = text_pane(soft=True)
        self._color.param.watch(self._paint, "value")
        self._search.param.watch(self._find, "value")
        act = messages.guard(self._act)
        canvas.source.on_change("tags", lambda attr, old, new: act(new[0]))
        self._selection = SelectionPane(session, canvas, messages)
        self._point = PointPane(session, canvas)
        self._quality = QualityPane(session)
        self._keep = KeepPane(session, canvas, messages)
        self._commands = CommandPane(session)

    def view(self) -> Any:
        """Return the content of the page, and begin to follow the session."""
        run = pn.Column(
            self._controls[0].view,
            self._second.view,
            text_pane(Markup("<h2>Command line</h2>")),
            self._commands.view,
            sizing_mode="stretch_width",
        )
        self._tabs = pn.Tabs(
            ("Selection", self._selection.view),
            ("Point", self._point.view),
            ("Quality", self._quality.view),
            ("Run settings", run),
            ("Save", self._keep.view),
            sizing_mode="stretch_width",
            stylesheets=[read_asset("parts.css")],
        )
        search = pn.Row(self._color, self._search)
        bar = pn.FlexBox(search, self._second.buttons, self._found, align_items="end")
        self._maps = pn.Column(bar, self._canvas.view, self._canvas.legend)
        panes = pn.Column(self._tabs, styles=PANES)
        if self._session.rows.notes:
            self._messages.tell(" ".join(self._session.rows.notes))
        caller = PeriodicCallback(
            callback=self._glance, period=GLANCE_MS, log=False, background=True
        )
        pn.state.onload(caller.start)  # once the browser has the page: a table needs it
        return pn.Column(
            self._messages.view,
            pn.FlexBox(self._maps, panes, align_items="start", sizing_mode="stretch_width"),
            sizing_mode="stretch_width",
        )

    def _glance(self) -> None:
        """Follow the session if it has changed: this takes time from a run."""
        session, now = self._session, time.monotonic()
        facts = {name: getattr(session, name) for name in FACTS}
        missing = object()
        changed = {name for name in FACTS if facts[name] is not self._seen.get(name, missing)}
        state = [shown.status for shown in session.maps], self._canvas.is_view_new
        if not changed and state == self._glimpsed and now < self._looked + LOOK_SECONDS:
            return
        self._seen, self._glimpsed, self._looked = facts, state, now
        try:
            with pn.io.hold():  # one message for all changes, and one repaint
                self._follow(changed)
        except Exception as error:  # the next look may succeed
            self._messages.warn(error)

    def _follow(self, changed: set[str]) -> None:
        session = self._session
        self._follow_theme()
        is_shown = "measures" if session.color == TRUST else "checks"
        if changed & {"names", "color", is_shown}:
            choices = list_choices(session)
            chosen = session.color if session.color in choices else choices[0]
            self._color.param.update(options=choices, value=chosen)
            self._canvas.repaint()
        if "maps" in changed:
            for controls, shown in zip(self._controls, session.maps, strict=False):
                if shown.settings is not None:
                    controls.show(shown.settings)
            self._canvas.arrange()
            self._maps.styles = MAPS if len(session.maps) > 1 else MAP
        self._canvas.tick()
        if changed & {"selection", "asked"}:
            self._open_tab(changed)
        if changed & {"selection", "names"}:
            self._selection.update()
            self._canvas.order_tips(self._selection.order)
        elif changed & {"checks", "inside", "measures"}:
            self._selection.judge()
        if "asked" in changed:
            self._canvas.ask()
        if changed & {"maps", "measures", "failure"}:
            self._quality.update()
        self._point.update()
        parts: list[Any] = [self._keep, self._commands, *self._controls, self._second]
        for part in parts:
            part.tick()

    def _open_tab(self, changed: set[str]) -> None:
        """Show the tab of what is new, the selection or the point, unless another one is open."""
        is_point = self._session.asked is not None and "asked" in changed
        if self._tabs.active in (SELECTION_TAB, POINT_TAB):
            self._tabs.active = POINT_TAB if is_point else SELECTION_TAB

    def _act(self, request: str) -> None:
        """Do what a button in a text or a key asks for."""
        session = self._session
        verb, *numbers = request.split()
        actions: dict[str, Callable[..., None]] = {
            "clear": session.clear,
            "check": session.check,
            "reembed": session.reembed,
            "zoom": self._canvas.zoom,
            "hide": self._canvas.hide,
            "point": lambda row: setattr(session, "asked", row),
            "color": lambda c: setattr(session, "color", session.rows.described()[c].name),
        }
        actions[verb](*map(int, numbers))

    def _follow_theme(self) -> None:
        """Use the theme of the browser, which may change at any time."""
        browser = pn.state.browser_info
        theme = DARK if browser is not None and browser.dark_mode else LIGHT
        if theme is not self._theme:
            self._theme = theme
            self._canvas.set_theme(theme)

    def _paint(self, event: Any) -> None:
        if event.new:
            self._session.color = event.new

    def _find(self, event: Any) -> None:
        session = self._session
        rows = search_rows(session.rows.ids, session.rows.described(), event.new)
        found = {0: "No row found", 1: "1 row found"}.get(len(rows), f"{len(rows):,} rows found")
        write(self._found, found if event.new.strip() else "")
        session.select(rows)
        session.asked = int(rows[0]) if len(rows) == 1 else None
