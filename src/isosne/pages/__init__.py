"""Pages that open in any browser, without a network: the one door to Bokeh.

`write_page` shows one map; `write_report` draws a map with either kernel and says how far each can
be trusted. A page is one HTML file that holds its data, its script and its style.
"""

from isosne._extras import require

require("bokeh", "pages", "isosne.pages")  # before any module of this package needs it

from isosne.pages.page import write_page
from isosne.pages.report import render, write_report

__all__ = ["render", "write_page", "write_report"]
