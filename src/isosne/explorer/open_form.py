"""The form that opens a table: a file that the browser sends, never a path on this machine."""

from pathlib import Path
from typing import Any

import panel as pn

from isosne.errors import DataError
from isosne.explorer.assets import text_pane
from isosne.explorer.controls import Guard
from isosne.explorer.session import Session
from isosne.explorer.settings import Settings
from isosne.explorer.uploads import TABLES, Reading, upload_table
from isosne.sources.scaled import KINDS


class OpenForm:
    """A file to choose, and the columns with identifiers and labels."""

    def __init__(self, session: Session, guard: Guard) -> None:
        self._session = session
        self._file = pn.widgets.FileInput(accept=",".join(TABLES), multiple=False)
        self._label = pn.widgets.TextInput(label="Column with the class of each row (optional)")
        self._id = pn.widgets.TextInput(label="Column with a unique row identifier (optional)")
        self._scale = pn.widgets.Select(label="Scale columns", options=list(KINDS), value="none")
        self._mixed = pn.widgets.Checkbox(
            label="Use text, categories, dates and missing values (columns are not scaled)"
        )
        self._button = pn.widgets.Button(label="Open", color="primary")
        self._button.on_click(guard(self._open))
        self.view = pn.Column(
            text_pane(
                "<h2>Open a table</h2><p>Text columns are not used for the map unless you tick the "
                "box. Scale columns that have different units.</p>"
            ),
            self._file,
            self._label,
            self._id,
            self._scale,
            self._mixed,
            self._button,
        )

    def _open(self, event: Any) -> None:
        if not self._file.value:
            raise DataError("No file is chosen. Choose a file first.")
        how = Reading(
            self._label.value.strip() or None,
            self._id.value.strip() or None,
            "none" if self._mixed.value else str(self._scale.value),
            bool(self._mixed.value),
        )
        name = Path(str(self._file.filename)).name
        data, notes = upload_table(self._file.value, name, how)
        self._session.open(data, notes)
        self._session.is_uploaded = True
        self._session.begin(0, Settings())
        reload_page()


def reload_page() -> None:
    """Load the page of this tab again: figures belong to a page that begins with rows."""
    if pn.state.location is not None:
        pn.state.location.reload = True
