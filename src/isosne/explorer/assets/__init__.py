"""The template, script and style sheets of the page, and panes of text that use them.

Every text enters the page through `write`, which escapes it, unless it is `Markup`; values of the
data are filled into markup by `isosne._html.fill`, which escapes them too.
"""

from importlib.resources import files
from typing import Any

import panel as pn

from isosne._html import escape


def read_asset(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def text_pane(content: str = "", *, soft: bool = False) -> Any:
    """Return a pane for `write`."""
    return pn.pane.HTML(
        str(escape(content)),
        sizing_mode="stretch_width",
        css_classes=["soft"] if soft else [],
        stylesheets=[read_asset("parts.css")],
        margin=(4, 8),
    )


def write(pane: Any, content: str) -> None:
    """Show a text in a pane; all but `Markup` is escaped."""
    pane.object = str(escape(content))
