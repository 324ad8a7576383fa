"""The style sheets of the page, and panes of text that use them."""

from importlib.resources import files
from typing import Any

import panel as pn


def read_style(name: str) -> str:
    """Return a style sheet."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def text_pane(content: str = "", *, soft: bool = False) -> Any:
    """Return a pane of HTML."""
    return pn.pane.HTML(
        content,
        sizing_mode="stretch_width",
        css_classes=["soft"] if soft else [],
        stylesheets=[read_style("parts.css")],
        margin=(4, 8),
    )
