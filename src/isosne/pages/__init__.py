"""Interactive HTML pages: the only package that imports Bokeh.

`write_page` shows one map; `write_report` compares the maps of two kernels and their quality, and
`write_comparison` any existing maps. A page is a single HTML file with its data, scripts and
styles; it needs no network.
"""

from isosne._extras import require

require("bokeh", "pages", "isosne.pages")  # before the imports below need it

from isosne.pages.page import write_page
from isosne.pages.report import render, write_comparison, write_report

__all__ = ["render", "write_comparison", "write_page", "write_report"]
