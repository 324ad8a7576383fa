"""The page: what one tab of the browser shows of a session."""

import time
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.document import Document
from bokeh.server.contexts import BokehSessionContext
from markupsafe import Markup
from tornado.ioloop import PeriodicCallback

from isosne.explorer.assets import read_style, text_pane, write
from isosne.explorer.canvas import Canvas
from isosne.explorer.colors import DARK, LIGHT, list_choices
from isosne.explorer.controls import CommandPane, MapControls, OpenForm, SecondMap, reload_page
from isosne.explorer.measuring import search_rows
from isosne.explorer.panes import KeepPane, PointPane, QualityPane, SelectionPane
from isosne.explorer.run import as_sentence
from isosne.explorer.session import Session

SELECTION_TAB, POINT_TAB = 0, 1
GLANCE_MS = 100
"""Time between two glances at the session: at most ten frames per second."""
LOOK_SECONDS = 1.0
"""Longest time between two looks at the session, also if no change was noticed."""


BESIDE = {"flex": "2 1 440px", "max-width": "800px"}
WIDE = {"flex": "1 1 100%", "max-width": "none"}
"""Styles of the maps: one map beside the panes, or two maps above them."""


class Page:
    """One tab, which shows a session and what is measured of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: dict[str, Any] = {}
        self._glimpsed: Any = None
        self._looked = 0.0
        self._theme = LIGHT
        self._is_form = session.data is None  # figures belong to a page that begins with rows
        self._message = text_pane()
        self._message.visible = False
        self._form = OpenForm(session, self._guard)
        self._canvas = Canvas(session)
        self._controls = [MapControls(session, m, self._guard, self._tell) for m in (0, 1)]
        self._second = SecondMap(session, self._controls[1], self._guard, self._tell)
        self._color = pn.widgets.Select(label="Color by", sizing_mode="stretch_width")
        self._search = pn.widgets.TextInput(
            label="Search", placeholder="identifier or text", sizing_mode="stretch_width"
        )
        self._found = text_pane(soft=True)
        self._color.param.watch(self._paint, "value")
        self._search.param.watch(self._find, "value")
        self._selection = SelectionPane(session, self._guard, self._say)
        self._point = PointPane(session, self._canvas)
        self._quality = QualityPane(session, self._canvas)
        self._keep = KeepPane(session, self._canvas, self._say)
        self._commands = CommandPane(session)
        self._title = text_pane()
        self._again = pn.widgets.Button(label="Open another table", visible=session.is_uploaded)
        self._again.on_click(self._guard(self._open_again))

    def view(self) -> Any:
        """Return the content of the page, and begin to follow the session."""
        two = pn.Column(
            text_pane(Markup("<h3>Second map</h3>")),
            self._controls[1].view,
            sizing_mode="stretch_width",
        )
        self._two = two
        side = pn.Column(
            text_pane(Markup("<h3>Map</h3>")),
            self._controls[0].view,
            two,
            self._second.view,
            text_pane(Markup("<h3>Points</h3>")),
            self._color,
            self._search,
            self._found,
            text_pane(Markup("<h3>Command line</h3>")),
            self._commands.view,
            styles={"flex": "1 1 280px", "max-width": "420px"},
        )
        self._tabs = tabs = pn.Tabs(
            ("Selection", self._selection.view),
            ("Point", self._point.view),
            ("Quality", self._quality.view),
            ("Save", self._keep.view),
            sizing_mode="stretch_width",
            stylesheets=[read_style("parts.css")],
        )
        self._maps = pn.Column(self._canvas.view, self._canvas.legend)
        main = pn.FlexBox(
            self._maps,
            pn.Column(tabs, styles={"flex": "1 1 340px"}),
            styles={"flex": "4 1 460px", "align-items": "start", "align-content": "start"},
        )
        self._work = pn.FlexBox(
            side, main, flex_wrap="wrap", sizing_mode="stretch_width", visible=False
        )
        self._form.view.visible = False
        write(self._title, "Loading")
        whole = pn.Column(
            self._title,
            self._again,
            self._message,
            self._form.view,
            self._work,
            sizing_mode="stretch_width",
        )
        # A table cannot be drawn before the browser has the page.
        pn.state.onload(self._follow)
        return whole

    def _follow(self) -> None:
        self._look()
        document = pn.state.curdoc
        follower = PeriodicCallback(lambda: self._glance(document), GLANCE_MS)
        follower.start()
        pn.state.on_session_destroyed(lambda context: follower.stop())

    def _glance(self, document: Document) -> None:
        """Have a look at the session if it has changed: looks take time from a run."""
        if not _has_tab(document):
            return  # the server gives its page up after a while
        canvas, now = self._canvas, time.monotonic()
        state = self._session.progress, canvas.is_view_new
        is_new = bool(self._find_changed()) or state != self._glimpsed
        if is_new or now > self._looked + LOOK_SECONDS:
            self._glimpsed, self._looked = state, now
            document.add_next_tick_callback(self._look)

    def _look(self) -> None:
        """Follow the session; an error is shown, and the next look may succeed."""
        try:
            with pn.io.hold():  # one message for all changes, and one repaint
                self.tick()
        except Exception as error:
            self._say(as_sentence(error))

    def _find_changed(self) -> set[str]:
        """Return the names of the facts of the session that are new since the last look."""
        facts, missing = self._session.facts(), object()
        return {name for name in facts if facts[name] is not self._seen.get(name, missing)}

    def tick(self) -> None:
        """Show what has changed in the session."""
        session, changed = self._session, self._find_changed()
        self._form.view.visible, self._work.visible = self._is_form, not self._is_form
        if self._is_form:
            write(self._title, self._tell_opened())
            self._seen = session.facts()
            return
        self._follow_theme()
        if "data" in changed:
            rows = session.rows
            title = Markup("<h2>{}</h2>{:,} rows").format(rows.source, rows.n_rows)
            write(self._title, title)
            self._canvas.build()
            if session.notes:
                self._tell(session.notes)
            self._seen = {"data": rows}
            return  # the browser gets the figures first, and at the next look what they show
        self._seen = session.facts()
        if "maps" in changed:
            for controls, shown in zip(self._controls, session.maps, strict=False):
                if shown.settings is not None:
                    controls.show(shown.settings)
            self._canvas.arrange()
            self._maps.styles = WIDE if len(session.maps) > 1 else BESIDE
        if changed & {"names", "color"}:
            choices = list_choices(session)
            chosen = session.color if session.color in choices else choices[0]
            self._color.param.update(options=choices, value=chosen)
            self._canvas.repaint()
        if "selection" in changed:
            self._canvas.select()
        if changed & {"selection", "asked"}:
            self._open_tab()
        if changed & {"selection", "names"}:
            self._selection.update()
        if "asked" in changed:
            self._canvas.ask()
        self._canvas.tick()
        if changed & {"asked", "maps"}:
            self._point.update()
        self._quality.tick(is_forced="maps" in changed)
        self._keep.tick()
        self._commands.tick()
        for controls in self._controls:
            controls.tick()
        self._second.tick()
        self._two.visible = len(session.maps) > 1

    def _open_tab(self) -> None:
        """Show the tab of the selection or that of the point, unless another one is open."""
        session = self._session
        if self._tabs.active in (SELECTION_TAB, POINT_TAB):
            is_point = session.asked is not None and not len(session.selection)
            self._tabs.active = POINT_TAB if is_point else SELECTION_TAB

    def _follow_theme(self) -> None:
        """Use the theme of the browser, which may change at any time."""
        browser = pn.state.browser_info
        theme = DARK if browser is not None and browser.dark_mode else LIGHT
        if theme is not self._theme:
            self._theme = theme
            self._canvas.set_theme(theme)
            self._quality.set_theme(theme)

    def _tell_opened(self) -> str:
        """Return a link to the page of the table that the form has opened."""
        data = self._session.data
        if data is None:
            return ""
        told = Markup('{} is open, {:,} rows. <a href="">Show its map</a>')
        return told.format(data.source, data.n_rows)

    def _paint(self, event: Any) -> None:
        if event.new:
            self._session.color = event.new

    def _find(self, event: Any) -> None:
        data = self._session.rows
        if not event.new.strip():
            write(self._found, "")
            return
        rows = search_rows(data.ids, data.described(), event.new)
        found = "1 row found" if len(rows) == 1 else f"{len(rows):,} rows found"
        write(self._found, found if len(rows) else "No row found")
        if len(rows):
            self._session.select(rows)
        self._session.asked = int(rows[0]) if len(rows) == 1 else None

    def _open_again(self, event: Any) -> None:
        self._session.forget()
        reload_page()

    def _say(self, sentence: str) -> None:
        self._tell(sentence, "warning")

    def _tell(self, sentence: str, kind: str = "info") -> None:
        write(self._message, sentence)
        self._message.param.update(css_classes=["message", kind], visible=True)

    def _guard(self, callback: Callable[..., None]) -> Callable[..., None]:
        """Return a callback whose errors are shown in the page."""

        def call(*arguments: Any) -> None:
            self._message.visible = False
            try:
                callback(*arguments)
            except Exception as error:
                self._say(as_sentence(error))

        return call


def _has_tab(document: Document) -> bool:
    """Return whether a tab of a browser shows a document."""
    context = document.session_context
    session = context.session if isinstance(context, BokehSessionContext) else None
    return session is not None and session.connection_count > 0
