"""The command line that makes each map, with a button to copy it."""

import html
from typing import Any

import panel as pn

from isosne.explorer.assets import text_pane
from isosne.explorer.session import MAX_MAPS, Session

COPY = "navigator.clipboard?.writeText(line.tags[0])"
"""The tag of a pane is its command; a page from another machine may have no clipboard."""


class CommandPane:
    """One line for each map."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lines = [text_pane() for _ in range(MAX_MAPS)]
        self._rows = []
        for line in self._lines:
            copy = pn.widgets.Button(label="Copy", margin=(4, 8))
            copy.js_on_click(args={"line": line}, code=COPY)
            self._rows.append(pn.Row(line, copy, visible=False, sizing_mode="stretch_width"))
        self.view: Any = pn.Column(*self._rows, sizing_mode="stretch_width")

    def tick(self) -> None:
        """Show the commands of the maps as they are now."""
        session = self._session
        n_maps = 0 if session.data is None else len(session.maps)
        for m, (line, row) in enumerate(zip(self._lines, self._rows, strict=True)):
            text = session.command(m) if m < n_maps else ""
            if line.tags != [text]:
                words = " ".join(f"<span>{html.escape(word)}</span>" for word in text.split(" "))
                line.param.update(tags=[text], object=f"<pre>{words}</pre>")
            if row.visible != (m < n_maps):
                row.visible = m < n_maps
